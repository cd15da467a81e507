"""Bidirectional search for the relation paths between two sets of entities, on any graph and in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from srtk_framework.graph.traversal import follow_within, frontier_batches
from srtk_framework.values import Budget, DriverError, FoundPaths, Frontier, GraphLike, NodeSet, Path, Step


def _flip(step: Step) -> Step:
    return Step(step.relation, not step.inverse)


class Side:
    """What a search knows from one of its ends: by length, each part of a path and the nodes it connects with that end.

    Parts and steps are kept in the order in which the whole path is read, also from the far end.
    """

    def __init__(self, end: Frontier, backward: bool, inverse: bool) -> None:
        self.backward = backward
        self.inverse = inverse
        self.size = end.size
        self.levels: list[dict[Path, Frontier]] = [{(): end}]
        self.offered: dict[Path, list[Step]] = {}
        self.missed: dict[Path, tuple[int, int]] = {}
        self._nodes: dict[Path, frozenset[str]] = {}

    def walked(self, step: Step) -> Step:
        """Turn a step of a path into the one that is walked from this end."""
        return _flip(step) if self.backward else step

    def longer(self, part: Path, step: Step) -> Path:
        """Join a step to the open side of a part."""
        return (step, *part) if self.backward else (*part, step)

    def nodes(self, part: Path) -> frozenset[str]:
        """Return the nodes at the open side of a part."""
        if part not in self._nodes:
            self._nodes[part] = frozenset(self.levels[len(part)][part].ids())
        return self._nodes[part]

    def weight(self, level: int) -> int:
        """Count the nodes of a level, as a measure of what it costs to go on from it."""
        return sum(frontier.size for frontier in self.levels[level].values())


_Split = tuple[int, int]
"""How many steps of a path are walked from the starts and from the ends; one more lies between them."""
_Place = tuple[str, bool, Path]
"""What a limit cut: its name, whether it was walked from the ends, and the part of a path that leads there."""


class Search:
    """One search: its two sides, the paths found, and what was left unread."""

    def __init__(self, forward: Side, backward: Side) -> None:
        self.forward = forward
        self.backward = backward
        self.found: set[Path] = set()
        self.unsure: list[tuple[_Split, Path, _Place, int]] = []
        self._cuts: dict[_Place, int] = {}

    def splits(self, length: int) -> list[_Split]:
        """List the even ways to share a path's steps, the one from the smaller set first."""
        half, odd = divmod(length - 1, 2)
        if not odd:
            return [(half, half)]
        ways = [(half + 1, half), (half, half + 1)]
        return ways if self.forward.size <= self.backward.size else ways[::-1]

    def level_cut(self, split: _Split) -> bool:
        """Tell whether a limit left something out of the levels of a split."""
        return any(
            len(part) <= depth
            for side, depth in zip((self.forward, self.backward), split, strict=True)
            for part in side.missed
        )

    def count(self, splits: Iterable[_Split]) -> None:
        """Count what was left out for the paths of one length: by the split that lost least."""
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
        """Sum up what was left out, by limit."""
        sums = {name: sum(n for (kind, _, _), n in self._cuts.items() if kind == name) for name in ("hub", "nodes")}
        return {name: number for name, number in sums.items() if number}


def grow_and_meet(graph: GraphLike, turns: Sequence[tuple[Search, _Split]], budget: Budget) -> None:
    """Let both sides of each search grow to the depths of its split, then look for the steps that join them."""
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
    """Read the steps that lead on from the given levels, where they are not known."""
    for inverse in (False, True):
        asked = [
            (side, part, frontier)
            for side, level in sides
            if (side.inverse or side.backward) == inverse
            for part, frontier in side.levels[level].items()
            if part not in side.offered
        ]
        if not asked:
            continue
        read = graph.steps([frontier for _, _, frontier in asked], inverse)
        for (side, part, _), steps in zip(asked, read, strict=True):
            readable = (side.walked(step) for step in steps)
            side.offered[part] = [step for step in readable if side.inverse or not step.inverse]


