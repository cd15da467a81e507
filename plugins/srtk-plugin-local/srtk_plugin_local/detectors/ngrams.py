"""The ``ngrams`` mention detector: runs of words that are labels or aliases in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import KnowledgeGraph, MentionDetector
from srtk_framework.values import Mention, at_least, keys_of, share
from srtk_plugin_local.detectors.known_names import known_mentions
from srtk_plugin_local.dictionary.stop_words import STOP_WORDS, FunctionWords


@attrs.define(eq=False)
class NgramDetector(MentionDetector):
    """Find runs of words that are names in the graph, also in lower case.

    A score is how much the words look like a name in their text: 1 for capitalised words, less for lower case in a
    text that capitalises names, and less for function words.

    Attributes:
        graph: Graph whose labels and aliases are looked up.
        max_words: Maximum number of words of a name.
        overlaps: keep: all mentions. best: of overlapping ones the best, then the longest.
        languages: Languages of function words, which are not names in lower case: de, en, es, fr, it, nl, pt; by
            default the language of each text, by its function words.
        min_score: Minimum score of a mention.
    """

    graph: KnowledgeGraph
    max_words: int = attrs.field(default=12, validator=at_least(1))
    overlaps: Literal["keep", "best"] = "keep"
    languages: Sequence[str] | None = attrs.field(default=None, validator=keys_of(tuple(STOP_WORDS)))
    min_score: float = attrs.field(default=0.0, validator=share)
    _words: FunctionWords = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._words = FunctionWords(self.languages)

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Look up all runs of words of all texts in the graph at once."""
        return known_mentions(texts, self._known, self._words, self.max_words, self.overlaps == "best", self.min_score)

    def _known(self, names: Sequence[str]) -> list[bool]:
        return [len(ids) > 0 for ids in self.graph.find(names)]
