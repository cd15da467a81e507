"""What a head reads about the triples of one question: where they lie, on which path, and how they were found."""

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
"""Hops from a link that are told apart; beyond, and without any link, a node is one further."""

_LEAST_SHARE = 1e-6


@attrs.frozen
class Places:
    """The nodes of a subgraph by number, those of the links first.

    Attributes:
        number: Of each node.
        starts: Weight of each node as a start, of shape [nodes]; 0 for those that are no link.
        heads: Number of each triple's subject.
        tails: Number of each triple's object.
    """

    number: Mapping[str, int]
    starts: Floats
    heads: Ints
    tails: Ints


def placed(triples: Sequence[Triple], starts: Mapping[str, float]) -> Places:
    """Number the nodes of some triples; ``starts`` are the linked ones with their scores."""
    number: dict[str, int] = {}
    for node in (*starts, *(end for triple in triples for end in (triple.subject, triple.object))):
        number.setdefault(node, len(number))
    weights = np.zeros(len(number))
    weights[: len(starts)] = list(starts.values())
    heads = np.array([number[triple.subject] for triple in triples], dtype=np.int64)
    tails = np.array([number[triple.object] for triple in triples], dtype=np.int64)
    return Places(number, weights, heads, tails)


def directed_distances(places: Places, rounds: int) -> Floats:
    """Tell how near each node is to the links, along edges and against them.

    Directional distance encoding of SubgraphRAG (Li et al., ICLR 2025), with the scores of the links in
    the place of 0 and 1, within the retrieved triples: a node's value after a round is the mean of the values before
    it over its incoming edges (0 without any), and in the other half over its outgoing ones.

    Returns:
        Of shape [nodes, 1 + 2 rounds]: the start, then each round along edges, then each round against them.
    """
    columns = [places.starts]
    for sources, targets in ((places.heads, places.tails), (places.tails, places.heads)):
        values = places.starts
        degree = np.maximum(np.bincount(targets, minlength=len(values)), 1)
        for _ in range(rounds):
            values = np.bincount(targets, weights=values[sources], minlength=len(values)) / degree
            columns.append(values)
    return np.stack(columns, axis=1)


def hops(places: Places) -> Ints:
    """Count the edges, walked either way, from each node to the nearest link: up to ``FAR``, else one more."""
    distance = np.full(len(places.starts), FAR + 1, dtype=np.int64)
    distance[places.starts > 0] = 0
    for hop in range(FAR):
        for sources, targets in ((places.heads, places.tails), (places.tails, places.heads)):
            reached = targets[distance[sources] == hop]
            distance[reached] = np.minimum(distance[reached], hop + 1)
    return distance


def numbers(subgraph: Subgraph, places: Places, rounds: int) -> Floats:
    """Describe each triple of a subgraph by numbers, of shape [triples, ``width(rounds)``]."""
    near = directed_distances(places, rounds)
    distance = hops(places)
    at_head, at_tail = distance[places.heads], distance[places.tails]
    nearer = np.minimum(at_head, at_tail)
    columns = [
        near[places.heads],
        near[places.tails],
        np.eye(FAR + 2)[nearer],
        np.stack([at_head < at_tail, at_tail < at_head], axis=1).astype(np.float64),
        _of_paths(subgraph, nearer),
        _of_ranks(subgraph),
        _of_company(subgraph, places),
    ]
    found: Floats = np.concatenate(columns, axis=1)
    return found


def width(rounds: int) -> int:
    """Return how many numbers describe a triple."""
    return 2 * (1 + 2 * rounds) + (FAR + 2) + 2 + 10 + 3 + 6


def _of_paths(subgraph: Subgraph, nearer: Ints) -> Floats:
    """Describe the path that led to each triple: its score below the best, share, rank, length, and the hop on it."""
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


def _of_ranks(subgraph: Subgraph) -> Floats:
    """Describe the place of each triple among all: its score below the best, and its rank."""
    count = len(subgraph.triples)
    scores = np.array(subgraph.scores, dtype=np.float64)
    ranks = np.arange(count)
    return np.stack([scores - scores.max(initial=0.0 if not count else -np.inf), np.log1p(ranks), ranks / count], 1)


def _of_company(subgraph: Subgraph, places: Places) -> Floats:
    """Count the triples of the same path, relation, subject, object, subject and relation, and all, in logarithms."""
    relations = Counter(triple.relation for triple in subgraph.triples)
    pairs = Counter(triple[:2] for triple in subgraph.triples)
    paths = Counter(subgraph.path_of)
    degree = np.bincount(np.concatenate([places.heads, places.tails]), minlength=len(places.starts))
    rows = [
        (paths[rank], relations[triple.relation], degree[head], degree[tail], pairs[triple[:2]], len(subgraph.triples))
        for triple, rank, head, tail in zip(subgraph.triples, subgraph.path_of, places.heads, places.tails, strict=True)
    ]
    return np.log1p(np.array(rows, dtype=np.float64).reshape(len(rows), 6))
