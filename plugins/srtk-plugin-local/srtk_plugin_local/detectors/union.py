"""The ``union`` mention detector: the mentions of several detectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import MentionDetector
from srtk_framework.text import best_apart
from srtk_framework.values import Mention, not_empty


@attrs.define(eq=False)
class UnionDetector(MentionDetector):
    """Merge the mentions of several detectors; a span found by several has the best of their scores.

    Attributes:
        detectors: The detectors; in a tie, the first detector gives the kind.
        overlaps: keep: all mentions. best: of overlapping mentions the best, then the longest.
    """

    detectors: Sequence[MentionDetector] = attrs.field(validator=not_empty("name at least one"))
    overlaps: Literal["keep", "best"] = "keep"

    def fingerprint(self) -> str:
        """Identify the detectors."""
        inner = ", ".join(detector.fingerprint() for detector in self.detectors)
        return f"UnionDetector([{inner}], {self.overlaps})"

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Find the mentions of each text by all detectors."""
        rows = zip(*(detector.detect(texts) for detector in self.detectors), strict=True)
        return [self._merged(row) for row in rows]

    def _merged(self, answers: Sequence[Sequence[Mention]]) -> list[Mention]:
        best: dict[tuple[int, int], Mention] = {}
        for mention in (mention for answer in answers for mention in answer):
            span = (mention.start, mention.end)
            if span not in best or best[span].score < mention.score:
                best[span] = mention
        found = [best[span] for span in sorted(best)]
        return best_apart(found) if self.overlaps == "best" else found
