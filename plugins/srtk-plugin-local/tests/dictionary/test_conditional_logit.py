"""The linear models behind learnt weights: choice, calibration, threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.dictionary.calibration import Calibration, best_threshold, calibration_error
from srtk_plugin_local.dictionary.conditional_logit import Groups, chances, fit, fit_binary


@given(st.integers(0, 10_000))
def test_a_choice_model_finds_the_weights_that_made_the_choices(seed: int) -> None:
    chance = np.random.default_rng(seed)
    true = chance.normal(size=3)
    rows = chance.normal(size=(1500, 3))
    groups = Groups(rows, np.arange(0, 1501, 3))
    p = chances(groups, true).reshape(-1, 3)
    right = groups.offsets[:-1] + (chance.random(500)[:, None] > p.cumsum(axis=1)[:, :2]).sum(axis=1)
    learnt = fit(groups, right, 0.01)
    assert np.abs(learnt - true).max() < 0.8
    assert np.allclose(np.add.reduceat(chances(groups, learnt), groups.offsets[:-1]), 1.0)


def test_a_separable_choice_keeps_finite_weights() -> None:
    rows = np.array([[1.0], [0.0]] * 20)
    weights = fit(Groups(rows, np.arange(0, 41, 2)), np.arange(0, 40, 2), 0.1)
    assert 1 < weights[0] < 20
    assert fit_binary(np.ones((4, 1)), np.array([True, True, False, False]), 0.1)[0] == pytest.approx(0.0)


def test_calibration_turns_overconfident_scores_into_frequencies() -> None:
    chance = np.random.default_rng(0)
    scores = np.where(chance.random(4000) < 0.5, 0.99, 0.01)
    right = chance.random(4000) < np.where(scores > 0.5, 0.7, 0.2)
    calibrated = Calibration.learnt(scores, right)(scores)
    assert calibration_error(scores, right) > 0.2
    assert calibration_error(calibrated, right) < 0.03


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=30))
def test_calibration_keeps_the_order_of_scores(pairs: list[tuple[float, bool]]) -> None:
    scores = np.array([score for score, _ in pairs])
    right = np.array([hit for _, hit in pairs], dtype=bool)
    calibrated = Calibration.learnt(scores, right)(scores)
    assert all(
        calibrated[i] <= calibrated[j] for i in range(len(pairs)) for j in range(len(pairs)) if scores[i] < scores[j]
    )
    assert ((calibrated >= 0) & (calibrated <= 1)).all()


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans()), max_size=20), st.integers(0, 20))
def test_no_other_threshold_has_a_greater_f1(pairs: list[tuple[float, bool]], more: int) -> None:
    scores = np.array([score for score, _ in pairs])
    right = np.array([hit for _, hit in pairs], dtype=bool)
    wanted = int(right.sum()) + more
    threshold, f1 = best_threshold(scores, right, wanted)

    def at(least: float) -> float:
        kept = scores >= least
        return float(2 * (right & kept).sum() / (kept.sum() + wanted)) if wanted else 0.0

    assert f1 == pytest.approx(max((at(least) for least in scores.tolist()), default=0.0))
    if len(scores) and wanted:
        assert at(threshold) == pytest.approx(f1)
