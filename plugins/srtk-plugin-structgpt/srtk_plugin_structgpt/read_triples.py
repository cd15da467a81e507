"""Read the triples of the steps that were chosen, within the limits, and none that leads back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget
from srtk_plugin_structgpt.search_state import Fact, Walk, WalkState, fact

_AHEAD = 4
"""Of one node, so many times the limit of a relation are read at most, since some may lead back."""


def read(
    graph: KnowledgeGraph, walks: Sequence[tuple[WalkState, Walk]], budget: Budget, most: int | None
) -> list[list[Fact]]:
    """Read what each walk comes upon, by one call to the graph; what limits leave out is counted.

    Args:
        graph: Where to read.
        walks: Of all questions; those of one option of one question follow each other.
        budget: ``hub`` applies.
        most: Most triples of one option; None for all. Each start node gives one in turn, in order, until there
            are so many.
    """
    frontiers = graph.frontiers([walk.branch.nodes for _, walk in walks])
    limits = [n for n in (budget.hub, most and most * _AHEAD) if n is not None]
    limit = min(limits) + 1 if limits else None
    rows = graph.triples(frontiers, [walk.step for _, walk in walks], limit)
    by_start: list[list[list[Fact]]] = []
    for (state, walk), row in zip(walks, rows, strict=True):
        steps = (*walk.branch.steps, walk.step)
        facts = [fact(triple, walk.branch.entity, steps, walk.score) for triple in row]
        groups = []
        for _, found in groupby(facts, key=lambda one: one.start):
            near = list(found)
            kept = near[: budget.hub]
            state.drop("hub", len(near) - len(kept))
            ahead = [one for one in kept if not leads_back(state, one)]
            state.count("back", len(kept) - len(ahead))
            groups.append(ahead)
        by_start.append(groups)
    return _shared(walks, by_start, most)


def leads_back(state: WalkState, one: Fact) -> bool:
    """Tell whether a triple ends where the walk has been; other linked entities may be come upon again."""
    return one.end in state.seen and one.end != one.start and (one.end not in state.topics or one.end == one.entity)


def _shared(
    walks: Sequence[tuple[WalkState, Walk]], by_start: Sequence[list[list[Fact]]], most: int | None
) -> list[list[Fact]]:
    """Bring the walks of each option within the limit that they share."""
    whole: list[list[Fact]] = []
    for _, places in groupby(range(len(walks)), key=lambda i: (id(walks[i][0]), walks[i][1].option)):
        group = list(places)
        state = walks[group[0]][0]
        rows = [(i, row) for i in group for row in by_start[i]]
        takes = _in_turn([len(row) for _, row in rows], most)
        kept: dict[int, list[Fact]] = {i: [] for i in group}
        for (i, row), take in zip(rows, takes, strict=True):
            kept[i] += row[:take]
            state.drop("relation", len(row) - take)
        whole += [kept[i] for i in group]
    return whole


def _in_turn(sizes: Sequence[int], most: int | None) -> list[int]:
    """Say how many each of several rows gives if one is taken from each in turn, up to so many in all."""
    if most is None or sum(sizes) <= most:
        return list(sizes)
    takes = [0] * len(sizes)
    left = most
    while left:
        for i, size in enumerate(sizes):
            if left and takes[i] < size:
                takes[i] += 1
                left -= 1
    return takes
