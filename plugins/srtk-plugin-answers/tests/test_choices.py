"""Which paths and names a question chooses from."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from srtk_plugin_answers.choices import (
    Choice,
    _first_steps,
    _has_role,
    named_ends,
    named_value,
    other_names,
    other_words,
    place_of,
    returns,
    unknown_names,
)
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import Link, Literal, Question, RankedPath, Step, Subgraph, Triple


def test_a_name_of_three_letters_or_more_outside_of_the_links_is_a_condition() -> None:
    text = "Which big films of Mann have Bo, Ann and sci-fi?"
    question = Question("q", text, (Link("mann", start=18, end=22),))
    names = {
        "bo": "Bo",
        "ann": "Ann",
        "sf": "Sci fi",
        "mann": "Mann",
        "film": "films",
        "big": "x",
        "films2": "Big films",
    }
    found = named_ends(question, [*names, Literal('"Ann"')], names)
    assert [(link.entity, text[link.start : link.end], link.name) for link in found] == [
        ("ann", "Ann", "Ann"),
        ("sf", "sci-fi", "Sci fi"),
    ]
    assert [link.entity for link in named_ends(question, ["ann"], {})] == ["ann"]


def test_a_place_is_that_of_the_first_words_that_fit() -> None:
    assert place_of("a big city, the big cities", "big city") == (2, 10)
    assert place_of("city", "city") == (0, 4)
    assert place_of("the city", "city") == (4, 8)
    assert place_of("big", "big city") == (0, 0)


def test_runs_are_of_one_to_three_words_that_carry_something() -> None:
    question = Question("q", "Which old red barns of Ann burn?", (Link("ann", start=23, end=26),))
    # Phrases of the class, and their words, name no node.
    assert other_names(question, {}) == ["burn", "old red", "red barn", "barn of burn"]


def test_words_of_a_link_without_a_name_or_place_name_nothing_more() -> None:
    question = Question("q", "Who starred in Lady in the Water?", (Link("m1"),))
    assert other_names(question, {"m1": "Lady in the Water"}) == ["starred"]
    assert "water" in other_names(question, {})


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Is it Riga?", "Riga"),
        ("Is it of kind 7?", '"7"'),
        ("Is it 77?", None),
        ("Are they rigas?", "Riga"),
        ("", None),
    ],
)
def test_the_first_end_that_stands_in_a_question_as_a_word_is_named(text: str, end: str | None) -> None:
    choice = Choice(RankedPath("x", (), 0.0), {"?": (), Literal('"7"'): (), "Riga": ()})
    assert named_value(Question("q", text), choice) == end


def test_the_single_steps_from_the_links_stand_for_paths_that_a_search_lacks() -> None:
    triples = tuple(Triple(*row) for row in (("y", "s", "z"), ("x", "r", "y"), ("x", "r", "z"), ("y", "r", "x")))
    found = Subgraph(triples=triples, scores=(4.0, 3.0, 2.0, 1.0), paths=(), path_of=(-1,) * 4)
    steps = _first_steps(Question("q", "?", (Link("x"), Link("x"))), found)
    assert steps == [RankedPath("x", (Step("r"),), 3.0), RankedPath("x", (Step("r", True),), 1.0)]
    bare = Subgraph(triples=triples, scores=(), paths=(), path_of=())
    assert {path.score for path in _first_steps(Question("q", "?", (Link("x"),)), bare)} == {0.0}


def test_a_path_returns_where_it_follows_a_relation_back() -> None:
    forth, back, other = Step("r"), Step("r", True), Step("s", True)
    assert returns((forth, back))
    assert returns((other, back, forth))
    assert not returns((forth, other))
    assert not returns((forth, forth))
    assert not returns((back, other, forth))


@pytest.mark.parametrize(
    ("text", "spans", "unknown"),
    [
        ("Who met Emma", [(8, 12)], []),
        ("Who met Emma and Anna", [(8, 12)], ["Anna"]),
        ("Who met Emma and Anna", [(9, 21)], ["Emma"]),
        ("Who met Emma and Anna", [(8, 17)], ["Anna"]),
        ("Emma met who", [], []),
        ("Who met Al", [], []),  # of two letters
        ("We saw Emma", [], ["Emma"]),
        ("We do so, Emma", [], []),  # no word of three small letters
    ],
)
def test_capitalised_words_outside_of_the_spans_of_links_are_unknown(
    text: str, spans: list[tuple[int, int]], unknown: list[str]
) -> None:
    links = tuple(Link(f"l{start}", start=start, end=end) for start, end in spans)
    assert unknown_names(Question("q", text, links), ()) == unknown


def test_half_of_the_ends_or_more_are_called_by_the_class() -> None:
    def has_role(ends: str, roles: str) -> bool:
        one: Any = SimpleNamespace(roles=frozenset(roles))
        return _has_role(Choice(RankedPath("x", (), 0.0), dict.fromkeys(ends, ())), one)

    assert has_role("ax", "a")
    assert not has_role("axy", "a")
    assert not has_role("abxyz", "ab")
    assert not has_role("", "")


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Find Emma", []),  # of two words
        ("who is Emma", []),  # no small letters beyond the first word
        ("Find it Emma", ["Emma"]),
        ('"Emma" met who', ["Emma"]),
    ],
)
def test_a_capital_means_a_name_in_three_words_and_more(text: str, unknown: list[str]) -> None:
    assert unknown_names(Question("q", text), ()) == unknown
    assert unknown_names(Question("q", text, (Link("x"),)), ()) == []


def test_a_mention_that_begins_as_the_name_or_is_a_label_is_no_other_word() -> None:
    graph = MemoryGraph(triples=[["q1", "r", "a"]], labels={"q1": "Latvia"})
    graph.open()

    def others(mention: str, **link: Any) -> list[str]:
        return other_words(graph, Question("q", f"Who is {mention}?", (Link("q1", start=7, **link),)))

    end = {word: 7 + len(word) for word in ("Letvia", "Atvia", "Latvia")}
    assert others("Letvia", end=end["Letvia"], name="Latvia") == []
    assert others("Atvia", end=end["Atvia"], name="Latvia") == ["Atvia"]
    assert others("Latvia", end=end["Latvia"]) == []
    assert others("Atvia", end=end["Atvia"]) == ["Atvia"]
    assert others("Atvia", name="Latvia") == []
