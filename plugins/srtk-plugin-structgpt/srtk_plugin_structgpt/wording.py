"""Put nodes, triples and what was followed into words for prompts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import name, triple_text
from srtk_framework.values import Triple

SHOWN = 10
"""So many nodes are named where a prompt says where the search stands."""


def names(graph: KnowledgeGraph, rows: Sequence[Iterable[str]]) -> list[str]:
    """Name the nodes of each row, the first few of many, by one call to the graph."""
    lists = [list(dict.fromkeys(row)) for row in rows]
    ids = sorted({id_ for row in lists for id_ in row[:SHOWN]})
    labels = dict(zip(ids, graph.labels(ids), strict=True))
    return [
        ", ".join(name(id_, labels) for id_ in row[:SHOWN])
        + (f" and {len(row) - SHOWN} more" if len(row) > SHOWN else "")
        for row in lists
    ]


def lines(graph: KnowledgeGraph, rows: Sequence[Sequence[Triple]]) -> list[list[str]]:
    """Put triples into words, by one call to the graph."""
    ids = sorted({id_ for row in rows for triple in row for id_ in triple})
    labels = dict(zip(ids, graph.labels(ids), strict=True))
    return [[triple_text(triple, labels) for triple in row] for row in rows]


def followed(history: Sequence[Sequence[str]]) -> str:
    """Say what was chosen, hop by hop."""
    return "; then ".join(" and ".join(texts) for texts in history)
