"""The drivers keep the contracts of their roles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_septa.fused import FusedCorpus
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.options_reader import OptionsReader
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder

from srtk_framework.testing import (
    CorpusConformance,
    EncoderConformance,
    OracleGraph,
    ReaderConformance,
    SubgraphEncoderConformance,
    ToyEncoder,
)
from srtk_framework.values import Entry, Question, Search, Subgraph


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


class TestOptions(ReaderConformance):
    name = "options"
    chooses = True

    @pytest.fixture
    def driver(self, tmp_path: Path) -> OptionsReader:
        index = ExactIndex(path=str(tmp_path / "index"), encoder=encoder())
        index.create()
        index.add([Entry("Latvia", "Latvia capital Riga"), Entry("Estonia", "Estonia capital Tallinn")])
        index.commit()
        driver = OptionsReader(index=index, encoder=encoder())
        driver.open()
        return driver

    def retrieved(self, question: Question, subgraph: Subgraph) -> Subgraph:
        hits = ((("Latvia", 0.5), ("Estonia", 0.4)), (("Estonia", 0.9),), (), ())
        pairs = zip(question.options, hits, strict=True)
        return attrs.evolve(subgraph, searches=tuple(Search(f"{question.text} {o}", some) for o, some in pairs))

    @pytest.fixture
    def faulty(self, driver: OptionsReader) -> OptionsReader:
        return attrs.evolve(driver, path="nowhere")


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
        return SubgraphCorpus(graph=opened_graph(), templates="nowhere")


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
