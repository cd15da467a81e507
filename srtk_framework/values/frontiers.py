"""Frontiers (sets of nodes of a graph), and ragged arrays."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")


class Frontier(ABC):
    """A sorted set of nodes of one graph, made by ``KnowledgeGraph.frontiers`` and ``follow``.

    Attributes:
        cut: Number of nodes omitted because of a limit when the frontier was made.
    """

    __slots__ = ()

    cut: int = 0

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of nodes."""

    @property
    def fan(self) -> int:
        """Number of nodes that certain triples lead to, those that a limit left out included."""
        return self.size + self.cut

    @abstractmethod
    def ids(self) -> Sequence[str]:
        """Ids of the nodes, sorted by code point."""

    def first(self, count: int) -> Frontier | None:
        """Return the frontier of the first nodes, where no id need be read for it; else None."""
        return None


class NodeSet(Frontier):
    """A frontier that stores ids, for graphs without internal node numbers."""

    __slots__ = ("_ids", "cut")

    def __init__(self, ids: Iterable[str], cut: int = 0) -> None:
        self._ids = tuple(sorted(set(ids)))
        self.cut = cut

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self._ids)

    def ids(self) -> Sequence[str]:
        """Ids of the nodes, sorted by code point."""
        return self._ids


class Ragged(Sequence[Sequence[T]], Generic[T]):
    """A list of lists in two arrays: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.

    Args:
        offsets: int64 array of length rows + 1, non-decreasing, starting at 0.
        values: Any sequence (a numpy array, a list) of length ``offsets[-1]``.
    """

    __slots__ = ("offsets", "values")

    def __init__(self, offsets: np.ndarray[Any, Any], values: Any) -> None:
        import numpy as np  # here, so that the command line starts without it

        self.offsets = np.asarray(offsets, dtype=np.int64)
        self.values = values

    @classmethod
    def of(cls, rows: Iterable[Sequence[T]]) -> Ragged[T]:
        """Build a ragged array from ordinary lists."""
        import numpy as np

        lists = [list(row) for row in rows]
        offsets = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in lists], out=offsets[1:])
        return cls(offsets, [value for row in lists for value in row])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Sequence[T]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[T]]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Sequence[T]]:
        bounds = self.offsets.tolist()
        for start, end in itertools.pairwise(bounds):
            yield self.values[start:end]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(list(a) == list(b) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Ragged({[list(row) for row in self]!r})"
