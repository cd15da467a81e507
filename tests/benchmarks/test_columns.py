"""The columns of the KnowlyBERT paper: what a system answers, and the slices, against values worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.knowlybert.answered import Answered
from benchmarks.knowlybert.columns import answers_of, reciprocal, slices


def answer(sought: int = 1, end: str = "object", relation: str = "P17", words: int = 1, sure: float = 0.9) -> Answered:
    """Make the answer to a pattern: a wrong completion, a right one, and a wrong one, each less sure."""
    rates = (sure, sure / 2, sure / 4)
    return Answered(0, end, "hybrid", "p", relation, "1-n", sought, 1, words, "a", rates, (False, True, False))


@pytest.mark.parametrize(
    ("name", "count"),
    [("frequency", 1), ("hole", 1), ("text-search", 3), ("masked-lm, published", 3), ("hybrid", 1)],
)
def test_an_answer_is_cut_as_its_system_cuts_it(name: str, count: int) -> None:
    assert answers_of(name, answer()) == count


def test_an_unsure_hybrid_answers_nothing() -> None:
    assert answers_of("hybrid", answer(sure=0.49)) == 0


def test_what_is_not_among_the_completions_counts_as_missed() -> None:
    assert reciprocal(answer()) == 0.5
    assert reciprocal(answer(sought=2)) == 0.25


def test_slices_are_those_of_the_paper_and_none_holds_all() -> None:
    rows = [answer(), answer(sought=11, end="subject", words=2), answer(relation="P2")]
    assert {where: len(some) for where, some in slices(rows).items()} == {
        "all": 3,
        "1 sought": 2,
        "P17": 2,
        "more than 10 sought": 1,
        "one word": 2,
        "open object": 2,
        "open subject": 1,
        "several words": 1,
    }
