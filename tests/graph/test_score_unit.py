"""The unit of a scorer's numbers: the spread of its first scores, counted from END's."""

from __future__ import annotations

import pytest

from srtk_framework.graph import relative_scores, unit_of
from srtk_framework.values import END, Step


def test_the_unit_is_the_spread_of_the_candidates_within_each_path() -> None:
    assert unit_of([[1.0, 3.0], [101.0, 103.0]]) == pytest.approx(1.0 / 2.5)
    assert unit_of([[0.0, 4.0], [7.0]]) == pytest.approx(2.0 / 2.5)


@pytest.mark.parametrize("rows", [[], [[]], [[5.0]], [[5.0], [9.0]], [[0.3, 0.1 + 0.2]], [[1e9, 1e9]]])
def test_scores_that_do_not_differ_have_no_unit(rows: list[list[float]]) -> None:
    assert unit_of(rows) is None


def test_scores_count_from_that_of_end_or_from_the_best_where_end_is_not_offered() -> None:
    step, other = Step("capital"), Step("borders")
    assert relative_scores([[step, END], [END]], [[2.0, -1.0], [-3.0]]) == [[3.0, 0.0], [0.0]]
    assert relative_scores([[step, other], [step], []], [[2.0, -1.0], [4.0], []]) == [[-2.0, -5.0], [0.0], []]
