"""Rows with the answer at a given place of a given number of triples."""

from __future__ import annotations

from srtk_plugin_evaluation.metrics import row
from srtk_plugin_evaluation.rows import Row

from srtk_framework.values import Link, Question, Retrieval, Step, Subgraph, Triple


def rows(right: int, size: int = 8, seconds: float | None = None, mark: str = "") -> list[Row]:
    """Score 12 questions of ``size`` triples each, with the answer in the triple at place ``right``."""
    made = []
    for i in range(12):
        triples = tuple(Triple("Anna", f"p{place}", f"n{place}") for place in range(size))
        question = Question(
            str(i), f"{mark}{i}?", (Link("Anna"),), (f"n{right}",), ((Step("p"),),), triples[:1], (), {"kind": i % 2}
        )
        made.append(row(Retrieval(question, Subgraph(triples)), seconds))
    return made
