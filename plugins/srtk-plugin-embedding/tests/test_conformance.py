"""Trained embeddings keep the contract of a completer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_embedding.completer import EmbeddingCompleter
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_embedding.scoring import Kind

from srtk_framework.roles import TrainingTask
from srtk_framework.testing import OracleGraph
from srtk_framework.testing.completer import CompleterConformance

SETTINGS = EmbeddingFitSettings(dimensions=16, epochs=6, batch_size=64, validate_every=6, accelerator="cpu")


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Kind], Path]:
    """Train an embedding of the sample graph with a scoring function, once."""

    @cache
    def train(model: Kind) -> Path:
        place = tmp_path_factory.mktemp(model)
        graph = OracleGraph()
        graph.open()
        completer = EmbeddingCompleter(graph=graph, model=model)
        completer.open()
        completer.fit(TrainingTask([], None, place), SETTINGS)
        completer.save(place / "model")
        return place / "model"

    return train


class Trained:
    """A completer that was trained with one scoring function."""

    model: Kind

    @pytest.fixture
    def driver(self, graph: Any, folders: Callable[[Kind], Path]) -> Iterator[EmbeddingCompleter]:
        completer = EmbeddingCompleter(graph=graph, path=str(folders(self.model)))
        completer.open()
        yield completer
        completer.close()


class TestComplEx(Trained, CompleterConformance):
    name = "embedding"
    model: Kind = "complex"


class TestRotatE(Trained, CompleterConformance):
    name = "embedding"
    model: Kind = "rotate"


class TestHolE(Trained, CompleterConformance):
    name = "embedding"
    model: Kind = "hole"
