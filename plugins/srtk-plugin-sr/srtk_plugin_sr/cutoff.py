"""Where to stop: triples in an order whose every beginning hangs together, and the best length of that beginning."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from srtk_framework.values import Literal, Triple

Floats = npt.NDArray[np.float64]


def best_count(probabilities: Sequence[float], beta: float) -> int:
    """Choose how many of falling probabilities to keep so that the expected F is greatest.

    The expectation of F is taken as the ratio of expectations, for which some first k are the best choice of all:
    ``(1 + beta^2) * sum(p_i, i <= k) / (k + beta^2 * sum(p_i))``; of equal ones the least k.
    """
    if not len(probabilities):
        return 0
    found = np.asarray(probabilities, dtype=np.float64)
    hits = np.cumsum(found)
    counts = np.arange(1, len(found) + 1)
    # Equal within the noise of the last digits is equal.
    values = np.round((1 + beta**2) * hits / (counts + beta**2 * hits[-1]), 12)
    return int(values.argmax()) + 1


def connected_order(
    triples: Sequence[Triple], scores: Sequence[float], starts: Collection[str]
) -> tuple[list[int], list[float]]:
    """Order triples best first so that every beginning of the order hangs together with the starts.

    Each triple hangs on its most probable chain from a start, found by Dijkstra's method; the triples of the chain
    are needed as much as it is, so none of them scores less. One that no chain joins stands by its score alone.

    Args:
        triples: Distinct.
        scores: Logarithms of probabilities.
        starts: The linked nodes.

    Returns:
        Indices of the triples in order, and the score of each in that order, which never rises.
    """
    parents, depths = _tree(triples, scores, starts)
    lifted = list(scores)
    deep = [0] * len(triples)
    for i in sorted(range(len(triples)), key=lambda i: (-scores[i], i)):
        above = _above(i, triples, parents, depths)
        deep[i] = 0 if above is None else depths[above]
        while above is not None and parents[above] is not None:
            link = parents[above]
            assert link is not None
            parent, above = link
            if lifted[parent] >= scores[i]:
                break  # it was lifted before, with all above it
            lifted[parent] = scores[i]
    order = sorted(range(len(triples)), key=lambda i: (-lifted[i], deep[i], i))
    return order, [lifted[i] for i in order]


_Parents = dict[str, tuple[int, str] | None]


def _tree(
    triples: Sequence[Triple], scores: Sequence[float], starts: Collection[str]
) -> tuple[_Parents, dict[str, int]]:
    """Find, per node, the triple and the node before it on its most probable chain, and the length of that chain."""
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
            continue  # a value that two things share does not join them
        for i, other in touching.get(node, ()):
            if other not in depths:
                # Costs above 0 make every chain end; equal costs are settled by length, then by name.
                heapq.heappush(queue, (round(cost - scores[i] + 1e-6, 9), depth + 1, other, i, node))
    return parents, depths


def _above(i: int, triples: Sequence[Triple], parents: _Parents, depths: dict[str, int]) -> str | None:
    """Return the node on which a triple hangs, or None."""
    subject, _, object_ = triples[i]
    for node, other in ((object_, subject), (subject, object_)):
        link = parents.get(node)
        if link is not None and link[0] == i:
            return other
    ends = [node for node in (subject, object_) if node in depths and not isinstance(node, Literal)]
    return min(ends, key=lambda node: (depths[node], node)) if ends else None
