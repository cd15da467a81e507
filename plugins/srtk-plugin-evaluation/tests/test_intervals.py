"""Intervals and their coverage, and paired tests."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest  # type: ignore[import-untyped]
from srtk_plugin_evaluation.intervals import (
    Estimate,
    bootstrap,
    bootstrap_many,
    holm,
    paired,
    paired_many,
    paired_ratios,
    rates,
    ratios,
    spread,
)

shares = st.lists(st.none() | st.floats(0, 1, width=32), max_size=30)


@given(shares)
def test_the_interval_holds_the_mean_and_stays_within_the_range(values: list[float | None]) -> None:
    known = [value for value in values if value is not None]
    found = bootstrap(values)
    assert found["n"] == len(known)
    if not known:
        assert found["mean"] is None
        return
    if len(known) == 1:
        assert (found["low"], found["high"]) == (None, None)
        return
    assert 0 <= found["low"] <= found["mean"] <= found["high"] <= 1
    assert found["low"] < found["high"]


@given(st.lists(shares, min_size=1, max_size=4))
def test_estimates_of_many_columns_equal_those_of_single_columns(columns: list[list[float | None]]) -> None:
    assert bootstrap_many(columns) == [bootstrap(column) for column in columns]


def test_the_interval_of_a_share_agrees_with_the_normal_approximation() -> None:
    found = bootstrap([1.0] * 320 + [0.0] * 80)
    half = 1.96 * (0.8 * 0.2 / 400) ** 0.5
    assert found["mean"] == 0.8
    assert found["low"] == pytest.approx(0.8 - half, abs=0.005)
    assert found["high"] == pytest.approx(0.8 + half, abs=0.005)


def covered(estimates: list[Estimate], truth: float) -> float:
    """Return the share of intervals that hold the truth, up to their rounding."""
    return float(np.mean([one["low"] - 5e-5 <= truth <= one["high"] + 5e-5 for one in estimates]))


@pytest.mark.parametrize("n", [5, 10, 20, 50, 100, 200])
def test_the_interval_of_a_share_is_exact_and_covers_at_least_95_of_100(n: int) -> None:
    found = bootstrap_many([[1.0] * k + [0.0] * (n - k) for k in range(n + 1)])
    low, high = (np.array([one[end] for one in found]) for end in ("low", "high"))
    for k in range(n + 1):
        exact = binomtest(k, n).proportion_ci(method="exact")
        assert (low[k], high[k]) == pytest.approx((exact.low, exact.high), abs=5.1e-5)
    assert found == ratios([[(1.0, 1.0)] * k + [(0.0, 1.0)] * (n - k) + [(0.0, 0.0)] for k in range(n + 1)])
    truths = np.linspace(0.01, 0.99, 99)[:, None]
    inside = (low - 5e-5 <= truths) & (truths <= high + 5e-5)
    assert (binom.pmf(np.arange(n + 1), n, truths) * inside).sum(axis=1).min() >= 0.95


def test_a_single_question_has_no_interval() -> None:
    for found in (bootstrap([1.0]), paired([1.0], [0.5]), *ratios([[(1.0, 1.0)], [(3.0, 4.0)]])):
        assert found["mean"] is not None
        assert (found["low"], found["high"]) == (None, None)


def test_equal_values_have_an_interval_only_where_their_range_is_known() -> None:
    half = bootstrap([0.5] * 20)
    assert half["low"] < 0.5 < half["high"]
    none = paired([0.5] * 20, [0.5] * 20)
    assert none["low"] < 0 < none["high"]
    assert (bootstrap([12.0] * 20)["low"], paired([12.0] * 20, [10.0] * 20)["high"]) == (None, None)
    assert paired([0.5] * 20, [1.5] * 20)["low"] is paired([1.5] * 20, [0.5] * 20)["low"] is None


def test_sizes_have_no_range_though_theirs_is_within_0_and_1() -> None:
    one, none = [1.0] * 19 + [0.0], [0.0] * 20
    share, size = bootstrap_many([one, one], sizes=[1])
    assert share["low"] < 0.79 < size["low"]
    assert bootstrap_many([none], sizes=[0])[0]["low"] is None
    assert paired_many([(none, none)], sizes=[0])[0]["low"] is None
    counts = [(value, 1.0) for value in none]
    assert ratios([counts], sizes=[0])[0]["low"] is None
    assert paired_ratios([(counts, counts)], sizes=[0])[0]["low"] is None


MEANS = {
    "F1": ([0, 0.5, 2 / 3, 1], [0.2, 0.1, 0.1, 0.6]),
    "high F1": ([0, 0.5, 1], [0.03, 0.05, 0.92]),
    "reciprocal ranks": ([1, 1 / 2, 1 / 3, 1 / 10, 1 / 50], [0.2, 0.1, 0.1, 0.2, 0.4]),
}


@pytest.mark.parametrize("n", [5, 20, 100])
@pytest.mark.parametrize(("values", "shares"), MEANS.values(), ids=MEANS)
def test_the_interval_of_a_mean_of_scores_covers_it(values: list[float], shares: list[float], n: int) -> None:
    drawn = np.random.default_rng(n).choice(values, (400, n), p=shares)
    assert covered(bootstrap_many(list(drawn)), float(np.dot(values, shares))) >= 0.93


@pytest.mark.parametrize("n", [5, 20, 100])
@pytest.mark.parametrize(("better", "worse"), [(0.1, 0.1), (0.3, 0.1), (0.05, 0.0)])
def test_the_interval_of_a_difference_of_shares_covers_it(better: float, worse: float, n: int) -> None:
    first = np.random.default_rng(n).choice([2, 1, 0], (400, n), p=[better, worse, 1 - better - worse])
    pairs = [(np.where(row == 2, 1.0, 0.0), np.where(row == 1, 1.0, 0.0)) for row in first]
    assert covered(paired_many(pairs), better - worse) >= 0.93


@pytest.mark.parametrize("n", [5, 20, 50])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_the_interval_of_a_ratio_covers_it_and_so_does_that_of_differences(share: float, n: int) -> None:
    generator = np.random.default_rng(n)
    below = generator.integers(1, 4, (200, n))
    ours, theirs = generator.binomial(below, share), generator.binomial(below, share)
    counts = [
        [np.stack([over, of], axis=1).tolist() for over, of in zip(some, below, strict=True)] for some in (ours, theirs)
    ]
    assert covered(ratios(counts[0]), share) >= 0.93
    assert covered(paired_ratios(list(zip(*counts, strict=True))), 0.0) >= 0.93


@pytest.mark.parametrize(("n", "least"), [(10, 0.9), (50, 0.92)])
def test_the_interval_of_a_mean_without_a_range_is_not_too_narrow_for_few_questions(n: int, least: float) -> None:
    drawn = np.random.default_rng(n).normal(3, 1, (400, n))
    assert covered(bootstrap_many(list(drawn)), 3.0) >= least


def test_the_interval_narrows_with_more_questions() -> None:
    few, many = bootstrap([0.0, 1.0] * 20), bootstrap([0.0, 1.0] * 2000)
    assert many["high"] - many["low"] < (few["high"] - few["low"]) / 5


def test_memory_stays_bounded_when_resamples_do_not_fit_one_block() -> None:
    values: list[float | None] = [float(i % 2) for i in range(5001)]
    assert bootstrap(values)["n"] == 5001
    assert bootstrap(values) == bootstrap(values)


def test_a_rate_is_the_number_over_the_sum_of_seconds() -> None:
    found = rates([[0.1, 0.2, 0.3]])[0]
    assert found["mean"] == 5.0
    assert 1 / 0.3 - 0.01 <= found["low"] <= 5 <= found["high"] <= 10.01
    assert rates([[], [0.0, 0.0]]) == [{"mean": None, "low": None, "high": None, "n": 0}] * 2


def test_times_that_are_not_positive_give_no_rate() -> None:
    nothing = {"mean": None, "low": None, "high": None, "n": 0}
    found = rates([[-1.0, -1.0], [0.5], [0.0, 1.0], [0.25, 0.25]])
    assert found[0] == found[2] == nothing
    assert found[1] == {"mean": 2.0, "low": None, "high": None, "n": 1}
    assert found[3] == {"mean": 4.0, "low": None, "high": None, "n": 2}


NO_COUNTS = {"mean": None, "low": None, "high": None, "n": 0}


def test_ratios_of_nothing_have_no_estimate() -> None:
    assert ratios([]) == []
    assert ratios([[], []]) == [NO_COUNTS, NO_COUNTS]
    assert ratios([[(0.0, 0.0)] * 3]) == [NO_COUNTS]


def test_each_ratio_has_its_own_counts() -> None:
    some = [(1.0, 2.0), (2.0, 2.0), (0.0, 4.0)]
    nothing = [(0.0, 0.0)] * 3
    first, second, third = ratios([nothing, some, [(4.0, 4.0)] * 3])
    assert first == NO_COUNTS
    assert (second["mean"], second["n"]) == (0.375, 8)
    assert (third["mean"], third["high"], third["n"]) == (1.0, 1.0, 12)
    assert third["low"] < 0.5  # three questions
    assert ratios([some]) == [second]


def test_a_pair_without_counts_is_left_out_and_later_ones_are_compared() -> None:
    some, nothing = [(1.0, 2.0), (2.0, 2.0), (0.0, 4.0)], [(0.0, 0.0)] * 3
    found = paired_ratios([(nothing, some), (some, nothing), ([], []), (some, [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)])])
    assert found[:3] == [{**NO_COUNTS, "p": None}] * 3
    assert (found[3]["mean"], found[3]["n"]) == (0.375, 8)
    assert found[3]["p"] is not None


def test_a_question_that_alone_has_counts_may_be_missing_in_a_resample() -> None:
    # Some resamples lack the first question; their ratio of 0 to 0 is left out.
    one = [(1.0, 2.0), *[(0.0, 0.0)] * 3]
    assert ratios([one]) == [{"mean": 0.5, "low": None, "high": None, "n": 2}]
    found = paired_ratios([(one, [(0.0, 2.0), *[(0.0, 0.0)] * 3])])[0]
    assert (found["low"], found["mean"], found["high"]) == (None, 0.5, None)
    assert found["p"] == 1.0


def test_median_and_p95_ignore_missing_values() -> None:
    assert spread([None, *map(float, range(101))]) == {"median": 50.0, "p95": 95.0}
    assert spread([None]) == {"median": None, "p95": None}


def test_a_difference_needs_the_same_questions() -> None:
    with pytest.raises(ValueError, match="aligned, but there are 1 and 2"):
        paired([1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="aligned, but there are 2 and 1"):
        paired([1.0, 0.0], [1.0])


def test_questions_with_a_missing_value_are_ignored_in_the_difference() -> None:
    found = paired([1.0, None, 1.0], [0.0, 1.0, None])
    assert (found["mean"], found["n"]) == (1.0, 1)
    assert paired([None], [1.0]) == {"mean": None, "low": None, "high": None, "n": 0, "p": None}


def test_a_clear_difference_has_a_small_p_and_none_a_large_one() -> None:
    better, same = [1.0] * 40, [float(i % 2) for i in range(40)]
    assert paired(better, same)["p"] < 0.01
    assert paired(same, same)["p"] == 1.0
    assert paired(same, same[::-1])["p"] > 0.5


@given(st.lists(st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)), min_size=1, max_size=20))
def test_swapping_the_methods_negates_the_difference_and_keeps_its_p(pairs: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    forth, back = paired(a, b), paired(b, a)
    assert forth["mean"] == pytest.approx(-back["mean"], abs=1e-4)
    if len(pairs) == 1:
        assert forth["low"] is back["high"] is None
    else:
        assert forth["low"] == pytest.approx(-back["high"], abs=2e-4)
    assert forth["p"] == back["p"]


def test_holm_of_a_case_worked_out_by_hand() -> None:
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == [0.03, 0.06, None, 0.06, 0.02]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.none() | st.integers(1, 1000).map(lambda n: n / 1000), max_size=12))
def test_a_corrected_p_is_between_the_raw_one_and_1_and_keeps_the_order(raw: list[float | None]) -> None:
    found = holm(raw)
    pairs = [(p, c) for p, c in zip(raw, found, strict=True) if p is not None and c is not None]
    assert [c is None for c in found] == [p is None for p in raw]
    assert all(p <= c <= 1 for p, c in pairs)
    assert [c for _, c in sorted(pairs)] == sorted(c for _, c in pairs)
    assert all(c == p for p, c in pairs[:1] if len(pairs) == 1)


@given(shares)
def test_nan_in_an_array_equals_none_in_a_list(values: list[float | None]) -> None:
    assert bootstrap(np.array(values, dtype=np.float64)) == bootstrap(values)


WAVE = [(i * 37 % 41) / 10 - 1.8 for i in range(40)]
RIGHT = [(float(i * 3 % 7), 7.0 + i % 3) for i in range(30)]
OTHERS = [(float(i * 5 % 7), 8.0 + i % 5) for i in range(30)]
GOLDEN = {
    "bootstrap": {"mean": 0.24, "low": -0.1538, "high": 0.6169, "n": 40},
    "paired": {"mean": 0.24, "low": -0.1538, "high": 0.6169, "n": 40, "p": 0.2078},
    "rates": [{"mean": 0.4464, "low": 0.3821, "high": 0.5417, "n": 40}],
    "ratios": [{"mean": 0.3625, "low": 0.2657, "high": 0.4686, "n": 240}],
    "paired_ratios": [{"mean": 0.0658, "low": -0.0671, "high": 0.1814, "n": 300, "p": 0.1518}],
}


def test_figures_are_the_same_on_every_machine_and_in_every_version() -> None:
    assert bootstrap(WAVE) == GOLDEN["bootstrap"]
    assert paired(WAVE, [0.0] * 40) == GOLDEN["paired"]
    assert rates([[value + 2 for value in WAVE]]) == GOLDEN["rates"]
    assert ratios([RIGHT]) == GOLDEN["ratios"]
    assert paired_ratios([(RIGHT, OTHERS)]) == GOLDEN["paired_ratios"]


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_memory_of_resamples_is_bounded() -> None:
    # All resamples of 20,000 questions at once are 20 million numbers, that is 160 MB.
    many = np.arange(20_000.0)
    pairs = np.stack([many, many + 1], axis=1)
    assert peak(lambda: bootstrap(many)) < 50e6
    assert peak(lambda: paired(many, many[::-1])) < 50e6
    assert peak(lambda: paired_ratios([(pairs, pairs[::-1])])) < 50e6


def test_resamples_in_blocks_are_those_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def figures() -> list[object]:
        found = [bootstrap(WAVE), *ratios([RIGHT, OTHERS]), *paired_ratios([(RIGHT, OTHERS)])]
        return [{name: value for name, value in estimate.items() if name != "p"} for estimate in found]

    whole = figures()
    for cells in (1, 39, 40, 81, 777, 39_999, 40_000):
        monkeypatch.setattr("srtk_plugin_evaluation.intervals._CELLS", cells)
        assert figures() == whole


def test_counts_in_halves_have_the_figures_of_whole_counts() -> None:
    ours, theirs = ([(over / 2, below / 2) for over, below in counts] for counts in (RIGHT, OTHERS))
    [whole], [half] = ratios([RIGHT]), ratios([ours])
    assert {**half, "n": whole["n"]} == whole
    [whole], [half] = paired_ratios([(RIGHT, OTHERS)]), paired_ratios([(ours, theirs)])
    assert {**half, "n": whole["n"]} == whole
