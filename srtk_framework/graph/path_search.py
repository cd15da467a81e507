"""Bidirectional search for the relation paths between two sets of entities, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from srtk_framework.graph.traversal import follow_within, frontier_batches
from srtk_framework.values import Budget, DriverError, FoundPaths, Frontier, GraphLike, NodeSet, Path, Step


def _flip(step: Step) -> Step:
    return Step(step.relation, not step.inverse)


class Side:
    """One side of a search: the partial paths from one end, by length, each with the frontier that it reaches.

    Partial paths are in the direction of the whole path on both sides.
    """

    def __init__(self, end: Frontier, backward: bool, inverse: bool) -> None:
        self.backward = backward
        self.inverse = inverse
        self.size = end.size
        self.levels: list[dict[Path, Frontier]] = [{(): end}]
        self.offered: dict[Path, list[Step]] = {}
        self.missed: dict[Path, tuple[int, int]] = {}
        self._nodes: dict[Path, frozenset[str]] = {}

    def from_this_end(self, step: Step) -> Step:
        """Return the step to follow from this end for a step of the path."""
        return _flip(step) if self.backward else step

    def longer(self, part: Path, step: Step) -> Path:
        """Extend a partial path by a step at its open end."""
        return (step, *part) if self.backward else (*part, step)

    def nodes(self, part: Path) -> frozenset[str]:
        """Return the nodes at the open end of a partial path."""
        if part not in self._nodes:
            self._nodes[part] = frozenset(self.levels[len(part)][part].ids())
        return self._nodes[part]

    def weight(self, level: int) -> int:
        """Return the number of nodes of a level, an estimate of the cost of expanding it."""
        return sum(frontier.size for frontier in self.levels[level].values())


_Split = tuple[int, int]
"""Numbers of steps followed from the starts and from the ends; one more step joins them."""
_Place = tuple[str, bool, Path]
"""Place of a cut: the limit, whether it is on the side of the ends, and the partial path that leads there."""


class Search:
    """One search: its two sides, the paths found, and the cuts."""

    def __init__(self, forward: Side, backward: Side) -> None:
        self.forward = forward
        self.backward = backward
        self.found: set[Path] = set()
        self.unsure: list[tuple[_Split, Path, _Place, int]] = []
        self._cuts: dict[_Place, int] = {}

    def splits(self, length: int) -> list[_Split]:
        """List the even splits of a path's steps, the split with more steps from the smaller set first."""
        half, odd = divmod(length - 1, 2)
        if not odd:
            return [(half, half)]
        # Extra steps from the smaller set read fewer nodes.
        ways = [(half + 1, half), (half, half + 1)]
        return ways if self.forward.size <= self.backward.size else ways[::-1]

    def level_cut(self, split: _Split) -> bool:
        """Return whether a limit cut the levels of a split."""
        return any(
            len(part) <= depth
            for side, depth in zip((self.forward, self.backward), split, strict=True)
            for part in side.missed
        )

    def count(self, splits: Iterable[_Split]) -> None:
        """Count the cuts that affect paths of one length, by the split with the fewest."""
        losses = [self._lost(split) for split in splits]
        least = min(range(len(losses)), key=lambda i: sum(losses[i].values()))
        self._cuts.update(losses[least])

    def _lost(self, split: _Split) -> dict[_Place, int]:
        lost = {place: n for way, path, place, n in self.unsure if way == split and path not in self.found}
        for side, depth in zip((self.forward, self.backward), split, strict=True):
            for part, (hub, nodes) in side.missed.items():
                if len(part) <= depth:
                    lost["hub", side.backward, part] = hub
                    lost["nodes", side.backward, part] = nodes
        return lost

    def cut(self) -> dict[str, int]:
        """Sum the cuts by limit."""
        sums = {name: sum(n for (kind, _, _), n in self._cuts.items() if kind == name) for name in ("hub", "nodes")}
        return {name: number for name, number in sums.items() if number}


def grow_and_meet(graph: GraphLike, turns: Sequence[tuple[Search, _Split]], budget: Budget) -> None:
    """Grow both sides of each search to the depths of its split, then find the steps that join them."""
    for depth in range(max((max(split) for _, split in turns), default=0)):
        sides = [
            side
            for search, split in turns
            for side, wanted in zip((search.forward, search.backward), split, strict=True)
            if wanted > depth and len(side.levels) == depth + 1
        ]
        _grow(graph, sides, budget)
    _meet(graph, turns, budget)


