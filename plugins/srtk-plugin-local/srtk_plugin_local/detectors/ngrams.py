"""The ``ngrams`` mention detector: runs of words that are labels or aliases in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import KnowledgeGraph, MentionDetector
from srtk_framework.values import Mention
from srtk_plugin_local.detectors.known_names import known_mentions, stop_words


@attrs.define(eq=False)
class NgramDetector(MentionDetector):
    """Find runs of words that are names in the graph, also in lower case.

    A score is how much the words look like a name in their text: 1 for capitalised words, less for lower case in a
    text that capitalises names, and less for function words.

    Attributes:
        graph: Graph whose labels and aliases are looked up.
        max_words: Maximum number of words of a name.
        overlaps: keep: all mentions. best: of overlapping ones the best, then the longest.
        languages: Languages of function words, which are not names in lower case: de, en, es, fr, it, nl, pt.
        min_score: Minimum score of a mention.
    """

    graph: KnowledgeGraph
    max_words: int = 12
    overlaps: Literal["keep", "best"] = "keep"
    languages: Sequence[str] = ("en",)
    min_score: float = 0.0
    _stop: frozenset[str] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.max_words < 1:
            raise ValueError(f"max_words must be at least 1, not {self.max_words}")
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"min_score must be from 0 to 1, not {self.min_score}")
        self._stop = stop_words(self.languages)

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Look up all runs of words of all texts in the graph at once."""
        return known_mentions(texts, self._known, self._stop, self.max_words, self.overlaps == "best", self.min_score)

    def _known(self, names: Sequence[str]) -> list[bool]:
        return [len(ids) > 0 for ids in self.graph.find(names)]
