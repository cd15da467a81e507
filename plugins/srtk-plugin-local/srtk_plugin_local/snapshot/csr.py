"""Compressed sparse rows: one direction of the edges, and vectorised searches in many sorted ranges."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import attrs
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

PARTS = ("nodes", "relations", "starts", "blocks", "targets")
"""Files of a direction."""


def spread(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Concatenate ranges of positions.

    Args:
        starts: First position of each of n ranges.
        ends: One past its last position, never before its start.

    Returns:
        The positions of all ranges, and n + 1 offsets into them.
    """
    lengths = ends - starts
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    positions = np.arange(offsets[-1], dtype=np.int64)
    positions += np.repeat(starts - offsets[:-1], lengths)
    return positions, offsets


def distinct(numbers: Ints) -> Ints:
    """Return the sorted distinct numbers; much faster than ``numpy.unique`` for a few thousand numbers."""
    numbers = np.sort(numbers)
    fresh = np.empty(len(numbers), dtype=bool)
    fresh[:1] = True
    np.not_equal(numbers[1:], numbers[:-1], out=fresh[1:])
    return numbers[fresh]


def lower_bound(
    values: npt.NDArray[Any], starts: Ints, ends: Ints, wanted: npt.NDArray[Any], after: bool = False
) -> Ints:
    """Find the first position of each sorted range ``values[starts[i]:ends[i]]`` that is not below ``wanted[i]``.

    With ``after``, find the first that is above it.
    """
    low, high = starts.copy(), ends.copy()
    if not len(low) or not len(values):
        return low
    last = len(values) - 1
    for _ in range(int((high - low).max()).bit_length()):
        middle = (low + high) >> 1
        found = values[np.minimum(middle, last)]
        below = (found <= wanted if after else found < wanted) & (low < high)
        low = np.where(below, middle + 1, low)
        high = np.where(below, high, middle)
    return low


def locate(values: npt.NDArray[Any], starts: Ints, ends: Ints, wanted: npt.NDArray[Any]) -> Ints:
    """Find the position of ``wanted[i]`` in each sorted range, or -1."""
    at = lower_bound(values, starts, ends, wanted)
    if not len(values):
        return np.full(len(at), -1, dtype=np.int64)
    found = (at < ends) & (values[np.minimum(at, len(values) - 1)] == wanted)
    return np.where(found, at, -1)


class Writer(Protocol):
    """A new array."""

    def write(self, values: npt.ArrayLike) -> None:
        """Append numbers."""


RUN = 256
"""Targets in a block, whose groups share the upper bits of their starts."""
_FEW = 1 << 20
"""Numbers up to which all are read at once and kept in memory: up to 64 MB of a graph."""


@attrs.frozen
class Starts:
    """Sorted numbers in a byte each: the last byte, beside the place where each next block of 256 numbers begins.

    Attributes:
        low: The number modulo 256 of each.
        blocks: Place of the first number that is at least 256, 512 and so on.
    """

    low: npt.NDArray[np.uint8]
    blocks: Ints
    _whole: list[Ints] = attrs.field(init=False, factory=list, repr=False)
    _views: tuple[memoryview, memoryview] = attrs.field(init=False, repr=False)

    @_views.default
    def _views_of(self) -> tuple[memoryview, memoryview]:
        return self.low.data, self.blocks.data

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, places: Ints | slice) -> Ints:
        if isinstance(places, slice):
            places = np.arange(*places.indices(len(self)))
        if len(self) <= _FEW:
            if not self._whole:
                self._whole.append(self._read(np.arange(len(self))))
            return self._whole[0][places]
        return self._read(places)

    def _read(self, places: Ints) -> Ints:
        upper = np.searchsorted(self.blocks, places, side="right")
        return np.asarray(upper * RUN + self.low[places], dtype=np.int64)

    def between(self, first: int, last: int) -> list[int]:
        """Return the numbers at the places from the first to the last, included."""
        low, blocks = self._views
        block, end = bisect_right(blocks, first), last + 1
        found: list[int] = []
        while first < end:
            cut = min(blocks[block], end) if block < len(blocks) else end
            found += [block * RUN + number for number in low[first:cut]]
            first, block = cut, block + 1
        return found

    def before(self, numbers: Ints) -> Ints:
        """Find the place of the last that is not above each number; the first of all is 0."""
        bounds = np.concatenate(([0], self.blocks, [len(self)]))
        block = numbers // RUN
        return lower_bound(self.low, bounds[block], bounds[block + 1], numbers % RUN + 1) - 1


