"""The ``capitals`` mention detector: capitalised words and quoted text."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles import MentionDetector
from srtk_framework.text import by_form
from srtk_framework.values import Mention


@attrs.define(eq=False)
class CapitalsDetector(MentionDetector):
    """Find names by their form: runs of capitalised words, with small words between them, and quoted text."""

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Find the mentions of each text."""
        return by_form(texts)
