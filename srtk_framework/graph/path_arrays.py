"""Instances of paths, found by number in a graph that has its edges as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple, overload

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph.instance import Instance, PathKey
from srtk_framework.values import Budget, EdgeArrays, Frontier, Path, RankedPath, Step, Triple, batched

Ints = npt.NDArray[np.int64]
# More chains than this are as good as unlimited, and their sums stay within an integer.
_MANY = 1 << 40
# Larger arrays leave the cache (see ``traversal``).
_PATHS_AT_ONCE = 128
# Chains that are tried for each instance that is wanted; many lead nowhere.
_TRIED = 10


@attrs.frozen(eq=False)
class NumberedInstances(Sequence[Instance]):
    """The instances of a path in a graph with arrays; each is made of its numbers when it is read.

    Attributes:
        arrays: Names the nodes.
        steps: Steps of the path.
        nodes: Numbers of the nodes of each instance, from the linked entity on, int64 [instances, steps + 1].
    """

    arrays: EdgeArrays
    steps: Path
    nodes: Ints

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, index: int) -> Instance: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Instance]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return NumberedInstances(self.arrays, self.steps, self.nodes[index])
        return next(iter(NumberedInstances(self.arrays, self.steps, self.nodes[[index]])))

    def __iter__(self) -> Iterator[Instance]:
        numbers, places = np.unique(self.nodes, return_inverse=True)
        ids = self.arrays.ids(numbers)
        rows: Any = places.reshape(self.nodes.shape).tolist()
        for row in rows:
            names = [ids[place] for place in row]
            pairs = zip(self.steps, pairwise(names), strict=True)
            triples = tuple(Triple(b, r, a) if inverse else Triple(a, r, b) for (r, inverse), (a, b) in pairs)
            yield Instance(triples, names[-1])


def instances_by_number(
    arrays: EdgeArrays,
    paths: Sequence[RankedPath],
    before: Sequence[Sequence[Frontier]],
    known: Sequence[Mapping[PathKey, Frontier]],
    budget: Budget,
    cuts: Sequence[dict[str, int]],
) -> list[NumberedInstances]:
    """Return what ``instances`` reads by the hooks, without a triple that is in no instance.

    Args:
        arrays: The edges.
        paths: Paths with at least one step.
        before: For each path, the frontiers before each of its steps.
        known: For each path, the frontiers that a search has followed.
        budget: As for ``instances``.
        cuts: For each path, where the nodes left out are counted, by limit.
    """
    found: dict[int, NumberedInstances] = {}
    by_length: dict[int, list[int]] = {}
    for i, path in enumerate(paths):
        by_length.setdefault(len(path.steps), []).append(i)
    for length, places in ((n, some) for n, row in by_length.items() for some in batched(row, _PATHS_AT_ONCE)):
        levels = [
            _Level.of(arrays, [paths[i].steps[depth] for i in places], [before[i][depth] for i in places])
            for depth in range(length)
        ]
        nodes = _first_chains(arrays, levels, budget)
        if left := [at for at, row in enumerate(nodes) if row is None]:
            lost, whole = _whole_chains(arrays, [level.only(left) for level in levels], budget)
            for at, count, every in zip(left, lost, whole, strict=True):
                nodes[at], path = every, paths[places[at]]
                if count and (path.entity, path.steps) not in known[places[at]]:  # else ``follow`` has counted it
                    cuts[places[at]]["hub"] = cuts[places[at]].get("hub", 0) + count
        for i, row in zip(places, nodes, strict=True):
            assert row is not None
            found[i] = NumberedInstances(arrays, paths[i].steps, row)
    return [found[i] for i in range(len(paths))]


class _Level(NamedTuple):
    """The nodes before a step of several paths.

    Attributes:
        steps: Step of each path.
        which: Index of each path's nodes among the parts.
        parts: Nodes of each distinct frontier, sorted.
    """

    steps: list[Step]
    which: list[int]
    parts: list[Ints]

    @classmethod
    def of(cls, arrays: EdgeArrays, steps: list[Step], before: Sequence[Frontier]) -> _Level:
        """Read the nodes of frontiers, which many paths share."""
        places: dict[int, int] = {}
        which = [places.setdefault(id(frontier), len(places)) for frontier in before]
        distinct = dict(zip(which, before, strict=True))
        return cls(steps, which, [arrays.nodes(distinct[place]) for place in range(len(distinct))])

    def only(self, some: Sequence[int]) -> _Level:
        """Return the level of some of the paths."""
        return _Level([self.steps[i] for i in some], [self.which[i] for i in some], self.parts)

    def flat(self) -> tuple[Ints, Ints]:
        """Return the index of the path of each node, and the nodes."""
        return _flat([self.parts[place] for place in self.which])


def _flat(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return the index of the part of each node, and the nodes."""
    return np.repeat(np.arange(len(parts)), list(map(len, parts))), np.concatenate(parts)


