"""The encoder keeps the contract of its role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from srtk_plugin_onnx.encoder import OnnxEncoder

from srtk_framework.testing.encoder import EncoderConformance


class TestOnnxEncoder(EncoderConformance):
    name = "onnx"

    @pytest.fixture
    def texts(self) -> list[str]:
        """Words that the small model knows."""
        return ["riga", "what is the capital of latvia"] + ["city " * (i % 40) + "of riga" for i in range(60)]

    @pytest.fixture
    def driver(self, bert: Path) -> Iterator[OnnxEncoder]:
        encoder = OnnxEncoder(model=str(bert), threads=1)
        encoder.open()
        yield encoder
        encoder.close()

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> OnnxEncoder:
        return OnnxEncoder(model=str(tmp_path / "nowhere"))
