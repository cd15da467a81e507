"""Read the triples around the links of questions, nearest first, within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, Frontier, Literal, Question, Step, Triple

_FIRST_READ = 32
"""Nodes read at first where a hop may not be needed whole; twice as many each time after."""


@attrs.frozen
class Neighbourhood:
    """What lies around the links of one question.

    Attributes:
        links: The linked entities that the graph knows, with their weights.
        triples: Distinct triples by hop, falling weight, start node, step, end node.
        hops: Per triple, the hop at which it was reached, from 1.
        weights: Per triple, the greatest weight among the links that led to its start node.
        trace: Counts, and the reason of an empty result.
    """

    links: Mapping[str, float]
    triples: tuple[Triple, ...]
    hops: tuple[int, ...]
    weights: tuple[float, ...]
    trace: Mapping[str, Any]


@attrs.define(eq=False)
class _Walk:
    """A walk of one question that is under way.

    Attributes:
        weights: By node walked from, or about to be, the greatest weight among links that led to it.
        ahead: Nodes of this hop that were not read yet, in order.
        reached: Nodes that this hop leads to, with their weights.
        found: By triple, its hop and weight.
        cut: What limits left out, by limit.
        hop: Number of this hop, from 1.
        size: How many nodes to read next.
    """

    weights: dict[str, float]
    ahead: list[str]
    size: int | None
    reached: dict[str, float] = attrs.field(factory=dict)
    found: dict[Triple, tuple[int, float]] = attrs.field(factory=dict)
    cut: dict[str, int] = attrs.field(factory=dict)
    hop: int = 1

    def count(self, limit: str, dropped: int) -> None:
        """Count what a limit left out."""
        if dropped:
            self.cut[limit] = self.cut.get(limit, 0) + dropped

    def weight(self, node: str) -> float:
        """Return the weight of a node; one that the graph has put in the place of another has the least there is."""
        return self.weights[node] if node in self.weights else min(self.weights.values())

    def take(self) -> list[str]:
        """Take the next nodes to read."""
        size = len(self.ahead) if self.size is None else self.size
        taken, self.ahead = self.ahead[:size], self.ahead[size:]
        self.size = None if self.size is None else 2 * self.size
        return taken

    def next_hop(self, nodes: int | None) -> None:
        """Go on from the nodes that were reached, the first ``nodes`` of them by id."""
        fresh = sorted(self.reached.keys() - self.weights.keys())
        self.count("nodes", len(fresh) - len(fresh[:nodes]))
        kept = {node: self.reached[node] for node in fresh[:nodes]}
        self.weights.update(kept)
        self.ahead = _strongest_first(kept)
        self.reached = {}
        self.hop += 1


def _strongest_first(weights: Mapping[str, float]) -> list[str]:
    return sorted(weights, key=lambda node: (-weights[node], node))


def around(
    graph: KnowledgeGraph,
    questions: Sequence[Question],
    depth: int,
    inverse: bool,
    budget: Budget,
    most: int | None,
    cut_by: str,
) -> list[Neighbourhood]:
    """Read the triples within ``depth`` hops of each question's links.

    Args:
        graph: Where to read.
        questions: With their links.
        depth: Hops.
        inverse: Whether to walk against the direction of relations too.
        budget: ``hub`` and ``nodes`` apply.
        most: Most triples of one question, or None for all.
        cut_by: Name under which the trace counts triples beyond ``most``; what was never read is not counted.
    """
    linked = [_weights(question) for question in questions]
    known = _known(graph, linked)
    noise = graph.schema().noise
    size = None if most is None else _FIRST_READ
    walks = []
    for weights in known:
        walk = _Walk(weights={}, ahead=[], size=size, reached=weights, hop=0)
        walk.next_hop(budget.nodes)
        walks.append(walk)
    while active := [walk for walk in walks if walk.ahead and walk.hop <= depth and not _full(walk, most)]:
        _read(graph, active, inverse, budget.hub, most, noise)
        for walk in active:
            if not walk.ahead and walk.hop < depth and not _full(walk, most):
                walk.next_hop(budget.nodes)
    return [_result(*item, most, cut_by) for item in zip(linked, known, walks, strict=True)]


def _weights(question: Question) -> dict[str, float]:
    """Return the linked entities with their best scores, brought between 0 and 1."""
    weights: dict[str, float] = {}
    for link in question.links:
        weights[link.entity] = max(weights.get(link.entity, 0.0), min(max(link.score, 0.0), 1.0))
    return weights


def _known(graph: KnowledgeGraph, linked: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Return the nodes that the links stand for; a graph may have another id for one, such as a redirect's target."""
    entities = [[entity] for weights in linked for entity in weights]
    frontiers = iter(graph.frontiers(entities) if entities else [])
    known: list[dict[str, float]] = []
    for weights in linked:
        nodes: dict[str, float] = {}
        for weight in weights.values():
            for node in next(frontiers).ids():
                nodes[node] = max(weight, nodes.get(node, 0.0))
        known.append(nodes)
    return known


