"""Walks from many frontiers along steps within a budget, in parts that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from srtk_framework.values import Budget, Frontier, GraphLike, Step

_PAIRS_AT_ONCE, _NODES_AT_ONCE = 8192, 200_000
"""Most pairs of frontier and step, and nodes in them, of one ``follow``: what it reaches must fit into memory."""


class Reached(NamedTuple):
    """A frontier, and how many neighbours and nodes a limit left out of it."""

    frontier: Frontier
    hub: int
    nodes: int


def follow_within(
    graph: GraphLike, frontiers: Sequence[Frontier], steps: Sequence[Step], budget: Budget
) -> list[Reached]:
    """Follow within the budget; tell how many neighbours and nodes were left out."""
    read = [
        frontier
        for part in frontier_batches(frontiers)
        for frontier in graph.follow(frontiers[part], steps[part], budget.hub)
    ]
    over = [i for i, frontier in enumerate(read) if budget.nodes is not None and frontier.size > budget.nodes]
    kept = dict(zip(over, graph.frontiers([read[i].ids()[: budget.nodes] for i in over]), strict=True))
    return [
        Reached(kept.get(i, frontier), frontier.cut, frontier.size - kept[i].size if i in kept else 0)
        for i, frontier in enumerate(read)
    ]


def frontier_batches(frontiers: Sequence[Frontier]) -> Iterator[slice]:
    """Cut a batch of frontiers into parts of a bounded size."""
    begin, nodes = 0, 0
    for i, frontier in enumerate(frontiers):
        if i > begin and (i - begin == _PAIRS_AT_ONCE or nodes + frontier.size > _NODES_AT_ONCE):
            yield slice(begin, i)
            begin, nodes = i, 0
        nodes += frontier.size
    if begin < len(frontiers):
        yield slice(begin, len(frontiers))
