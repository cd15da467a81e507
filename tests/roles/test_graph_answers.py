"""Checks of a graph's answers; faults of every kind are in ``tests/kit/planted_faults.py``."""

from __future__ import annotations

import numpy as np
import pytest

from srtk_framework.roles import graph_answers as checks
from srtk_framework.values import Budget, DriverError, NodeSet, Ragged, Step, Triple

A, B, C = (Triple("a", "r", one) for one in ("x", "y", "z"))


def test_rows_of_a_ragged_answer_are_compared_row_by_row() -> None:
    steps = [Step("b"), Step("a"), Step("c")]
    fine = Ragged(np.array([0, 1, 3]), steps)
    assert checks.steps_of_frontiers(fine, {"inverse": False}, "x") is fine
    with pytest.raises(DriverError, match=r"steps returned .*'a'.* after .*'b'"):
        checks.steps_of_frontiers(Ragged(np.array([0, 2, 3]), steps), {"inverse": False}, "x")


def test_triples_against_the_direction_are_sorted_by_object() -> None:
    rows = [[Triple("m", "r", "a"), Triple("b", "r", "c")]]
    asked = {"frontiers": [NodeSet(["a", "c"])], "steps": [Step("r", True)]}
    assert checks.triples_of_steps(rows, asked, "x") is rows
    with pytest.raises(DriverError, match="return them sorted"):
        checks.triples_of_steps([rows[0][::-1]], asked, "x")


def test_a_triple_that_the_frontier_does_not_reach_is_refused() -> None:
    with pytest.raises(DriverError, match=r"triples returned \('a', 'r', 'x'\), which r does not reach from \['b'\]"):
        checks.triples_of_steps([[A]], {"frontiers": [NodeSet(["b"])], "steps": [Step("r")]}, "x")


def test_a_neighbourhood_has_no_loose_triples() -> None:
    asked = {"frontiers": [NodeSet(["a"])], "budget": Budget(triples=2)}
    assert checks.triples_around([[A, B]], asked, "x") == [[A, B]]
    for rows, fault in (([A, Triple("p", "r", "q")], "no earlier triple"), ([A, B, C], "budget"), ([A, A], "twice")):
        with pytest.raises(DriverError, match=fault):
            checks.triples_around([rows], asked, "x")


def test_a_frontier_may_have_the_id_that_a_redirect_leads_to() -> None:
    asked, renamed, more = {"node_sets": [["Barack_Hussein_Obama"]]}, NodeSet(["Barack_Obama"]), NodeSet(["a", "b"])
    assert checks.frontiers_of_ids([renamed], asked, "x") == [renamed]
    with pytest.raises(DriverError, match="frontiers returned 2 nodes"):
        checks.frontiers_of_ids([more], asked, "x")
