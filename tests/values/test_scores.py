"""Rounding of scores."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.values import rounded


@pytest.mark.parametrize(("score", "found"), [(0.12344, 0.1234), (0.12346, 0.1235), (-1.00001, -1.0), (3, 3.0)])
def test_a_score_is_rounded_to_four_decimals(score, found):
    assert rounded(score) == found
    assert isinstance(rounded(score), float)


def test_there_is_no_negative_zero():
    assert math.copysign(1.0, rounded(-0.00001)) == 1.0


@given(st.one_of(st.floats(), st.floats(-9, 9), st.integers(-(10**6), 10**6).map(lambda half: half / 20_000)))
def test_a_score_is_rounded_as_by_the_language(score):
    assert repr(rounded(score)) == repr(round(score, 4) + 0.0)


@given(st.floats(-1e9, 1e9))
def test_rounding_twice_changes_nothing(score):
    assert rounded(rounded(score)) == rounded(score)
    assert abs(rounded(score) - score) <= 0.5001e-4
