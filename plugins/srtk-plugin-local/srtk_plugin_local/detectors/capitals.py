"""The ``capitals`` mention detector: capitalised words and quoted text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import MentionDetector
from srtk_framework.text import MOST_WORDS, best_apart, by_form
from srtk_framework.values import Mention


@attrs.define(eq=False)
class CapitalsDetector(MentionDetector):
    """Find names by their form: runs of capitalised words, with small words between them, and quoted text.

    Attributes:
        kinds: Kinds of mentions: capitals, quotes.
        max_words: Maximum number of words of a mention.
        overlaps: keep: all mentions. best: of overlapping ones the best, then the longest.
    """

    kinds: Sequence[Literal["capitals", "quotes"]] = ("capitals", "quotes")
    max_words: int = MOST_WORDS
    overlaps: Literal["keep", "best"] = "keep"

    def __attrs_post_init__(self) -> None:
        if not self.kinds:
            raise ValueError("kinds is empty; name capitals, quotes or both")
        if self.max_words < 1:
            raise ValueError(f"max_words must be at least 1, not {self.max_words}")

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Find the mentions of each text."""
        rows = by_form(texts, self.kinds, self.max_words)
        return [best_apart(row) for row in rows] if self.overlaps == "best" else rows
