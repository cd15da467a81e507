"""Parts of expanders of patterns: triples in the order of their confidence, and answers at the open ends."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Answer, Origin, Subgraph, Triple, best_first, rounded

NO_PATTERN = "the question has no pattern; give one, such as [subject, relation, null], or use another expander"
_LEAST = 1e-6  # Confidence that stands for none in a logarithm
_NAMED = 10  # Most answers whose names make up the text of the answer


def ranked(triples: Sequence[Triple], origins: Sequence[Origin], rated: bool) -> Subgraph:
    """Order triples by confidence; keep the origins where they were ``rated``, else the graph gives them in full."""
    order = best_first(range(len(triples)), lambda i: origins[i].confidence, triples.__getitem__)
    return Subgraph(
        triples=tuple(triples[i] for i in order),
        scores=tuple(rounded(math.log(max(origins[i].confidence, _LEAST))) for i in order),
        path_of=(-1,) * len(order),
        provenance=tuple(origins[i].provenance for i in order) if rated else (),
        confidences=tuple(origins[i].confidence for i in order) if rated else (),
    )


def answered(graph: KnowledgeGraph, subgraphs: Sequence[Subgraph], ends: Sequence[int]) -> list[Subgraph]:
    """Answer with the entities at one end of the triples, in their order and each once, and the names of the first.

    ``ends`` has the place of the entities in a triple, 0 or 2, for each question.
    """
    rows = [tuple(dict.fromkeys(t[end] for t in one.triples)) for one, end in zip(subgraphs, ends, strict=True)]
    ids = sorted({id_ for row in rows for id_ in row[:_NAMED]})
    labels = dict(zip(ids, graph.labels(ids), strict=True)) if ids else {}
    return [
        attrs.evolve(
            one, answer=Answer(", ".join(labels[id_] for id_ in row[:_NAMED]), row, tuple(range(len(one.triples))))
        )
        if row
        else one
        for one, row in zip(subgraphs, rows, strict=True)
    ]
