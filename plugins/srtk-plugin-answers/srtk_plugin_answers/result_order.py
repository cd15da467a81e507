"""The order of a result: the triples of an operation before the triples of the inner expander."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish, path_order
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, RankedPath, Subgraph, Triple, rounded
from srtk_plugin_answers.node_sets import Row
from srtk_plugin_answers.path_ends import PathEnds


def in_order(found: Subgraph, order: Sequence[int], first: int) -> Subgraph:
    """Put triples in another order; the first get the best score, and no later triple a better score than before it."""
    top = found.scores[0] if found.scores else 0.0
    changed = found.ordered(order)
    scores: list[float] = []
    for place, score in enumerate(changed.scores):
        least = scores[-1] if scores else top
        scores.append(top if place < first else min(least, score))
    return attrs.evolve(changed, scores=tuple(scores))


def of_class_first(ends: PathEnds, asked: Sequence[str], fit: frozenset[str], cut: int) -> Subgraph:
    """Put the paths to nodes of the class asked for first, and count the nodes behind them."""
    found = ends.found
    if not asked:
        return found
    ways = ends.reached()
    first = [end for end in ways if end in fit]
    facts: dict[str, Any] = {"asked": list(asked), "nodes": len(ways), "of_class": len(first)}
    if first:
        facts["behind"] = len(ways) - len(first)
        order = dict.fromkeys(place for end in first for place in ways[end])
        rest = [place for place in range(len(found.triples)) if place not in order]
        found = in_order(found, [*order, *rest], len(order))
    return attrs.evolve(found, trace={**found.trace, "class": {**facts, **({"cut": cut} if cut else {})}})


def merged(found: Subgraph, lead: Mapping[Triple, RankedPath | None], trace: Mapping[str, Any]) -> Subgraph:
    """Put triples first, with the best score, and add their paths."""
    top = max((*found.scores[:1], *(path.score for path in lead.values() if path is not None)), default=0.0)
    known = {(path.entity, path.steps): place for place, path in enumerate(found.paths)}
    fresh = list(
        dict.fromkeys(path for path in lead.values() if path is not None and (path.entity, path.steps) not in known)
    )
    paths = sorted([*fresh, *found.paths], key=path_order)
    place_of = {(path.entity, path.steps): place for place, path in enumerate(paths)}
    moved = [place_of[path.entity, path.steps] for path in found.paths]
    rest = found.ordered([place for place, triple in enumerate(found.triples) if triple not in lead])
    path_of = [-1 if path is None else place_of[path.entity, path.steps] for path in lead.values()]
    return Subgraph(
        triples=(*lead, *rest.triples),
        scores=(*([rounded(top)] * len(lead)), *rest.scores),
        paths=tuple(paths),
        path_of=(*path_of, *(moved[rank] if rank >= 0 else -1 for rank in rest.path_of)),
        trace=trace,
        answer=None if found.answer is None else found.answer.moved(found.triples, (*lead, *rest.triples)),
    )


def with_proof(graph: KnowledgeGraph, found: Subgraph, proof: Row, budget: Budget) -> Subgraph:
    """Add the triples of a proof that a subgraph lacks, before its own; its last ones go where the budget is full.

    Returns:
        The subgraph with provenance and qualifiers of the new triples; of a proof that exceeds the budget its first.
    """
    most = budget.triples
    whole = dict(proof) if most is None else dict(list(dict(proof).items())[:most])
    known = set(found.triples)
    new = {triple: path for triple, path in whole.items() if triple not in known}
    read = merged(Subgraph(paths=found.paths, triples=(), scores=found.scores[:1]), new, {})
    [read] = finish(graph, [read], Budget())
    places = {(path.entity, path.steps): i for i, path in enumerate(read.paths)}
    moved = [places[path.entity, path.steps] for path in found.paths]
    kept = list(range(len(found.triples)))
    if most is not None:
        # The proof has precedence over the triples of the search.
        room = most - len(new)
        needed = [i for i in kept if found.triples[i] in whole]
        spare = [i for i in kept if found.triples[i] not in whole][: max(0, room - len(needed))]
        kept = sorted([*needed, *spare])
    rest = found.ordered(kept)
    columns: dict[str, Any] = {
        name: (*(getattr(read, name) or _filler(name, len(new))), *(getattr(rest, name) or _filler(name, len(kept))))
        for name in Subgraph.COLUMNS
        if getattr(read, name) or getattr(rest, name)
    }
    columns["path_of"] = (*read.path_of, *(moved[rank] if rank >= 0 else -1 for rank in rest.path_of))
    return attrs.evolve(found, paths=read.paths, **columns)


_FILLERS: Mapping[str, Any] = {"confidences": 1.0, "evidence": (), "qualifiers": (), "provenance": ""}


def _filler(name: str, count: int) -> tuple[Any, ...]:
    """Return the values of a column that one of two parts lacks."""
    return (_FILLERS.get(name, 0.0),) * count
