"""The neighbourhood of one question's links, read from the arrays of a graph."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import EdgeArrays

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_NEVER = np.iinfo(np.int64).max  # Turn of a node that is not read
_NONE: Ints = np.empty(0, dtype=np.int64)


@attrs.define(eq=False)
class ArraySearch:
    """State of the breadth-first search of one question, whose nodes are numbers.

    Attributes:
        arrays: Edges of the graph.
        noise: Numbers of the relations that are passed over.
        inverse: Whether relations are also followed against their direction.
        hub: Maximum number of edges of a node along a relation.
        most: Number of edges that ends the search once it is exceeded.
        size: Number of nodes to read next; None for all. It doubles with each read.
        reached: Nodes that the last hop led to, distinct and sorted; at first the links.
        weights: Greatest weight among the links that reached each of them.
        cut: Number of edges or nodes that were left out, by limit.
        found: Columns (start, step, end, hop), with the weight of each start, of each read.
        count: Number of edges found.
        hop: Number of the last hop.
    """

    arrays: EdgeArrays
    noise: Collection[int]
    inverse: bool
    hub: int | None
    most: int | None
    size: int | None
    reached: Ints
    weights: Floats
    cut: dict[str, int] = attrs.field(factory=dict)
    found: list[tuple[Ints, Floats]] = attrs.field(factory=list)
    count: int = 0
    hop: int = 0
    _known: Ints = attrs.field(init=False, default=_NONE)
    _turns: Ints = attrs.field(init=False, default=_NONE)
    _cut_runs: dict[tuple[int, int], int] = attrs.field(init=False, factory=dict)

    def run(self, depth: int, nodes: int | None) -> None:
        """Read hop after hop, each from at most ``nodes`` new nodes, the first by id."""
        while self.hop < depth and len(self.reached) and not self._full():
            fresh = self._turn_of(self.reached) == _NEVER
            queue, weights = self.reached[fresh], self.weights[fresh]
            self.drop("nodes", len(queue) - len(queue[:nodes]))
            queue, weights = queue[:nodes], weights[:nodes]
            if not len(queue):
                break
            self.hop += 1
            order = np.lexsort((queue, -weights))
            queue, weights = queue[order], weights[order]
            known = np.concatenate([self._known, queue])
            turns = np.concatenate([self._turns, len(self._known) + np.arange(len(queue))])
            order = np.argsort(known)
            self._known, self._turns = known[order], turns[order]
            first = len(self.found)
            while len(queue) and not self._full():
                size = len(queue) if self.size is None else self.size
                self._read(queue[:size], weights[:size])
                queue, weights = queue[size:], weights[size:]
                self.size = None if self.size is None else 2 * self.size
            if self.hop < depth:
                self._reach(first)

    def _full(self) -> bool:
        """Return whether more than ``most`` edges were found; the one beyond shows that something is cut."""
        return self.most is not None and self.count > self.most

    def drop(self, limit: str, dropped: int) -> None:
        """Add to the count of edges or nodes that a limit left out."""
        if dropped:
            self.cut[limit] = self.cut.get(limit, 0) + dropped

    def _turn_of(self, nodes: Ints) -> Ints:
        """Return the turn at which each node is read, or ``_NEVER``."""
        if not len(self._known):
            return np.full(len(nodes), _NEVER)
        at = np.minimum(np.searchsorted(self._known, nodes), len(self._known) - 1)
        return np.where(self._known[at] == nodes, self._turns[at], _NEVER)

    def _read(self, nodes: Ints, weights: Floats) -> None:
        """Read the edges at nodes, in order of node, step and end."""
        arrays, parts = self.arrays, []
        for backward in (False, True) if self.inverse else (False,):
            places, relations, low, high = arrays.runs(nodes, backward)
            parts.append(np.stack([places, 2 * relations + backward, low, high]))
        runs = np.concatenate(parts, axis=1)
        if self.noise:
            runs = runs[:, ~np.isin(runs[1] >> 1, list(self.noise))]
        places, steps, low, high = runs[:, np.lexsort((runs[1], runs[0]))]
        # From one node along one step, no more are needed than the question may have, and one to show the cut.
        limit = min(
            (n for n in (self.hub, None if self.most is None else self.most + 1) if n is not None), default=None
        )
        if limit is not None:
            over = np.maximum(high - low - limit, 0)
            high = high - over
            for run in np.flatnonzero(over).tolist():
                last = arrays.targets(high[run : run + 1] - 1, bool(steps[run] & 1))
                self._cut_runs[int(nodes[places[run]]), int(steps[run])] = int(last[0])
            if limit == self.hub:
                self.drop("hub", int(over.sum()))
        lengths = high - low
        places, steps = np.repeat(places, lengths), np.repeat(steps, lengths)
        positions = np.arange(len(places)) + np.repeat(low - np.cumsum(lengths) + lengths, lengths)
        odd = (steps & 1).astype(bool)
        ends = np.empty(len(places), dtype=np.int64)
        ends[~odd], ends[odd] = arrays.targets(positions[~odd], False), arrays.targets(positions[odd], True)
        starts = nodes[places]
        fresh = ~self._seen(starts, steps, ends)
        rows = np.stack([starts[fresh], steps[fresh], ends[fresh], np.full(int(fresh.sum()), self.hop)])
        self.found.append((rows, weights[places[fresh]]))
        self.count += rows.shape[1]

    def _seen(self, starts: Ints, steps: Ints, ends: Ints) -> npt.NDArray[np.bool_]:
        """Return which edges were read before from their other end."""
        if not self.inverse:
            return np.zeros(len(starts), dtype=bool)
        loops = (starts == ends) & ((steps & 1) == 1)
        seen: npt.NDArray[np.bool_] = loops | (self._turn_of(ends) < self._turn_of(starts))
        if self._cut_runs:
            cut = list({node for node, _ in self._cut_runs})
            for row in np.flatnonzero(seen & np.isin(ends, cut)).tolist():
                last = self._cut_runs.get((int(ends[row]), int(steps[row]) ^ 1))
                seen[row] = last is None or starts[row] <= last
        return seen

    def _reach(self, first: int) -> None:
        """Gather the entities that the reads from ``first`` on led to."""
        ends = np.concatenate([rows[2] for rows, _ in self.found[first:]])
        weights = np.concatenate([row for _, row in self.found[first:]])
        # The reads come by falling weight, so that the first of equal ends has the greatest.
        ends, at = np.unique(ends, return_index=True)
        kept = ~self.arrays.is_literal(ends)
        self.reached, self.weights = ends[kept], weights[at][kept]

    def columns(self) -> tuple[Any, ...]:
        """Return start, step, end, hop and weight of the first ``most`` edges."""
        rows = np.concatenate([np.empty((4, 0), dtype=np.int64), *(rows for rows, _ in self.found)], axis=1)
        weights = np.concatenate([np.empty(0), *(row for _, row in self.found)])
        return (*rows[:, : self.most], weights[: self.most])
