"""The drivers keep the contracts of their roles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from srtk_plugin_septa.fused import FusedCorpus
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder

from srtk_framework.testing import (
    CorpusConformance,
    EncoderConformance,
    OracleGraph,
    SubgraphEncoderConformance,
    ToyEncoder,
)


def encoder() -> ToyEncoder:
    made = ToyEncoder(dimensions=64)
    made.open()
    return made


def opened_graph() -> OracleGraph:
    graph = OracleGraph()
    graph.open()
    return graph


class TestGraph(SubgraphEncoderConformance):
    name = "septa-graph"

    @pytest.fixture
    def driver(self, graph: Any) -> Iterator[SeptaGraphEncoder]:
        driver = SeptaGraphEncoder(graph=graph, encoder=encoder())
        driver.open()
        yield driver
        driver.close()

    @pytest.fixture
    def faulty(self, graph: Any) -> SeptaGraphEncoder:
        return SeptaGraphEncoder(graph=graph, encoder=encoder(), path="nowhere")


class TestText(EncoderConformance):
    name = "septa-text"

    @pytest.fixture
    def driver(self) -> SeptaTextEncoder:
        driver = SeptaTextEncoder(encoder=encoder())
        driver.open()
        return driver

    @pytest.fixture
    def faulty(self) -> SeptaTextEncoder:
        return SeptaTextEncoder(encoder=encoder(), path="nowhere")


class TestSubgraphs(CorpusConformance):
    name = "subgraphs"

    @pytest.fixture
    def driver(self) -> SubgraphCorpus:
        driver = SubgraphCorpus(graph=opened_graph(), hops=1, fan=[3])
        driver.open()
        return driver

    @pytest.fixture
    def faulty(self) -> SubgraphCorpus:
        return SubgraphCorpus(graph=opened_graph(), fan=[10])


class TestFused(CorpusConformance):
    name = "fused"

    @pytest.fixture
    def driver(self) -> FusedCorpus:
        graph = opened_graph()
        corpus = SubgraphCorpus(graph=graph, hops=1, fan=[3], centres=["Riga", "Latvia"])
        corpus.open()
        subgraphs = SeptaGraphEncoder(graph=graph, encoder=encoder())
        subgraphs.open()
        driver = FusedCorpus(corpus=corpus, subgraph_encoder=subgraphs, encoder=encoder())
        driver.open()
        return driver