def _offer(graph: GraphLike, sides: Iterable[tuple[Side, int]]) -> None:
    """Read the steps from the given levels that are not yet known."""
    for inverse in (False, True):
        unread = [
            (side, part, frontier)
            for side, level in sides
            if (side.inverse or side.backward) == inverse
            for part, frontier in side.levels[level].items()
            if part not in side.offered
        ]
        if not unread:
            continue
        read = graph.steps([frontier for _, _, frontier in unread], inverse)
        for (side, part, _), steps in zip(unread, read, strict=True):
            readable = (side.from_this_end(step) for step in steps)
            side.offered[part] = [step for step in readable if side.inverse or not step.inverse]


def _grow(graph: GraphLike, sides: Sequence[Side], budget: Budget) -> None:
    """Extend each side by one level."""
    last = [(side, len(side.levels) - 1) for side in sides]
    _offer(graph, last)
    pairs = [(side, part, step) for side, level in last for part in side.levels[level] for step in side.offered[part]]
    at = [side.levels[len(part)][part] for side, part, _ in pairs]
    reached = follow_within(graph, at, [side.from_this_end(step) for side, _, step in pairs], budget)
    for side in sides:
        side.levels.append({})
    for (side, part, step), (frontier, hub, nodes) in zip(pairs, reached, strict=True):
        longer = side.longer(part, step)
        if frontier.size:
            side.levels[-1][longer] = frontier
        if hub or nodes:
            side.missed[longer] = (hub, nodes)


class _Gap(NamedTuple):
    """A step that may join a partial path of either side to partial paths of the opposite side."""

    search: Search
    split: _Split
    near: Side
    far: Side
    part: Path
    step: Step
    others: list[Path]

    def path(self, other: Path) -> Path:
        """Return the whole path."""
        return (*other, self.step, *self.part) if self.near.backward else (*self.part, self.step, *other)


def _meet(graph: GraphLike, turns: Sequence[tuple[Search, _Split]], budget: Budget) -> None:
    """Find the steps that join partial paths from the starts to partial paths from the ends."""
    reachable = [
        (side, depth)
        for search, split in turns
        for side, depth in zip((search.forward, search.backward), split, strict=True)
    ]
    _offer(graph, reachable)
    _join(graph, [gap for search, split in turns for gap in _gaps(search, split)], budget)


def _gaps(search: Search, split: _Split) -> list[_Gap]:
    near, far = search.forward, search.backward
    level, other = split
    if far.weight(other) < near.weight(level):
        near, far, level, other = far, near, other, level
    takers: dict[Step, list[Path]] = {}
    for part in far.levels[other]:
        for step in far.offered[part]:
            takers.setdefault(step, []).append(part)
    return [
        _Gap(search, split, near, far, part, step, takers[step])
        for part in near.levels[level]
        for step in near.offered[part]
        if step in takers
    ]


def _join(graph: GraphLike, gaps: Sequence[_Gap], budget: Budget) -> None:
    at = [gap.near.levels[len(gap.part)][gap.part] for gap in gaps]
    steps = [gap.near.from_this_end(gap.step) for gap in gaps]
    unsure: list[tuple[_Gap, Path, int]] = []
    for part in frontier_batches(at):
        for gap, frontier in zip(gaps[part], graph.follow(at[part], steps[part], budget.hub), strict=True):
            ids = frozenset(frontier.ids())
            for other in gap.others:
                if not ids.isdisjoint(gap.far.nodes(other)):
                    gap.search.found.add(gap.path(other))
                elif frontier.cut:
                    unsure.append((gap, other, frontier.cut))
    # Nodes that a limit may have hidden are searched for from the other side.
    at = [gap.far.levels[len(other)][other] for gap, other, _ in unsure]
    steps = [gap.far.from_this_end(gap.step) for gap, _, _ in unsure]
    for part in frontier_batches(at):
        back = graph.follow(at[part], steps[part], budget.hub)
        for (gap, other, cut), frontier in zip(unsure[part], back, strict=True):
            path = gap.path(other)
            if not gap.near.nodes(gap.part).isdisjoint(frontier.ids()):
                gap.search.found.add(path)
            elif frontier.cut:
                place = ("hub", gap.near.backward, gap.near.longer(gap.part, gap.step))
                gap.search.unsure.append((gap.split, path, place, cut))


