"""The encoder, the generator and the mask fillers keep the contracts of their roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from srtk_plugin_transformers.cloze import ClozeMaskFiller
from srtk_plugin_transformers.encoder import TransformersEncoder
from srtk_plugin_transformers.generator import TransformersGenerator
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller

from srtk_framework.testing.encoder import EncoderConformance
from srtk_framework.testing.generator import GeneratorConformance, ToyGenerator
from srtk_framework.testing.mask_filler import MaskFillerConformance


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


class TestTransformersMaskFiller(MaskFillerConformance):
    name = "masked-lm"
    labels = ("riga", "tallinn", "capital of latvia")

    @pytest.fixture
    def driver(self, masked_bert: Path) -> Iterator[TransformersMaskFiller]:
        filler = TransformersMaskFiller(model=str(masked_bert), device="cpu", threads=1)
        filler.open()
        yield filler
        filler.close()

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> TransformersMaskFiller:
        return TransformersMaskFiller(model=str(tmp_path / "nowhere"), device="cpu")


class TestClozeMaskFiller(MaskFillerConformance):
    name = "cloze"
    labels = ("riga", "tallinn", "new york")
    gaps = 1

    @pytest.fixture(params=[(), ("riga", "tallinn", "new york")])
    def driver(self, request: pytest.FixtureRequest) -> Iterator[ClozeMaskFiller]:
        filler = ClozeMaskFiller(generator=ToyGenerator(), candidates=request.param)
        filler.open()
        yield filler
        filler.close()

    @pytest.fixture
    def faulty(self) -> ClozeMaskFiller:
        return ClozeMaskFiller(generator=ToyGenerator(), candidates=("riga", "riga"))