def _full(walk: _Walk, most: int | None) -> bool:
    """Tell whether more than enough was found: one triple more shows that something is cut."""
    return most is not None and len(walk.found) > most


def _read(
    graph: KnowledgeGraph,
    walks: Sequence[_Walk],
    inverse: bool,
    hub: int | None,
    most: int | None,
    noise: Sequence[str],
) -> None:
    """Read the triples at the next nodes of each walk."""
    frontiers = graph.frontiers([walk.take() for walk in walks])
    pairs = [
        (i, step)
        for i, row in enumerate(graph.steps(frontiers, inverse))
        for step in row
        if not any(fnmatchcase(step.relation, pattern) for pattern in noise)
    ]
    # One node never gives more triples along one step than the whole question may have, and one that is cut.
    limit = min((n for n in (hub, None if most is None else most + 1) if n is not None), default=None)
    rows = graph.triples([frontiers[i] for i, _ in pairs], [step for _, step in pairs], limit)
    found: list[list[tuple[float, str, Step, str, Triple]]] = [[] for _ in walks]
    hubs: list[tuple[int, Step]] = []
    for (i, step), triples in zip(pairs, rows, strict=True):
        starts = [triple.object if step.inverse else triple.subject for triple in triples]
        found[i] += [
            (-walks[i].weight(start), start, step, triple.subject if step.inverse else triple.object, triple)
            for start, triple in zip(starts, triples, strict=True)
        ]
        if limit is not None and limit == hub and any(len(list(group)) == limit for _, group in groupby(starts)):
            hubs.append((i, step))
    for walk, entries in zip(walks, found, strict=True):
        _add(walk, entries)
    _count_hubs(graph, walks, frontiers, hubs, hub)


def _add(walk: _Walk, entries: list[tuple[float, str, Step, str, Triple]]) -> None:
    """Add triples in their order, and the nodes that they lead to."""
    for minus_weight, _, _, end, triple in sorted(entries, key=lambda entry: entry[:4]):
        walk.found.setdefault(triple, (walk.hop, -minus_weight))
        if not isinstance(end, Literal):
            walk.reached[end] = max(walk.reached.get(end, 0.0), -minus_weight)


def _count_hubs(
    graph: KnowledgeGraph,
    walks: Sequence[_Walk],
    frontiers: Sequence[Frontier],
    hubs: Sequence[tuple[int, Step]],
    hub: int | None,
) -> None:
    """Count the neighbours that were not read; only nodes that gave as many as allowed can have more."""
    if not hubs:
        return
    cut = graph.follow([frontiers[i] for i, _ in hubs], [step for _, step in hubs], hub)
    for (i, _), frontier in zip(hubs, cut, strict=True):
        walks[i].count("hub", frontier.cut)


def _result(
    linked: Mapping[str, float], known: Mapping[str, float], walk: _Walk, most: int | None, cut_by: str
) -> Neighbourhood:
    kept = list(walk.found.items())[:most]
    walk.count(cut_by, len(walk.found) - len(kept))
    trace: dict[str, Any] = {"links": len(linked), "hops": max((hop for _, (hop, _) in kept), default=0)}
    if len(known) < len(linked):
        trace["unknown"] = len(linked) - len(known)
    if not linked:
        trace["reason"] = "the question has no link"
    elif not known:
        trace["reason"] = "no linked entity is in the graph"
    elif not kept:
        trace["reason"] = "no step leaves a linked entity"
    if walk.cut:
        trace["cut"] = dict(sorted(walk.cut.items()))
    return Neighbourhood(
        links=known,
        triples=tuple(triple for triple, _ in kept),
        hops=tuple(hop for _, (hop, _) in kept),
        weights=tuple(weight for _, (_, weight) in kept),
        trace=trace,
    )
