"""The supervisions of this plugin against the checks that every supervision must pass."""

from __future__ import annotations

import pytest
from srtk_plugin_sr.supervision import GoldPath, GoldTriples, NearShortest, ShortestPath

from srtk_framework.testing import OracleGraph, SupervisionConformance


class TestGoldPath(SupervisionConformance):
    name = "gold-path"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> GoldPath:
        driver = GoldPath(graph=graph)
        driver.open()
        return driver


class TestShortestPath(SupervisionConformance):
    name = "shortest-path"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> ShortestPath:
        driver = ShortestPath(graph=graph, threshold=0.0)
        driver.open()
        return driver

    @pytest.fixture
    def faulty(self, graph: OracleGraph) -> ShortestPath:
        return ShortestPath(graph=graph, hops=0)


class TestNearShortest(SupervisionConformance):
    name = "near-shortest"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> NearShortest:
        driver = NearShortest(graph=graph, threshold=0.0)
        driver.open()
        return driver

    @pytest.fixture
    def faulty(self, graph: OracleGraph) -> NearShortest:
        return NearShortest(graph=graph, paths=0)


class TestGoldTriples(SupervisionConformance):
    name = "gold-triples"

    @pytest.fixture
    def driver(self) -> GoldTriples:
        driver = GoldTriples()
        driver.open()
        return driver
