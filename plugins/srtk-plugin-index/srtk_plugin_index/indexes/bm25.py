"""The index ``bm25``: entries by the words that they share with a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from srtk_framework.text import fold, words
from srtk_framework.values import Entry, Hit
from srtk_plugin_index.indexes.entry_file import EntryFile, best
from srtk_plugin_index.indexes.folder_index import FolderIndex

_UNIT = 10_000
"""Scores are compared in units of the fourth decimal."""


@attrs.define(eq=False)
class Bm25Index(FolderIndex):
    """Rank entries by BM25 (Robertson and Zaragoza 2009, in Lucene's form; Kamphuis et al. 2020) with ``bm25s``.

    Words are those of ``text.words`` after ``text.fold``: without case, diacritics and underscores, not stemmed. An
    entry without a common word is no hit.

    Attributes:
        path: Folder of the index.
        corpora: What the index is built from, the recipe's ``corpus`` by default; an index of other data is refused.
        k1: How much a repeated word counts.
        b: How much a long text counts less, from 0 (not at all) to 1.
    """

    k1: float = attrs.field(default=1.2, validator=attrs.validators.ge(0))
    b: float = attrs.field(default=0.75, validator=[attrs.validators.ge(0), attrs.validators.le(1)])
    _ranker: Any = attrs.field(init=False, default=None, repr=False)

    def kept_settings(self) -> dict[str, str]:
        """Return the constants, which the stored weights contain."""
        return {"k1 and b": f"{self.k1!r} and {self.b!r}"}

    def append(self, folder: Path, entries: Sequence[Entry]) -> None:
        """Write nothing: the weights are made of all texts."""

    def finish(self, folder: Path, entries: EntryFile) -> None:
        """Weigh the words of all entries."""
        import bm25s

        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in _words(text)] for text in entries.texts()]
        for name in _files():
            (folder / name).unlink(missing_ok=True)
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
        if (folder / _files()[0]).exists():
            self._ranker = bm25s.BM25.load(folder, mmap=True, show_progress=False, auto_compile=False)

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
        return [Hit(entries.entry(number), key / _UNIT) for number, key in best(keys, numbers, entries.ranks, k)]


def _words(text: str) -> Iterator[str]:
    folded = fold(text)
    return (folded[start:end] for start, end in words(folded))


def _files() -> tuple[str, ...]:
    return (
        "params.index.json",
        "vocab.index.json",
        "data.csc.index.npy",
        "indices.csc.index.npy",
        "indptr.csc.index.npy",
    )
