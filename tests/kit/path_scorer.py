"""Path scorers that each break one rule of PathScorer, or one rule that all roles share."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import pytest

from kit.checked import opened
from kit.rules import batch_faults, changed, class_faults, life_faults, publish
from srtk_framework.testing.path_scorer import PathScorerConformance, ToyPathScorer
from srtk_framework.values import END, Step

GOOD = ToyPathScorer


class Checked(PathScorerConformance):
    """Tests one of the scorers."""

    under_test: ClassVar[type[ToyPathScorer]] = GOOD

    @pytest.fixture
    def driver(self) -> ToyPathScorer:
        """Open it."""
        return opened(self.under_test())


def _end_is_left_out(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    return call(
        questions,
        paths,
        [row[:-1] if row[-1:] == [END] and not p else row for p, row in zip(paths, candidates, strict=True)],
    )


def _end_is_free(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    rows = call(questions, paths, candidates)
    for path, row, steps in zip(paths, rows, candidates, strict=True):
        if len(path) == 1 and END in steps:
            row[steps.index(END)] = math.inf
    return rows


def _empty_fails(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    return [max(row) and row for row in call(questions, paths, candidates)]


def _candidates_are_sorted(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    return call(questions, paths, [sorted(row) for row in candidates])


def _vocabulary_is_closed(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    if any(step.relation.startswith("never") for row in candidates for step in row):
        raise KeyError("unknown relation")
    return call(questions, paths, candidates)


def _quotes_fail(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    if any('"' in question for question in questions):
        raise ValueError("a quote")
    return call(questions, paths, candidates)


def _one_question_fails(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    rows = call(questions, paths, candidates)
    return [[math.nan] * len(row) if "Question 37" in q else row for q, row in zip(questions, rows, strict=True)]


def _direction_is_ignored(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    return call(questions, paths, [[Step(step.relation) for step in row] for row in candidates])


def _relations_are_ignored(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    return [[0.0 if step == END else -1.0 - step.inverse for step in row] for row in candidates]


def _steps_are_kept(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    memory = vars(self).setdefault("memory", {})
    rows = zip(questions, call(questions, paths, candidates), candidates, strict=True)
    return [
        [memory.setdefault((len(question) % 3, step), s) for step, s in zip(steps, row, strict=True)]
        for question, row, steps in rows
    ]


def _hash_breaks_ties(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    rows = zip(call(questions, paths, candidates), candidates, strict=True)
    return [[s + hash(step) % 7 / 1000 for step, s in zip(steps, row, strict=True)] for row, steps in rows]


def _question_is_ignored(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    return call(["What borders the capital?"] * len(questions), paths, candidates)


def _rows_are_padded(self: Any, call: Any, questions: Any, paths: Any, candidates: Any) -> Any:
    rows = call(questions, paths, candidates)
    most = max(map(len, rows), default=0)
    return [[*row, *[0.0] * (most - len(row))] for row in rows]


FAULTS = [
    *life_faults(GOOD, "score"),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", score=_steps_are_kept),
    changed(GOOD, "test_another_process_gets_the_same_answers", score=_hash_breaks_ties),
    changed(GOOD, "test_scores_are_finite_numbers", score=_one_question_fails),
    changed(GOOD, "test_the_direction_of_a_step_counts", score=_direction_is_ignored),
    changed(GOOD, "test_relations_score_differently", score=_relations_are_ignored),
    *class_faults(GOOD, "score"),
    *batch_faults(GOOD, "score", 3),
    changed(GOOD, "test_every_candidate_gets_one_score", score=_end_is_left_out),
    changed(GOOD, "test_scores_are_finite_numbers", score=_end_is_free),
    changed(GOOD, "test_no_candidates_get_no_scores", score=_empty_fails),
    changed(GOOD, "test_scores_follow_the_order_of_the_candidates", score=_candidates_are_sorted),
    changed(GOOD, "test_the_question_counts", score=_question_is_ignored),
    changed(GOOD, "test_rows_are_not_padded", score=_rows_are_padded),
    changed(GOOD, "test_a_relation_never_seen_is_scored", score=_vocabulary_is_closed),
    changed(GOOD, "test_quotes_and_other_scripts_are_scored", score=_quotes_fail),
    changed(GOOD, "test_search_settings_are_those_of_a_search", search_settings=lambda self, call: {"margn": 1.0}),
    changed(GOOD, "test_scores_end_answers_yes_or_no", scores_end=lambda self, call: "yes"),
    changed(GOOD, "test_prepare_returns_counts", prepare=lambda self, call, paths: {"texts": "many"}),
    changed(GOOD, "test_is_trained_answers_yes_or_no", is_trained=lambda self, call: "yes"),
]
publish(__name__, globals(), FAULTS)
