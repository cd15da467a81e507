"""Traversal of steps from many frontiers within a budget, in batches that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from srtk_framework.values import Budget, Frontier, GraphLike, Step

# Maximum number of pairs of frontier and step, and of nodes in them, of one ``follow``, to bound memory.
_PAIRS_AT_ONCE, _NODES_AT_ONCE = 8192, 200_000
# The same for graphs with arrays: larger reads leave the cache, and get new pages from the system each time.
_IN_CACHE = 16_000


class Reached(NamedTuple):
    """A frontier that was reached, within the limits.

    Attributes:
        frontier: The nodes that were kept.
        hub: Number of neighbours that the limit ``hub`` left out.
        nodes: Number of nodes that the limit ``nodes`` left out.
    """

    frontier: Frontier
    hub: int
    nodes: int


def follow_within(
    graph: GraphLike, frontiers: Sequence[Frontier], steps: Sequence[Step], budget: Budget
) -> list[Reached]:
    """Follow each frontier along its step, and cut the reached nodes to the budget's ``hub`` and ``nodes``."""
    reached = [
        frontier
        for batch in frontier_batches(frontiers, graph)
        for frontier in graph.follow(frontiers[batch], steps[batch], budget.hub)
    ]
    return within_nodes(graph, reached, budget.nodes)


def within_nodes(graph: GraphLike, frontiers: Sequence[Frontier], nodes: int | None) -> list[Reached]:
    """Cut frontiers that were reached to their first ``nodes`` nodes by id; None for no limit."""
    over = [] if nodes is None else [i for i, frontier in enumerate(frontiers) if frontier.size > nodes]
    kept = {i: first for i in over if (first := frontiers[i].first(nodes or 0)) is not None}
    if read := [i for i in over if i not in kept]:
        kept |= zip(read, graph.frontiers([frontiers[i].ids()[:nodes] for i in read]), strict=True)
    return [
        Reached(kept.get(i, frontier), frontier.cut, frontier.size - kept[i].size if i in kept else 0)
        for i, frontier in enumerate(frontiers)
    ]


def frontier_batches(frontiers: Sequence[Frontier], graph: GraphLike | None = None) -> Iterator[slice]:
    """Yield slices of frontiers whose number and size are bounded, to the cache for a graph with arrays."""
    sizes = [frontier.size for frontier in frontiers]
    small = graph is not None and sum(sizes) > _IN_CACHE and graph.arrays() is not None
    most = _IN_CACHE if small else _NODES_AT_ONCE
    begin, nodes = 0, 0
    for i, size in enumerate(sizes):
        if i > begin and (i - begin == _PAIRS_AT_ONCE or nodes + size > most):
            yield slice(begin, i)
            begin, nodes = i, 0
        nodes += size
    if begin < len(frontiers):
        yield slice(begin, len(frontiers))
