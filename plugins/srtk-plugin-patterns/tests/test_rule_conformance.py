"""Learnt rules keep the contract of a completer, however they are aggregated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_patterns.rule_application import Aggregation
from srtk_plugin_patterns.rule_completer import PathRuleCompleter, RuleFitSettings

from srtk_framework.roles import TrainingTask
from srtk_framework.testing import OracleGraph
from srtk_framework.testing.completer import CompleterConformance


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learn the rules of the sample graph."""
    place = tmp_path_factory.mktemp("rules")
    graph = OracleGraph()
    graph.open()
    completer = PathRuleCompleter(graph=graph)
    completer.open()
    completer.fit(TrainingTask([], None, place), RuleFitSettings(least_support=1))
    completer.save(place)
    return place


class Learnt:
    """A completer with the rules of the sample graph."""

    aggregation: Aggregation

    @pytest.fixture
    def driver(self, graph: Any, folder: Path) -> Iterator[PathRuleCompleter]:
        completer = PathRuleCompleter(graph=graph, path=str(folder), aggregation=self.aggregation)
        completer.open()
        yield completer
        completer.close()


class TestMax(Learnt, CompleterConformance):
    name = "path-rules"
    aggregation: Aggregation = "max"


class TestNoisyOr(Learnt, CompleterConformance):
    name = "path-rules"
    aggregation: Aggregation = "noisy-or"


class TestClustered(Learnt, CompleterConformance):
    name = "path-rules"
    aggregation: Aggregation = "clustered"
