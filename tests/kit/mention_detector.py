"""Detectors that each break one rule of MentionDetector."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.mention_detector import MentionDetectorConformance, ToyMentionDetector
from srtk_framework.text import fold
from srtk_framework.values import Mention

GOOD = ToyMentionDetector


class Checked(MentionDetectorConformance):
    """Tests one of the detectors."""

    under_test: ClassVar[type[ToyMentionDetector]] = GOOD

    @pytest.fixture
    def driver(self) -> ToyMentionDetector:
        """Open it."""
        return opened(self.under_test())

    @pytest.fixture
    def faulty(self) -> ToyMentionDetector:
        """Ask for mentions without words."""
        return self.under_test(longest=0)


def _each(change: Any) -> Any:
    """Change every row."""

    def method(self: Any, call: Any, texts: Any) -> Any:
        return [change(text, row) for text, row in zip(texts, call(texts), strict=True)]

    return method


def _nothing(text: str, row: list[Mention]) -> list[Mention]:
    return []


def _twice(text: str, row: list[Mention]) -> list[Mention]:
    return [mention for mention in row for _ in range(2)]


def _past_the_end(text: str, row: list[Mention]) -> list[Mention]:
    return [attrs.evolve(m, end=m.end + 1) if m.end == len(text) and text.isascii() else m for m in row]


def _with_blank(text: str, row: list[Mention]) -> list[Mention]:
    if not text.isascii() or text.endswith("?"):
        return row
    return [attrs.evolve(m, start=m.start - 1) if m.start else m for m in row]


def _bytes(text: str, row: list[Mention]) -> list[Mention]:
    if '"' in text or "Где" in text or "\u202e" in text or "\u0323" in text:
        return row
    return [attrs.evolve(m, start=len(text[: m.start].encode()), end=len(text[: m.end].encode())) for m in row]


def _without_marks(text: str, row: list[Mention]) -> list[Mention]:
    return [attrs.evolve(m, end=m.start + len(text[m.start : m.end].rstrip("\u0301\u0323"))) for m in row]


def _from_the_end(text: str, row: list[Mention]) -> list[Mention]:
    return row[::-1]


def _above_one(text: str, row: list[Mention]) -> list[Mention]:
    return [attrs.evolve(mention, score=1.5) for mention in row]


def _blanks(text: str, row: list[Mention]) -> list[Mention]:
    return row if text else [Mention(0, 0)]


def _quotes(text: str, row: list[Mention]) -> list[Mention]:
    if '"' in text:
        raise ValueError("a quote")
    return row


def _open_badly(self: Any, call: Any) -> None:
    if self.longest < 1:
        raise ValueError(self.longest)
    call()


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "detect"),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", detect=kept_under(fold)),
    changed(GOOD, "test_a_failure_is_a_driver_error", open=_open_badly),
    *(
        changed(GOOD, check, detect=_each(change))
        for check, change in {
            "test_a_name_that_the_detector_finds_has_its_exact_span": _nothing,
            "test_mentions_are_mentions_and_each_span_comes_once": _twice,
            "test_spans_lie_inside_of_the_text": _past_the_end,
            "test_spans_hold_words_without_blanks_around": _with_blank,
            "test_spans_count_characters_of_the_original_text": _bytes,
            "test_spans_do_not_part_a_letter_from_its_marks": _without_marks,
            "test_mentions_are_ordered_by_start_and_end": _from_the_end,
            "test_scores_are_above_0_and_at_most_1_and_rounded": _above_one,
            "test_a_text_without_words_has_no_spans": _blanks,
            "test_quotes_and_other_scripts_are_no_error": _quotes,
        }.items()
    ),
]
publish(__name__, globals(), FAULTS)
