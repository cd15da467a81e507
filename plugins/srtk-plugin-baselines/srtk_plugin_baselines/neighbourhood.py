"""Neighbourhoods of the links of questions: their triples, nearest first, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

import attrs
import numpy as np

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import (
    SCORE_DIGITS,
    Budget,
    EdgeArrays,
    Frontier,
    Literal,
    Question,
    Step,
    Subgraph,
    Triple,
    best_first,
    rounded,
)
from srtk_plugin_baselines.array_search import ArraySearch, Floats, Ints

# Nodes of the first read of a hop that may not be needed as a whole; each further read has twice as many.
_FIRST_READ = 32


@attrs.frozen(eq=False)
class Neighbourhood:
    """Triples around the links of one question.

    Distinct triples are sorted by hop, falling weight, start node, step and end node. A triple has the hop in which
    it was reached, from 1, and the greatest weight among the links that reached its start node.

    Attributes:
        links: Linked nodes with their weights.
        places: Number of each of them, in the order of the ids.
        subjects: Number of each triple's subject.
        objects: Number of each triple's object.
        hops: Hop of each triple.
        weights: Weight of each triple.
        named: Makes the triples at some places.
        trace: Counts of the work done and of the cuts.
    """

    links: Mapping[str, float]
    places: Ints
    subjects: Ints
    objects: Ints
    hops: Ints
    weights: Floats
    named: Callable[[Ints], list[Triple]]
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


def _fits(relation: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(relation, pattern) for pattern in patterns)


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
    arrays = graph.arrays()
    if arrays is not None:
        noise = graph.schema().noise
        noisy = {i for i, one in enumerate(arrays.relations) if _fits(one, noise)} if noise else set()
        return [_from_arrays(arrays, noisy, weights, depth, inverse, budget, most, cut_by) for weights in linked]
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
        if not _fits(step.relation, noise)
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
    triples = [triple for triple, _ in kept]
    nodes = sorted({*known, *(end for triple in triples for end in (triple.subject, triple.object))})
    number = {node: place for place, node in enumerate(nodes)}
    hops = np.array([hop for _, (hop, _) in kept], dtype=np.int64)
    return Neighbourhood(
        links=known,
        places=np.array([number[node] for node in known], dtype=np.int64),
        subjects=np.array([number[triple.subject] for triple in triples], dtype=np.int64),
        objects=np.array([number[triple.object] for triple in triples], dtype=np.int64),
        hops=hops,
        weights=np.array([weight for _, (_, weight) in kept], dtype=np.float64),
        named=lambda places: [triples[place] for place in places.tolist()],
        trace=_trace(linked, known, hops, search.cut),
    )


def _from_arrays(
    arrays: EdgeArrays,
    noise: Collection[int],
    linked: Mapping[str, float],
    depth: int,
    inverse: bool,
    budget: Budget,
    most: int | None,
    cut_by: str,
) -> Neighbourhood:
    """Read the neighbourhood of one question by numbers: the same as by the hooks, without a triple in words."""
    numbers = arrays.numbers([*linked])
    numbers[numbers >= 0] = np.where(arrays.is_literal(numbers[numbers >= 0]), -1, numbers[numbers >= 0])
    known = {entity: linked[entity] for entity, number in zip(linked, numbers.tolist(), strict=True) if number >= 0}
    numbers, weights = numbers[numbers >= 0], np.array([*known.values()], dtype=np.float64)
    order = np.argsort(numbers)
    size = None if most is None else _FIRST_READ
    search = ArraySearch(arrays, noise, inverse, budget.hub, most, size, numbers[order], weights[order])
    search.run(depth, budget.nodes)
    starts, steps, ends, hops, weights = search.columns()
    search.drop(cut_by, search.count - len(hops))
    backward = (steps & 1).astype(bool)
    subjects, objects = np.where(backward, ends, starts), np.where(backward, starts, ends)

    def named(places: Ints) -> list[Triple]:
        nodes, at = np.unique(np.stack([subjects[places], objects[places]]), return_inverse=True)
        ids = arrays.ids(nodes)
        rows = zip(*at.reshape(2, -1).tolist(), (steps[places] >> 1).tolist(), strict=True)
        return [Triple(ids[subject], arrays.relations[relation], ids[end]) for subject, end, relation in rows]

    return Neighbourhood(
        known, numbers, subjects, objects, hops, weights, named, _trace(linked, known, hops, search.cut)
    )


def _trace(
    linked: Mapping[str, float], known: Mapping[str, float], hops: Ints, cut: Mapping[str, int]
) -> dict[str, Any]:
    trace: dict[str, Any] = {"links": len(linked), "hops": int(hops.max(initial=0))}
    if len(known) < len(linked):
        trace["unknown"] = len(linked) - len(known)
    if not linked:
        trace["reason"] = "the question has no link"
    elif not known:
        trace["reason"] = "no linked entity is in the graph"
    elif not len(hops):
        trace["reason"] = "no step leaves a linked entity"
    if cut:
        trace["cut"] = dict(sorted(cut.items()))
    return trace


def ranked_subgraph(one: Neighbourhood, scores: Floats, budget: Budget, **trace: Any) -> Subgraph:
    """Return the triples by falling rounded score; triples with equal scores keep their order.

    Triples beyond ``budget.triples`` are counted, not made, unless the mass of all scores is needed.
    """
    most = len(scores) if budget.mass is not None else min(budget.triples or len(scores), len(scores))
    places = np.arange(len(scores))
    if most < len(scores):
        # Scores that differ by a unit of the last decimal may be equal when rounded.
        least = np.partition(scores, len(scores) - most)[len(scores) - most]
        places = np.flatnonzero(scores >= least - 2 * 10.0**-SCORE_DIGITS)
    final = [rounded(score) for score in scores[places].tolist()]
    order = sorted(range(len(final)), key=lambda i: -final[i])[:most]
    whole = {**one.trace, **trace}
    if dropped := len(scores) - most:
        cut = dict(whole.get("cut", {}))
        whole["cut"] = {**cut, "triples": cut.get("triples", 0) + dropped}
    return Subgraph(
        triples=tuple(one.named(places[order])),
        scores=tuple(final[i] for i in order),
        path_of=(-1,) * len(order),
        trace=whole,
    )
