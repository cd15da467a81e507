"""The sparql graph against the conformance kit: over a server, and over a store on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.vocabulary import Vocabulary

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import SAMPLE, Sample

MEANING = Vocabulary(prefixes={"": "http://example.org/kit/"}, decode=True, noise=("code",))


class TestSparqlStore(KnowledgeGraphConformance):
    name = "sparql"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        """Plain RDF says nothing about triples; what a vocabulary adds is tested with it."""
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def settings(self, kit_store: Path) -> dict[str, Any]:
        return {"endpoint": f"oxigraph:{kit_store}"}

    @pytest.fixture
    def driver(self, settings: dict[str, Any]) -> Iterator[SparqlGraph]:
        graph = SparqlGraph(vocabulary=MEANING, **settings)
        graph.open()
        yield graph
        graph.close()

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> SparqlGraph:
        return SparqlGraph(str(tmp_path))


class TestSparqlServer(TestSparqlStore):
    @pytest.fixture
    def settings(self, kit_server: str) -> dict[str, Any]:
        return {"endpoint": kit_server, "engine": "oxigraph", "names": "scan"}

    @pytest.fixture
    def faulty(self) -> SparqlGraph:
        return SparqlGraph("ftp://example.org/sparql")


class TestSparqlForwardFirst(TestSparqlStore):
    """Incoming steps are asked for only when they are wanted; answers come in pages of forty rows."""

    @pytest.fixture
    def settings(self, kit_store: Path) -> dict[str, Any]:
        return {"endpoint": str(kit_store), "both": False, "limits": SparqlLimits(page=40)}
