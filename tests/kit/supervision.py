"""Supervisions that each break one rule of Supervision."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.supervision import SupervisionConformance, ToySupervision
from srtk_framework.values import END, Link, Question, RankedPath, Step

GOOD = ToySupervision


class Checked(SupervisionConformance):
    """Tests one of the supervisions."""

    under_test: ClassVar[type[ToySupervision]] = GOOD

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> ToySupervision:
        """Open it over the sample graph."""
        return opened(self.under_test(graph=graph))


def _each(change: Any) -> Any:
    """Change every row that has paths."""

    def method(self: Any, call: Any, questions: Any) -> Any:
        return [change(q, row) if row else row for q, row in zip(questions, call(questions), strict=True)]

    return method


def _elsewhere(question: Question, row: list[RankedPath]) -> list[RankedPath]:
    if question.links[:1] != (Link("Narcissus"),):
        return row
    there_and_back = (Step("admires"), Step("admires", True))
    return [*row, RankedPath("Echo", there_and_back, row[-1].score / 4)]


def _ended(question: Question, row: list[RankedPath]) -> list[RankedPath]:
    return [attrs.evolve(path, steps=(*path.steps, END)) for path in row]


def _astray(question: Question, row: list[RankedPath]) -> list[RankedPath]:
    if question.links[:1] != (Link("Latvia"),):
        return row
    return [attrs.evolve(path, steps=(Step("part_of"),)) for path in row[:1]]


def _percent(question: Question, row: list[RankedPath]) -> list[RankedPath]:
    return [attrs.evolve(path, score=100 * path.score) for path in row]


def _twice(question: Question, row: list[RankedPath]) -> list[RankedPath]:
    return [*row, row[-1]]


def _invents(self: Any, call: Any, questions: Any) -> Any:
    rows = call(questions)
    for row, question in zip(rows, questions, strict=True):
        if question.answers is None:
            row.append(RankedPath(question.links[0].entity, (Step("capital"),), 1.0))
    return rows


def _starts_anywhere(self: Any, call: Any, questions: Any) -> Any:
    rows = call(questions)
    for row, question in zip(rows, questions, strict=True):
        if not question.links:
            row.append(RankedPath("Latvia", (Step("capital"),), 1.0))
    return rows


def _gives_up(self: Any, call: Any, questions: Any) -> Any:
    unknown = [any(link.entity == "no_such_entity" for link in question.links) for question in questions]
    return [[] if lost else row for lost, row in zip(unknown, call(questions), strict=True)]


def _finds_nothing(self: Any, call: Any, questions: Any) -> Any:
    return [[] for _ in questions]


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "supervise"),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", supervise=kept_under(lambda asked: asked.id)),
    changed(GOOD, "test_something_is_found", supervise=_finds_nothing),
    changed(GOOD, "test_paths_start_from_the_links_of_their_question", supervise=_each(_elsewhere)),
    changed(GOOD, "test_paths_have_steps_and_no_end", supervise=_each(_ended)),
    changed(GOOD, "test_paths_lead_to_an_answer", supervise=_each(_astray)),
    changed(GOOD, "test_qualities_are_between_0_and_1_and_rounded", supervise=_each(_percent)),
    changed(GOOD, "test_paths_are_distinct_and_best_first", supervise=_each(_twice)),
    changed(GOOD, "test_a_question_without_gold_has_no_paths", supervise=_invents),
    changed(GOOD, "test_a_question_without_links_has_no_paths", supervise=_starts_anywhere),
    changed(GOOD, "test_links_that_the_graph_lacks_are_passed_over", supervise=_gives_up),
]
publish(__name__, globals(), FAULTS)
