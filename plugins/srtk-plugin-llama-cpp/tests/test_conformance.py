"""The llama-cpp generator keeps the contract of its role."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from srtk_plugin_llama_cpp.generator import LlamaCppGenerator

from srtk_framework.testing.generator import GeneratorConformance

pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (pip install xllamacpp)")


class TestLlamaCpp(GeneratorConformance):
    name = "llama-cpp"

    @pytest.fixture
    def driver(self, tiny: Path, writer: Callable[..., LlamaCppGenerator]) -> LlamaCppGenerator:
        return writer(tiny)

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> LlamaCppGenerator:
        return LlamaCppGenerator(model=str(tmp_path / "nowhere.gguf"))