def path_sort_key(path: Path) -> tuple[int, tuple[str, ...]]:
    """Order paths by length, then by the text of their steps."""
    return len(path), tuple(str(step) for step in path)


def find_paths(
    graph: GraphLike,
    starts: Sequence[Sequence[str]],
    ends: Sequence[Sequence[str]],
    hops: int,
    budget: Budget,
    shortest: bool = True,
    inverse: bool = True,
) -> list[FoundPaths]:
    """Find the relation paths that lead from some entity of ``starts[i]`` to some entity of ``ends[i]``.

    A relation path is found if following its steps from the starts reaches an end; its instances may visit a node
    twice. The search proceeds from both sides and meets in the middle, so that a search for paths of three steps
    reads only one hop around each side. A limit that cuts one side loses nothing if the other side can be read
    completely.

    Args:
        graph: Graph to search; unknown ids and literals are ignored.
        starts: One set of entities per search.
        ends: One set of entities per search. A start among the ends is reached only by a path back to it.
        hops: Maximum number of steps of a path, at least 1.
        budget: Budget of each search; ``hub`` and ``nodes`` apply.
        shortest: Whether to return only the shortest paths; otherwise all paths up to ``hops`` steps.
        inverse: Whether to follow inverse steps too.

    Returns:
        The paths of each search, with the cuts that may hide further paths.

    Raises:
        DriverError: If ``starts`` and ``ends`` differ in length, or ``hops`` is below 1.
    """
    if len(starts) != len(ends):
        raise DriverError(f"find_paths got {len(starts)} sets of starts and {len(ends)} of ends; give as many of each")
    if hops < 1:
        raise DriverError(f"find_paths got {hops} hops; give at least 1")
    made = list(graph.frontiers([*starts, *ends]))
    searches = [
        Search(Side(start, False, inverse), Side(end, True, inverse))
        for start, end in zip(made[: len(starts)], made[len(starts) :], strict=True)
    ]
    for length in range(1, hops + 1):
        going = [s for s in searches if s.forward.size and s.backward.size and not (shortest and s.found)]
        first = [(search, search.splits(length)[0]) for search in going]
        grow_and_meet(graph, first, budget)
        # If a level was cut on one side, the other split may find the missing paths.
        again = [(s, s.splits(length)[1]) for s, split in first if len(s.splits(length)) > 1 and s.level_cut(split)]
        grow_and_meet(graph, again, budget)
        redone = {id(search): split for search, split in again}
        for search, split in first:
            search.count([split, redone[id(search)]] if id(search) in redone else [split])
    return [FoundPaths(tuple(sorted(s.found, key=path_sort_key)), s.cut()) for s in searches]


def follow_path(
    graph: GraphLike, starts: Sequence[Sequence[str]], paths: Sequence[Path], budget: Budget
) -> list[NodeSet]:
    """Follow ``paths[i]`` from ``starts[i]`` and return the entities reached.

    Equal prefixes of paths from equal starts are followed once.

    Returns:
        One set per pair; its ``cut`` counts the neighbours and nodes that the budget omitted along the path.
    """
    if len(starts) != len(paths):
        raise DriverError(f"follow_path got {len(starts)} sets of starts and {len(paths)} paths; give as many of each")
    sources = [tuple(sorted(set(ids))) for ids in starts]
    distinct = sorted(set(sources))
    at: dict[tuple[tuple[str, ...], Path], tuple[Frontier, int]] = {
        (source, ()): (frontier, 0) for source, frontier in zip(distinct, graph.frontiers(distinct), strict=True)
    }
    for depth in range(1, max(map(len, paths), default=0) + 1):
        wanted = sorted(
            {(source, path[:depth]) for source, path in zip(sources, paths, strict=True) if len(path) >= depth}
        )
        before = [at[source, path[:-1]] for source, path in wanted]
        reached = follow_within(graph, [frontier for frontier, _ in before], [path[-1] for _, path in wanted], budget)
        for key, (_, missed), (frontier, hub, nodes) in zip(wanted, before, reached, strict=True):
            at[key] = (frontier, missed + hub + nodes)
    found = (at[source, tuple(path)] for source, path in zip(sources, paths, strict=True))
    return [NodeSet(frontier.ids(), cut=cut) for frontier, cut in found]
