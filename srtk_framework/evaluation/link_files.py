"""Evaluate files of links, also those that other programs made, against gold links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from srtk_framework.evaluation.files import Gold, names_of, own_results
from srtk_framework.evaluation.link_scores import covered_by, link_counts
from srtk_framework.evaluation.metrics import compare, row
from srtk_framework.evaluation.rows import Row
from srtk_framework.records.jsonl import shown
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import LINKED_BY, InputError, Question, Retrieval, Subgraph


def evaluate_links(
    predictions: Sequence[str | Path],
    gold: Sequence[Question] | None = None,
    source: str = "",
    names: Sequence[str] | None = None,
    missing: Literal["error", "fail"] = "error",
    fields: Sequence[str] = (),
    graph: KnowledgeGraph | None = None,
) -> dict[str, Any]:
    """Score the links of files on the same questions and compare them; the first with each other one.

    Args:
        predictions: JSON Lines with ``question_entities``, and ``spans`` and ``entity_scores`` where they are known.
        gold: Questions with gold links; None where the records hold them.
        source: Name of the gold, for messages.
        names: Of the linkers, one for each file; by default made from the files' names.
        missing: What a question without a record does: stop with an error, or count as one without links.
        fields: Of the question records, to slice by.
        graph: Tells which gold entities can be found at all.

    Raises:
        InputError: If a file cannot be read, records and questions do not match, or there are no gold links.
    """
    if not predictions:
        raise InputError("no file of links to evaluate; name at least one")
    methods = names_of(predictions, names)
    found: dict[str, list[Retrieval]] = {}
    for method, file in zip(methods, predictions, strict=True):
        if gold is None:
            found[method] = own_results(file)
        else:
            unlinked = [attrs.evolve(question, links=()) for question in gold]
            found[method] = Gold(source, unlinked, missing).results(file, _joined)
    questions = list(gold) if gold is not None else [result.question for result in next(iter(found.values()))]
    if all(question.gold_links is None for question in questions):
        raise InputError(
            f"{source or shown(predictions[0])}: no record has gold_links, so there is nothing to compare with; name"
            " questions that have them by --gold"
        )
    covered = None if graph is None else covered_by(graph, questions)
    rows: dict[str, list[Row]] = {}
    for method, results in found.items():
        rows[method] = []
        for result in results:
            # Whatever the file says of its links, it is they that are scored.
            told = attrs.evolve(result, subgraph=Subgraph(trace={LINKED_BY: []}))
            rows[method].append(attrs.evolve(row(told), metrics={}, ranks=None, linking=link_counts(told, covered)))
    return compare(rows, fields=fields)


def _joined(result: Retrieval, gold: Question) -> Retrieval:
    """Give the links of a record the gold of its question."""
    extra = {**result.question.extra, **gold.extra}
    return attrs.evolve(result, question=attrs.evolve(gold, links=result.question.links, extra=extra))
