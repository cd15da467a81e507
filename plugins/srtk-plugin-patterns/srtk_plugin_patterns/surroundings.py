"""Surroundings: the triples that mining needs of a graph that cannot list them all, read through its hooks."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.graph import TripleTable
from srtk_framework.records import place
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, DriverError, Literal, Pattern, Triple

_BATCH = 64  # Nodes whose neighbourhoods are read by one call.


def surroundings(
    graph: KnowledgeGraph, relations: Sequence[str], length: int, hub: int | None, pairs: int, seed: int
) -> tuple[TripleTable, list[Triple]]:
    """Read the triples on all paths that may join some pairs of relations.

    Half of a path lies within half of its length from either end, so the neighbourhoods of both ends hold all of it.

    Args:
        graph: A graph that lists the triples of one relation (``match``), and reads neighbourhoods.
        relations: Relations to mine.
        length: Most steps of a path.
        hub: Most neighbours of a node by one step that are read; None for all.
        pairs: Most pairs of a relation, drawn by hashes.
        seed: Seed of the hashes.

    Returns:
        The table of these triples, and the pairs as triples of their relations.

    Raises:
        DriverError: If the graph does not list a relation's triples, or a relation has none between entities.
    """
    chosen: list[Triple] = []
    for relation in relations:
        (found,) = graph.match([Pattern(relation=relation)])
        facts = sorted({fact for fact in found if not isinstance(fact.object, Literal) and fact.subject != fact.object})
        if not facts:
            raise DriverError(f"{graph.source()} has no pair of two entities with {relation!r}; name another relation")
        chosen += sorted(sorted(facts, key=lambda fact: (place("\t".join(fact), seed), fact))[:pairs])
    ends = sorted({end for fact in chosen for end in (fact.subject, fact.object)})
    # One more neighbour than the bound, so that a hub can be told from a node with just as many.
    budget = Budget(hub=None if hub is None else hub + 1, nodes=None, triples=None)
    triples = set(chosen)
    for at in range(0, len(ends), _BATCH):
        frontiers = graph.frontiers([[end] for end in ends[at : at + _BATCH]])
        for row in graph.neighbourhood(frontiers, (length + 1) // 2, budget):
            triples |= set(row)
    return TripleTable.from_triples(sorted(triples)), chosen
