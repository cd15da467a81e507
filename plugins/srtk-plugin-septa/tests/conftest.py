"""A country graph, an encoder that learns, and what keeps trainings small."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.roles import Encoder

FACTS = [
    ("riga", "capitalOf", "latvia"),
    ("tallinn", "capitalOf", "estonia"),
    ("ann", "bornIn", "riga"),
    ("bob", "bornIn", "riga"),
    ("ann", "worksIn", "tallinn"),
    ("latvia", "borders", "estonia"),
]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def countries() -> MemoryGraph:
    labels = {id_: id_.title() for fact in FACTS for id_ in (fact[0], fact[2])}
    made = MemoryGraph(triples=FACTS, labels=labels)
    made.open()
    return made


@attrs.define(eq=False)
class LearningEncoder(Encoder):
    """The mean of a vector for each run of letters, which a training can change.

    Attributes:
        dimensions: Number of vectors, and of their numbers.
    """

    dimensions: int = 64
    _module: Any = attrs.field(init=False, default=None)

    def open(self) -> None:
        self._module = self.learner()

    def encode(self, texts: Sequence[str]) -> Any:
        import torch

        with torch.no_grad():
            return np.stack([self._module([row])[0].numpy() for row in self._module.tokenize(texts)])

    def learner(self) -> Any:
        import torch

        size = self.dimensions

        class Runs(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.rows = torch.nn.Embedding.from_pretrained(torch.eye(size), freeze=False)

            def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
                spaced = [f" {text} " for text in texts]
                return [[zlib.crc32(t[i : i + 3].encode()) % size for i in range(len(t) - 1)] for t in spaced]

            def forward(self, rows: Sequence[Sequence[int]]) -> Any:
                at = self.rows.weight.device
                means = torch.stack([self.rows(torch.tensor(row, device=at)).mean(0) for row in rows])
                return torch.nn.functional.normalize(means, dim=1)

        made = Runs()
        if self._module is not None:
            made.load_state_dict(self._module.state_dict())
        return made

    def take(self, module: Any) -> None:
        self._module.load_state_dict(module.state_dict())

    def fingerprint(self) -> str:
        return f"learning({zlib.crc32(self._module.rows.weight.detach().numpy().tobytes())})"


@pytest.fixture
def learning() -> LearningEncoder:
    made = LearningEncoder()
    made.open()
    return made


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def accelerator(request: pytest.FixtureRequest) -> str:
    torch = pytest.importorskip("torch")
    if request.param == "gpu" and not torch.cuda.is_available():
        pytest.skip("there is no GPU that CUDA can use")
    return str(request.param)
