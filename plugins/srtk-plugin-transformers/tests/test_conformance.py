"""The encoder and the generator keep the contracts of their roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from srtk_plugin_transformers.encoder import TransformersEncoder
from srtk_plugin_transformers.generator import TransformersGenerator

from srtk_framework.testing.encoder import EncoderConformance
from srtk_framework.testing.generator import GeneratorConformance


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


class TestTransformersGenerator(GeneratorConformance):
    name = "transformers"

    @pytest.fixture(params=["gpt", "writing_t5"])
    def driver(
        self, request: pytest.FixtureRequest, writer: Callable[..., TransformersGenerator]
    ) -> TransformersGenerator:
        return writer(request.getfixturevalue(request.param))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> TransformersGenerator:
        return TransformersGenerator(model=str(tmp_path / "nowhere"), device="cpu")
