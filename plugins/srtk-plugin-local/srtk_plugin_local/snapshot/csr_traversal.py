"""Walks a snapshot from frontiers: the steps that leave them, the nodes and the triples that steps lead to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

import attrs
import numpy as np

from srtk_framework.values import Frontier, Ragged, Step, Triple
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.csr import Ints, distinct, spread


@attrs.frozen(eq=False)
class FrontierBatch:
    """What the frontiers made by one call share.

    Attributes:
        snapshot: The graph that numbers the nodes.
        values: The nodes of all frontiers, one after the other, sorted within each.
        offsets: Where each frontier starts, and the end of the last.
        bounds: The same as plain numbers.
        cuts: Per frontier, how many nodes a limit left out.
    """

    snapshot: Snapshot
    values: Ints
    offsets: Ints
    bounds: list[int]
    cuts: list[int]

    def frontiers(self) -> list[Frontier]:
        """Make the frontiers."""
        return list(map(LocalFrontier, repeat(self), range(len(self.cuts))))


class LocalFrontier(Frontier):
    """One of a batch of frontiers: many are made at a time, so that each is no more than a place in the batch."""

    __slots__ = ("batch", "place")

    def __init__(self, batch: FrontierBatch, place: int) -> None:
        self.batch = batch
        self.place = place

    @property
    def size(self) -> int:
        """Number of nodes."""
        bounds = self.batch.bounds
        return bounds[self.place + 1] - bounds[self.place]

    @property
    def cut(self) -> int:  # type: ignore[override]
        """How many nodes a limit left out."""
        return self.batch.cuts[self.place]

    def ids(self) -> Sequence[str]:
        """The nodes' ids, sorted."""
        batch = self.batch
        return batch.snapshot.ids(self.numbers(batch.snapshot))

    def numbers(self, snapshot: Snapshot) -> Ints:
        """The nodes' numbers in a snapshot, sorted."""
        batch = self.batch
        if batch.snapshot is not snapshot:
            return entities(snapshot, self.ids())
        return batch.values[batch.bounds[self.place] : batch.bounds[self.place + 1]]

    def __repr__(self) -> str:
        return f"LocalFrontier({self.size} nodes, cut={self.cut})"


def numbers(snapshot: Snapshot, frontier: Frontier) -> Ints:
    """Return the sorted numbers of a frontier's nodes."""
    if isinstance(frontier, LocalFrontier):
        return frontier.numbers(snapshot)
    return entities(snapshot, frontier.ids())


def entities(snapshot: Snapshot, ids: Sequence[str]) -> Ints:
    """Return the sorted numbers of those ids that are entities of the graph."""
    found = distinct(snapshot.numbers(ids))
    found = found[found >= 0]
    return found[~snapshot.is_literal(found)]


