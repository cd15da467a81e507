"""The index ``rrf``: the ranks of several indexes, fused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Index
from srtk_framework.values import DriverError, Entry, Hit, at_least, hit_order, not_empty, rounded


@attrs.define(eq=False)
class RrfIndex(Index):
    """Fuse the hits of several indexes by their ranks alone (reciprocal rank fusion; Cormack et al. 2009).

    An entry scores the sum of 1 / (constant + rank) over the indexes that find it, in units of the best possible sum:
    1 is the first of all indexes. A hit has its rank in each of them. The indexes are built by themselves.

    Attributes:
        indexes: The indexes; texts are searched by those that search texts, vectors by those that search vectors.
        constant: How little the first ranks stand out.
        depth: Hits of each index that are fused; as many as are asked for, if that is more.
    """

    indexes: Sequence[Index] = attrs.field(validator=not_empty("name at least one"))
    constant: float = attrs.field(default=60.0, validator=at_least(0))
    depth: int = attrs.field(default=100, validator=at_least(1))

    def size(self) -> int:
        """Return the number of entries of the largest index."""
        return max(index.size() for index in self.indexes)

    def sources(self) -> Sequence[str]:
        """Return the sources of all indexes."""
        return list(dict.fromkeys(source for index in self.indexes for source in index.sources()))

    def entries(self, ids: Sequence[str]) -> list[Entry | None]:
        """Read each entry from the first index that has it, indexes with vectors first."""
        found: dict[str, Entry] = {}
        for index in sorted(self.indexes, key=lambda index: not index.searches_vectors()):
            lacking = [id_ for id_ in dict.fromkeys(ids) if id_ not in found]
            pairs = zip(lacking, index.entries(lacking), strict=True)
            found |= {id_: entry for id_, entry in pairs if entry is not None}
        return [found.get(id_) for id_ in ids]

    def searches_texts(self) -> bool:
        """Return whether one of the indexes does."""
        return any(index.searches_texts() for index in self.indexes)

    def searches_vectors(self) -> bool:
        """Return whether one of the indexes does."""
        return any(index.searches_vectors() for index in self.indexes)

    def search(self, texts: Sequence[str], k: int) -> list[list[Hit]]:
        """Search each index that searches texts, and fuse the hits."""
        if not self.searches_texts():
            raise DriverError("none of the indexes of rrf searches texts; name one that does, such as `bm25`")
        return self._fused(texts, k, lambda index: index.search if index.searches_texts() else None)

    def near(self, vectors: npt.NDArray[np.float32] | Sequence[Any], k: int) -> list[list[Hit]]:
        """Search each index that searches vectors, and fuse the hits."""
        if not self.searches_vectors():
            raise DriverError("none of the indexes of rrf searches vectors; name one that does, such as `exact`")
        return self._fused(vectors, k, lambda index: index.near if index.searches_vectors() else None)

    def _fused(self, asked: Any, k: int, hook: Callable[[Index], Any]) -> list[list[Hit]]:
        found: list[Sequence[Sequence[Hit]]] = []
        for index in self.indexes:
            search = hook(index)
            found.append([()] * len(asked) if search is None else search(asked, max(k, self.depth)))
        searched = sum(hook(index) is not None for index in self.indexes)
        return [self._best([rows[at] for rows in found], searched)[:k] for at in range(len(asked))]

    def _best(self, rows: Sequence[Sequence[Hit]], searched: int) -> list[Hit]:
        """Fuse the hits of one search, a row for each index."""
        ranks: dict[str, list[int | None]] = {}
        first: dict[str, Hit] = {}
        for at, row in enumerate(rows):
            for rank, hit in enumerate(row, 1):
                ranks.setdefault(hit.entry.id, [None] * len(rows))[at] = rank
                first[hit.entry.id] = _joined(first.get(hit.entry.id, hit), hit)
        unit = (self.constant + 1) / searched
        hits = [
            attrs.evolve(
                hit,
                score=rounded(sum(unit / (self.constant + rank) for rank in ranks[id_] if rank is not None)),
                ranks=tuple(ranks[id_]),
            )
            for id_, hit in first.items()
        ]
        return sorted(hits, key=hit_order)


def _joined(one: Hit, other: Hit) -> Hit:
    """Return a hit with the vector and the passage of whichever of two has them."""
    return attrs.evolve(one, entry=other.entry if one.entry.vector is None else one.entry, span=one.span or other.span)
