"""Small trainings that tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_embedding.completer import EmbeddingCompleter
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings

from srtk_framework.roles import TrainingTask

SMALL = {"dimensions": 16, "epochs": 12, "batch_size": 32, "validate_every": 4, "accelerator": "cpu"}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def trained(tmp_path: Path) -> Callable[..., EmbeddingCompleter]:
    """Open and train a completer of a graph, with further settings of the training."""

    def train(graph: Any, model: Any = None, held_out: Any = (), folder: str = "training", **fit: Any) -> Any:
        completer = EmbeddingCompleter(graph=graph, model=model)
        completer.open()
        task = TrainingTask([], None, tmp_path / folder, held_out=held_out)
        completer.fit(task, EmbeddingFitSettings(**{**SMALL, **fit}))
        return completer

    return train
