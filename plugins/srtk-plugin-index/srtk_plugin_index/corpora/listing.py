"""Listing of a whole graph: its triples, and the labels of many ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import DriverError, Pattern, Triple

_AT_ONCE = 8192


def all_triples(graph: KnowledgeGraph) -> Sequence[Triple]:
    """Return all triples of a graph, sorted.

    Raises:
        DriverError: If the graph cannot list them.
    """
    try:
        (found,) = graph.match([Pattern()])
    except DriverError as error:
        raise DriverError(
            f"the triples of {graph.source()} cannot be listed ({error}); make a snapshot of the graph with"
            " `srtk graph build` from its files, or `srtk graph pull` from a server, and index that"
        ) from error
    return found


def label_batches(
    graph: KnowledgeGraph, triples: Sequence[Triple]
) -> Iterator[tuple[Sequence[Triple], dict[str, str]]]:
    """Yield triples in batches, each with the labels of its ids."""
    for start in range(0, len(triples), _AT_ONCE):
        batch = triples[start : start + _AT_ONCE]
        ids = sorted({id_ for triple in batch for id_ in triple})
        yield batch, dict(zip(ids, graph.labels(ids), strict=True))
