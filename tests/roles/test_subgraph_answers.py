"""Checks of subgraphs and answers; faults of every kind are in ``tests/kit/planted_faults.py``."""

from __future__ import annotations

import math

import pytest

from srtk_framework.roles.subgraph_answers import answers_from_subgraphs, check_subgraph
from srtk_framework.values import Answer, DriverError, Subgraph, Triple

A, B = Triple("a", "r", "x"), Triple("a", "r", "y")


def test_columns_other_than_scores_may_be_empty() -> None:
    check_subgraph("expand", Subgraph((A, B), (1.0, 1.0)))
    check_subgraph("expand", Subgraph())


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (Subgraph((A, B)), "2 triples with 0 scores"),
        (Subgraph((A, B), (0.5, 1.0)), "score 1.0 after 0.5"),
        (Subgraph((A, B), (1.0, math.nan)), "score nan"),
        (Subgraph((A, B), (1.0, 1.0), path_of=(7, -1)), "path_of 7 with 0 paths"),
        (Subgraph((A, A), (1.0, 1.0)), "twice"),
    ],
)
def test_a_malformed_subgraph_is_refused(wrong: Subgraph, fault: str) -> None:
    with pytest.raises(DriverError, match=f"expand returned .*{fault}"):
        check_subgraph("expand", wrong)


def test_scores_whose_sum_is_not_finite_may_be() -> None:
    check_subgraph("expand", Subgraph((A, B), (1e308, 1e308)))


def test_entities_that_are_one_text_are_no_list_of_its_letters() -> None:
    with pytest.raises(DriverError, match="read returned the entities 'Riga'; return a tuple of ids"):
        answers_from_subgraphs([Answer("Riga", "Riga")], {"subgraphs": [Subgraph()]}, "x")  # type: ignore[arg-type]


def test_support_refers_to_what_the_reader_read_besides() -> None:
    answer = Answer("y", ("y",), (1,), subgraph=Subgraph((A, B), (1.0, 1.0)))
    assert answers_from_subgraphs([answer], {"subgraphs": [Subgraph()]}, "x") == [answer]
    with pytest.raises(DriverError, match="support by triple 1 of 1"):
        answers_from_subgraphs([Answer("y", ("y",), (1,))], {"subgraphs": [Subgraph((A,), (1.0,))]}, "x")
