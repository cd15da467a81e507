"""Read the triples along ranked paths in the order of the nodes they lead to: the mass of a node is that of its paths.

A path with many instances and a path with few compete for the same room, and several paths may reach one node. So each
path's probability, a softmax over the scores of a question's paths, is divided among the nodes that it ends in, and
a node has the sum of what its paths give it. Personalised PageRank and the path constrained random walks of PRA (Lao
and Cohen 2010) divide the whole of a probability among the ends; here each of n ends gets ``1 / sqrt(n)`` of it,
since a long list of answers is not less likely to be wanted than a short one, only less precise. Where triples are not
certain, an end counts by the confidence of its best instance, in ``n`` as in its part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from srtk_framework.graph import Instance, PathKey, finish, instances, paths_within
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, Frontier, RankedPath, Subgraph, Triple, rounded

READ = 4
"""Instances of a path that are read for each triple of the budget: the number of a path's ends is known up to there."""
LEAST = 2
"""Ends of each path that find room before the mass decides."""
RESERVED = 0.5
"""Largest part of the budget that is kept for them."""


class _Node(NamedTuple):
    """A node that paths end in.

    Attributes:
        score: Logarithm of its mass.
        rank: Rank of the best path that reaches it most surely.
        instance: The first instance of that path that ends in it.
    """

    score: float
    rank: int
    instance: Instance


class _Choice(NamedTuple):
    score: float
    rank: int


def facts_by_node(
    graph: KnowledgeGraph,
    paths: Sequence[Sequence[RankedPath]],
    budget: Budget,
    known: Sequence[Mapping[PathKey, Frontier]],
    traces: Sequence[Mapping[str, Any]],
) -> list[Subgraph]:
    """Read one instance for each node that the paths end in, nodes of most mass first, then further instances.

    Every prefix of the triples is connected to the linked entities. The score of a triple is the logarithm of the mass
    of the node that it was read for, and never above that of a triple before it. Paths beyond the budget's mass get
    no triples.

    Args:
        graph: Graph to read.
        paths: Per question, its paths, best first.
        budget: Limits of a question.
        known: Per question, frontiers that the search has read.
        traces: Per question, the trace so far.
    """
    within = [paths_within(row, budget.mass) for row in paths]
    indices = [(i, rank) for i, row in enumerate(paths) for rank, path in enumerate(row[: within[i]]) if path.steps]
    most = None if budget.triples is None else READ * budget.triples
    cuts: list[dict[str, int]] = [dict(trace.get("cut", {})) for trace in traces]
    read = instances(
        graph,
        [paths[i][rank] for i, rank in indices],
        [known[i] for i, _ in indices],
        attrs.evolve(budget, triples=most),
        [cuts[i] for i, _ in indices],
    )
    rows: list[dict[int, list[Instance]]] = [{} for _ in paths]
    for (i, rank), found in zip(indices, read, strict=True):
        if found:
            rows[i][rank] = found
    subgraphs = []
    for i, (row, trace) in enumerate(zip(paths, traces, strict=True)):
        chosen = _chosen(row, rows[i], budget.triples)
        every = {triple for found in rows[i].values() for instance in found for triple in instance.triples}
        beyond = sum(1 for path in row[within[i] :] if path.steps)
        for limit, lost in (("triples", len(every) - len(chosen)), ("mass", beyond)):
            if lost:
                cuts[i][limit] = cuts[i].get(limit, 0) + lost
        subgraphs.append(
            Subgraph(
                triples=tuple(chosen),
                scores=tuple(choice.score for choice in chosen.values()),
                paths=tuple(attrs.evolve(path, score=rounded(path.score)) for path in row),
                path_of=tuple(choice.rank for choice in chosen.values()),
                trace={**trace, "cut": dict(sorted(cuts[i].items()))} if cuts[i] else dict(trace),
            )
        )
    return finish(graph, subgraphs, attrs.evolve(budget, mass=None))


