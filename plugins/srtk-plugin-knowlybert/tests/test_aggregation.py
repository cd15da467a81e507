from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_knowlybert.aggregation import Mean, is_stable, label_score

ULM = {"Ulm": [0.9, 0.8], "Munich": [0.5, 0.05], "Bern": [0.2], "Paris": [0.75, 0.05]}


@pytest.mark.parametrize(
    ("stability", "kept"),
    [("difference", ["Ulm", "Munich", "Bern"]), ("sum", ["Ulm", "Paris"]), ("none", list(ULM))],
)
def test_stability_keeps_what_the_example_keeps(stability: str, kept: list[str]) -> None:
    assert [label for label, some in ULM.items() if is_stable(min(some), max(some), stability, 0.6)] == kept


def test_a_difference_of_the_limit_is_kept_and_a_sum_of_it_is_not() -> None:
    assert is_stable(0.25, 0.75, "difference", 0.5)
    assert not is_stable(0.25, 0.25, "sum", 0.5)


def test_three_tokens_have_the_means_worked_out_by_hand() -> None:
    tokens = [-0.2, -0.4, -1.0]
    assert label_score(tokens, "probability") == pytest.approx(0.6190, abs=5e-5)
    assert math.log(label_score(tokens, "logarithm")) == pytest.approx(-0.5333, abs=5e-5)
    assert math.log(label_score(tokens, "running")) == pytest.approx(-0.65)


@given(st.floats(-20, 0), st.sampled_from(get_args(Mean)))
def test_a_label_of_one_token_has_its_probability(logarithm: float, mean: str) -> None:
    assert label_score([logarithm], mean) == pytest.approx(math.exp(logarithm))


numbers = st.floats(0, 1)


@given(numbers, numbers, numbers, numbers)
def test_a_greater_limit_keeps_more_by_the_difference_and_less_by_the_sum(
    one: float, other: float, low: float, high: float
) -> None:
    least, greatest = sorted((one, other))
    low, high = sorted((low, high))
    assert is_stable(least, greatest, "difference", low) <= is_stable(least, greatest, "difference", high)
    assert is_stable(least, greatest, "sum", high) <= is_stable(least, greatest, "sum", low)
