"""The `mediated` view over a graph without mediators; the tests of srtk-plugin-freebase have some with mediators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_views.mediated import MediatedGraph

from srtk_framework.testing import OracleGraph
from srtk_framework.testing.knowledge_graph import KnowledgeGraphConformance


class TestMediated(KnowledgeGraphConformance):
    name = "mediated"

    @pytest.fixture
    def driver(self) -> Iterator[MediatedGraph]:
        inside = OracleGraph()
        inside.open()
        with closing(MediatedGraph(inside)) as graph:
            graph.open()
            yield graph

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> MediatedGraph:
        return MediatedGraph(LocalGraph(str(tmp_path)))
