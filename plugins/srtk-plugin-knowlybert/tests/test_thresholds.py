from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_knowlybert.thresholds import dynamic_threshold, static_threshold

scores = st.lists(st.floats(-20, 0), max_size=15)


@pytest.mark.parametrize(
    ("values", "static", "threshold", "kept"),
    [
        ([0.95, 0.45, 0.22], -math.inf, 0.95, 1),
        ([-0.05, -0.8, -1.5], -math.inf, -0.05, 1),
        ([-0.1, -0.2, -0.3, -2.0], -math.inf, -0.3, 3),
        ([-0.1, -0.5, -0.6, -2.0], -math.inf, -0.6, 3),
        ([-0.1, -0.2, -1.2, -2.6], -math.inf, -0.2, 2),
        ([-0.1, -1.0, -1.1, -2.6], -math.inf, -0.1, 1),
        ([0.0, -0.5, -1.5], -math.inf, -0.5, 2),  # half of the largest gap is too little
        ([0.0, -0.75, -1.5, -2.5], -math.inf, 0.0, 1),  # a gap that is the mean is enough
        ([0.0, -0.75, -1.625, -1.75, -2.75], -math.inf, 0.0, 1),  # a later gap may be larger
        ([-3.0], -1.0, -1.0, 0),
        ([], -1.0, -1.0, 0),
    ],
)
def test_thresholds_are_those_worked_out_by_hand(
    values: list[float], static: float, threshold: float, kept: int
) -> None:
    found = dynamic_threshold(values, static)
    assert found == threshold
    assert sum(value >= found for value in values) == kept


def test_the_static_threshold_is_a_mean_of_means() -> None:
    assert static_threshold([[0.8, 0.4], [0.2], []]) == pytest.approx(0.4)
    assert static_threshold([[]]) is None


@given(scores, st.floats(-20, 0))
def test_the_order_of_scores_plays_no_part(values: list[float], static: float) -> None:
    assert dynamic_threshold(values[::-1], static) == dynamic_threshold(values, static)


@given(scores, st.floats(-20, 0), st.floats(-20, 0))
def test_a_higher_static_threshold_keeps_a_part_of_what_a_lower_one_keeps(
    values: list[float], one: float, other: float
) -> None:
    assert dynamic_threshold(values, max(one, other)) >= dynamic_threshold(values, min(one, other))


@given(scores.filter(bool))
def test_the_best_score_is_kept_where_nothing_is_learnt(values: list[float]) -> None:
    assert dynamic_threshold(values, -math.inf) <= max(values)


def test_only_the_ten_best_scores_are_looked_at() -> None:
    values = [-0.1 * place for place in range(10)]
    assert dynamic_threshold([*values, -9.0], -math.inf) == dynamic_threshold(values, -math.inf)
    # The tenth is looked at.
    assert dynamic_threshold([*values[:9], -9.0], -math.inf) != dynamic_threshold(values[:9], -math.inf)


def test_a_best_score_at_the_static_threshold_is_kept() -> None:
    assert dynamic_threshold([-1.0, -3.0], -1.0) == -1.0
    assert dynamic_threshold([-0.5, -3.0], -1.0) == -0.5
