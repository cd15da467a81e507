"""The graphs freebase and mediated against the conformance kit, whose relations partly lead through mediators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_freebase.graph import FreebaseGraph
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_views.mediated import MediatedGraph

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import Sample


class TestFreebaseServer(KnowledgeGraphConformance):
    name = "freebase"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls, kit: Any) -> Sample:
        """Some triples of this sample are two in the store."""
        return kit.sample

    @pytest.fixture
    def driver(self, kit_store: Path, serve: Callable[[Path], str]) -> Iterator[FreebaseGraph]:
        with closing(FreebaseGraph(serve(kit_store), engine="oxigraph", names="scan")) as graph:
            graph.open()
            yield graph

    @pytest.fixture
    def faulty(self) -> FreebaseGraph:
        return FreebaseGraph("ftp://example.org/sparql")


class TestFreebaseStore(TestFreebaseServer):
    """Embedded, both directions at once, answers in small pages."""

    name = "freebase"

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[FreebaseGraph]:
        with closing(FreebaseGraph(f"oxigraph:{kit_store}", both=True, limits=SparqlLimits(page=50))) as graph:
            graph.open()
            yield graph


class TestFreebaseSlashes(TestFreebaseServer):
    """Ids as in FB15k."""

    name = "freebase"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls, kit: Any) -> Sample:
        return kit.slashed()

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[FreebaseGraph]:
        with closing(FreebaseGraph(str(kit_store), ids="slash", limits=SparqlLimits(page=40))) as graph:
            graph.open()
            yield graph


class TestFreebaseKept(TestFreebaseServer):
    """Mediators stay nodes."""

    name = "freebase"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls, kit: Any) -> Sample:
        return attrs.evolve(kit.sample, triples=tuple(sorted(kit.rows)), labels=kit.labels, qualifiers={})

    @pytest.fixture
    def driver(self, kit_store: Path) -> Iterator[FreebaseGraph]:
        with closing(FreebaseGraph(str(kit_store), mediators="keep")) as graph:
            graph.open()
            yield graph


class TestMediated(KnowledgeGraphConformance):
    name = "mediated"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls, kit: Any) -> Sample:
        """Some triples of this sample are two in the graph inside."""
        return kit.sample

    @pytest.fixture
    def driver(self, kit: Any) -> Iterator[MediatedGraph]:
        inside = MemoryGraph(
            triples=kit.rows, labels=kit.labels, aliases=kit.aliases, type_relations=["type.object.type"]
        )
        with closing(MediatedGraph(inside)) as graph:
            graph.open()
            yield graph

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> MediatedGraph:
        return MediatedGraph(FreebaseGraph(str(tmp_path)))
