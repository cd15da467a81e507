"""Adjacency of a triple table: the edges at each node in both directions, and simple paths grown along them."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable

Ints = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Adjacency:
    """Edges by node; a triple is an edge in each direction, a loop is none.

    A step has the number 2 * relation, + 1 if it goes from object to subject.

    Attributes:
        offsets: Where the edges of each node begin, int64 [nodes + 1].
        steps: Step of each edge, sorted within a node.
        ends: Node that each edge leads to, sorted within a step.
        hubs: Number of (node, step) that have more edges than the bound, whose edges are left out.
        left_out: Number of edges left out.
    """

    offsets: Ints
    steps: Ints
    ends: Ints
    hubs: int = 0
    left_out: int = 0

    @classmethod
    def of(cls, table: TripleTable, hub: int | None = None) -> Adjacency:
        """Index the triples of a table; a node is not left by a step with more than ``hub`` edges."""
        subjects, relations, objects = table.triples.T.astype(np.int64)
        plain = subjects != objects
        subjects, relations, objects = subjects[plain], relations[plain], objects[plain]
        nodes = np.concatenate([subjects, objects])
        steps = np.concatenate([2 * relations, 2 * relations + 1])
        ends = np.concatenate([objects, subjects])
        order = np.lexsort((ends, steps, nodes))
        nodes, steps, ends = nodes[order], steps[order], ends[order]
        hubs = left_out = 0
        if hub is not None and len(nodes):
            first = np.append(True, (nodes[1:] != nodes[:-1]) | (steps[1:] != steps[:-1]))
            group = np.cumsum(first) - 1
            large = np.bincount(group) > hub
            kept = ~large[group]
            hubs, left_out = int(large.sum()), int((~kept).sum())
            nodes, steps, ends = nodes[kept], steps[kept], ends[kept]
        offsets = np.searchsorted(nodes, np.arange(len(table.entities) + 1))
        return cls(offsets.astype(np.int64), steps, ends, hubs, left_out)

    def edges(self, nodes: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the edges of nodes: the place in ``nodes`` that each belongs to, its step, and its end."""
        starts, counts = self.offsets[nodes], self.offsets[nodes + 1] - self.offsets[nodes]
        of = np.repeat(np.arange(len(nodes)), counts)
        at = spread(starts, counts)
        return of, self.steps[at], self.ends[at]


@attrs.frozen(eq=False)
class Walks:
    """Simple paths from some starts, all of one length.

    Attributes:
        starts: Place of the start of each path.
        ends: Node at its end.
        codes: Its steps as one number.
        length: Number of steps.
        inner: The nodes between start and end, one array for each place.
    """

    starts: Ints
    ends: Ints
    codes: Ints
    length: int
    inner: tuple[Ints, ...] = ()

    def __getitem__(self, rows: Ints | npt.NDArray[np.bool_] | slice) -> Walks:
        inner = tuple(column[rows] for column in self.inner)
        return Walks(self.starts[rows], self.ends[rows], self.codes[rows], self.length, inner)

    def __len__(self) -> int:
        return len(self.ends)


def none_walked(nodes: Ints) -> Walks:
    """Return the paths without a step from some nodes."""
    return Walks(np.arange(len(nodes)), nodes, np.zeros(len(nodes), dtype=np.int64), 0)


def walked_on(walks: Walks, nodes: Ints, adjacency: Adjacency, base: int, backward: bool) -> Walks:
    """Lengthen paths by a step in all ways that come to a node which they have not visited.

    Args:
        walks: The paths.
        nodes: Their starts.
        adjacency: Edges.
        base: One more than the number of steps; steps are the digits of a code, from 1.
        backward: The paths are the last steps of longer ones, found from their objects: a step is turned round and put
            before the others.
    """
    of, steps, ends = adjacency.edges(walks.ends)
    fresh = ends != nodes[walks.starts[of]]
    for column in walks.inner:
        fresh &= ends != column[of]
    of, steps, ends = of[fresh], steps[fresh], ends[fresh]
    before = walks.codes[of]
    codes = (((steps ^ 1) + 1) * base**walks.length + before) if backward else before * base + steps + 1
    inner = (*(column[of] for column in walks.inner), walks.ends[of]) if walks.length else ()
    return Walks(walks.starts[of], ends, codes, walks.length + 1, inner)


def spread(starts: Ints, counts: Ints) -> Ints:
    """Return ranges of numbers in a row: for each start, as many numbers as its count."""
    whole = int(counts.sum())
    jumps = np.ones(whole, dtype=np.int64)
    filled = counts > 0
    starts, counts = starts[filled], counts[filled]
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    jumps[0] = starts[0]
    jumps[np.cumsum(counts)[:-1]] = starts[1:] - (starts[:-1] + counts[:-1] - 1)
    return np.cumsum(jumps)


def decoded(code: int, base: int) -> list[int]:
    """Return the steps of a code."""
    steps = []
    while code:
        code, digit = divmod(code, base)
        steps.append(digit - 1)
    return steps[::-1]