def make_frontiers(snapshot: Snapshot, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
    """Make one frontier of each set of ids."""
    flat = [id_ for ids in node_sets for id_ in ids]
    owners = np.repeat(np.arange(len(node_sets)), [len(ids) for ids in node_sets])
    found = snapshot.numbers(flat)
    kept = found >= 0
    kept[kept] &= ~snapshot.is_literal(found[kept])
    return _split(snapshot, owners[kept], found[kept], np.zeros(len(node_sets), dtype=np.int64))


def _split(snapshot: Snapshot, owners: Ints, nodes: Ints, cuts: Ints, sort: bool = True) -> list[Frontier]:
    """Make frontiers of (owner, node) rows, one for each item of ``cuts``."""
    if sort:
        keys = distinct(owners * max(snapshot.size, 1) + nodes)
        owners, nodes = np.divmod(keys, max(snapshot.size, 1))
    bounds = np.searchsorted(owners, np.arange(len(cuts) + 1))
    return FrontierBatch(snapshot, nodes, bounds, bounds.tolist(), cuts.tolist()).frontiers()


class _Gathered(NamedTuple):
    """The nodes of distinct frontiers, one after the other.

    Attributes:
        nodes: Their numbers.
        offsets: Where each distinct frontier starts, and the end.
        which: For each frontier asked about, which of the distinct ones it is.
    """

    nodes: Ints
    offsets: Ints
    which: Ints


def _gather(snapshot: Snapshot, frontiers: Sequence[Frontier]) -> _Gathered:
    # One frontier is mostly asked about with many steps in a row: only where it changes is it looked up.
    names = np.fromiter(map(id, frontiers), dtype=np.int64, count=len(frontiers))
    changes = np.flatnonzero(np.diff(names, prepend=-1))
    places: dict[int, int] = {}
    runs = [places.setdefault(name, len(places)) for name in names[changes].tolist()]
    which = np.repeat(np.array(runs, dtype=np.int64), np.diff(changes, append=len(names)))
    first = dict(zip(reversed(runs), reversed(changes.tolist()), strict=True))
    asked = [frontiers[first[place]] for place in range(len(places))]
    batch = asked[0].batch if asked and isinstance(asked[0], LocalFrontier) else None
    if batch is not None and batch.snapshot is snapshot and all(getattr(f, "batch", None) is batch for f in asked):
        at = np.array([frontier.place for frontier in asked], dtype=np.int64)  # type: ignore[attr-defined]
        positions, offsets = spread(batch.offsets[at], batch.offsets[at + 1])
        return _Gathered(batch.values[positions], offsets, which)
    parts = [numbers(snapshot, frontier) for frontier in asked]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    nodes = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    return _Gathered(nodes, offsets, which)


class StepTable:
    """All steps of a graph as shared objects, numbered in their order: twice the relation, plus one if inverse."""

    def __init__(self, relations: Sequence[str]) -> None:
        steps = [Step(relation, inverse) for relation in relations for inverse in (False, True)]
        self.relations = len(relations)
        self._objects = np.empty(len(steps), dtype=object)
        self._objects[:] = [None] * len(steps)
        for code, step in enumerate(steps):
            self._objects[code] = step
        self._codes = {step: code for code, step in enumerate(steps)}

    def take(self, codes: Ints) -> list[Step]:
        """Return the steps of these numbers."""
        return self._objects[codes].tolist()  # type: ignore[no-any-return]

    def codes(self, steps: Sequence[Step]) -> Ints:
        """Number steps; -2 for one that the graph lacks."""
        return np.fromiter(map(self._codes.get, steps, repeat(-2)), dtype=np.int64, count=len(steps))


def read_steps(
    snapshot: Snapshot, table: StepTable, frontiers: Sequence[Frontier], inverse: bool
) -> Sequence[Sequence[Step]]:
    """Read the distinct steps that leave each frontier, sorted; no edge is read."""
    nodes, offsets, which = _gather(snapshot, frontiers)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    width = max(2 * table.relations, 1)
    keys = []
    for backward in (False, True) if inverse else (False,):
        side = snapshot.inverse if backward else snapshot.forward
        first, last = side.groups(nodes)
        groups, bounds = spread(first, last)
        codes = side.relations[groups].astype(np.int64) * 2 + backward
        keys.append(np.repeat(owners, np.diff(bounds)) * width + codes)
    owner, codes = np.divmod(distinct(np.concatenate(keys)), width)
    ends = np.searchsorted(owner, np.arange(len(offsets)))
    rows: Ragged[Step] = Ragged(ends, table.take(codes))
    if len(offsets) - 1 == len(frontiers):
        return rows
    return [rows[place] for place in which.tolist()]


class Reached(NamedTuple):
    """What steps lead to: one row for each edge walked, in order of pair, start and end.

    Attributes:
        pairs: Which pair of frontier and step.
        starts: Node walked from.
        codes: Number of the step.
        ends: Node reached.
        cuts: Per pair, how many edges the limit left out.
        single: Whether no pair starts from more than one node.
    """

    pairs: Ints
    starts: Ints
    codes: Ints
    ends: Ints
    cuts: Ints
    single: bool


def walk(
    snapshot: Snapshot, table: StepTable, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
) -> Reached:
    """Walk one step from every node of each frontier."""
    nodes, offsets, which = _gather(snapshot, frontiers)
    at, bounds = spread(offsets[which], offsets[which + 1])
    sizes = np.diff(bounds)
    starts = nodes[at]
    pairs = np.repeat(np.arange(len(frontiers)), sizes)
    codes = np.repeat(table.codes(steps), sizes)
    backward = (codes & 1).astype(bool)
    low, high = np.zeros((2, len(starts)), dtype=np.int64)
    for side, rows in ((snapshot.forward, np.flatnonzero(~backward)), (snapshot.inverse, np.flatnonzero(backward))):
        low[rows], high[rows] = side.along(starts[rows], codes[rows] >> 1)
    cuts = np.zeros(len(frontiers), dtype=np.int64)
    if limit is not None:
        over = np.maximum(high - low - limit, 0)
        np.add.at(cuts, pairs, over)
        high -= over
    positions, ends_of = spread(low, high)
    lengths = np.diff(ends_of)
    walked_back = np.repeat(backward, lengths)
    ends = np.empty(len(positions), dtype=np.int64)
    ends[~walked_back] = snapshot.forward.targets[positions[~walked_back]]
    ends[walked_back] = snapshot.inverse.targets[positions[walked_back]]
    return Reached(
        np.repeat(pairs, lengths),
        np.repeat(starts, lengths),
        np.repeat(codes, lengths),
        ends,
        cuts,
        bool(sizes.max(initial=0) <= 1),
    )


def to_frontiers(snapshot: Snapshot, reached: Reached) -> list[Frontier]:
    """Make the frontier of the entities that each pair reaches."""
    pairs, ends = reached.pairs, reached.ends
    if snapshot.has_literals:
        kept = ~snapshot.is_literal(ends)
        pairs, ends = pairs[kept], ends[kept]
    return _split(snapshot, pairs, ends, reached.cuts, sort=not reached.single)


def to_triples(snapshot: Snapshot, reached: Reached) -> Ragged[Triple]:
    """Make the triples that each pair walks."""
    backward = (reached.codes & 1).astype(bool)
    subjects = np.where(backward, reached.ends, reached.starts)
    objects = np.where(backward, reached.starts, reached.ends)
    triples = make_triples(snapshot, subjects, reached.codes >> 1, objects)
    return Ragged(np.searchsorted(reached.pairs, np.arange(len(reached.cuts) + 1)), triples)


def make_triples(snapshot: Snapshot, subjects: Ints, relations: Ints, objects: Ints) -> list[Triple]:
    """Write numbered triples out; each id is read once."""
    ends = np.concatenate([subjects, objects])
    nodes = distinct(ends)
    places = np.searchsorted(nodes, ends)
    ids = snapshot.ids(nodes)
    names = snapshot.relations
    at: list[Any] = places.tolist()
    middle = len(subjects)
    return list(
        map(
            Triple,
            map(ids.__getitem__, at[:middle]),
            map(names.__getitem__, relations.tolist()),
            map(ids.__getitem__, at[middle:]),
        )
    )
