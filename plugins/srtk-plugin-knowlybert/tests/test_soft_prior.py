"""The features of a candidate, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from srtk_plugin_knowlybert.candidates import Candidate
from srtk_plugin_knowlybert.label_search import Found
from srtk_plugin_knowlybert.soft_prior import SoftPrior, features


def candidate(name: str, tokens: int, *scores: float) -> Candidate:
    found = Found(max(scores), min(scores), len(scores), 0, math.fsum(scores), max(scores))
    return Candidate(name, tuple(range(tokens)), found)


def test_means_are_over_all_templates_and_are_compared_with_the_best() -> None:
    prior = np.array([[1.0, 2.0], [3.0, 4.0]])
    # Of four templates, two found the first and one the second: means of 0.2 and 0.1.
    rows = features([candidate("a", 2, 0.5, 0.3), candidate("b", 1, 0.4)], prior, 4)
    assert rows[0].tolist() == pytest.approx([0.0, math.log(0.2 / 0.8), 0.0, 0.5, 2.0, 1.0, 2.0])
    assert rows[1].tolist() == pytest.approx([math.log(0.4 / 0.6), math.log(0.1 / 0.9), math.log(0.5), 0.25, 1.0, 3, 4])


def test_a_probability_is_a_logistic_function_of_the_weighted_sum() -> None:
    prior = SoftPrior(np.array([2.0, -1.0]), 0.5)
    found = prior.probabilities(np.array([[1.0, 2.5], [0.0, 0.5], [1000.0, 0.0], [-1000.0, 0.0]]))
    assert found == pytest.approx([0.5, 0.5, 1.0, 0.0], abs=1e-12)
    assert 0 < found[3] < found[2] <= 1


def test_probabilities_are_logistic_and_far_sums_end_at_sixty() -> None:
    prior = SoftPrior(np.array([2.0, *[0.0] * 9, 1.0]), -1.0)
    rows = np.zeros((6, 11))
    rows[:, 0] = [0.0, 0.5, 1.0, 1e6, -1e6, 30.0]
    sums = [-1.0, 0.0, 1.0, 60.0, -60.0, 59.0]
    assert prior.probabilities(rows) == [1.0 / (1.0 + math.exp(-one)) for one in sums]
    # The logarithm of the greatest and the least probability can be taken.
    assert prior.probabilities(rows)[4] > 0.0


def test_certain_and_impossible_scores_have_finite_features() -> None:
    rows = features([candidate("a", 1, 1.0), candidate("b", 1, 0.0)], np.zeros((2, 1)), 1)
    far = math.log(1e-6)
    assert rows[0].tolist() == pytest.approx([-far, -far, 0.0, 1.0, 1.0, 0.0])
    assert rows[1].tolist() == pytest.approx([far, far, far, 1.0, 1.0, 0.0])


def test_what_is_learnt_is_the_optimum_with_a_penalty_on_standardised_columns() -> None:
    random = np.random.default_rng(0)
    rows = np.hstack([random.normal(3.0, 5.0, (40, 10)), np.full((40, 1), 7.0)])
    right = rows[:, 0] + random.normal(0.0, 5.0, 40) > 3.0
    prior = SoftPrior.learn(rows, right)
    width = rows.std(axis=0)
    missing = np.array(prior.probabilities(rows)) - right
    # The slope of the loss, and of the penalty, which spares the bias.
    slope = ((rows - rows.mean(axis=0))[:, :10] / width[:10]).T @ missing + (prior.weights * width)[:10]
    assert slope == pytest.approx(np.zeros(10), abs=1e-4)
    assert missing.sum() == pytest.approx(0.0, abs=1e-4)
    assert prior.weights[10] == 0.0
