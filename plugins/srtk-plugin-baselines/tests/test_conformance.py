"""The baselines keep the contract of their role."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_baselines.pattern import PatternExpander
from srtk_plugin_baselines.ppr import PprExpander
from srtk_plugin_baselines.random_triples import RandomExpander

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
