"""Trained completers keep the contract of their role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_patterns.walk_completer import PathWalkCompleter, PathWalkFitSettings

from srtk_framework.roles import TrainingTask
from srtk_framework.testing import OracleGraph
from srtk_framework.testing.completer import CompleterConformance


@pytest.fixture(scope="session")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train on the sample graph, once."""
    place = tmp_path_factory.mktemp("walks")
    graph = OracleGraph()
    graph.open()
    completer = PathWalkCompleter(graph=graph)
    completer.open()
    completer.fit(TrainingTask([], None, place), PathWalkFitSettings(least=1))
    completer.save(place / "model")
    return place / "model"


class TestPathWalk(CompleterConformance):
    name = "path-walk"

    @pytest.fixture
    def driver(self, graph: Any, walks: Path) -> Iterator[PathWalkCompleter]:
        completer = PathWalkCompleter(graph=graph, path=str(walks))
        completer.open()
        yield completer
        completer.close()
