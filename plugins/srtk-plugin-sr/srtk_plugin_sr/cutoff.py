"""Cutoff of a ranking: an order of triples with connected prefixes, and the length of the prefix to keep."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

import numpy as np

from srtk_framework.values import Literal, Triple, best_first


def best_count(scores: Sequence[float], beta: float) -> int:
    """Return the number of triples to keep so that the expected F is greatest: at least one if there is any.

    The expectation of F is approximated by the ratio of expectations, which is greatest for some prefix of length k:
    ``(1 + beta^2) * sum(p_i, i <= k) / (k + beta^2 * sum(p_i))``. Of equal values the smallest k is chosen.

    Args:
        scores: Logarithm of each triple's probability, falling.
        beta: Weight of recall against precision.
    """
    if not len(scores):
        return 0
    found = np.exp(np.asarray(scores, dtype=np.float64))
    hits = np.cumsum(found)
    counts = np.arange(1, len(found) + 1)
    # Without the factor that all have. Rounded, so that noise in the last digits decides nothing.
    values = np.round(hits / (counts + beta**2 * hits[-1]), 12)
    return int(values.argmax()) + 1


def connected_order(
    triples: Sequence[Triple], scores: Sequence[float], starts: Collection[str]
) -> tuple[list[int], list[float]]:
    """Order triples best first so that every prefix of the order is connected to the start nodes.

    Dijkstra's algorithm finds the most probable chain from a start node to each triple. A triple is of no use without
    its chain, so each triple in the chain is raised to at least the triple's score. A triple that no chain reaches
    keeps its score.

    Args:
        triples: Distinct triples.
        scores: Logarithms of their probabilities.
        starts: The linked nodes.

    Returns:
        Indices of the triples in order, and their scores in that order, which never rise.
    """
    parents, depths = _tree(triples, scores, starts)
    raised = list(scores)
    depth_of = [0] * len(triples)
    for i in best_first(range(len(triples)), scores.__getitem__):
        above = _above(i, triples, parents, depths)
        depth_of[i] = 0 if above is None else depths[above]
        while above is not None and parents[above] is not None:
            link = parents[above]
            assert link is not None
            parent, above = link
            if raised[parent] >= scores[i]:
                break  # this triple and all above it were raised before
            raised[parent] = scores[i]
    order = sorted(range(len(triples)), key=lambda i: (-raised[i], depth_of[i], i))
    return order, [raised[i] for i in order]


_Parents = dict[str, tuple[int, str] | None]


def _tree(
    triples: Sequence[Triple], scores: Sequence[float], starts: Collection[str]
) -> tuple[_Parents, dict[str, int]]:
    """Return, per node, the triple and the node before it on its most probable chain, and the length of that chain."""
    touching: dict[str, list[tuple[int, str]]] = {}
    for i, triple in enumerate(triples):
        touching.setdefault(triple.subject, []).append((i, triple.object))
        touching.setdefault(triple.object, []).append((i, triple.subject))
    parents: _Parents = {}
    depths: dict[str, int] = {}
    queue: list[tuple[float, int, str, int, str]] = [(0.0, 0, node, -1, "") for node in sorted(starts)]
    heapq.heapify(queue)
    while queue:
        cost, depth, node, through, before = heapq.heappop(queue)
        if node in depths:
            continue
        depths[node] = depth
        parents[node] = (through, before) if through >= 0 else None
        if isinstance(node, Literal):
            continue  # a literal that two entities share does not connect them
        for i, other in touching.get(node, ()):
            if other not in depths:
                # A cost above 0 for each step keeps chains finite; ties break by length, then by node.
                heapq.heappush(queue, (round(cost - scores[i] + 1e-6, 9), depth + 1, other, i, node))
    return parents, depths


def _above(i: int, triples: Sequence[Triple], parents: _Parents, depths: dict[str, int]) -> str | None:
    """Return the node through which a triple is reached, or None."""
    subject, _, object_ = triples[i]
    for node, other in ((object_, subject), (subject, object_)):
        link = parents.get(node)
        if link is not None and link[0] == i:
            return other
    ends = [node for node in (subject, object_) if node in depths and not isinstance(node, Literal)]
    return min(ends, key=lambda node: (depths[node], node)) if ends else None
