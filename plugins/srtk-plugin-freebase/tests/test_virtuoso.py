"""The graph freebase over Virtuoso, where it is installed: the engine that Freebase is usually loaded into."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_freebase.graph import FreebaseGraph

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import Sample

SERVERS = Path(__file__).parents[3] / "benchmarks/loopback/servers.py"


@pytest.fixture(scope="module")
def virtuoso(kit_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a Virtuoso server over the kit's sample with mediators."""
    if not SERVERS.is_file():
        pytest.skip("benchmarks/loopback/servers.py, which starts Virtuoso, is not here")
    servers: Any = importlib.import_module("benchmarks.loopback.servers")
    lacks: Callable[[], str | None] = servers.virtuoso_lacks
    if lacks():
        pytest.skip(f"Virtuoso is not installed: {lacks()}")
    with servers.virtuoso([kit_store.parent / "graph.nt"], tmp_path_factory.mktemp("virtuoso")) as url:
        yield url


@pytest.mark.slow
class TestFreebaseVirtuoso(KnowledgeGraphConformance):
    name = "freebase"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls, kit: Any) -> Sample:
        return kit.sample

    @pytest.fixture
    def driver(self, virtuoso: str) -> Iterator[FreebaseGraph]:
        with closing(FreebaseGraph(virtuoso, names="scan")) as graph:
            graph.open()
            yield graph
