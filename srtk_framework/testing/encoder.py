"""Conformance of encoders: a float32 matrix whose rows depend on their text alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from srtk_framework.roles import Encoder
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.text import fold
from srtk_framework.values import DriverError

STRANGE = ('Who said "hello" to <b>her</b> & \\?', "Где находится Рига? 日本国", "\u202ertl\u202c \U0001d50a\n\t")


RELATED = [(text,) for text in ("born in", "Born in Riga", "born in Tallinn", "born", "in which town was she born?")]


class MatrixConformance(BatchConformance):
    """The checks of all encoders, on their first probe: a float32 matrix with a row for each item."""

    def test_the_result_is_a_float32_matrix(self, driver: Any, probes: Probes) -> None:
        """``encode`` returns a two-dimensional float32 array."""
        matrix = _matrix(probes(driver)[0], 3)
        assert isinstance(matrix, np.ndarray), f"encode returned {type(matrix).__name__}"
        assert matrix.dtype == np.float32, f"encode returned {matrix.dtype}"
        assert matrix.ndim == 2, f"encode returned {matrix.ndim} dimensions"

    def test_an_empty_batch_has_as_many_columns_as_any(self, driver: Any, probes: Probes) -> None:
        """The shape of an empty batch is (0, d)."""
        one, none = (_matrix(probes(driver)[0], size).shape for size in (1, 0))
        assert none[1:] == one[1:], f"an empty batch has the shape {none}, one item has {one[1]} columns"

    def test_rows_are_finite(self, driver: Any, probes: Probes) -> None:
        """No row of a large batch has NaN or infinity."""
        probe = probes(driver)[0]
        for item, row in zip(probe.items, _matrix(probe, None), strict=False):
            assert np.isfinite(row).all(), f"the row of {item!r} is not finite"

    def test_the_folder_of_the_weights_is_there(self, driver: Any) -> None:
        """``weights_folder`` returns a folder that exists, or None."""
        folder = driver.weights_folder()
        assert folder is None or (isinstance(folder, Path) and folder.is_dir()), f"weights_folder returned {folder!r}"


def _matrix(probe: Probe, size: int | None) -> Any:
    return probe.method(*probe.columns(probe.items[:size]))


class EncoderConformance(MatrixConformance):
    """Checks an Encoder; rows are compared bit by bit."""

    role = Encoder

    @pytest.fixture
    def texts(self) -> list[str]:
        """Return different texts of different lengths."""
        return ["Riga", "What is the capital of Latvia?"] + [
            f"text {number}" + " and more of it" * (number % 7) for number in range(70)
        ]

    @pytest.fixture
    def probes(self, texts: list[str]) -> Probes:
        """Call ``encode`` with ``texts``."""
        return lambda driver: [Probe("encode", driver.encode, [(text,) for text in texts], related=RELATED)]

    def use(self, driver: Any) -> None:
        """Encode a text."""
        driver.encode(["Riga"])

    def test_different_texts_get_different_rows(self, driver: Any, texts: list[str]) -> None:
        """The first two texts have different rows."""
        one, other = driver.encode(texts[:1]), driver.encode(texts[1:2])
        assert not np.array_equal(one, other), f"{texts[0]!r} and {texts[1]!r} have the same row"

    def test_an_empty_text_has_a_row(self, driver: Any) -> None:
        """An empty text has a finite row."""
        row = driver.encode([""])
        assert row.shape[0] == 1, f"an empty text has {row.shape[0]} rows"
        assert np.isfinite(row).all(), "the row of an empty text is not finite"

    def test_a_long_text_has_a_row(self, driver: Any) -> None:
        """A text longer than any model reads at once has a finite row."""
        assert np.isfinite(driver.encode(["word " * 2000])).all(), "the row of a long text is not finite"

    def test_quotes_and_other_scripts_are_encoded(self, driver: Any) -> None:
        """Texts with quotes, tags and other scripts have finite rows."""
        for text in STRANGE:
            assert np.isfinite(driver.encode([text])).all(), f"the row of {text!r} is not finite"


@attrs.define(eq=False)
class ToyEncoder(Encoder):
    """Count the runs of letters of each folded text in hashed columns; rows have length 1.

    Attributes:
        dimensions: Number of columns.
        letters: Length of the runs.
    """

    dimensions: int = 256
    letters: int = 3

    def open(self) -> None:
        """Refuse settings that describe no matrix."""
        if self.dimensions < 1 or self.letters < 1:
            raise DriverError("dimensions and letters must be 1 or more")

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Hash each run of letters to a column."""
        matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(matrix, texts, strict=True):
            padded = f" {fold(text)} "
            for start in range(max(len(padded) - self.letters + 1, 1)):
                run = padded[start : start + self.letters].encode("utf-8", "replace")
                row[zlib.crc32(run) % self.dimensions] += 1
            row /= np.sqrt(np.sum(row * row))
        return matrix


class ToyEncoderCase(EncoderConformance):
    """The toy encoder keeps the contract of an encoder."""

    name = "toy"

    @pytest.fixture
    def driver(self) -> Iterator[ToyEncoder]:
        """Open an encoder."""
        encoder = ToyEncoder()
        encoder.open()
        yield encoder
        encoder.close()

    @pytest.fixture
    def faulty(self) -> ToyEncoder:
        """Return an encoder without columns."""
        return ToyEncoder(dimensions=0)

    def test_texts_that_share_letters_are_near_each_other(self, driver: ToyEncoder) -> None:
        """Two forms of one word are closer than two words."""
        city, cities, other = driver.encode(["capital city", "capital cities", "boundary"])
        assert city @ cities > city @ other


SUMMARY = "An encoder by hashed letters"

RECIPE = """\
encoder: {use: toy, dimensions: 256}
path_scorer: {use: dense}
"""
