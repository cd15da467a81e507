"""The order that a question asks for by its words."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.question_kinds import is_yes_no
from srtk_plugin_answers.question_orders import (
    CountedOrder,
    counted_order,
    is_of_age,
    is_of_length,
    order_clause,
    ordering_words,
)


@pytest.mark.parametrize(
    ("text", "nouns", "rest", "order"),
    [
        ("Which neighbour of Latvia has the largest area?", (), "Which neighbour of Latvia", "largest area"),
        ("Which film is the longest?", (), "Which film", "longest length or duration"),
        ("Which is the largest country by area in Europe?", (), "Which in Europe", "largest country area"),
        ("Which is the largest country by area in Europe?", ("country",), "Which country in Europe", "largest area"),
        ("Which is the largest city by the sea?", (), "Which by the sea", "largest city"),
        ("Which is the largest to go by?", (), "Which to go by", "largest"),
        ("Which is the second-largest city?", (), "Which", "second-largest city"),
        ("Which is the 3rd city in line?", (), "Which in line", "3rd city"),
        ("Which city has the most cities?", ("city",), "Which city", "most cities"),
        ("Which is the most populous in Europe?", (), "Which in Europe", "most populous"),
        ("Which is the largest old stone city hall?", (), "Which city hall", "largest old stone"),
        ("Which is the largest city, please?", (), "Which please", "largest city,"),
        ("who died first", (), "who", "died first"),
        ("died first", (), "died", "first"),
        ("Which was founded first?", (), "Which was", "founded first"),
        ("Which was founded first in Europe?", (), "Which was founded in Europe", "first"),
        ("the animals that sleep the least", (), "the animals that", "sleep least"),
        ("the animals that sleep the least", ("sleep",), "the animals that sleep", "least"),
        ("Which city?", (), "Which city?", "Which city?"),
        ("What is the largest city in Latvia?", ("city",), "What city in Latvia", "largest"),
        ("Which film has the second highest score?", (), "Which film", "highest score"),
        ("Which city is the largest by population?", (), "Which city", "largest population"),
        ("Which soup takes the longest?", ("soup",), "Which soup takes", "longest length or duration"),
        ("Name the animals that sleep the least.", ("animal",), "Name the animals that", "sleep least"),
        ("Which city is it?", (), "Which city is it?", "Which city is it?"),
    ],
)
def test_the_order_is_parted_from_what_is_asked_of(text: str, nouns: tuple[str, ...], rest: str, order: str) -> None:
    assert order_clause(text, nouns) == (rest, order)


def test_age_length_and_yes_or_no_are_meaningful_by_single_words() -> None:
    assert is_of_age("Who is the oldest?")
    assert not is_of_age("Who is the longest-serving?")
    assert is_of_length("Who is the longest-serving?")
    assert not is_of_length("Who belongs there?")
    assert is_yes_no("Isn’t Riga a city?")
    assert not is_yes_no("Is it Riga or Tartu?")
    assert not is_yes_no("What is it?")


def test_the_names_of_some_relations_order() -> None:
    assert ordering_words("largest_city")
    assert ordering_words("First name")
    assert not ordering_words("capital of area")


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Which state by number of lakes?", CountedOrder("lakes", "Which state lakes")),
        ("number of lakes by the most towns", CountedOrder("towns", "number of lakes by towns")),
        ("largest old in number of lakes", None),
        ("largest total number of lakes", CountedOrder("lakes", "largest total lakes")),
        ("by number of lakes", CountedOrder("lakes", "lakes")),
        ("by a vast number of lakes", None),
        ("Who has the most parks often?", CountedOrder("parks", "Who has parks often")),
        ("Which has the most lakes today in it?", CountedOrder("lakes", "Which has lakes today in it")),
        ("Which has the number of it, and the most lakes?", CountedOrder("lakes", "and lakes")),
        ("Which has the most big old parks?", CountedOrder("big old parks", "Which has big old parks")),
        ("Which has the most big old public parks?", None),
        ("Which, of all, has the most lakes?", CountedOrder("lakes", "has lakes")),
        ("Which has, the most lakes?", CountedOrder("lakes", "lakes")),
        ("Yes; which has the most lakes?", CountedOrder("lakes", "which has lakes")),
        ("Which state has the top number of lakes?", CountedOrder("lakes", "Which state has lakes")),
    ],
)  # fmt: skip
def test_the_clause_with_the_counted_noun_is_the_text_of_its_order(text: str, order: CountedOrder | None) -> None:
    assert counted_order(text) == order
