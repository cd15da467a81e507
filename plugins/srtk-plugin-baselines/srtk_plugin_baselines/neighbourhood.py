"""Neighbourhoods of the links of questions: their triples, nearest first, within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, Frontier, Literal, Question, Step, Subgraph, Triple, best_first, rounded

# Nodes of the first read of a hop that may not be needed as a whole; each further read has twice as many.
_FIRST_READ = 32


@attrs.frozen
class Neighbourhood:
    """Triples around the links of one question.

    Distinct triples are sorted by hop, falling weight, start node, step and end node. A triple has the hop in which
    it was reached, from 1, and the greatest weight among the links that reached its start node.
    """

    links: Mapping[str, float]
    triples: tuple[Triple, ...]
    hops: tuple[int, ...]
    weights: tuple[float, ...]
    trace: Mapping[str, Any]


@attrs.define(eq=False)
class _Search:
    """State of the breadth-first search of one question.

    Attributes:
        weights: By node of this or an earlier hop, the greatest weight among the links from which it was reached.
        queue: Nodes of this hop that were not read yet, in order.
        size: Number of nodes to read next; None for all.
        reached: Nodes that this hop leads to, with their weights.
        found: By triple, its hop and weight.
        cut: Number of nodes or triples that were left out, by limit.
        hop: Number of this hop, from 1.
    """

    weights: dict[str, float]
    queue: list[str]
    size: int | None
    reached: dict[str, float] = attrs.field(factory=dict)
    found: dict[Triple, tuple[int, float]] = attrs.field(factory=dict)
    cut: dict[str, int] = attrs.field(factory=dict)
    hop: int = 1

    def count(self, limit: str, dropped: int) -> None:
        """Add to the count of triples or nodes that a limit left out."""
        if dropped:
            self.cut[limit] = self.cut.get(limit, 0) + dropped

    def weight(self, node: str) -> float:
        """Return the weight of a node; a node that the graph substituted for another one gets the least weight."""
        return self.weights[node] if node in self.weights else min(self.weights.values())

    def next_nodes(self) -> list[str]:
        """Remove the next nodes to read from the queue, and return them."""
        size = len(self.queue) if self.size is None else self.size
        taken, self.queue = self.queue[:size], self.queue[size:]
        self.size = None if self.size is None else 2 * self.size
        return taken

    def next_hop(self, nodes: int | None) -> None:
        """Continue with the nodes that were reached, at most the first ``nodes`` by id."""
        fresh = sorted(self.reached.keys() - self.weights.keys())
        self.count("nodes", len(fresh) - len(fresh[:nodes]))
        kept = {node: self.reached[node] for node in fresh[:nodes]}
        self.weights.update(kept)
        self.queue = _strongest_first(kept)
        self.reached = {}
        self.hop += 1


def _strongest_first(weights: Mapping[str, float]) -> list[str]:
    return best_first(weights, weights.__getitem__)


def neighbourhoods(
    graph: KnowledgeGraph,
    questions: Sequence[Question],
    depth: int,
    inverse: bool,
    budget: Budget,
    most: int | None,
    cut_by: str,
) -> list[Neighbourhood]:
    """Read the triples within ``depth`` hops of each question's links.

    The limits ``hub`` and ``nodes`` of the budget apply. The trace counts triples beyond ``most`` under the name
    ``cut_by``; triples that were not read are not counted.
    """
    linked = [_weights(question) for question in questions]
    known = _known(graph, linked)
    noise = graph.schema().noise
    size = None if most is None else _FIRST_READ
    searches = []
    for weights in known:
        search = _Search(weights={}, queue=[], size=size, reached=weights, hop=0)
        search.next_hop(budget.nodes)
        searches.append(search)
    while active := [search for search in searches if search.queue and search.hop <= depth and not _full(search, most)]:
        _read(graph, active, inverse, budget.hub, most, noise)
        for search in active:
            if not search.queue and search.hop < depth and not _full(search, most):
                search.next_hop(budget.nodes)
    return [_result(*item, most, cut_by) for item in zip(linked, known, searches, strict=True)]


def _weights(question: Question) -> dict[str, float]:
    """Return the linked entities with their best scores, limited to the range from 0 to 1."""
    weights: dict[str, float] = {}
    for link in question.links:
        weights[link.entity] = max(weights.get(link.entity, 0.0), min(max(link.score, 0.0), 1.0))
    return weights


def _known(graph: KnowledgeGraph, linked: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Return the linked nodes with their weights; their ids may differ from the entities', as with redirects."""
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


