"""The sparql graph against the conformance kit: over a server, and over a store on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.vocabulary import Vocabulary

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import SAMPLE, Sample

MEANING = Vocabulary(prefixes={"": "http://example.org/kit/"}, decode=True, noise=("code",))


class TestSparqlServer(KnowledgeGraphConformance):
    name = "sparql"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        """Plain RDF says nothing about triples; what a vocabulary adds is tested with it."""
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def driver(self, kit_server: str) -> Iterator[SparqlGraph]:
        graph = SparqlGraph(kit_server, engine="oxigraph", vocabulary=MEANING, names="scan")
        graph.open()
        yield graph
        graph.close()

    @pytest.fixture
    def faulty(self) -> SparqlGraph:
        return SparqlGraph("ftp://example.org/sparql")


class TestSparqlStore(KnowledgeGraphConformance):
    name = "sparql"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[SparqlGraph]:
        graph = SparqlGraph(f"oxigraph:{kit_store}", vocabulary=MEANING)
        graph.open()
        yield graph
        graph.close()

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> SparqlGraph:
        return SparqlGraph(str(tmp_path))


class TestSparqlForwardFirst(TestSparqlStore):
    """Incoming steps are asked for only when they are wanted; answers come in pages of three rows."""

    name = "sparql"

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[SparqlGraph]:
        from srtk_plugin_sparql.limits import Limits

        graph = SparqlGraph(str(kit_store), vocabulary=MEANING, both=False, limits=Limits(page=3))
        graph.open()
        yield graph
        graph.close()
