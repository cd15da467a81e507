"""The index ``vectors``: entries by their vectors, for more entries than a search can compare."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import numpy as np

from srtk_framework.roles import SubgraphEncoder
from srtk_framework.values import Entry, at_least, one_of
from srtk_plugin_index.indexes.entry_file import EntryFile, Numbers, entry_line
from srtk_plugin_index.indexes.entry_filter import EntryFilter
from srtk_plugin_index.indexes.exact import VECTORS, ExactIndex, Matrix
from srtk_plugin_index.indexes.inverted_lists import InvertedLists
from srtk_plugin_index.indexes.vector_journal import VectorJournal

LISTS = "lists.faiss"
APPROXIMATE, EXACT = "approximate", "exact"
# Fewest entries that lists are made for; comparing fewer with every search is as fast.
_LEAST = 10_000
# Entries per search whose vectors are read and compared; at least four for each hit. Short codes rank only
# roughly.
_CANDIDATES = 200
_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class VectorIndex(ExactIndex):
    """Find the nearest entries among many: candidates by short codes in memory, compared by their vectors on disk.

    So a hit has its exact score, and an entry that is no candidate is missed. A build that was broken off is taken up
    again: each vector is kept in a journal beside the index as soon as it is encoded, until ``commit``.

    Attributes:
        subgraph_encoder: Encodes entries by their triples, each around the entity that its id names, in the place of
            ``encoder``; null for their texts.
        kind: ``approximate``, or ``exact`` to compare a search with every entry. Below 10,000 entries both do.
        probes: Lists that a search looks into, of as many as the square root of the number of entries.
        only: Entries that a search may find, by their fields.
    """

    subgraph_encoder: SubgraphEncoder | None = attrs.field(default=None, kw_only=True)
    kind: str = attrs.field(default=APPROXIMATE, validator=one_of((APPROXIMATE, EXACT)))
    probes: int = attrs.field(default=64, validator=at_least(1))
    only: EntryFilter = attrs.field(factory=EntryFilter)
    _lists: InvertedLists | None = attrs.field(init=False, default=None, repr=False)
    _rows: Path = attrs.field(init=False, factory=Path, repr=False)
    _journal: VectorJournal | None = attrs.field(init=False, default=None, repr=False)

    def kept_settings(self) -> dict[str, str]:
        """Return the fingerprints of the encoders, and how the entries are divided."""
        divided = f"{self.kind}, {self.similarity}" if self.kind == APPROXIMATE else self.kind
        return {**self._encoders(), "kind and similarity": divided}

    def _encoders(self) -> dict[str, str]:
        graphs = "" if self.subgraph_encoder is None else self.subgraph_encoder.fingerprint()
        return {**super().kept_settings(), "subgraph encoder": graphs}

    def encoded(self, entries: Sequence[Entry]) -> Matrix:
        """Encode entries that bring no vector and are not in the journal, by their triples or their texts."""
        if self._journal is None:
            path = Path(self.path).resolve()
            self._journal = VectorJournal(path.with_name(f".{path.name}.journal"), repr(self._encoders()))
            if len(self._journal):
                _log.warning(
                    "%s vectors of a build of the index %s that was broken off are taken up",
                    f"{len(self._journal):,}",
                    self.path,
                )
        return self._journal.rows(
            [entry_line(entry) for entry in entries], lambda places: self._encode([entries[at] for at in places])
        )

    def _encode(self, entries: Sequence[Entry]) -> Matrix:
        if self.subgraph_encoder is None:
            return super().encoded(entries)
        rows: Matrix = self.subgraph_encoder.encode([e.triples for e in entries], [e.id for e in entries])
        return rows

    def commit(self) -> int:
        """Publish the added entries, and delete the journal."""
        size = super().commit()
        if self._journal is not None:
            self._journal.remove()
            self._journal = None
        return size

    def close(self) -> None:
        """Let go of the files; the journal stays for the next build unless this build was committed."""
        super().close()
        self._journal = None

    def finish(self, folder: Path, entries: EntryFile) -> None:
        """Divide the vectors into lists."""
        super().finish(folder, entries)
        (folder / LISTS).unlink(missing_ok=True)
        if self.kind == APPROXIMATE and len(entries) >= _LEAST:
            rows = np.memmap(folder / VECTORS, dtype="<f4", mode="r").reshape(len(entries), -1)
            InvertedLists.build(folder / LISTS, rows, np.argsort(entries.ranks), self.similarity == "cosine")

    def map(self, folder: Path, entries: EntryFile) -> None:
        """Read the lists, or else map the matrix."""
        if self.only:
            numbers = [number for number in range(len(entries)) if self.only.passes(entries.entry(number))]
            self._allowed = np.array(numbers, dtype=np.int64)
        if (folder / LISTS).is_file():
            self._measure(folder, entries)
            self._rows = folder / VECTORS
            self._lists = InvertedLists(folder / LISTS, self._allowed)
        else:
            super().map(folder, entries)

    def unmap(self) -> None:
        """Let go of the lists and the matrix."""
        super().unmap()
        self._lists = self._allowed = None

    def shortlist(self, vectors: Matrix, k: int) -> Iterator[tuple[Numbers, Matrix]]:
        """Yield, for each vector, its candidates with their rows."""
        if self._lists is None:
            yield from super().shortlist(vectors, k)
            return
        for vector in vectors:
            numbers = self._lists.search(vector, max(_CANDIDATES, 4 * k), self.probes)
            yield numbers, self._read(numbers)

    def entry(self, entries: EntryFile, number: int) -> Entry:
        """Read an entry with its vector."""
        if self._lists is None:
            return super().entry(entries, number)
        (row,) = self._read(np.array([number]))
        return attrs.evolve(entries.entry(number), vector=row)

    def _read(self, numbers: Numbers) -> Matrix:
        """Read some vectors; of a mapped file, the system would count all pages around them as memory in use."""
        rows = np.empty((len(numbers), self._width), dtype="<f4")
        with self._rows.open("rb", buffering=0) as file:
            for row, number in zip(rows, numbers.tolist(), strict=True):
                file.seek(4 * self._width * number)
                file.readinto(row.data)
        return rows
