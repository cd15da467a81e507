"""Vectors and weights that learn on a GPU, beside a CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from srtk_plugin_transformers.encoder import TransformersEncoder

Make = Callable[..., TransformersEncoder]
TEXTS = ["what is the capital of latvia", "riga", "who directed the film"] * 20


@pytest.fixture(autouse=True)
def gpu() -> None:
    if not pytest.importorskip("torch").cuda.is_available():
        pytest.skip("there is no GPU that CUDA can use")


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("bfloat16", 0.03)])
def test_vectors_on_a_gpu_are_those_on_a_cpu(make: Make, bert: Path, dtype: str, tolerance: float) -> None:
    wanted = make(bert, device="cpu").encode(TEXTS)
    np.testing.assert_allclose(make(bert, device="cuda", dtype=dtype).encode(TEXTS), wanted, atol=tolerance)


@pytest.mark.gpu
def test_a_row_on_a_gpu_does_not_depend_on_the_others(make: Make, bert: Path) -> None:
    encoder = make(bert, device="cuda")
    assert np.array_equal(encoder.encode(TEXTS)[:1], encoder.encode(TEXTS[:1]))


@pytest.mark.gpu
def test_a_copy_learns_on_a_gpu_and_the_encoder_takes_its_weights(make: Make, bert: Path) -> None:
    import torch

    encoder = make(bert, device="cuda", dtype="float32")
    before, module = encoder.encode(TEXTS), encoder.learner().to("cuda")
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    module(module.tokenize(TEXTS)).sum().backward()
    optimizer.step()
    encoder.take(module)
    assert not np.allclose(encoder.encode(TEXTS), before, atol=1e-3)
