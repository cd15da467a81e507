"""What the training of a linker does otherwise: it learns from gold links, and is validated by the links it finds."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.evaluation.link_scores import counts, covered_by
from srtk_framework.roles import EntityLinker, KnowledgeGraph
from srtk_framework.values import NIL, Link, Question, batched

SHOWN = ("strong_precision", "strong_recall", "strong_f1", "recall_at_1", "recall_at_5", "coverage", "covered_f1")


def gold_links(question: Question) -> tuple[Link, ...]:
    """Return the links that should be found: the gold ones, else those that the question came with."""
    return question.links if question.gold_links is None else question.gold_links


def teaches_linking(question: Question) -> bool:
    """Tell whether there is a link to learn from."""
    return any(link.entity != NIL and link.score > 0 for link in gold_links(question))


def validate_links(
    linker: EntityLinker, graph: KnowledgeGraph | None, questions: Sequence[Question], batch: int
) -> dict[str, float]:
    """Link the texts of questions and return what is right, as shares over all of them.

    Args:
        linker: To be validated.
        graph: That of the linker, to tell which gold entities it has; None where there is none.
        questions: With gold links, or links of their own; others are passed over.
        batch: Texts that are linked at once.
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
