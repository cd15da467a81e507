"""The ``capitals`` mention detector: capitalised words and quoted text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import MentionDetector
from srtk_framework.text import MOST_WORDS, best_apart, by_form
from srtk_framework.values import Mention, at_least, not_empty


@attrs.define(eq=False)
class CapitalsDetector(MentionDetector):
    """Find names by their form: runs of capitalised words, with small words between them, and quoted text.

    Attributes:
        kinds: Kinds of mentions: capitals, quotes.
        max_words: Maximum number of words of a mention.
        overlaps: keep: all mentions. best: of overlapping ones the best, then the longest.
    """

    kinds: Sequence[Literal["capitals", "quotes"]] = attrs.field(
        default=("capitals", "quotes"), validator=not_empty("name capitals, quotes or both")
    )
    max_words: int = attrs.field(default=MOST_WORDS, validator=at_least(1))
    overlaps: Literal["keep", "best"] = "keep"

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Find the mentions of each text."""
        rows = by_form(texts, self.kinds, self.max_words)
        return [best_apart(row) for row in rows] if self.overlaps == "best" else rows
