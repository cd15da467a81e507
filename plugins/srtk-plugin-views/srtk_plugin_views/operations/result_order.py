"""The order of a result: what an operation needs before what the inner expander found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import path_order
from srtk_framework.values import Literal, RankedPath, Step, Subgraph, Triple, rounded


def in_order(found: Subgraph, order: Sequence[int], first: int) -> Subgraph:
    """Put triples in another order; the first ones get the best score, the others no better one than those before."""
    top = found.scores[0] if found.scores else 0.0
    changed = found.ordered(order)
    scores: list[float] = []
    for place, score in enumerate(changed.scores):
        least = scores[-1] if scores else top
        scores.append(top if place < first else min(least, score))
    return attrs.evolve(changed, scores=tuple(scores))


def reached(found: Subgraph) -> dict[str, tuple[int, ...]]:
    """Return the nodes that the paths of a subgraph reach, first first, each with the places of the triples to it."""
    following: dict[tuple[str, Step], list[tuple[str, int]]] = {}
    for place, triple in enumerate(found.triples):
        following.setdefault((triple.subject, Step(triple.relation)), []).append((triple.object, place))
        following.setdefault((triple.object, Step(triple.relation, True)), []).append((triple.subject, place))
    ways: dict[str, tuple[int, ...]] = {}
    for path in found.paths:
        level: dict[str, tuple[int, ...]] = {path.entity: ()}
        for step in path.steps:
            beyond: dict[str, tuple[int, ...]] = {}
            for node, way in level.items():
                for end, place in following.get((node, step), ()):
                    if not isinstance(end, Literal):
                        beyond.setdefault(end, (*way, place))
            for end, way in beyond.items():
                if end not in ways or way[-1] < ways[end][-1]:
                    ways[end] = way
            level = beyond
    starts = {path.entity for path in found.paths}
    return {end: ways[end] for end in sorted(ways, key=lambda end: ways[end][::-1]) if end not in starts}


def of_class_first(found: Subgraph, asked: Sequence[str], fit: frozenset[str], cut: int) -> Subgraph:
    """Put the paths to nodes of the class asked for before the others, and count what comes behind."""
    if not asked:
        return found
    ways = reached(found)
    first = [end for end in ways if end in fit]
    facts: dict[str, Any] = {"asked": list(asked), "nodes": len(ways), "of_class": len(first)}
    if first:
        facts["behind"] = len(ways) - len(first)
        order = dict.fromkeys(place for end in first for place in ways[end])
        rest = [place for place in range(len(found.triples)) if place not in order]
        found = in_order(found, [*order, *rest], len(order))
    return attrs.evolve(found, trace={**found.trace, "class": {**facts, **({"cut": cut} if cut else {})}})


def merged(found: Subgraph, lead: Mapping[Triple, RankedPath | None], trace: Mapping[str, Any]) -> Subgraph:
    """Put triples first, with the best score, and their paths before the others."""
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