def _chosen(
    paths: Sequence[RankedPath], read: Mapping[int, Sequence[Instance]], most: int | None
) -> dict[Triple, _Choice]:
    """Choose up to ``most`` triples of a question from the instances of its paths, by rank."""
    ends = {rank: _ends(found) for rank, found in read.items()}
    nodes = _nodes(paths, read, ends)
    order = sorted(nodes, key=lambda end: (-nodes[end].score, nodes[end].rank))
    reserved, held = _reserved(nodes, order, list(ends.values()), most)
    chosen: dict[Triple, _Choice] = {}
    room = math.inf if most is None else most - len(held)
    for end in order:
        node = nodes[end]
        if end not in reserved:
            new = sum(triple not in chosen and triple not in held for triple in node.instance.triples)
            if new > room:
                continue
            room -= new
        for triple in node.instance.triples:
            chosen.setdefault(triple, _Choice(node.score, node.rank))
    score = min((choice.score for choice in chosen.values()), default=0.0)
    for triple, end, rank in _further(read, chosen):
        if most is not None and len(chosen) >= most:
            break
        score = min(score, nodes[end].score)
        chosen.setdefault(triple, _Choice(score, rank))
    return chosen


def _nodes(
    paths: Sequence[RankedPath], read: Mapping[int, Sequence[Instance]], ends: Mapping[int, Mapping[str, float]]
) -> dict[str, _Node]:
    """Return the nodes that the paths end in, in order of the paths."""
    best = max((paths[rank].score for rank in read), default=0.0)
    weights = {rank: math.exp(paths[rank].score - best) for rank in read}
    total = math.fsum(weights.values())
    masses: dict[str, list[float]] = {}
    first: dict[str, tuple[int, Instance]] = {}
    for rank in sorted(read):
        part = weights[rank] / total / math.sqrt(max(1.0, math.fsum(ends[rank].values())))
        for end, confidence in ends[rank].items():
            masses.setdefault(end, []).append(part * confidence)
        for instance in read[rank]:
            if instance.end not in first or instance.confidence > first[instance.end][1].confidence:
                first[instance.end] = (rank, instance)
    return {
        end: _Node(rounded(math.log(max(math.fsum(masses[end]), 1e-300))), rank, instance)
        for end, (rank, instance) in first.items()
    }


def _ends(instances: Sequence[Instance]) -> dict[str, float]:
    """Return the ends of instances, most confident first, each with the confidence of its first instance."""
    found: dict[str, float] = {}
    for instance in instances:
        found.setdefault(instance.end, instance.confidence)
    return found


def _reserved(
    nodes: Mapping[str, _Node], order: Sequence[str], ends: Sequence[Mapping[str, float]], most: int | None
) -> tuple[set[str], set[Triple]]:
    """Return the best few ends of each path, as far as part of the room suffices, and the triples that they need."""
    reserved: set[str] = set()
    held: set[Triple] = set()
    if most is None:
        return reserved, held
    place = {end: i for i, end in enumerate(order)}
    for row in ends:
        for end in sorted(row, key=place.__getitem__)[:LEAST]:
            needed = held.union(nodes[end].instance.triples)
            if len(needed) <= RESERVED * most:
                reserved.add(end)
                held = needed
    return reserved, held


def _further(
    read: Mapping[int, Sequence[Instance]], chosen: Mapping[Triple, _Choice]
) -> Iterator[tuple[Triple, str, int]]:
    """Yield the triples of the other instances: first those that join two nodes that no chosen triple joins."""
    joined = {frozenset((triple.subject, triple.object)) for triple in chosen}
    for repeat in (False, True):
        for rank in sorted(read):
            for instance in read[rank]:
                for triple in instance.triples:
                    pair = frozenset((triple.subject, triple.object))
                    if triple not in chosen and (repeat or pair not in joined):
                        joined.add(pair)
                        yield triple, instance.end, rank
