"""TiedRanks with ties at expectation, against the mean over all orders of the ties."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation.rank_metrics import (
    TiedRanks,
    auc,
    average_precision,
    candidate_precision,
    filtered_ranks,
    hits,
    reciprocal_ranks,
)


def orders(scores: list[int]) -> Iterator[list[int]]:
    """Yield every order of the places that the scores allow, best first."""
    groups = [[i for i, score in enumerate(scores) if score == value] for value in sorted(set(scores), reverse=True)]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield [place for part in parts for place in part]


rankings = st.lists(st.integers(0, 2), min_size=1, max_size=6).flatmap(
    lambda scores: st.tuples(st.just(scores), st.sets(st.integers(0, len(scores) - 1), min_size=1))
)


@given(rankings)
def test_reciprocal_rank_and_hits_are_means_over_all_orders_of_the_ties(ranking: tuple[list[int], set[int]]) -> None:
    scores, known = ranking
    right = min(known)
    got = filtered_ranks(np.array([scores]), [right], [sorted(known)])
    places = [
        [i for i in order if i == right or i not in known].index(right) + 1 for order in orders(scores)
    ]  # the other known answers are left out of the list
    assert reciprocal_ranks(got)[0] == pytest.approx(np.mean([1 / place for place in places]))
    for k in (1, 2, 3):
        assert hits(got, k)[0] == pytest.approx(np.mean([place <= k for place in places]))


@given(rankings)
def test_average_precision_is_the_mean_over_all_orders_of_the_ties(ranking: tuple[list[int], set[int]]) -> None:
    scores, right = ranking
    missing = 1  # a right answer that is nowhere in the list counts in the denominator

    def precision(order: list[int]) -> float:
        found = [sum(i in right for i in order[: n + 1]) / (n + 1) for n, place in enumerate(order) if place in right]
        return sum(found) / (len(right) + missing)

    groups = [
        (scores.count(value), sum(scores[i] == value for i in right)) for value in sorted(set(scores), reverse=True)
    ]
    expected = np.mean([precision(order) for order in orders(scores)])
    assert average_precision(groups, len(right) + missing) == pytest.approx(expected)


def test_a_tie_of_two_is_the_mean_of_the_reciprocals_not_the_reciprocal_of_the_mean() -> None:
    ranks = filtered_ranks(np.array([[0.5, 0.5, 0.1]]), [0], [[0]])
    assert reciprocal_ranks(ranks).tolist() == [0.75]
    assert hits(ranks, 1).tolist() == [0.5]


def test_answers_known_to_be_true_are_no_competitors() -> None:
    scores = np.array([[0.9, 0.8, 0.7, 0.7], [0.1, 0.2, 0.3, 0.4]])
    ranks = filtered_ranks(scores, [2, 0], [[0, 3], []])
    assert ranks.better.tolist() == [1, 3]
    assert ranks.tied.tolist() == [0, 0]
    assert reciprocal_ranks(ranks).tolist() == [0.5, 0.25]


def test_candidates_without_a_score_share_the_last_places() -> None:
    ranks = filtered_ranks(np.array([[0.5, -np.inf, -np.inf]]), [2], [[]])
    assert (ranks.better.tolist(), ranks.tied.tolist()) == ([1], [1])


def test_the_scores_stay_as_they_are() -> None:
    scores = np.array([[3.0, 2.0, 1.0]])
    filtered_ranks(scores, [2], [[0, 1, 2]])
    assert scores.tolist() == [[3.0, 2.0, 1.0]]


def test_a_rank_among_millions_is_exact() -> None:
    assert reciprocal_ranks(TiedRanks(np.array([3_000_000]), np.array([0])))[0] == 1 / 3_000_001


def test_no_query_has_no_ranks() -> None:
    ranks = filtered_ranks(np.zeros((0, 5)), [], [])
    assert reciprocal_ranks(ranks).size == hits(ranks, 1).size == 0


def test_rows_that_are_not_aligned_and_scores_that_are_no_number_are_refused() -> None:
    with pytest.raises(ValueError, match="2 rows of scores, 1 right"):
        filtered_ranks(np.zeros((2, 3)), [0], [[], []])
    with pytest.raises(ValueError, match="NaN"):
        filtered_ranks(np.array([[np.nan, 1.0]]), [1], [[]])


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=20))
def test_auc_is_the_share_of_pairs_in_the_right_order(items: list[tuple[int, bool]]) -> None:
    scores, right = zip(*items, strict=True)
    good, bad = ([score for score, is_right in items if is_right is wanted] for wanted in (True, False))
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in good for b in bad]
    if not pairs:
        with pytest.raises(ValueError, match="right and wrong"):
            auc(scores, right)
    else:
        assert auc(scores, right) == pytest.approx(np.mean(pairs))


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
