"""Evaluation of files of links, from this framework or other programs, against gold links."""

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
    """Score files of links on the same questions, and compare the first with each other one.

    Args:
        predictions: JSON Lines files with ``question_entities`` and optionally ``spans`` and ``entity_scores``.
        gold: Questions with gold links; None to use the gold links in the records.
        source: Name of the gold, for messages.
        names: One name per linker; by default derived from the files' names.
        missing: Treatment of a question without a record: an error, or counted as a question without links.
        fields: Fields of the question records to slice by.
        graph: Graph that decides which gold entities are covered, or None.

    Raises:
        InputError: If a file cannot be read, records and questions do not match, or there are no gold links.
    """
    if not predictions:
        raise InputError("there is no file of links to evaluate; give at least one")
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
            f"{source or shown(predictions[0])}: no record has gold_links; give questions with gold_links by --gold"
        )
    covered = None if graph is None else covered_by(graph, questions)
    rows: dict[str, list[Row]] = {}
    for method, results in found.items():
        rows[method] = []
        for result in results:
            # Score the links even if the record's trace marks them as part of the input.
            linked = attrs.evolve(result, subgraph=Subgraph(trace={LINKED_BY: []}))
            rows[method].append(attrs.evolve(row(linked), metrics={}, ranks=None, linking=link_counts(linked, covered)))
    return compare(rows, fields=fields)


def _joined(result: Retrieval, gold: Question) -> Retrieval:
    """Combine the gold of a question with the links of its record."""
    extra = {**result.question.extra, **gold.extra}
    return attrs.evolve(result, question=attrs.evolve(gold, links=result.question.links, extra=extra))
