"""The transformers encoder keeps the contract of its role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from srtk_plugin_transformers.encoder import TransformersEncoder

from srtk_framework.testing.encoder import EncoderConformance


class TestTransformersEncoder(EncoderConformance):
    name = "transformers"

    @pytest.fixture
    def texts(self) -> list[str]:
        """Words that the tiny model knows."""
        return ["riga", "what is the capital of latvia"] + ["city " * (i % 40) + "of riga" for i in range(60)]

    @pytest.fixture
    def driver(self, bert: Path) -> Iterator[TransformersEncoder]:
        encoder = TransformersEncoder(model=str(bert), device="cpu", threads=1)
        encoder.open()
        yield encoder
        encoder.close()

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> TransformersEncoder:
        return TransformersEncoder(model=str(tmp_path / "nowhere"), device="cpu")
