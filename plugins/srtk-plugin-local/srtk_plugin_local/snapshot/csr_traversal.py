"""Traversal of a snapshot from frontiers: their steps, and the entities and triples that steps lead to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Budget, Frontier, Ragged, Step, Triple
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.csr import Ints, distinct, spread


@attrs.frozen(eq=False)
class FrontierBatch:
    """The nodes of all frontiers that one call returns.

    Attributes:
        snapshot: The snapshot that numbers the nodes.
        values: The nodes of all frontiers, sorted within each.
        offsets: Start of each of the n frontiers in ``values``, and the end [n + 1].
        bounds: The same as Python integers.
        cuts: Number of nodes that a limit left out of each frontier.
    """

    snapshot: Snapshot
    values: Ints
    offsets: Ints
    bounds: list[int]
    cuts: list[int]

    def frontiers(self) -> list[Frontier]:
        """Return the frontiers."""
        return list(map(LocalFrontier, repeat(self), range(len(self.cuts))))


class LocalFrontier(Frontier):
    """A frontier of a batch; only its place in the batch is stored, since a call may return very many."""

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
        """Number of nodes that a limit left out."""
        return self.batch.cuts[self.place]

    def ids(self) -> Sequence[str]:
        """Return the ids of the nodes, sorted."""
        batch = self.batch
        batch.snapshot.check()
        return batch.snapshot.ids(self.numbers(batch.snapshot))

    def first(self, count: int) -> Frontier:
        """Return the frontier of the first nodes."""
        nodes = self.numbers(self.batch.snapshot)[:count]
        return FrontierBatch(self.batch.snapshot, nodes, np.array([0, len(nodes)]), [0, len(nodes)], [0]).frontiers()[0]

    def numbers(self, snapshot: Snapshot) -> Ints:
        """Return the numbers of the nodes in a snapshot, sorted."""
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
    """Return the sorted numbers of the ids that are entities of the graph."""
    found = distinct(snapshot.numbers(ids))
    found = found[found >= 0]
    return found[~snapshot.is_literal(found)]


def make_frontiers(snapshot: Snapshot, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
    """Make one frontier of each set of ids."""
    if len(node_sets) == 1:
        nodes = entities(snapshot, node_sets[0])
        return FrontierBatch(snapshot, nodes, np.array([0, len(nodes)]), [0, len(nodes)], [0]).frontiers()
    flat = [id_ for ids in node_sets for id_ in ids]
    owners = np.repeat(np.arange(len(node_sets)), [len(ids) for ids in node_sets])
    found = snapshot.numbers(flat)
    kept = found >= 0
    kept[kept] &= ~snapshot.is_literal(found[kept])
    return _split(snapshot, owners[kept], found[kept], np.zeros(len(node_sets), dtype=np.int64))


def _split(snapshot: Snapshot, owners: Ints, nodes: Ints, cuts: Ints, sort: bool = True) -> list[Frontier]:
    """Make one frontier for each item of ``cuts`` from (owner, node) rows."""
    if sort:
        first = np.arange(len(cuts) + 1) * max(snapshot.size, 1)
        keys = distinct(owners * max(snapshot.size, 1) + nodes)
        bounds = np.searchsorted(keys, first)
        nodes = keys - np.repeat(first[:-1], np.diff(bounds))
    else:
        bounds = np.searchsorted(owners, np.arange(len(cuts) + 1))
    return FrontierBatch(snapshot, nodes, bounds, bounds.tolist(), cuts.tolist()).frontiers()


class _Gathered(NamedTuple):
    """The nodes of distinct frontiers.

    Attributes:
        nodes: Numbers of the nodes of all distinct frontiers.
        offsets: Start of each of the n distinct frontiers in ``nodes``, and the end [n + 1].
        which: Index of each given frontier among the distinct frontiers.
    """

    nodes: Ints
    offsets: Ints
    which: Ints


def _gather(snapshot: Snapshot, frontiers: Sequence[Frontier]) -> _Gathered:
    if len(frontiers) == 1:
        nodes = numbers(snapshot, frontiers[0])
        return _Gathered(nodes, np.array([0, len(nodes)]), np.zeros(1, dtype=np.int64))
    # A frontier usually comes with many steps in a row, so only changes of the frontier are looked up.
    names = np.fromiter(map(id, frontiers), dtype=np.int64, count=len(frontiers))
    changes = np.flatnonzero(np.diff(names, prepend=-1))
    places: dict[int, int] = {}
    runs = [places.setdefault(name, len(places)) for name in names[changes].tolist()]
    which = np.repeat(np.array(runs, dtype=np.int64), np.diff(changes, append=len(names)))
    first = dict(zip(reversed(runs), reversed(changes.tolist()), strict=True))
    unique = [frontiers[first[place]] for place in range(len(places))]
    batch = unique[0].batch if unique and isinstance(unique[0], LocalFrontier) else None
    if batch is not None and batch.snapshot is snapshot and all(getattr(f, "batch", None) is batch for f in unique):
        at = np.array([frontier.place for frontier in unique], dtype=np.int64)  # type: ignore[attr-defined]
        positions, offsets = spread(batch.offsets[at], batch.offsets[at + 1])
        return _Gathered(batch.values[positions], offsets, which)
    parts = [numbers(snapshot, frontier) for frontier in unique]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    nodes = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    return _Gathered(nodes, offsets, which)


def _alone(snapshot: Snapshot, frontiers: Sequence[Frontier]) -> int | None:
    """Return the node of a single distinct frontier of one node, which slices read faster than arrays do; else None."""
    first = frontiers[0] if len(frontiers) else None
    if not isinstance(first, LocalFrontier) or first.batch.snapshot is not snapshot or first.size != 1:
        return None
    if any(frontier is not first for frontier in frontiers):
        return None
    return int(first.batch.values[first.batch.bounds[first.place]])


class StepTable:
    """All steps of a graph as shared objects; the number of a step is twice its relation, plus one if inverse."""

    def __init__(self, relations: Sequence[str]) -> None:
        steps = [Step(relation, inverse) for relation in relations for inverse in (False, True)]
        self.relations = len(relations)
        self._objects = np.empty(len(steps), dtype=object)
        self._objects[:] = [None] * len(steps)
        for code, step in enumerate(steps):
            self._objects[code] = step
        self._codes = {step: code for code, step in enumerate(steps)}

    def take(self, codes: Ints) -> list[Step]:
        """Return the steps with these numbers."""
        return self._objects[codes].tolist()  # type: ignore[no-any-return]

    def codes(self, steps: Sequence[Step]) -> Ints:
        """Return the number of each step; -2 for a relation that the graph lacks."""
        return np.fromiter(map(self._codes.get, steps, repeat(-2)), dtype=np.int64, count=len(steps))


def read_steps(
    snapshot: Snapshot, table: StepTable, frontiers: Sequence[Frontier], inverse: bool
) -> Sequence[Sequence[Step]]:
    """Read the distinct steps that leave each frontier, sorted, without reading an edge."""
    if (node := _alone(snapshot, frontiers)) is not None:
        alone = [2 * relation for relation in snapshot.forward.runs_of(node)]
        if inverse:
            alone = sorted([*alone, *(2 * relation + 1 for relation in snapshot.inverse.runs_of(node))])
        return [table.take(np.array(alone, dtype=np.int64))] * len(frontiers)
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


class Edges(NamedTuple):
    """The edges along pairs of frontier and step, in order of pair, start and end.

    Attributes:
        pairs: Index of the pair of each run of edges.
        starts: Its node of the frontier.
        codes: Number of its step.
        runs: Run of each edge.
        ends: Node at the other end of each edge.
        cuts: Number of edges of each pair that the limit left out.
        single: Whether every frontier has at most one node.
    """

    pairs: Ints
    starts: Ints
    codes: Ints
    runs: Ints
    ends: Ints
    cuts: Ints
    single: bool


def walk(
    snapshot: Snapshot, table: StepTable, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
) -> Edges:
    """Read the edges along each step from every node of its frontier, at most ``limit`` from one node."""
    if (node := _alone(snapshot, frontiers)) is not None:
        return _walk_alone(snapshot, table.codes(steps), node, limit)
    nodes, offsets, which = _gather(snapshot, frontiers)
    at, bounds = spread(offsets[which], offsets[which + 1])
    sizes = bounds[1:] - bounds[:-1]
    starts = nodes[at]
    pairs = np.repeat(np.arange(len(frontiers)), sizes)
    codes = np.repeat(table.codes(steps), sizes)
    low, high = _runs(snapshot, starts, codes)
    cuts = np.zeros(len(frontiers), dtype=np.int64)
    if limit is not None:
        over = np.maximum(high - low - limit, 0)
        if over.any():
            np.add.at(cuts, pairs, over)
            high -= over
    runs, ends = _targets(snapshot, codes, low, high)
    return Edges(pairs, starts, codes, runs, ends, cuts, bool(sizes.max(initial=0) <= 1))


def _runs(snapshot: Snapshot, nodes: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Return the first position of the targets of each node along its step, given by number, and one past the last."""
    if (dense := snapshot.dense) is not None:
        places = nodes * dense.width + codes
        places[codes < 0] = -1
        low, high = dense.runs[places].view(np.int32).reshape(-1, 2).T
        return low.astype(np.int64), high.astype(np.int64)
    backward = (codes & 1).astype(bool)
    low, high = np.zeros((2, len(nodes)), dtype=np.int64)
    for side, rows in ((snapshot.forward, np.flatnonzero(~backward)), (snapshot.inverse, np.flatnonzero(backward))):
        if len(rows):
            low[rows], high[rows] = side.along(nodes[rows], codes[rows] >> 1)
    return low, high


