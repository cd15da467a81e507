"""Average precision over given candidates."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation import (
    candidate_precision,
    candidate_ranks,
    hits,
    mean_average_precision,
    reciprocal_ranks,
)

ratings = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6).filter(
    lambda rows: any(right for _, right in rows)
)


def _precision(right: list[bool]) -> float:
    places = [place for place, is_right in enumerate(right, start=1) if is_right]
    return sum(count / place for count, place in enumerate(places, start=1)) / len(places)


@given(ratings)
def test_ties_count_as_the_mean_over_all_their_orders(rows: list[tuple[int, bool]]) -> None:
    orders = [order for order in itertools.permutations(rows) if [-s for s, _ in order] == sorted(-s for s, _ in rows)]
    expected = statistics.fmean(_precision([right for _, right in order]) for order in orders)
    assert candidate_precision([score for score, _ in rows], [right for _, right in rows]) == pytest.approx(expected)


def test_without_a_right_candidate_there_is_no_precision() -> None:
    assert candidate_precision([1.0, 0.5], [False, False]) is None
    assert candidate_precision([], []) is None


def test_bad_scores_are_refused() -> None:
    with pytest.raises(ValueError, match="1 scores and 2 labels"):
        candidate_precision([1.0], [True, False])
    with pytest.raises(ValueError, match="NaN"):
        candidate_precision([float("nan")], [True])


def test_right_candidates_compete_with_wrong_ones_alone() -> None:
    ranks = candidate_ranks([0.9, 0.8, 0.8, 0.1], [True, True, False, True])
    assert (ranks.better.tolist(), ranks.tied.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert np.array_equal(reciprocal_ranks(ranks), [1.0, 0.75, 0.5])
    assert np.array_equal(hits(ranks, 1), [1.0, 0.5, 0.0])


def test_queries_without_wrong_candidates_are_told_apart() -> None:
    means = mean_average_precision([([0.5, 0.5], [True, False]), ([0.1], [True]), ([0.2], [False])])
    assert means == (pytest.approx(0.875), 2, 0.75, 1)
    assert mean_average_precision([]) == (None, 0, None, 0)
