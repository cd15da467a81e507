"""Calibration errors, worked out by hand and against their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation.calibration import (
    BINS,
    bin_sums,
    brier_score,
    calibration_error,
    error_of_bins,
    reliability,
)

predictions = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=30)


def test_the_error_is_the_distance_of_confidence_and_accuracy_in_each_bin_by_size() -> None:
    confidences, right = [0.9, 0.9, 0.9, 0.9, 0.1], [True, True, False, False, False]
    assert calibration_error(confidences, right) == pytest.approx(4 / 5 * 0.4 + 1 / 5 * 0.1)
    assert brier_score(confidences, right) == pytest.approx((2 * 0.01 + 2 * 0.81 + 0.01) / 5)


def test_predictions_that_are_right_as_often_as_they_say_have_no_error() -> None:
    assert calibration_error([0.25] * 8, [True] * 2 + [False] * 6) == 0


def test_nothing_predicted_has_no_error_to_tell() -> None:
    assert math.isnan(calibration_error([], []))
    assert math.isnan(brier_score([], []))
    assert reliability(bin_sums([], [])) == []


def test_certainty_is_in_the_last_bin() -> None:
    [row] = reliability(bin_sums([1.0, 0.99], [True, False]))
    assert row == {"from": round(14 / 15, 4), "to": 1.0, "n": 2, "confidence": 0.995, "right": 0.5}


@given(predictions, predictions)
def test_sums_of_two_sets_add_up(one: list[tuple[float, bool]], other: list[tuple[float, bool]]) -> None:
    def sums(some: list[tuple[float, bool]]) -> np.ndarray:
        return bin_sums([c for c, _ in some], [r for _, r in some])

    assert np.allclose(sums(one) + sums(other), sums(one + other))


@given(predictions)
def test_the_error_follows_its_definition(some: list[tuple[float, bool]]) -> None:
    binned: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in some:
        binned.setdefault(min(int(confidence * BINS), BINS - 1), []).append((confidence, right))
    got = error_of_bins(bin_sums([c for c, _ in some], [r for _, r in some]))
    if some:
        expected = sum(
            len(part) / len(some) * abs(np.mean([c for c, _ in part]) - np.mean([r for _, r in part]))
            for part in binned.values()
        )
        assert got == pytest.approx(expected)