def _walk_alone(snapshot: Snapshot, codes: Ints, node: int, limit: int | None) -> Edges:
    """Read the edges along each step, given by number, from one node."""
    sides = [(side.targets, side.runs_of(node)) for side in (snapshot.forward, snapshot.inverse)]
    parts, lengths, cuts = [], [], []
    for code in codes.tolist():
        targets, runs = sides[code & 1]
        low, high = runs.get(code >> 1, (0, 0))
        cuts.append(0 if limit is None else max(high - low - limit, 0))
        parts.append(targets[low : high - cuts[-1]])
        lengths.append(len(parts[-1]))
    pairs = np.arange(len(codes))
    ends = np.concatenate(parts).astype(np.int64)
    return Edges(pairs, np.full(len(pairs), node), codes, np.repeat(pairs, lengths), ends, np.array(cuts), True)


def _targets(snapshot: Snapshot, codes: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Read the targets of runs, each along the step with its number; return the run of each, and the targets."""
    lengths = high - low
    runs = np.repeat(np.arange(len(codes)), lengths)
    if (dense := snapshot.dense) is not None:
        low = low + (codes & 1) * len(snapshot.forward.targets)
    positions = np.arange(len(runs))
    positions += (low - np.cumsum(lengths) + lengths)[runs]
    if dense is not None:
        return runs, dense.targets[positions].astype(np.int64)
    backward = (codes & 1).astype(bool)[runs]
    ends = np.empty(len(positions), dtype=np.int64)
    for side, some in ((snapshot.forward, np.flatnonzero(~backward)), (snapshot.inverse, np.flatnonzero(backward))):
        ends[some] = side.targets[positions[some]]
    return runs, ends


@attrs.frozen(eq=False)
class LocalArrays:
    """The edges of a snapshot by number; see ``EdgeArrays``."""

    snapshot: Snapshot
    table: StepTable

    @property
    def relations(self) -> Sequence[str]:
        """Ids of the relations, sorted."""
        return self.snapshot.relations

    def numbers(self, ids: Sequence[str]) -> Ints:
        """Return the number of each node; -1 for an unknown id."""
        return self.snapshot.numbers(ids)

    def ids(self, numbers: Ints) -> Sequence[str]:
        """Return the ids of nodes."""
        return self.snapshot.ids(numbers)

    def is_literal(self, numbers: Ints) -> npt.NDArray[np.bool_]:
        """Return which nodes are literals."""
        return self.snapshot.is_literal(numbers)

    def runs(self, nodes: Ints, inverse: bool) -> tuple[Ints, Ints, Ints, Ints]:
        """Find the edges at nodes."""
        return self.snapshot.runs(nodes, inverse)

    def targets(self, positions: Ints, inverse: bool) -> Ints:
        """Return the node at the far end of each edge."""
        return self.snapshot.targets(positions, inverse)

    def nodes(self, frontier: Frontier) -> Ints:
        """Return the numbers of a frontier's nodes, sorted."""
        return numbers(self.snapshot, frontier)

    def along(self, nodes: Ints, places: Ints, steps: Sequence[Step], limit: int | None) -> tuple[Ints, Ints]:
        """Read the edges along steps."""
        codes = self.table.codes(steps)[places]
        low, high = _runs(self.snapshot, nodes, codes)
        if limit is not None:
            high = np.minimum(high, low + limit)
        return _targets(self.snapshot, codes, low, high)


def to_frontiers(snapshot: Snapshot, edges: Edges) -> list[Frontier]:
    """Return the frontier of the entities at the ends of each pair's edges."""
    pairs, ends = edges.pairs[edges.runs], edges.ends
    if snapshot.has_literals:
        kept = ~snapshot.is_literal(ends)
        pairs, ends = pairs[kept], ends[kept]
    return _split(snapshot, pairs, ends, edges.cuts, sort=not edges.single)


def to_triples(snapshot: Snapshot, edges: Edges) -> Ragged[Triple]:
    """Return the triples of each pair's edges."""
    pairs, starts, codes = (column[edges.runs] for column in (edges.pairs, edges.starts, edges.codes))
    backward = (codes & 1).astype(bool)
    subjects = np.where(backward, edges.ends, starts)
    objects = np.where(backward, starts, edges.ends)
    triples = make_triples(snapshot, subjects, codes >> 1, objects)
    return Ragged(np.searchsorted(pairs, np.arange(len(edges.cuts) + 1)), triples)


def make_triples(snapshot: Snapshot, subjects: Ints, relations: Ints, objects: Ints) -> list[Triple]:
    """Make triples of numbers; each id is read once."""
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


def neighbourhood(snapshot: Snapshot, frontier: Frontier, hops: int, budget: Budget) -> list[Triple]:
    """Read the triples within ``hops`` of a frontier, in the order of the framework's default implementation.

    Each hop follows the steps in order, each from the nodes in order, and reads the first ``hub`` edges of each.
    """
    seen = current = numbers(snapshot, frontier)
    found = np.empty(0, dtype=np.int64)
    columns: list[tuple[Ints, Ints, Ints]] = []
    for hop in range(hops):
        if not len(current) or (budget.triples is not None and len(found) >= budget.triples):
            break
        # The last hop needs no more edges than this, since a hop reads an edge at most twice: from either end.
        most = 2 * budget.triples if budget.triples is not None and hop + 1 == hops else None
        subjects, relations, objects, ends = _hop(snapshot, current, budget.hub, most)
        edges = snapshot.forward.edges(subjects, relations, objects)
        _, first = np.unique(edges, return_index=True)
        first.sort()
        first = first[~np.isin(edges[first], found)]
        found = np.concatenate([found, edges[first]])
        columns.append((subjects[first], relations[first], objects[first]))
        reached = distinct(ends[~snapshot.is_literal(ends)])
        current = np.setdiff1d(reached, seen, assume_unique=True)[: budget.nodes]
        seen = np.union1d(seen, current)
    if not columns:
        return []
    s, r, o = (np.concatenate(column)[: budget.triples] for column in zip(*columns, strict=True))
    return make_triples(snapshot, s, r, o)


def _hop(snapshot: Snapshot, nodes: Ints, hub: int | None, most: int | None) -> tuple[Ints, Ints, Ints, Ints]:
    """Follow all steps of the nodes; return subjects, relations, objects and ends, in order of step and node."""
    parts = []
    for inverse in (False, True):
        places, relations, low, high = snapshot.runs(nodes, inverse)
        parts.append(np.stack([relations * 2 + inverse, nodes[places], low, high]))
    codes, starts, low, high = np.concatenate(parts, axis=1)
    order = np.lexsort((starts, codes))
    codes, starts, low, high = codes[order], starts[order], low[order], high[order]
    if hub is not None:
        high = np.minimum(high, low + hub)
    if most is not None:
        enough = int(np.searchsorted(np.cumsum(high - low), most)) + 1
        codes, starts, low, high = codes[:enough], starts[:enough], low[:enough], high[:enough]
    runs, ends = _targets(snapshot, codes, low, high)
    starts, codes = starts[runs], codes[runs]
    backward = (codes & 1).astype(bool)
    return np.where(backward, ends, starts), codes >> 1, np.where(backward, starts, ends), ends
