"""The index ``bm25``: entries by the words that they share with a text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from srtk_framework.text import Span, fold, sentences, words
from srtk_framework.values import Entry, Hit, at_least, share
from srtk_plugin_index.indexes.entry_file import EntryFile, best
from srtk_plugin_index.indexes.folder_index import FolderIndex

# Scores are compared in units of the fourth decimal, so that the last bits of float32 decide no order.
_UNIT = 10_000
_PARAMS = "params.index.json"


@attrs.define(eq=False)
class Bm25Index(FolderIndex):
    """Rank entries by BM25 (Robertson and Zaragoza 2009, in Lucene's form; Kamphuis et al. 2020) with ``bm25s``.

    Words come from ``text.words`` after ``text.fold``: without case, diacritics and underscores, not stemmed. An entry
    without a common word is no hit. Lucene's form leaves the constant factor k1 + 1 out of all scores.

    Attributes:
        k1: How much a repeated word counts.
        b: How much a long text counts less, from 0 (not at all) to 1.
        sentences: Sentences of the passage that each hit points out: those in a row that have most of the words
            searched for, rare ones counting more; null for hits without a passage.
    """

    k1: float = attrs.field(default=1.2, validator=at_least(0))
    b: float = attrs.field(default=0.75, validator=share)
    # Not in the default fingerprint, so that an index without passages has the one that it always had.
    sentences: int | None = attrs.field(default=None, validator=at_least(1), repr=False)
    _ranker: Any = attrs.field(init=False, default=None, repr=False)

    def kept_settings(self) -> dict[str, str]:
        """Return the constants, which the stored weights contain."""
        return {"k1 and b": f"{self.k1!r} and {self.b!r}"}

    def fingerprint(self) -> str:
        """Identify the index by its settings and its content."""
        passages = "" if self.sentences is None else f" by passages of {self.sentences}"
        return f"{super().fingerprint()}{passages}"

    def append(self, folder: Path, entries: Sequence[Entry]) -> None:
        """Write nothing: the weights are made of all texts."""

    def finish(self, folder: Path, entries: EntryFile) -> None:
        """Weigh the words of all entries."""
        import bm25s

        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in _words(text)] for text in entries.texts()]
        if not vocabulary:
            return
        ranker = bm25s.BM25(
            k1=self.k1, b=self.b, method="lucene", backend="numpy", csc_backend="numpy", auto_compile=False
        )
        ranker.index((ids, vocabulary), create_empty_token=False, show_progress=False)
        ranker.save(folder, show_progress=False)

    def map(self, folder: Path, entries: EntryFile) -> None:
        """Map the weights."""
        import bm25s

        self._ranker = None
        if (folder / _PARAMS).exists():
            self._ranker = bm25s.BM25.load(
                folder, mmap=True, show_progress=False, auto_compile=False, allow_pickle=False
            )

    def unmap(self) -> None:
        """Let go of the weights."""
        self._ranker = None

    def search(self, texts: Sequence[str], k: int) -> list[list[Hit]]:
        """Add the weights of each text's words, a repeated word as often as it comes."""
        entries = self._ready()
        return [self._found(entries, list(_words(text)), k) for text in texts]

    def _found(self, entries: EntryFile, asked: list[str], k: int) -> list[Hit]:
        if self._ranker is None:
            return []
        known = self._ranker.get_tokens_ids(asked)
        if not known:
            return []
        scores = self._ranker.get_scores_from_ids(known)
        numbers = np.flatnonzero(scores > 0)
        keys = np.rint(scores[numbers].astype(np.float64) * _UNIT).astype(np.int64)
        found = best(keys, numbers, entries.ranks, k)
        hits = [Hit(entries.entry(number), key / _UNIT) for number, key in found]
        if self.sentences is None:
            return hits
        weights = self._weights(asked, len(entries))
        return [attrs.evolve(hit, span=_passage(hit.entry.text, weights, self.sentences)) for hit in hits]

    def _weights(self, asked: Sequence[str], entries: int) -> dict[str, float]:
        """Return the weight of each known word, its inverse document frequency."""
        offsets, vocabulary = self._ranker.scores["indptr"], self._ranker.vocab_dict
        weights = {}
        for word in set(asked):
            if (number := vocabulary.get(word)) is not None:
                frequency = int(offsets[number + 1] - offsets[number])
                weights[word] = math.log(1 + (entries - frequency + 0.5) / (frequency + 0.5))
        return weights


def _passage(text: str, weights: Mapping[str, float], count: int) -> Span | None:
    """Return the span of the sentences in a row that have the heaviest words, each counted once; the first if equal."""
    spans = sentences(text)
    if not spans:
        return None
    found = [weights.keys() & set(_words(text[start:end])) for start, end in spans]
    # Sums of the same weights in another order could differ in the last bit. The last ones are of fewer sentences, and
    # no greater than the sum of the sentences in full number before them.
    sums = [math.fsum(map(weights.__getitem__, set().union(*found[at : at + count]))) for at in range(len(spans))]
    passage = spans[sums.index(max(sums)) :][:count]
    return passage[0][0], passage[-1][1]


def _words(text: str) -> Iterator[str]:
    folded = fold(text)
    return (folded[start:end] for start, end in words(folded))
