"""The walks that lead from a topic to a node over the widest gates: the evidence of an answer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from srtk_plugin_graph_reader.inputs import Floats, GraphInput, Ints


def support(given: GraphInput, gates: Floats, nodes: Iterable[int]) -> tuple[int, ...]:
    """Return the places of the triples on the best walk to each node, sorted.

    Args:
        given: The question and its subgraph.
        gates: How far each step is open in each round, [rounds, steps].
        nodes: Numbers of the nodes.

    Returns:
        The triples of the walks with the greatest product of gates; of equal ones the shortest, with the first triples.
        None for a node that no walk of as many rounds reaches.
    """
    best, came = _walks(given, gates)
    found: set[int] = set()
    for node in nodes:
        length = int(np.argmax(best[:, node]))
        for round_ in range(length, 0, -1):
            edge = int(came[round_, node])
            if edge >= 0:
                found.add(edge % (len(given.edges) // 2))
                node = int(given.edges[edge, 0])
    return tuple(sorted(found))


def _walks(given: GraphInput, gates: Floats) -> tuple[Floats, Ints]:
    """Return the greatest product of gates of the walks of each length to each node, and their last edges."""
    source, step, target = given.edges.T
    best = np.zeros((len(gates) + 1, len(given.nodes)), dtype=np.float32)
    came = np.full(best.shape, -1, dtype=np.int64)
    best[0, given.topics] = 1
    for round_, open_ in enumerate(gates, start=1):
        through = best[round_ - 1, source] * open_[step]
        # The last assignment counts, so the best comes last, and of equal ones the first.
        order = np.lexsort((-np.arange(len(through)), through))
        order = order[through[order] > 0]
        best[round_, target[order]] = through[order]
        came[round_, target[order]] = order
    best[0] = 0  # A topic is no answer, and needs no walk.
    return best, came
