"""P-values and intervals against exact enumeration, closed forms and scipy."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from srtk_plugin_evaluation.intervals import (
    RESAMPLES,
    bootstrap,
    holm,
    paired,
    paired_many,
    paired_ratios,
    rates,
    ratios,
)

CASES = [np.round(np.random.default_rng(seed).normal(0.3, 1, 3 + seed % 10), 2) for seed in range(30)]
COUNTS = [np.random.default_rng(seed).integers(1, 9, (2, 4 + seed % 7, 2)).astype(float) for seed in range(20)]


def monte_carlo(exact: float) -> tuple[float, float]:
    """Return the expected p-value, one added to both counts, and five standard errors of it."""
    expected = (exact * RESAMPLES + 1) / (RESAMPLES + 1)
    return expected, 5 * (exact * (1 - exact) / RESAMPLES) ** 0.5 + 1e-4


def exact_sign_p(apart: np.ndarray) -> float:
    signs = np.array(list(product([-1, 1], repeat=len(apart))))
    return float(np.mean(np.abs(signs @ apart) >= abs(apart.sum()) - 1e-9))


def pooled(counts: np.ndarray) -> float:
    over, below = counts.sum(axis=0)
    return float(over / below)


@pytest.mark.parametrize("apart", CASES)
def test_the_p_of_a_difference_is_that_of_all_sign_changes(apart: np.ndarray) -> None:
    expected, error = monte_carlo(exact_sign_p(apart))
    assert paired(apart + 2, np.full(len(apart), 2.0))["p"] == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("size", range(1, 9))
def test_sums_equal_to_the_observed_one_count_as_extreme(size: int) -> None:
    expected, error = monte_carlo(2 * 0.5**size)
    assert paired([0.1] * size, [0.0] * size)["p"] == pytest.approx(expected, abs=error)


def test_a_difference_of_0_has_a_p_of_1() -> None:
    assert paired([1.0, 0.0, 3.0], [0.0, 1.0, 3.0])["p"] == 1.0


@pytest.mark.parametrize(
    "apart", [[0.1, 0.2, 0.3, -0.6], [0.7, 0.1, -0.8], [1e-9, 2e-9, -3e-9], [1e6, 0.1, -1e6, -0.1]]
)
def test_values_that_cancel_out_up_to_rounding_have_a_p_of_1_in_every_order(apart: list[float]) -> None:
    orders = list(permutations(apart))
    assert [paired(order, [0.0] * len(order))["p"] for order in orders] == [1.0] * len(orders)


def test_a_sum_clearly_above_rounding_is_not_taken_for_0() -> None:
    expected, error = monte_carlo(exact_sign_p(np.array([1.0, 1e-3, -0.9])))
    assert paired([1.0, 1e-3, -0.9], [0.0] * 3)["p"] == pytest.approx(expected, abs=error)
    assert expected < 0.9


def test_the_smallest_p_is_one_over_the_draws_and_one() -> None:
    expected = pytest.approx(1 / (RESAMPLES + 1), abs=1e-6 + 5e-5)
    assert 0 < paired([1.0] * 60, [0.0] * 60)["p"] == expected
    assert 0 < paired_ratios([([(9.0, 9.0)] * 60, [(0.0, 9.0)] * 60)])[0]["p"] == expected


@pytest.mark.parametrize("apart", CASES[::3])
def test_the_p_of_a_difference_agrees_with_scipy(apart: np.ndarray) -> None:
    stats = pytest.importorskip("scipy.stats")
    reference = stats.permutation_test(
        (apart, np.zeros(len(apart))), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=10_000
    )
    expected, error = monte_carlo(float(reference.pvalue))
    assert paired(apart, np.zeros(len(apart)))["p"] == pytest.approx(expected, abs=error)


@pytest.mark.parametrize(("wins", "size"), [(5, 6), (7, 10), (15, 20), (30, 40), (60, 100)])
def test_the_p_of_wins_and_losses_is_that_of_the_binomial_test(wins: int, size: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected, error = monte_carlo(float(stats.binomtest(wins, size).pvalue))
    assert paired([1.0] * wins + [0.0] * (size - wins), [0.0] * wins + [1.0] * (size - wins))["p"] == pytest.approx(
        expected, abs=error
    )


@pytest.mark.parametrize("both", COUNTS)
def test_the_p_of_two_ratios_is_that_of_all_exchanges(both: np.ndarray) -> None:
    observed = pooled(both[0]) - pooled(both[1])
    seen = []
    for swap in product([False, True], repeat=both.shape[1]):
        chosen = np.array(swap)[:, None]
        seen.append(pooled(np.where(chosen, both[1], both[0])) - pooled(np.where(chosen, both[0], both[1])))
    expected, error = monte_carlo(float(np.mean(np.abs(seen) >= abs(observed) - 1e-9)))
    found = paired_ratios([(both[0].tolist(), both[1].tolist())])[0]
    assert found["mean"] == pytest.approx(observed, abs=1e-4)
    assert found["p"] == pytest.approx(expected, abs=error)


def test_pairing_takes_out_what_questions_have_in_common() -> None:
    hard = np.random.default_rng(1).normal(0, 10, 12)
    found = paired(hard + 0.5, hard)
    assert (found["mean"], found["low"], found["high"]) == (0.5, None, None)
    assert found["p"] < 0.01


def test_a_shift_of_both_methods_changes_nothing() -> None:
    a, b = np.random.default_rng(2).integers(0, 8, (2, 12)) / 8
    assert paired(a + 4, b + 4) == paired(a + 8, b + 8)  # below 1 the range is known, and used
    assert paired(a + 4, b + 4)["p"] == paired(a, b)["p"]
    assert paired_many([(a, b), (b, a)])[1]["p"] == paired(a, b)["p"]


def test_the_order_of_questions_changes_p_by_chance_alone() -> None:
    apart = CASES[8]
    expected, error = monte_carlo(exact_sign_p(apart))
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(apart)
        assert paired(shuffled, np.zeros(len(apart)))["p"] == pytest.approx(expected, abs=error)


def test_the_interval_of_a_normal_mean_is_the_normal_interval() -> None:
    values = np.random.default_rng(3).normal(5, 2, 400)
    half = 1.96 * values.std() / 20
    found = bootstrap(values)
    # With 1000 resamples the standard error of an end is some 4 % of the half width.
    assert found["low"] == pytest.approx(values.mean() - half, abs=0.13 * half)
    assert found["high"] == pytest.approx(values.mean() + half, abs=0.13 * half)


def test_the_interval_covers_the_mean_in_some_95_of_100_samples() -> None:
    generator = np.random.default_rng(4)
    covered = 0
    for _ in range(300):
        found = bootstrap(generator.normal(1, 1, 60))
        covered += found["low"] <= 1 <= found["high"]
    assert 0.90 <= covered / 300 <= 0.98


def test_a_ratio_is_pooled_and_its_interval_that_of_the_delta_method() -> None:
    generator = np.random.default_rng(5)
    below = generator.integers(5, 20, 300)
    over = generator.binomial(below, 0.7)
    found = ratios([list(zip(over.tolist(), below.tolist(), strict=True))])[0]
    share = over.sum() / below.sum()
    half = 1.96 * np.sqrt(np.sum((over - share * below) ** 2)) / below.sum()
    assert (found["mean"], found["n"]) == (pytest.approx(share, abs=1e-4), below.sum())
    assert found["low"] == pytest.approx(share - half, abs=0.13 * half)
    assert found["high"] == pytest.approx(share + half, abs=0.13 * half)


def test_a_rate_is_the_inverse_of_the_mean_and_of_its_ends() -> None:
    seconds = np.random.default_rng(6).uniform(0.5, 2, 50)
    found, rate = bootstrap(seconds), rates([seconds])[0]
    assert [rate["mean"], rate["low"], rate["high"]] == pytest.approx(
        [1 / found["mean"], 1 / found["high"], 1 / found["low"]], abs=5e-4
    )


def test_holm_multiplies_by_the_number_of_tests_that_are_left() -> None:
    assert holm([0.01, 0.011, 0.02, 0.3, 0.6]) == [0.05, 0.05, 0.06, 0.6, 0.6]
