"""Mask fillers that each break one rule of MaskFiller."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.mask_filler import NO_TOKEN, MaskFillerConformance, ToyMaskFiller
from srtk_framework.values import DriverError, TokenScore

GOOD = ToyMaskFiller


class Checked(MaskFillerConformance):
    """Tests one of the fillers."""

    under_test: ClassVar[type[ToyMaskFiller]] = GOOD

    @pytest.fixture
    def driver(self) -> ToyMaskFiller:
        """Open it."""
        return opened(self.under_test())


def _each_gap(change: Any) -> Any:
    def method(self: Any, call: Any, texts: Any, k: int) -> Any:
        return [[change(list(row), k) for row in gaps] for gaps in call(texts, k)]

    return method


def _one_list(self: Any, call: Any, texts: Any, k: int) -> Any:
    return [gaps[:1] for gaps in call(texts, k)]


def _not_the_first(self: Any, call: Any, texts: Any, k: int) -> Any:
    return [[row[-k:] for row in gaps] for gaps in call(texts, k + 1 if k == 2 else k)]


def _halved(row: Any, k: int) -> Any:
    return [TokenScore(token, round(score / 2, 4)) for token, score in row]


def _all_halved(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
    return [row / 2 for row in call(texts, fillings)]


def _shifted(row: Any, k: int) -> Any:
    return [TokenScore(token, round(score - 1, 4)) for token, score in row]


def _infinite(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
    rows = zip(texts, call(texts, fillings), strict=True)
    return [row - math.inf if text.text.count("_") > 1 else row for text, row in rows]


def _summed(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
    return [row.sum(axis=1, keepdims=True) if len(row) else row for row in call(texts, fillings)]


def _cuts_fillings(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
    gaps = [text.text.count("_") for text in texts]
    return call(texts, [[row[:count] for row in rows] for count, rows in zip(gaps, fillings, strict=True)])


def _knows_all(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
    known = [[tuple("riga" if t == NO_TOKEN else t for t in row) for row in rows] for rows in fillings]
    return call(texts, known)


def _needs_fillings(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
    if not all(map(len, fillings)):
        raise DriverError("no fillings")
    return call(texts, fillings)


def _where(spoils: Any) -> Any:
    def method(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
        rows = zip(texts, call(texts, fillings), strict=True)
        return [np.full_like(row, np.nan) if spoils(text) else row for text, row in rows]

    return method


def _reads_on(self: Any, call: Any, texts: Any, fillings: Any) -> Any:
    rows = zip(texts, call(texts, fillings), strict=True)
    return [row - len(text.context) / 1e5 if len(text.context) > 10_000 else row for text, row in rows]


def _marked(self: Any, call: Any, texts: Any) -> Any:
    return [row if text else ["."] for text, row in zip(texts, call(texts), strict=True)]


def _by_text(text: Any, fillings: Any) -> Any:
    return text.text, fillings


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "rate", width=2),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", rate=kept_under(_by_text)),
    changed(GOOD, "test_the_mark_is_a_text_without_blanks", mask=lambda self, call: " _"),
    changed(GOOD, "test_each_gap_gets_its_tokens", fill=_one_list),
    changed(GOOD, "test_each_gap_gets_its_tokens", fill=_each_gap(lambda row, k: [])),
    changed(GOOD, "test_the_best_tokens_come_first", fill=_each_gap(lambda row, k: row[::-1])),
    changed(GOOD, "test_the_best_tokens_come_first", fill=_not_the_first),
    changed(GOOD, "test_scores_are_logarithms_of_probabilities", fill=_each_gap(_halved), rate=_all_halved),
    changed(GOOD, "test_rate_gives_the_scores_of_fill", fill=_each_gap(_shifted)),
    changed(GOOD, "test_every_token_of_a_filling_has_a_score", rate=_infinite),
    changed(GOOD, "test_every_token_of_a_filling_has_a_score", rate=_summed),
    changed(GOOD, "test_a_text_without_fillings_gets_no_scores", rate=_needs_fillings),
    changed(GOOD, "test_a_filling_for_other_gaps_is_refused", rate=_cuts_fillings),
    changed(GOOD, "test_an_unknown_token_is_refused", rate=_knows_all),
    changed(GOOD, "test_a_long_context_hides_no_gap", rate=_where(lambda text: len(text.context) > 10_000)),
    changed(GOOD, "test_a_long_context_hides_no_gap", rate=_reads_on),
    changed(GOOD, "test_a_long_text_hides_no_gap", rate=_where(lambda text: len(text.text) > 10_000)),
    changed(GOOD, "test_quotes_and_other_scripts_are_read", rate=_where(lambda text: '"' in text.context)),
    changed(GOOD, "test_an_empty_text_has_no_tokens", tokens=_marked),
]
publish(__name__, globals(), FAULTS)
