"""Numeric features of the triples of one question: position, path, rank and neighbours, for the head of ``rerank``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Subgraph, Triple, rounded

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FAR = 4
"""Greatest distance from a link that has a feature of its own; farther and unreachable nodes count as one more."""

# The longest paths that a search finds have three steps.
ROUNDS = 3
FEATURE_COUNT = 2 * (1 + 2 * ROUNDS) + (FAR + 2) + 2 + 10 + 3 + 6
"""Number of features of a triple."""
# Logarithms of smaller shares would dominate.
_LEAST_SHARE = 1e-6


@attrs.frozen
class NodeIndex:
    """Numbers of a subgraph's nodes, linked nodes first.

    Attributes:
        number: Number of each node.
        starts: Link score of each node, of shape [nodes]; 0 for nodes that are not linked.
        heads: Number of each triple's subject, of shape [triples].
        tails: Number of each triple's object, of shape [triples].
    """

    number: Mapping[str, int]
    starts: Floats
    heads: Ints
    tails: Ints


def index_nodes(triples: Sequence[Triple], starts: Mapping[str, float]) -> NodeIndex:
    """Number the nodes of triples; ``starts`` are the linked nodes with their scores."""
    number: dict[str, int] = {}
    for node in (*starts, *(end for triple in triples for end in (triple.subject, triple.object))):
        number.setdefault(node, len(number))
    weights = np.zeros(len(number))
    weights[: len(starts)] = list(starts.values())
    heads = np.array([number[triple.subject] for triple in triples], dtype=np.int64)
    tails = np.array([number[triple.object] for triple in triples], dtype=np.int64)
    return NodeIndex(number, weights, heads, tails)


def directed_distances(nodes: NodeIndex, rounds: int = ROUNDS) -> Floats:
    """Return how close each node is to the links, along edges and against them.

    This is the directional distance encoding of SubgraphRAG (Li et al., ICLR 2025) within the retrieved triples, with
    link scores in place of 0 and 1. In each round a node takes the mean of the values at the sources of its incoming
    edges, 0 without any. The second half of the rounds takes the targets of its outgoing edges.

    Returns:
        Of shape [nodes, 1 + 2 rounds]: the start, then each round along edges, then each round against them.
    """
    columns = [nodes.starts]
    for sources, targets in ((nodes.heads, nodes.tails), (nodes.tails, nodes.heads)):
        values = nodes.starts
        degree = np.maximum(np.bincount(targets, minlength=len(values)), 1)
        for _ in range(rounds):
            values = np.bincount(targets, weights=values[sources], minlength=len(values)) / degree
            columns.append(values)
    return np.stack(columns, axis=1)


def hops(nodes: NodeIndex) -> Ints:
    """Return the undirected distance of each node from the nearest link: up to ``FAR``, else ``FAR + 1``."""
    distance = np.full(len(nodes.starts), FAR + 1, dtype=np.int64)
    distance[nodes.starts > 0] = 0
    for hop in range(FAR):
        for sources, targets in ((nodes.heads, nodes.tails), (nodes.tails, nodes.heads)):
            reached = targets[distance[sources] == hop]
            distance[reached] = np.minimum(distance[reached], hop + 1)
    return distance


def triple_features(subgraph: Subgraph, nodes: NodeIndex) -> Floats:
    """Return the features of each triple, of shape [triples, ``FEATURE_COUNT``]."""
    near = directed_distances(nodes)
    distance = hops(nodes)
    at_head, at_tail = distance[nodes.heads], distance[nodes.tails]
    nearer = np.minimum(at_head, at_tail)
    columns = [
        near[nodes.heads],
        near[nodes.tails],
        np.eye(FAR + 2)[nearer],
        np.stack([at_head < at_tail, at_tail < at_head], axis=1).astype(np.float64),
        _path_features(subgraph, nearer),
        _rank_features(subgraph),
        _count_features(subgraph, nodes),
    ]
    found: Floats = np.concatenate(columns, axis=1)
    return found


def _path_features(subgraph: Subgraph, nearer: Ints) -> Floats:
    """Return, of each triple's path, the score relative to the best, the share, rank and length, and the last hop."""
    table = np.zeros((len(subgraph.triples), 10))
    if not subgraph.paths:
        return table
    scores = np.array([rounded(path.score) for path in subgraph.paths])
    weights = np.exp(scores - scores.max())
    shares = weights / weights.sum()
    for i, rank in enumerate(subgraph.path_of):
        if rank < 0:
            continue
        length = len(subgraph.paths[rank].steps)
        table[i, :4] = (1.0, scores[rank] - scores.max(), np.log(max(shares[rank], _LEAST_SHARE)), 1.0 / (1 + rank))
        table[i, 4] = np.log1p(rank)
        table[i, 4 + min(max(length, 1), 4)] = 1.0
        table[i, 9] = float(nearer[i] + 1 >= length)
    return table


def _rank_features(subgraph: Subgraph) -> Floats:
    """Return the score of each triple relative to the best, and its rank."""
    count = len(subgraph.triples)
    scores = np.array(subgraph.scores, dtype=np.float64)
    ranks = np.arange(count)
    return np.stack([scores - scores.max(initial=0.0 if not count else -np.inf), np.log1p(ranks), ranks / count], 1)


def _count_features(subgraph: Subgraph, nodes: NodeIndex) -> Floats:
    """Return log-counts of triples with the same path, relation, subject, object, subject and relation, and of all."""
    relations = Counter(triple.relation for triple in subgraph.triples)
    pairs = Counter(triple[:2] for triple in subgraph.triples)
    paths = Counter(subgraph.path_of)
    degree = np.bincount(np.concatenate([nodes.heads, nodes.tails]), minlength=len(nodes.starts))
    rows = [
        (paths[rank], relations[triple.relation], degree[head], degree[tail], pairs[triple[:2]], len(subgraph.triples))
        for triple, rank, head, tail in zip(subgraph.triples, subgraph.path_of, nodes.heads, nodes.tails, strict=True)
    ]
    return np.log1p(np.array(rows, dtype=np.float64).reshape(len(rows), 6))
