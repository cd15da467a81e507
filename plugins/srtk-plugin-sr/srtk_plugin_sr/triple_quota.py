"""Read the facts along ranked paths so that one path with many instances leaves room for the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import PathKey, facts, finish, paths_within
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, Frontier, RankedPath, Subgraph, Triple, rounded

_Place = tuple[int, int]
"""A question of the batch, and the rank of a path in it."""


def shared_facts(
    graph: KnowledgeGraph,
    paths: Sequence[Sequence[RankedPath]],
    budget: Budget,
    share: int | None,
    known: Sequence[Mapping[PathKey, Frontier]],
    traces: Sequence[Mapping[str, Any]],
) -> list[Subgraph]:
    """Give each path, best first, up to ``share`` triples; then what room is left goes to the best again.

    Without a share, or a budget of triples, this is ``expansion.facts``. Within a path, instances come one after
    the other in both rounds, so that what is kept stays connected to the linked entity. Paths beyond the budget's
    mass get nothing.
    """
    if share is None or budget.triples is None:
        return facts(graph, paths, budget, known=known, traces=traces)
    within = [paths_within(row, budget.mass) for row in paths]
    places = [(i, rank) for i, row in enumerate(paths) for rank, path in enumerate(row[: within[i]]) if path.steps]
    apart = attrs.evolve(budget, tokens=None, mass=None)
    read = _read(graph, paths, places, attrs.evolve(apart, triples=min(share, budget.triples)), known)
    kept: list[set[Triple]] = [set() for _ in paths]
    _keep(kept, read, places, budget.triples)
    hungry = [p for p in places if len(kept[p[0]]) < budget.triples and _cut(read[p])]
    if hungry:
        read |= _read(graph, paths, hungry, apart, known)
        _keep(kept, read, hungry, budget.triples)
    subgraphs = []
    for i, (row, trace) in enumerate(zip(paths, traces, strict=True)):
        owners: dict[Triple, int] = {}
        dropped = 0
        for rank in (rank for rank, path in enumerate(row[: within[i]]) if path.steps):
            for triple in read[i, rank].triples:
                if triple in kept[i]:
                    owners.setdefault(triple, rank)
            dropped += _cut(read[i, rank]) + sum(triple not in kept[i] for triple in read[i, rank].triples)
        cut = dict(trace.get("cut", {}))
        beyond = sum(1 for path in row[within[i] :] if path.steps)
        for limit, lost in (("triples", dropped), ("mass", beyond)):
            if lost:
                cut[limit] = cut.get(limit, 0) + lost
        subgraphs.append(
            Subgraph(
                triples=tuple(owners),
                scores=tuple(rounded(row[rank].score) for rank in owners.values()),
                paths=tuple(row),
                path_of=tuple(owners.values()),
                trace={**trace, "cut": dict(sorted(cut.items()))} if cut else dict(trace),
            )
        )
    return finish(graph, subgraphs, budget)


def _read(
    graph: KnowledgeGraph,
    paths: Sequence[Sequence[RankedPath]],
    places: Sequence[_Place],
    budget: Budget,
    known: Sequence[Mapping[PathKey, Frontier]],
) -> dict[_Place, Subgraph]:
    """Read each path by itself, all in one batch."""
    rows = [[paths[i][rank]] for i, rank in places]
    return dict(zip(places, facts(graph, rows, budget, known=[known[i] for i, _ in places]), strict=True))


def _keep(kept: Sequence[set[Triple]], read: Mapping[_Place, Subgraph], places: Iterable[_Place], most: int) -> None:
    for i, rank in places:
        for triple in read[i, rank].triples:
            if len(kept[i]) >= most:
                break
            kept[i].add(triple)


def _cut(found: Subgraph) -> int:
    """Return how many triples of a path were left out."""
    return int(found.trace.get("cut", {}).get("triples", 0))
