"""Training and validation data of entity linkers: gold links."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.evaluation.link_scores import counts, covered_by
from srtk_framework.roles import EntityLinker, KnowledgeGraph
from srtk_framework.values import NIL, Link, Question, batched

SHOWN = ("strong_precision", "strong_recall", "strong_f1", "recall_at_1", "recall_at_5", "coverage", "covered_f1")


def gold_links(question: Question) -> tuple[Link, ...]:
    """Return the gold links of a question, else the links of the input."""
    return question.links if question.gold_links is None else question.gold_links


def has_links_to_train_on(question: Question) -> bool:
    """Return whether a question has a link to train on."""
    return any(link.entity != NIL and link.score > 0 for link in gold_links(question))


def validate_links(
    linker: EntityLinker, graph: KnowledgeGraph | None, questions: Sequence[Question], batch: int
) -> dict[str, float]:
    """Link the texts of questions and return the micro-averaged linking metrics.

    Args:
        linker: The linker to validate.
        graph: Graph that decides which gold entities are covered, or None.
        questions: Questions with gold links or links in the input; others are ignored.
        batch: Number of texts per call of the linker.
    """
    known = [question for question in questions if question.gold_links is not None or question.links]
    covered = covered_by(graph, known) if graph is not None else None
    sums: dict[str, list[float]] = {}
    for some in batched(known, batch):
        for question, found in zip(some, linker.link([question.text for question in some]), strict=True):
            for name, (right, of) in counts(gold_links(question), found, covered).items():
                total = sums.setdefault(name, [0.0, 0.0])
                total[0] += right
                total[1] += of
    return {name: sums[name][0] / sums[name][1] for name in SHOWN if name in sums and sums[name][1]}
