"""The dbpedia graph against the conformance kit: over a server, and over a store on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from srtk_plugin_dbpedia.graph import DbpediaGraph
from srtk_plugin_sparql.vocabulary import Vocabulary

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import SAMPLE, Sample

RESOURCE = "http://dbpedia.org/resource/"
MEANING = Vocabulary(
    prefixes={"": RESOURCE},
    decode=True,
    relations=(RESOURCE,),
    noise=("code",),
)


class TestDbpediaServer(KnowledgeGraphConformance):
    name = "dbpedia"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        """Plain RDF says nothing about triples."""
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def driver(self, kit_server: str) -> Iterator[DbpediaGraph]:
        graph = DbpediaGraph(endpoint=kit_server, engine="oxigraph", vocabulary=MEANING, names="scan")
        graph.open()
        yield graph
        graph.close()

    @pytest.fixture
    def faulty(self) -> DbpediaGraph:
        return DbpediaGraph(endpoint="ftp://example.org/sparql")


class TestDbpediaStore(KnowledgeGraphConformance):
    name = "dbpedia"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[DbpediaGraph]:
        graph = DbpediaGraph(endpoint=str(kit_store), vocabulary=MEANING, names="scan", both=False)
        graph.open()
        yield graph
        graph.close()

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> DbpediaGraph:
        return DbpediaGraph(endpoint=str(tmp_path))