def _grow(graph: GraphLike, sides: Sequence[Side], budget: Budget) -> None:
    """Walk one step further from the last level of each side."""
    last = [(side, len(side.levels) - 1) for side in sides]
    _offer(graph, last)
    pairs = [(side, part, step) for side, level in last for part in side.levels[level] for step in side.offered[part]]
    at = [side.levels[len(part)][part] for side, part, _ in pairs]
    reached = follow_within(graph, at, [side.walked(step) for side, _, step in pairs], budget)
    for side in sides:
        side.levels.append({})
    for (side, part, step), (frontier, hub, nodes) in zip(pairs, reached, strict=True):
        longer = side.longer(part, step)
        if frontier.size:
            side.levels[-1][longer] = frontier
        if hub or nodes:
            side.missed[longer] = (hub, nodes)


class _Gap(NamedTuple):
    """A step that may join a part at one side to parts at the other."""

    search: Search
    split: _Split
    near: Side
    far: Side
    part: Path
    step: Step
    others: list[Path]

    def path(self, other: Path) -> Path:
        """Write the whole path."""
        return (*other, self.step, *self.part) if self.near.backward else (*self.part, self.step, *other)


def _meet(graph: GraphLike, turns: Sequence[tuple[Search, _Split]], budget: Budget) -> None:
    """Find the steps that join a part from the starts to a part from the ends."""
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
    steps = [gap.near.walked(gap.step) for gap in gaps]
    unsure: list[tuple[_Gap, Path, int]] = []
    for part in frontier_batches(at):
        for gap, frontier in zip(gaps[part], graph.follow(at[part], steps[part], budget.hub), strict=True):
            ids = frozenset(frontier.ids())
            for other in gap.others:
                if not ids.isdisjoint(gap.far.nodes(other)):
                    gap.search.found.add(gap.path(other))
                elif frontier.cut:
                    unsure.append((gap, other, frontier.cut))
    # What a limit may have hidden is looked for from the other side.
    at = [gap.far.levels[len(other)][other] for gap, other, _ in unsure]
    steps = [gap.far.walked(gap.step) for gap, _, _ in unsure]
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

    A path is found when walking its steps from the starts reaches an end; a walk may pass a node twice. The
    search goes from both ends and meets in the middle, so that three hops read one hop around each end. A
    limit that leaves neighbours out at one end does no harm where the other end can be read whole.

    Args:
        graph: Where to search; ids that it lacks, and literals, are passed over.
        starts: One set of entities for each search.
        ends: As many sets. An end that is a start too is reached by walking back to it only.
        hops: Most steps of a path, at least 1.
        budget: ``hub`` and ``nodes`` apply.
        shortest: Only the paths of the least length; otherwise all up to ``hops``.
        inverse: Also walk against the direction of relations.

    Raises:
        DriverError: If the arguments do not fit together.
    """
    if len(starts) != len(ends):
        raise DriverError(f"find_paths got {len(starts)} sets of starts and {len(ends)} of ends; give pairs")
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
        # Where a level was cut on the one side, the other side may show what is missing.
        again = [(s, s.splits(length)[1]) for s, split in first if len(s.splits(length)) > 1 and s.level_cut(split)]
        grow_and_meet(graph, again, budget)
        redone = {id(search): split for search, split in again}
        for search, split in first:
            search.count([split, redone[id(search)]] if id(search) in redone else [split])
    return [FoundPaths(tuple(sorted(s.found, key=path_sort_key)), s.cut()) for s in searches]


def follow_path(
    graph: GraphLike, starts: Sequence[Sequence[str]], paths: Sequence[Path], budget: Budget
) -> list[NodeSet]:
    """Walk ``paths[i]`` from all of ``starts[i]`` and return the entities reached.

    Starts and beginnings of paths that are equal are walked once.

    Returns:
        One set for each pair; its ``cut`` counts the neighbours and nodes that the budget left out on the way.
    """
    if len(starts) != len(paths):
        raise DriverError(f"follow_path got {len(starts)} sets of starts and {len(paths)} paths; give pairs")
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
