"""Put the triples of a walk in order, so that every beginning of the order hangs together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from srtk_framework.graph import path_order
from srtk_framework.values import Path, RankedPath, Subgraph, Triple, rounded
from srtk_plugin_structgpt.search_state import Fact


def ranked(found: Mapping[Triple, Fact], way: Mapping[str, Triple]) -> Subgraph:
    """Make the subgraph of some triples, with those that lead to them among them.

    A triple belongs to the best path that goes through it, and has its score. Triples come by falling score; of equal
    ones each is followed by those that it leads to.

    Args:
        found: Triples in the order in which they were come upon.
        way: By node, the triple that led to it.
    """
    scores: dict[tuple[str, Path], float] = {}
    for one in found.values():
        scores[one.entity, one.steps] = max(one.score, scores.get((one.entity, one.steps), one.score))
    best: dict[Triple, RankedPath] = {}
    for triple, one in found.items():
        best[triple] = RankedPath(one.entity, one.steps, rounded(scores[one.entity, one.steps]))
    for triple in reversed(list(found)):
        before = way.get(found[triple].start)
        if before is not None:
            best[before] = min(best[before], best[triple], key=path_order)
    keys: dict[Triple, tuple[int, ...]] = {}
    for number, (triple, one) in enumerate(found.items()):
        before = way.get(one.start)
        keys[triple] = (number,) if before is None else (*keys[before], number)
    order = sorted(found, key=lambda triple: (-best[triple].score, keys[triple]))
    paths = sorted(set(best.values()), key=path_order)
    place = {path: i for i, path in enumerate(paths)}
    return Subgraph(
        triples=tuple(order),
        scores=tuple(best[triple].score for triple in order),
        paths=tuple(paths),
        path_of=tuple(place[best[triple]] for triple in order),
    )


def connected(wanted: Iterable[Triple], found: Mapping[Triple, Fact], way: Mapping[str, Triple]) -> dict[Triple, Fact]:
    """Keep some triples and those that lead to them from the linked entities."""
    kept: set[Triple] = set()
    for triple in wanted:
        at: Triple | None = triple
        while at is not None and at not in kept:
            kept.add(at)
            at = way.get(found[at].start)
    return {triple: one for triple, one in found.items() if triple in kept}
