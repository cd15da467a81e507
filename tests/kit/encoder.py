"""Encoders that each break one rule of Encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.encoder import EncoderConformance, ToyEncoder

GOOD = ToyEncoder


class Checked(EncoderConformance):
    """Tests one of the encoders."""

    under_test: ClassVar[type[ToyEncoder]] = GOOD

    @pytest.fixture
    def driver(self) -> ToyEncoder:
        """Open it."""
        return opened(self.under_test())


def _double(self: Any, call: Any, texts: Any) -> Any:
    return call(texts).astype(np.float64)


def _no_columns(self: Any, call: Any, texts: Any) -> Any:
    return call(texts) if texts else np.zeros((0, 0), dtype=np.float32)


def _infinite(self: Any, call: Any, texts: Any) -> Any:
    matrix = call(texts)
    for i, text in enumerate(texts):
        if text == "Riga":
            matrix[i, 0] = np.inf
    return matrix


def _constant(self: Any, call: Any, texts: Any) -> Any:
    return np.ones_like(call(texts))


def _refuses(refused: Any) -> Any:
    def method(self: Any, call: Any, texts: Any) -> Any:
        if any(refused(text) for text in texts):
            raise ValueError("this text is not encoded")
        return call(texts)

    return method


def _one_row(self: Any, call: Any, texts: Any) -> Any:
    return call(texts or [""])


FAULTS: list[Fault] = [
    changed(
        GOOD,
        "test_no_answer_depends_on_what_was_asked_before",
        encode=kept_under(lambda text: text.lower().split()[:1] or text),
    ),
    *(f for f in batch_faults(GOOD, "encode") if f.check != "test_an_empty_batch_gets_an_empty_answer"),
    changed(GOOD, "test_an_empty_batch_gets_an_empty_answer", encode=_one_row),
    changed(GOOD, "test_the_result_is_a_float32_matrix", encode=_double),
    changed(GOOD, "test_an_empty_batch_has_as_many_columns_as_any", encode=_no_columns),
    changed(GOOD, "test_rows_are_finite", encode=_infinite),
    changed(GOOD, "test_different_texts_get_different_rows", encode=_constant),
    changed(GOOD, "test_the_folder_of_the_weights_is_there", weights_folder=lambda self, call: Path("nowhere")),
    changed(GOOD, "test_an_empty_text_has_a_row", encode=_refuses(lambda text: not text)),
    changed(GOOD, "test_a_long_text_has_a_row", encode=_refuses(lambda text: len(text) > 5000)),
    changed(GOOD, "test_quotes_and_other_scripts_are_encoded", encode=_refuses(lambda text: '"' in text)),
]
publish(__name__, globals(), FAULTS)
