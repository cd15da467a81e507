"""Names of composite relations, and their labels."""

from __future__ import annotations

import pytest
from srtk_plugin_views.composites import escape, join, join_all, label_of, parts, split

from srtk_framework.values import Literal


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a.b", "a.b"),
        (".a", r"\.a"),
        ("a.", r"a\."),
        ("a..b", r"a.\.b"),
        ("a...b", r"a.\.\.b"),
        ("a\\b", r"a\\b"),
        (".", r"\."),
        ("a\n.", "a\n\\."),
        ("a.\n", "a.\n"),
    ],
)
def test_backslashes_outer_dots_and_dots_after_a_dot_are_escaped(name: str, escaped: str) -> None:
    assert escape(name) == escaped
    assert join_all([name]) == escaped
    assert parts(escaped) == split(escaped) == (name,)
    assert join("x", name) == f"x..{escaped}"
    assert parts(f"{escaped}..{escaped}..x") == (name, name, "x")


def test_a_name_of_one_or_two_relations_is_split_and_of_more_only_parted() -> None:
    assert split("a") == ("a",)
    assert split("a..b") == ("a", "b")
    assert split("a..b..c") == ()
    assert parts("a..b..c") == ("a", "b", "c")


@pytest.mark.parametrize(
    "name", ["", "..", "a..", "..a", "a...b", "a....b", ".a", "a.", "a\\", r"\a", r"a\.b", r"a..\b"]
)
def test_a_text_that_no_relations_are_written_as_has_no_parts(name: str) -> None:
    assert parts(name) == split(name) == ()


def test_a_composite_has_its_own_label_or_those_of_its_parts() -> None:
    found = {"p..q": "p..q", "p": "part", "q": "q", "r": "r", "r..r": "r..r", "x..y": "own", "x": "ex", "y": "y"}
    assert label_of("p..q", ("p", "q"), found) == "part: q"
    assert label_of("r..r", ("r", "r"), found) == "r..r"
    assert label_of("x..y", ("x", "y"), found) == "own"
    assert label_of("p", ("p",), found) == "part"
    assert label_of("r", (), found) == "r"


def test_a_label_is_looked_up_by_the_id_of_the_graph_and_no_label_gives_the_id_as_written() -> None:
    assert label_of("/m/01", (), {"m.01": "Ann"}, "m.01") == "Ann"
    assert label_of("/m/01", (), {"m.01": "m.01"}, "m.01") == "/m/01"
    assert label_of(Literal("x"), ("p",), {"x": "x", "p": "part"}) == "x"
