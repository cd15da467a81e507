"""A logistic regression with weights by step: what it learns, shares, and keeps."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_completers.pooled_logistic import PooledLogistic
from srtk_plugin_evaluation import auc, calibration_error

from srtk_framework.values import Step

RANDOM = np.random.default_rng(0)
ONE, OTHER, RARE = Step("one"), Step("other"), Step("rare")


def drawn(count: int, weights: list[float], shift: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
    features = RANDOM.normal(5.0, 3.0, (count, len(weights)))
    odds = (features - 5.0) / 3.0 @ np.array(weights) + shift
    return features, (RANDOM.random(count) < 1 / (1 + np.exp(-odds))).astype(float)


@pytest.fixture(scope="module")
def learnt() -> PooledLogistic:
    some = [drawn(2000, [2.0, 0.0]), drawn(2000, [0.0, 2.0]), drawn(3, [-2.0, -2.0])]
    features, right = (np.concatenate(column) for column in zip(*some, strict=True))
    steps = [ONE] * 2000 + [OTHER] * 2000 + [RARE] * 3
    return PooledLogistic.learn(features, right, steps, 1.0, 5.0)


@pytest.mark.parametrize(("step", "weights"), [(ONE, [2.0, 0.0]), (OTHER, [0.0, 2.0])])
def test_each_step_has_weights_of_its_own_and_probabilities(learnt, step, weights):
    features, right = drawn(4000, weights)
    shares = learnt.probabilities(step, features)
    assert calibration_error(shares.tolist(), (right > 0).tolist()) < 0.03
    unknown = learnt.probabilities(Step("unknown"), features)
    assert auc(shares.tolist(), (right > 0).tolist()) > auc(unknown.tolist(), (right > 0).tolist()) + 0.03


def test_a_rare_step_has_nearly_the_weights_of_all(learnt):
    far = [np.abs(learnt.of_step[step]).max() for step in (ONE, OTHER, RARE)]
    assert far[2] < min(far[:2]) / 2


def test_equal_data_give_equal_bytes_and_json_loses_nothing(learnt):
    features, right = drawn(100, [1.0, 1.0])
    steps = [ONE, OTHER] * 50
    one, other = (PooledLogistic.learn(features, right, steps, 1.0, 1.0) for _ in range(2))
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())
    assert PooledLogistic.from_json(json.loads(json.dumps(learnt.to_json()))) == learnt


def test_a_feature_that_is_always_the_same_says_nothing():
    features, right = drawn(200, [1.0, 1.0])
    constant = np.column_stack([features, np.full(200, 7.0)])
    learnt = PooledLogistic.learn(constant, right, [ONE] * 200, 1.0, 1.0)
    # As one feature among others it is 0 after its mean is taken off.
    assert learnt.weights[2] == pytest.approx(0.0, abs=1e-6)


@given(st.integers(1, 60), st.integers(0, 10))
@settings(deadline=None)
def test_the_probability_of_an_example_does_not_depend_on_the_others(learnt_count, seed):
    random = np.random.default_rng(seed)
    model = PooledLogistic((0.0,) * 9, (1.0,) * 9, tuple(random.normal(size=10)), {ONE: tuple(random.normal(size=10))})
    features = random.normal(size=(learnt_count, 9))
    whole = model.probabilities(ONE, features)
    assert whole.tolist() == [model.probabilities(ONE, row[None])[0] for row in features]
    assert ((whole > 0) & (whole < 1)).all()