def _full(search: _Search, most: int | None) -> bool:
    """Return whether more than ``most`` triples were found; the one beyond shows that something is cut."""
    return most is not None and len(search.found) > most


def _read(
    graph: KnowledgeGraph,
    searches: Sequence[_Search],
    inverse: bool,
    hub: int | None,
    most: int | None,
    noise: Sequence[str],
) -> None:
    """Read the triples at the next nodes of each search."""
    frontiers = graph.frontiers([search.next_nodes() for search in searches])
    pairs = [
        (i, step)
        for i, row in enumerate(graph.steps(frontiers, inverse))
        for step in row
        if not any(fnmatchcase(step.relation, pattern) for pattern in noise)
    ]
    # From one node along one step, no more are needed than the question may have, and one to show the cut.
    limit = min((n for n in (hub, None if most is None else most + 1) if n is not None), default=None)
    rows = graph.triples([frontiers[i] for i, _ in pairs], [step for _, step in pairs], limit)
    found: list[list[tuple[float, str, Step, str, Triple]]] = [[] for _ in searches]
    hubs: list[tuple[int, Step]] = []
    for (i, step), triples in zip(pairs, rows, strict=True):
        starts = [triple.object if step.inverse else triple.subject for triple in triples]
        found[i] += [
            (-searches[i].weight(start), start, step, triple.subject if step.inverse else triple.object, triple)
            for start, triple in zip(starts, triples, strict=True)
        ]
        if limit is not None and limit == hub and any(len(list(group)) == limit for _, group in groupby(starts)):
            hubs.append((i, step))
    for search, entries in zip(searches, found, strict=True):
        _add(search, entries)
    _count_hubs(graph, searches, frontiers, hubs, hub)


def _add(search: _Search, entries: list[tuple[float, str, Step, str, Triple]]) -> None:
    """Add triples in order, and the nodes that they lead to."""
    for minus_weight, _, _, end, triple in sorted(entries, key=lambda entry: entry[:4]):
        search.found.setdefault(triple, (search.hop, -minus_weight))
        if not isinstance(end, Literal):
            search.reached[end] = max(search.reached.get(end, 0.0), -minus_weight)


def _count_hubs(
    graph: KnowledgeGraph,
    searches: Sequence[_Search],
    frontiers: Sequence[Frontier],
    hubs: Sequence[tuple[int, Step]],
    hub: int | None,
) -> None:
    """Count the neighbours that were not read; only nodes with as many as allowed can have more."""
    if not hubs:
        return
    cut = graph.follow([frontiers[i] for i, _ in hubs], [step for _, step in hubs], hub)
    for (i, _), frontier in zip(hubs, cut, strict=True):
        searches[i].count("hub", frontier.cut)


def _result(
    linked: Mapping[str, float], known: Mapping[str, float], search: _Search, most: int | None, cut_by: str
) -> Neighbourhood:
    kept = list(search.found.items())[:most]
    search.count(cut_by, len(search.found) - len(kept))
    trace: dict[str, Any] = {"links": len(linked), "hops": max((hop for _, (hop, _) in kept), default=0)}
    if len(known) < len(linked):
        trace["unknown"] = len(linked) - len(known)
    if not linked:
        trace["reason"] = "the question has no link"
    elif not known:
        trace["reason"] = "no linked entity is in the graph"
    elif not kept:
        trace["reason"] = "no step leaves a linked entity"
    if search.cut:
        trace["cut"] = dict(sorted(search.cut.items()))
    return Neighbourhood(
        links=known,
        triples=tuple(triple for triple, _ in kept),
        hops=tuple(hop for _, (hop, _) in kept),
        weights=tuple(weight for _, (_, weight) in kept),
        trace=trace,
    )


def ranked_subgraph(triples: Sequence[Triple], scores: Sequence[float], trace: Mapping[str, Any]) -> Subgraph:
    """Return a subgraph of triples by falling rounded score; triples with equal scores keep their order."""
    final = [rounded(score) for score in scores]
    order = sorted(range(len(final)), key=lambda i: -final[i])
    return Subgraph(
        triples=tuple(triples[i] for i in order),
        scores=tuple(final[i] for i in order),
        path_of=(-1,) * len(order),
        trace=trace,
    )
