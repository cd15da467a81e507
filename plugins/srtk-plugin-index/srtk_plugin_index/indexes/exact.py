"""The index ``exact``: entries by their vectors, each compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Encoder
from srtk_framework.text import fold, words
from srtk_framework.values import DriverError, Entry, Hit, one_of
from srtk_plugin_index.indexes.entry_file import EntryFile, Numbers, best
from srtk_plugin_index.indexes.folder_index import FolderIndex
from srtk_plugin_index.indexes.lineage import REBUILD

VECTORS = "vectors.f4"
# Scores are compared in units of the fourth decimal, so that the last bits of float32 decide no order.
UNIT = 10_000
# Most scores of a group of searches, and most numbers of a block of vectors.
_CELLS = 1 << 24
_GROUP = 64

Matrix = npt.NDArray[np.float32]


@attrs.define(eq=False)
class ExactIndex(FolderIndex):
    """Compare a text's vector with the vector of every entry; nothing is left out.

    The matrix of vectors is mapped, not loaded, so processes share its pages. An entry may bring its vector; else its
    text is encoded. A first pass in float32 leaves the entries that may be among the best within the error of float32.
    They are compared again in float64, so that neither the batch nor the library of the matrix product shows in a
    result.

    Attributes:
        encoder: Turns texts into vectors: texts of entries, and texts that are searched for.
        similarity: ``cosine``, or ``dot`` for the product of vectors as they are.
    """

    encoder: Encoder = attrs.field(kw_only=True)
    similarity: str = attrs.field(default="cosine", validator=one_of(("cosine", "dot")))
    _matrix: Matrix | None = attrs.field(init=False, default=None, repr=False)
    _norms: npt.NDArray[np.float64] | None = attrs.field(init=False, default=None, repr=False)
    _allowed: Numbers | None = attrs.field(init=False, default=None, repr=False)
    _width: int = attrs.field(init=False, default=0, repr=False)

    def kept_settings(self) -> dict[str, str]:
        """Return the fingerprint of the encoder."""
        return {"encoder": self.encoder.fingerprint()}

    def append(self, folder: Path, entries: Sequence[Entry]) -> None:
        """Append a row for each entry."""
        # Of stored vectors the length is known, since they were mapped.
        width = self._width if (folder / VECTORS).exists() else 0
        rows = vectors_of(entries, self.encoded, width)
        with (folder / VECTORS).open("ab") as file:
            file.writelines(np.ascontiguousarray(row, dtype="<f4").tobytes() for row in rows)
        self._width = len(rows[0]) if rows else width

    def encoded(self, entries: Sequence[Entry]) -> Matrix:
        """Encode entries that bring no vector, by their texts."""
        return encoded_texts(self.encoder, entries)

    def finish(self, folder: Path, entries: EntryFile) -> None:
        """Write nothing more: rows are searched as they are."""
        (folder / VECTORS).touch()

    def map(self, folder: Path, entries: EntryFile) -> None:
        """Map the matrix, and take the norms of its rows."""
        self._measure(folder, entries)
        if not self._width:
            return
        mapped: Matrix = np.memmap(str(folder / VECTORS), dtype="<f4", mode="r", shape=(len(entries), self._width))
        self._matrix = mapped
        if self.similarity == "cosine":
            self._norms = np.concatenate(list(map(norms, blocks(mapped))))

    def _measure(self, folder: Path, entries: EntryFile) -> None:
        """Set the length of the vectors by the size of their file."""
        size = (folder / VECTORS).stat().st_size
        self._width = size // 4 // len(entries) if len(entries) else 0
        if size != 4 * self._width * len(entries):
            raise DriverError(f"the index {self.path} is damaged: {VECTORS} does not fit its entries; {REBUILD}")

    def unmap(self) -> None:
        """Let go of the matrix."""
        self._matrix = self._norms = None

    def search(self, texts: Sequence[str], k: int) -> list[list[Hit]]:
        """Encode the texts and find the nearest entries."""
        entries = self._ready()
        if not len(entries):
            return [[] for _ in texts]
        return search_texts(texts, self.encoder, lambda rows: self._near(rows, entries, k))

    def near(self, vectors: npt.NDArray[np.float32] | Sequence[Any], k: int) -> list[list[Hit]]:
        """Find the entries nearest to each vector."""
        entries = self._ready()
        if not len(vectors) or not len(entries):
            return [[] for _ in vectors]
        return self._near(np.asarray(vectors, dtype=np.float32), entries, k)

    def _near(self, vectors: Matrix, entries: EntryFile, k: int) -> list[list[Hit]]:
        check_searched(vectors, self._width, self.path)
        return [
            self._ranked(vector, numbers, rows, entries, k)
            for vector, (numbers, rows) in zip(vectors, self.shortlist(vectors, k), strict=True)
        ]

    def shortlist(self, vectors: Matrix, k: int) -> Iterator[tuple[Numbers, Matrix]]:
        """Yield, for each vector, the entries that may be among its ``k`` best, with their rows."""
        matrix = self._matrix
        assert matrix is not None
        group = max(1, min(_GROUP, _CELLS // len(matrix)))
        for start in range(0, len(vectors), group):
            some = vectors[start : start + group]
            rough = np.concatenate([block @ some.T for block in blocks(matrix)])
            for i, vector in enumerate(some):
                numbers = self._within_error(rough[:, i], vector, k)
                yield numbers, matrix[numbers]

    def _within_error(self, rough: Matrix, vector: Matrix, k: int) -> Numbers:
        """Return the entries whose products in float32 leave open whether they are among the best."""
        matrix = self._matrix
        assert matrix is not None
        numbers: Numbers = np.arange(len(rough)) if self._allowed is None else self._allowed
        [length] = norms(vector[None]).tolist()
        approximate = rough[numbers].astype(np.float64)
        # A sum of d products in float32 is off by at most d / 2**23 of the product of both lengths, whatever its order.
        error = len(vector) / 2**23
        if self._norms is None:
            error *= length * max(float(norms(block).max()) for block in blocks(matrix))
        else:
            scale = self._norms[numbers] * length
            np.divide(approximate, scale, out=approximate, where=scale > 0)
        if len(approximate) > k:
            least = np.partition(approximate, len(approximate) - k)[len(approximate) - k]
            numbers = numbers[approximate >= least - 2 * error - 1 / UNIT]
        return numbers

    def _ranked(self, vector: Matrix, numbers: Numbers, rows: Matrix, entries: EntryFile, k: int) -> list[Hit]:
        ranked = best(score_keys(rows, vector, self.similarity), numbers, entries.ranks, k)
        return [Hit(self.entry(entries, number), key / UNIT) for number, key in ranked]

    def entry(self, entries: EntryFile, number: int) -> Entry:
        """Read an entry with its vector."""
        assert self._matrix is not None
        return attrs.evolve(entries.entry(number), vector=np.array(self._matrix[number]))


def vectors_of(entries: Sequence[Entry], encode: Callable[[Sequence[Entry]], Matrix], width: int) -> list[Matrix]:
    """Return the vector of each entry: its own, else encoded.

    Args:
        entries: The entries.
        encode: Encodes entries that bring no vector.
        width: Length of the vectors; 0 for the length of the first.

    Raises:
        DriverError: If a vector has another length, or numbers that are not finite.
    """
    rows = [entry.vector for entry in entries]
    if bare := [at for at, row in enumerate(rows) if row is None]:
        for at, row in zip(bare, encode([entries[at] for at in bare]), strict=True):
            rows[at] = row
    found = [np.asarray(row, dtype=np.float32) for row in rows]
    for entry, row in zip(entries, found, strict=True):
        width = width or row.size
        if row.ndim != 1 or not row.size or row.size != width or not np.isfinite(row).all():
            raise DriverError(
                f"the vector of {entry.id!r} is no row of {width} finite numbers, as those before are; give all"
                " entries vectors of one encoder"
            )
    return found


def search_texts(texts: Sequence[str], encoder: Encoder, near: Callable[[Matrix], list[list[Hit]]]) -> list[list[Hit]]:
    """Search for the vectors of texts; a text without a word finds nothing."""
    asked = [at for at, text in enumerate(texts) if words(fold(text))]
    rows = near(encoder.encode([texts[at] for at in asked])) if asked else []
    found = dict(zip(asked, rows, strict=True))
    return [found.get(at, []) for at in range(len(texts))]


def check_searched(vectors: Matrix, width: int, index: str) -> None:
    """Refuse vectors that the index cannot be searched for.

    Raises:
        DriverError: If they have another length than the vectors of the index, or numbers that are not finite.
    """
    if vectors.ndim != 2 or vectors.shape[1] != width:
        raise DriverError(
            f"the vectors of the index {index} have {width} numbers, those searched for"
            f" {vectors.shape[-1]}; search with the encoder that it was built with"
        )
    if not np.isfinite(vectors).all():
        raise DriverError("a vector that is searched for has numbers that are not finite")


def score_keys(rows: Matrix, vector: Matrix, similarity: str) -> Numbers:
    """Return scores in units of 1 / UNIT, compared in float64 by sums that depend on a single row."""
    scores = np.sum(rows.astype(np.float64) * vector.astype(np.float64), axis=1)
    if similarity == "cosine":
        scale = norms(rows) * norms(vector[None])
        scores = np.divide(scores, scale, out=np.zeros_like(scores), where=scale > 0)
    keys: Numbers = np.rint(scores * UNIT).astype(np.int64)
    return keys


def encoded_texts(encoder: Encoder, entries: Sequence[Entry]) -> Matrix:
    """Encode entries by their texts.

    Raises:
        DriverError: For an entry without a text.
    """
    blank = [entry.id for entry in entries if not entry.text.strip()]
    if blank:
        raise DriverError(f"the entry {blank[0]!r} has neither text nor vector; leave it out of the corpus")
    rows: Matrix = encoder.encode([entry.text for entry in entries])
    return rows


def blocks(matrix: Matrix) -> Iterator[Matrix]:
    """Yield the blocks of rows in which a large matrix is read."""
    rows = max(1, _CELLS // matrix.shape[1])
    return (matrix[start : start + rows] for start in range(0, len(matrix), rows))


def norms(rows: Matrix) -> npt.NDArray[np.float64]:
    """Return the length of each row, in float64."""
    wide = rows.astype(np.float64)
    found: npt.NDArray[np.float64] = np.sqrt(np.sum(wide * wide, axis=1))
    return found