def _first_chains(arrays: EdgeArrays, levels: Sequence[_Level], budget: Budget) -> list[Ints | None]:
    """Return the instances of each path, of which only the first chains are followed; None where they do not suffice.

    At each step the first chains of a path are kept: what they lead to comes before what the others lead to.
    """
    most, hub, paths = budget.triples, budget.hub, len(levels[0].steps)
    if most is None or (hub is not None and most >= hub):
        return [None] * paths
    owners, nodes = levels[0].flat()
    columns, whole = [nodes], np.ones(paths, dtype=bool)
    for level, after in zip_longest(levels, levels[1:]):
        last = after is None
        rows, ends = arrays.along(columns[-1], owners, level.steps, most + 1 if last else hub)
        owners = owners[rows]
        if not last:
            onward, behind = _flat(after.parts)
            width = 1 + max(int(behind.max(initial=0)), int(ends.max(initial=0)))
            keys, wanted = onward * width + behind, np.array(after.which)[owners] * width + ends
            there = np.append(keys, -1)[np.searchsorted(keys, wanted)] == wanted
            rows, ends, owners = rows[there], ends[there], owners[there]
        bounds = np.searchsorted(owners, np.arange(paths + 1))
        cap = most if last else _TRIED * most
        kept = np.arange(len(owners)) - bounds[owners] < cap
        if not last:
            whole &= np.diff(bounds) <= cap
        columns = [*(column[rows[kept]] for column in columns), ends[kept]]
        owners = owners[kept]
    bounds = np.searchsorted(owners, np.arange(paths + 1))
    whole |= np.diff(bounds) == most
    found = np.stack(columns, axis=1)
    return [
        found[begin:end] if done else None
        for done, (begin, end) in zip(whole.tolist(), pairwise(bounds.tolist()), strict=True)
    ]


def _whole_chains(arrays: EdgeArrays, levels: Sequence[_Level], budget: Budget) -> tuple[list[int], list[Ints]]:
    """Return the instances of each path, and how many edges the limit on neighbours left out at its last step."""
    read = []
    lost = [0] * len(levels[0].steps)
    for level in levels:
        last = level is levels[-1]
        # At the last hop, a node needs no more edges than the budget has room for, plus one to detect the cut.
        limits = [n + last for n in (budget.hub, budget.triples if last else None) if n is not None]
        owners, nodes = level.flat()
        rows, ends = arrays.along(nodes, owners, level.steps, min(limits, default=None))
        pairs, starts = owners[rows], nodes[rows]
        if last and budget.hub is not None:
            kept = _first_of_each(pairs, starts, budget.hub)
            lost = np.bincount(pairs[~kept], minlength=len(lost)).tolist()
            pairs, starts, ends = pairs[kept], starts[kept], ends[kept]
        read.append((pairs, starts, ends))
    return lost, _chains(len(lost), read, budget.triples)


def _first_of_each(pairs: Ints, starts: Ints, most: int) -> npt.NDArray[np.bool_]:
    """Return which edges are among the first of their pair and start."""
    changed = np.ones(len(pairs), dtype=bool)
    changed[1:] = (pairs[1:] != pairs[:-1]) | (starts[1:] != starts[:-1])
    first = np.flatnonzero(changed)
    place = np.arange(len(pairs)) - np.repeat(first, np.diff(first, append=len(pairs)))
    among: npt.NDArray[np.bool_] = place < most
    return among


def _chains(paths: int, levels: Sequence[tuple[Ints, Ints, Ints]], most: int | None) -> list[Ints]:
    """Return the nodes of the first ``most`` instances of each of several paths of one length, depth first.

    Args:
        paths: Number of paths.
        levels: For each step of the paths, the edges along it, sorted: index of the path, start and end.
        most: Maximum number of instances of a path.
    """
    width = 1 + max((int(max(starts.max(initial=0), ends.max(initial=0))) for _, starts, ends in levels), default=0)
    # By edge, the range of edges of the next level that go on from it, and the number of chains from it on.
    onward: list[tuple[Ints, Ints]] = []
    counts = [np.ones(len(levels[-1][0]), dtype=np.int64)]
    for (pairs, _, ends), (after, starts, _) in zip(levels[-2::-1], levels[:0:-1], strict=True):
        keys, wanted = after * width + starts, pairs * width + ends
        begins = np.flatnonzero(np.diff(keys, prepend=-1))
        at = np.searchsorted(keys[begins], wanted)
        bounds = np.append(begins, len(keys))
        there = np.append(keys[begins], -1)[at] == wanted
        low, high = bounds[at], bounds[np.where(there, at + 1, at)]
        sums = np.concatenate([[0], np.cumsum(counts[0])])
        counts.insert(0, np.minimum(sums[high] - sums[low], _MANY))
        onward.insert(0, (low, high))
    columns = [_beginning(np.arange(len(counts[0])), levels[0][0], counts[0], most)]
    for (low, high), chains, (owners, _, _) in zip(onward, counts[1:], levels[1:], strict=True):
        lengths = high[columns[-1]] - low[columns[-1]]
        shift = np.repeat(low[columns[-1]] - np.cumsum(lengths) + lengths, lengths)
        edges = np.arange(len(shift)) + shift
        rows = np.repeat(np.arange(len(lengths)), lengths)
        kept = _beginning(np.arange(len(edges)), owners[edges], chains[edges], most)
        columns = [column[rows[kept]] for column in columns] + [edges[kept]]
    nodes = np.stack(
        [levels[0][1][columns[0]], *(ends[at] for at, (_, _, ends) in zip(columns, levels, strict=True))], 1
    )
    bounds = np.searchsorted(levels[0][0][columns[0]], np.arange(paths + 1)).tolist()
    return [nodes[begin:end] for begin, end in pairwise(bounds)]


def _beginning(rows: Ints, owners: Ints, chains: Ints, most: int | None) -> Ints:
    """Keep the rows that begin the first ``most`` chains of their owner; none that begin no chain.

    Args:
        rows: The rows, in order of owner.
        owners: Index of the path of each.
        chains: Number of chains that go on from each.
        most: Maximum number of chains of a path.
    """
    kept = chains > 0
    if most is not None:
        before = np.cumsum(chains) - chains
        first = np.searchsorted(owners, owners)  # the first row of the same path
        kept &= before - before[first] < most
    return rows[kept]
