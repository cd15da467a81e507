"""Conformance of encoders: a float32 matrix whose rows depend on their text alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srtk_framework import roles
from srtk_framework.testing.batches import BatchConformance, Probe, Probes

STRANGE = ('Who said "hello" to <b>her</b> & \\?', "Где находится Рига? 日本国", "\u202ertl\u202c \U0001d50a\n\t")


class EncoderConformance(BatchConformance):
    """Checks an Encoder; rows are compared bit by bit."""

    role = roles.Encoder

    @pytest.fixture
    def texts(self) -> list[str]:
        """Return different texts of different lengths."""
        return ["Riga", "What is the capital of Latvia?"] + [
            f"text {number}" + " and more of it" * (number % 7) for number in range(70)
        ]

    @pytest.fixture
    def probes(self, texts: list[str]) -> Probes:
        """Probe ``encode``."""
        return lambda driver: [Probe("encode", driver.encode, [(text,) for text in texts])]

    def use(self, driver: Any) -> None:
        """Encode a text."""
        driver.encode(["Riga"])

    def test_the_result_is_a_float32_matrix(self, driver: Any, texts: list[str]) -> None:
        """Two dimensions, one row for each text."""
        matrix = driver.encode(texts[:3])
        assert isinstance(matrix, np.ndarray), f"encode returned {type(matrix).__name__}"
        assert matrix.dtype == np.float32, f"encode returned {matrix.dtype}"
        assert matrix.ndim == 2, f"encode returned {matrix.ndim} dimensions"

    def test_an_empty_batch_has_as_many_columns_as_any(self, driver: Any, texts: list[str]) -> None:
        """Its shape is (0, d)."""
        wanted, shape = driver.encode(texts[:1]).shape[1:], driver.encode([]).shape
        assert shape[1:] == wanted, f"an empty batch has the shape {shape}, one text has {wanted[0]} columns"

    def test_rows_are_finite(self, driver: Any, texts: list[str]) -> None:
        """No nan, no infinity."""
        for text in texts[:10]:
            assert np.isfinite(driver.encode([text])).all(), f"the row of {text!r} is not finite"

    def test_different_texts_get_different_rows(self, driver: Any, texts: list[str]) -> None:
        """At least the first two texts do."""
        one, other = driver.encode(texts[:1]), driver.encode(texts[1:2])
        assert not np.array_equal(one, other), f"{texts[0]!r} and {texts[1]!r} have the same row"

    def test_an_empty_text_has_a_row(self, driver: Any) -> None:
        """A finite one, as any text."""
        row = driver.encode([""])
        assert row.shape[0] == 1, f"an empty text has {row.shape[0]} rows"
        assert np.isfinite(row).all(), "the row of an empty text is not finite"

    def test_a_long_text_has_a_row(self, driver: Any) -> None:
        """Longer than any model reads at once."""
        assert np.isfinite(driver.encode(["word " * 2000])).all(), "the row of a long text is not finite"

    def test_quotes_and_other_scripts_are_encoded(self, driver: Any) -> None:
        """No text is an error."""
        for text in STRANGE:
            assert np.isfinite(driver.encode([text])).all(), f"the row of {text!r} is not finite"
