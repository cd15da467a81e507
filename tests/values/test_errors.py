"""Errors and what their messages are made of."""

from __future__ import annotations

import pytest

from srtk_framework.values import DriverError, RecipeError, close_matches, shortened


def test_a_recipe_error_has_one_line_for_each_problem():
    error = RecipeError(["r:1:1: a", "r:2:1: b"])
    assert error.problems == ("r:1:1: a", "r:2:1: b")
    assert str(error) == "r:1:1: a\nr:2:1: b"


def test_a_driver_error_begins_with_the_driver_where_it_is_known():
    assert str(DriverError("it failed")) == "it failed"
    assert str(DriverError("it failed", "beam")) == "beam: it failed"


@pytest.mark.parametrize(
    ("text", "cut"),
    [("", ""), ("x" * 60, "x" * 60), ("x" * 61, "x" * 57 + "..."), ("ab" * 50, ("ab" * 50)[:57] + "...")],
)
def test_a_text_is_cut_to_the_size_of_a_message(text, cut):
    assert shortened(text) == cut


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("beem", " Did you mean 'beam'?"),
        ("bea", " Did you mean 'bean' or 'beam'?"),
        ("dence", " Did you mean 'dense'?"),
        ("xyz", ""),
        (5, ""),
    ],
)
def test_close_matches_are_offered(word, text):
    assert close_matches(word, ["beam", "bean", "dense"]) == text