class StartsWriter:
    """Writes sorted numbers as ``Starts``.

    Args:
        low: Receives the last bytes.
        blocks: Receives the places where blocks begin.
    """

    def __init__(self, low: Writer, blocks: Writer) -> None:
        self._low, self._blocks = low, blocks
        self._count = self._block = 0

    def write(self, numbers: Ints) -> None:
        """Append numbers, none of them below one before."""
        if not len(numbers):
            return
        self._low.write(numbers % RUN)
        ends = np.arange(self._block + 1, int(numbers[-1]) // RUN + 1) * RUN
        self._blocks.write(self._count + np.searchsorted(numbers, ends))
        self._block += len(ends)
        self._count += len(numbers)


class Dense(NamedTuple):
    """The edges of a small graph in both directions, read without a search.

    Attributes:
        runs: First target of each node along each step, and one past the last, as two int32 in one int64, which numpy
            reads in half the time; at the end an empty run [nodes * steps + 1].
        width: Number of steps; a step has twice the number of its relation, plus one if inverse.
        targets: Targets of the forward direction, then of the inverse [edges * 2].
    """

    runs: Ints
    width: int
    targets: npt.NDArray[Any]

    @classmethod
    def of(cls, forward: Adjacency, inverse: Adjacency, relations: int) -> Dense | None:
        """Read both directions of a graph with so many relations; None where that is too much to keep."""
        size, width = len(forward.nodes) - 1, 2 * relations
        if size * width > 2 * _FEW or len(forward.targets) > 4 * _FEW:
            return None
        runs = np.zeros((size * width + 1, 2), dtype=np.int32)
        for backward, side in enumerate((forward, inverse)):
            first = side.nodes.astype(np.int64)
            places = np.repeat(np.arange(size) * width + backward, first[1:] - first[:-1])
            places += side.relations.astype(np.int64) * 2
            bounds = side.starts[:]
            runs[places, 0], runs[places, 1] = bounds[:-1], bounds[1:]
        return cls(runs.view(np.int64)[:, 0], width, np.concatenate([forward.targets, inverse.targets]))


@attrs.frozen
class Adjacency:
    """The edges of one direction: each node has groups, each group has a relation and a run of sorted targets.

    Attributes:
        nodes: First group of each node, then the number of groups.
        relations: Relation of each group, sorted within a node.
        starts: First target of each group, then the number of edges.
        targets: Nodes, sorted within a group.
    """

    nodes: npt.NDArray[Any]
    relations: npt.NDArray[Any]
    starts: Starts
    targets: npt.NDArray[Any]
    # A single number is read from a view in a third of the time that numpy takes.
    _views: tuple[memoryview, memoryview] = attrs.field(init=False, repr=False)

    @_views.default
    def _views_of(self) -> tuple[memoryview, memoryview]:
        return self.nodes.data, self.relations.data

    @classmethod
    def read(cls, side: str, array: Callable[[str], npt.NDArray[Any]]) -> Adjacency:
        """Read a direction by a function that returns the array of a file."""
        nodes, relations, low, blocks, targets = (array(f"{side}.{part}") for part in PARTS)
        return cls(nodes, relations, Starts(low, blocks), targets)

    def groups(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the first group of each node and one past its last."""
        return self.nodes[nodes].astype(np.int64), self.nodes[nodes + 1].astype(np.int64)

    def runs(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the first target of each group and one past its last; an empty run for group -1."""
        known = groups >= 0
        starts = self.starts[np.where(known, groups, 0)]
        return starts, np.where(known, self.starts[np.where(known, groups + 1, 0)], starts)

    def row(self, node: int) -> tuple[list[int], list[int]]:
        """Return the relations of one node in order, and the first target of each, then one past the last of all."""
        nodes, relations = self._views
        first, last = nodes[node], nodes[node + 1]
        return relations[first:last].tolist(), self.starts.between(first, last)

    def runs_of(self, node: int) -> dict[int, tuple[int, int]]:
        """Return the relations of one node in order, each with its first target and one past its last."""
        relations, bounds = self.row(node)
        return dict(zip(relations, pairwise(bounds), strict=True))

    def along(self, nodes: Ints, relations: Ints) -> tuple[Ints, Ints]:
        """Return the run of targets of each node along its relation; empty if it has none."""
        first, last = self.groups(nodes)
        return self.runs(locate(self.relations, first, last, relations))

    def edges(self, starts: Ints, relations: Ints, ends: Ints) -> Ints:
        """Find the position of each edge among the targets; -1 for no such edge, or if one of its numbers is -1."""
        found = np.full(len(starts), -1, dtype=np.int64)
        known = np.flatnonzero((starts >= 0) & (relations >= 0) & (ends >= 0))
        if len(known):
            first, last = self.along(starts[known], relations[known])
            found[known] = locate(self.targets, first, last, ends[known])
        return found

    def degrees(self, nodes: Ints) -> Ints:
        """Count the edges of each node."""
        first, last = self.groups(nodes)
        return self.starts[last] - self.starts[first]

    def owners(self, groups: Ints) -> Ints:
        """Return the node of each group."""
        # Of another type, numpy would convert the numbers of all nodes.
        wanted = np.asarray(groups).astype(self.nodes.dtype)
        return np.searchsorted(self.nodes, wanted, side="right").astype(np.int64) - 1
