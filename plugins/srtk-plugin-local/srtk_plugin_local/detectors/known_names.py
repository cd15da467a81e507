"""Base of the detectors of known names: the runs of words of texts that a dictionary contains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import MentionDetector
from srtk_framework.text import best_apart
from srtk_framework.values import Mention, keys_of, rounded, share
from srtk_plugin_local.dictionary.stop_words import STOP_WORDS, FunctionWords

# Words of a name: longer names are titles of works, and each further word costs another look-up for each word.
_MOST_WORDS = 12


@attrs.define(eq=False)
class KnownNamesDetector(MentionDetector):
    """Find the runs of words that are known names, also in lower case.

    Attributes:
        overlaps: keep: all mentions. best: of overlapping mentions the best, then the longest.
        languages: Languages of function words, which are not names in lower case: de, en, es, fr, it, nl, pt; by
            default the language of each text, by its function words.
        min_score: Minimum score of a mention: how much the words look like a name in their text.
    """

    overlaps: Literal["keep", "best"] = attrs.field(default="keep", kw_only=True)
    languages: Sequence[str] | None = attrs.field(default=None, validator=keys_of(tuple(STOP_WORDS)), kw_only=True)
    min_score: float = attrs.field(default=0.0, validator=share, kw_only=True)
    _words: FunctionWords = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._words = FunctionWords(self.languages)

    @abstractmethod
    def _known(self, names: Sequence[str]) -> Sequence[bool]:
        """Return for each folded name whether it is known."""

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Find the known names of all texts with one lookup; mentions are of the kind ``name``."""
        parsed = [self._words.parse(text) for text in texts]
        spans = [words.spans(_MOST_WORDS) for words in parsed]
        names = list(dict.fromkeys(span[0] for row in spans for span in row))
        good = {name for name, is_known in zip(names, self._known(names), strict=True) if is_known}
        rows = []
        for words, row in zip(parsed, spans, strict=True):
            scores = {
                (start, end): rounded(words.looks(first, last)) for name, start, end, first, last in row if name in good
            }
            kept = [(span, score) for span, score in sorted(scores.items()) if score > 0 and score >= self.min_score]
            found = [Mention(*span, score, "name") for span, score in kept]
            rows.append(best_apart(found) if self.overlaps == "best" else found)
        return rows
