"""Read the triples along ranked paths with a quota for each path, so that a path with many leaves room for others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import PathKey, facts, finish, paths_within
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, Frontier, RankedPath, Subgraph, Triple, rounded

_PathIndex = tuple[int, int]
"""Index of a question in the batch, and rank of a path in that question."""


def facts_with_quota(
    graph: KnowledgeGraph,
    paths: Sequence[Sequence[RankedPath]],
    budget: Budget,
    quota: int | None,
    known: Sequence[Mapping[PathKey, Frontier]],
    traces: Sequence[Mapping[str, Any]],
) -> list[Subgraph]:
    """Read up to ``quota`` triples of each path, best path first, and fill the room that is left with further ones.

    Without a quota or a budget of triples this is ``facts`` of the framework. In both rounds the instances of a path
    are read one after the other, so that the triples kept are connected to the linked entity. Paths beyond the budget's
    mass get no triples.

    Args:
        graph: Graph to read.
        paths: Per question, its paths, best first.
        budget: Limits of a question.
        quota: Maximum number of triples of a path in the first round.
        known: Per question, frontiers that the search has read.
        traces: Per question, the trace so far.
    """
    if quota is None or budget.triples is None:
        return facts(graph, paths, budget, known=known, traces=traces)
    within = [paths_within(row, budget.mass) for row in paths]
    indices = [(i, rank) for i, row in enumerate(paths) for rank, path in enumerate(row[: within[i]]) if path.steps]
    triples_only = attrs.evolve(budget, tokens=None, mass=None)
    read = _read(graph, paths, indices, attrs.evolve(triples_only, triples=min(quota, budget.triples)), known)
    kept: list[set[Triple]] = [set() for _ in paths]
    _keep(kept, read, indices, budget.triples)
    short = [p for p in indices if len(kept[p[0]]) < budget.triples and _cut(read[p])]
    if short:
        read |= _read(graph, paths, short, triples_only, known)
        _keep(kept, read, short, budget.triples)
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
    indices: Sequence[_PathIndex],
    budget: Budget,
    known: Sequence[Mapping[PathKey, Frontier]],
) -> dict[_PathIndex, Subgraph]:
    """Read each path on its own, all in one batch."""
    rows = [[paths[i][rank]] for i, rank in indices]
    return dict(zip(indices, facts(graph, rows, budget, known=[known[i] for i, _ in indices]), strict=True))


def _keep(
    kept: Sequence[set[Triple]], read: Mapping[_PathIndex, Subgraph], indices: Iterable[_PathIndex], most: int
) -> None:
    for i, rank in indices:
        for triple in read[i, rank].triples:
            if len(kept[i]) >= most:
                break
            kept[i].add(triple)


def _cut(found: Subgraph) -> int:
    """Return the number of triples of a path that were cut."""
    return int(found.trace.get("cut", {}).get("triples", 0))
