"""The baselines keep the contracts of their roles."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_baselines.candidates import CandidatesExpander
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_baselines.pattern import PatternExpander
from srtk_plugin_baselines.ppr import PprExpander
from srtk_plugin_baselines.random_triples import RandomExpander

from srtk_framework.testing import OracleGraph
from srtk_framework.testing.completer import CompleterConformance
from srtk_framework.testing.expander import ExpanderConformance
from srtk_framework.values import Budget


def opened(expander: Any) -> Any:
    expander.open()
    return expander


class TestBfs(ExpanderConformance):
    name = "bfs"

    @pytest.fixture
    def driver(self, graph: Any, budget: Budget) -> Any:
        return opened(BfsExpander(graph=graph, budget=budget))


class TestCandidates(ExpanderConformance):
    name = "candidates"

    @pytest.fixture
    def driver(self, graph: Any, budget: Budget) -> Any:
        return opened(CandidatesExpander(graph=graph, completer=opened(FrequencyCompleter(graph=graph)), budget=budget))


class TestPattern(ExpanderConformance):
    name = "pattern"

    @pytest.fixture
    def driver(self, graph: Any, budget: Budget) -> Any:
        return opened(PatternExpander(graph=graph, budget=budget))


class TestPpr(ExpanderConformance):
    name = "ppr"

    @pytest.fixture
    def driver(self, graph: Any, budget: Budget) -> Any:
        return opened(PprExpander(graph=graph, budget=budget))


class TestRandom(ExpanderConformance):
    name = "random"

    @pytest.fixture
    def driver(self, graph: Any, budget: Budget) -> Any:
        return opened(RandomExpander(graph=graph, budget=budget))


class TestFrequency(CompleterConformance):
    name = "frequency"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> Any:
        return opened(FrequencyCompleter(graph=graph))

    @pytest.fixture
    def changed(self, graph: OracleGraph) -> Any:
        other = OracleGraph(attrs.evolve(graph.sample, triples=graph.sample.triples[1:]))
        return opened(FrequencyCompleter(graph=opened(other)))
