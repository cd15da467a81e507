"""Checks that ports make on rows of numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from srtk_framework.roles.answer_checks import check_numbers, truth
from srtk_framework.values import DriverError


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 2], [], [-3.5]],
        [(1.0, 2), (), (True,)],
        [np.array([1.0, 2.0]), np.array([]), np.array([3.0], np.float32)],
        [[1e308, 1e308], [], [1e308]],  # finite, though their sum is not
    ],
)
def test_one_finite_number_for_each_is_accepted(rows):
    check_numbers("score", rows, [2, 0, 1], "candidates")


@pytest.mark.parametrize("wrong", [math.nan, math.inf, None, "1", [1.0], 10**400, 1j])
def test_anything_but_a_finite_number_is_refused_and_shown(wrong):
    with pytest.raises(DriverError, match=r"^score returned .* for one of its candidates; it must return finite num"):
        check_numbers("score", [[1.0], [0.5, wrong]], [1, 2], "candidates")


@pytest.mark.parametrize("kind", [float, np.float32])
def test_an_array_with_a_number_that_is_not_finite_is_refused(kind):
    with pytest.raises(DriverError, match="score returned nan for one of its candidates"):
        check_numbers("score", [np.array([1.0, math.nan], kind)], [2], "candidates")


def test_opposite_infinities_do_not_cancel():
    with pytest.raises(DriverError, match="score returned inf"):
        check_numbers("score", [[math.inf, -math.inf]], [2], "candidates")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ([1.0], "score got 2 candidates and returned 1 numbers; it must return one for each"),
        (1.0, "score returned 1.0 for 2 candidates; return a list with one number for each"),
        ("12", "score returned '12' for 2 candidates; return a list with one number for each"),
        ({0.5, 1.5}, "score returned {0.5, 1.5} for 2 candidates; return a list with one number for each"),
        ({3: 0.5, 4: 1.5}, "score returned {3: 0.5, 4: 1.5} for 2 candidates; return a list with one number for each"),
    ],
)
def test_a_row_of_another_length_is_refused(row, text):
    with pytest.raises(DriverError, match=f"^{text}$"):
        check_numbers("score", [[1.0, 2.0], row], [2, 2], "candidates")


@pytest.mark.parametrize("answer", [True, False, np.bool_(True), np.array(False)])
def test_a_truth_value_is_a_bool(answer):
    assert truth(answer, {}, "x") is bool(answer)


@pytest.mark.parametrize("answer", ["no", 1, 0.0, [], None])
def test_anything_else_is_no_truth_value(answer):
    with pytest.raises(DriverError, match="return True or False"):
        truth(answer, {}, "x")
