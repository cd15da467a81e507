"""The head of ``rerank``: its input and its output, worked by hand, and its files."""

from __future__ import annotations

import math
from pathlib import Path

import attrs
import numpy as np
import pytest
from srtk_plugin_sr.head import Head, HeadInput, input_matrix, input_width, log_probabilities

from srtk_framework.records import checked, write_model
from srtk_framework.values import DriverError

VECTORS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
GIVEN = HeadInput(2, np.array([[0, 1], [1, -1]]), np.array([[3.0, 20.0], [1.0, -20.0]]), np.array([0.0, 0.25]))
MEAN, SPREAD = np.array([1.0, 0.0]), np.array([4.0, 2.0])


def head(slope: float = 1.0, offset: float = 0.0) -> Head:
    width = input_width(2, 2)
    weights = {
        "inner": np.stack([np.arange(1.0, width + 1), -np.arange(1.0, width + 1)]) / 100,
        "inner_bias": np.array([0.5, 0.25]),
        "outer": np.array([[2.0, -3.0]]),
        "outer_bias": np.array([0.125]),
        "mean": MEAN,
        "spread": SPREAD,
    }
    return Head(weights, slope, offset, {"mention": None})


def test_a_row_has_the_question_each_text_with_product_and_cosine_and_the_features() -> None:
    root = math.sqrt(2)
    rows = input_matrix(VECTORS, GIVEN, MEAN, SPREAD)
    assert rows.shape == (2, input_width(2, 2))
    # Vectors are scaled by the root of their width, cosines by 4, and features end at 5 deviations.
    question, across, slant = [0, root], [root, 0, 0, 0, 0], [0.6 * root, 0.8 * root, 0, 1.6, 4 * 0.8]
    np.testing.assert_allclose(rows[0], [*question, *across, *slant, 0.5, 5.0])
    np.testing.assert_allclose(rows[1], [*question, *slant, *[0] * 5, 0.0, -5.0])


def test_the_input_has_the_type_of_the_vectors() -> None:
    assert input_matrix(VECTORS.astype(np.float32), GIVEN, MEAN, SPREAD).dtype == np.float32


def test_a_logit_is_that_of_two_layers_with_the_support_of_other_topics() -> None:
    rows = input_matrix(VECTORS, GIVEN, MEAN, SPREAD)
    weighted = rows @ np.arange(1.0, rows.shape[1] + 1) / 100
    wanted = [2 * max(one + 0.5, 0) - 3 * max(0.25 - one, 0) + 0.125 for one in weighted]
    wanted[1] += 0.25
    found = head().logits(VECTORS, GIVEN)
    np.testing.assert_allclose(found, wanted)
    assert head(0.5, -1.0).scores(VECTORS, GIVEN) == log_probabilities(found, 0.5, -1.0)


def test_a_score_is_the_logarithm_of_a_scaled_probability_and_at_least_that_of_a_millionth() -> None:
    found = log_probabilities([0.0, 2.0, -4.0, -100.0, 100.0], 0.5, 0.25)
    chances = [1 / (1 + math.exp(-(0.5 * logit + 0.25))) for logit in (0.0, 2.0, -4.0)]
    assert found == [*(round(math.log(chance), 4) for chance in chances), round(math.log(1e-6), 4), 0.0]


def test_a_head_of_another_format_or_with_other_weights_is_another(tmp_path: Path) -> None:
    made = head()
    made.save(tmp_path)
    again = Head.load(tmp_path)
    assert again.fingerprint() == made.fingerprint()
    assert again.scores(VECTORS, GIVEN) == made.scores(VECTORS, GIVEN)
    changed = {**made.weights, "outer_bias": np.array([0.5])}
    others = [head(2.0), head(1.0, 0.5), attrs.evolve(made, reads={}), attrs.evolve(made, weights=changed)]
    assert len({made.fingerprint(), *(one.fingerprint() for one in others)}) == 5
    data, _ = checked((tmp_path / "head.json").read_bytes(), "", "")
    weights = (tmp_path / "head.safetensors").read_bytes()
    write_model(tmp_path / "head.json", {**data, "format": 1}, {"head.safetensors": weights})
    with pytest.raises(DriverError, match="its format is 1, not 2"):
        Head.load(tmp_path)
