"""The kind of a question by its words."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.question_kinds import KINDS, excluded_text, kind_of, unnamed_text

from srtk_framework.values import Link, Question


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is the capital of Latvia?", "lookup"),
        ("Who is the First Lady of Latvia?", "lookup"),
        ("Which team won at least three cups?", "lookup"),
        ("Which artist was a member of that band and wrote this song?", "lookup"),
        ("How many countries border Latvia?", "count"),
        ("What is the number of states that Latvia touches?", "count"),
        ("How many cities have more than a million inhabitants?", "count"),
        ("Which neighbour has the largest area?", "superlative"),
        ("What is the best-known river of Latvia?", "superlative"),
        ("Which neighbour has the second largest area?", "ordinal"),
        ("What was the 3rd president called?", "ordinal"),
        ("What was her most recent album?", "ordinal"),
        ("What was the last film of the series?", "ordinal"),
        ("Which is larger, Latvia or Estonia?", "comparison"),
        ("Which is the smallest: Riga or Tartu?", "comparison"),
        ("Which is second, Riga or Tartu?", "ordinal"),
        ("Which is larger than Latvia?", "comparison"),
        ("Which states other than Latvia are larger?", "difference"),
        ("Which larger city is in Latvia?", "lookup"),
        ("Between Riga and Tartu, which is larger?", "comparison"),
        ("How many more people live in Riga than in Tartu?", "count"),
        ("For most people, what is it?", "lookup"),
        ("Which larger and older city is it?", "lookup"),
        ("Riga and which larger city are near?", "lookup"),
        ("Which is the largest, or smallest?", "superlative"),
        ("Which is the largest, please?", "superlative"),
        ("Which is the largest in 1,500 or 2 years?", "superlative"),
        ("Which was founded first, Riga or Tartu?", "comparison"),
        ("Is Latvia larger than Estonia?", "comparison"),
        ("Did Latvia join before Croatia?", "comparison"),
        ("Does Latvia border on Russia?", "yes-no"),
        ("Has Latvia won more than three medals?", "yes-no"),
        ("Which neighbours do not use the euro?", "difference"),
        ("Which countries don’t use the euro?", "difference"),
        ("Which members of the band other than Ann sang?", "difference"),
        ("What was the currency of Latvia in 1999?", "time-bound"),
        ("Who led Latvia in the 1990s?", "time-bound"),
        ("Who led Latvia in mid-1990?", "time-bound"),
        ("Who paid for order O-1990?", "lookup"),
        ("Can you describe the flag of Latvia?", "lookup"),
        ("Can Latvia vote?", "yes-no"),
        ("Do you need a visa for Latvia?", "yes-no"),
        ("", "lookup"),
        ("???", "lookup"),
    ],
)
def test_the_words_tell_the_kind(text: str, kind: str) -> None:
    assert kind_of(text).kind == kind
    assert kind in KINDS


@pytest.mark.parametrize(
    ("text", "greatest", "rank"),
    [
        ("Which neighbour has the largest area?", True, 1),
        ("Which is the largest: Riga or Tartu?", True, 1),
        ("Which was founded first, Riga or Tartu?", False, 1),
        ("Between Riga and Tartu, which is larger?", True, 1),
        ("Most populous city is where?", True, 1),
        ("For most people, what is it?", None, 1),
        ("Which neighbour has the fewest inhabitants?", False, 1),
        ("Which is the oldest city?", False, 1),
        ("Which is the second smallest state?", False, 2),
        ("Which of the largest islands has the fewest inhabitants?", False, 1),
        ("Which is the 5th most populous city?", True, 5),
        ("Which neighbour is third by area?", None, 3),
        ("What was the last film?", True, 1),
        ("What was her most recent album?", True, 1),
        ("Which is smaller, Latvia or Estonia?", False, 1),
        ("Does Latvia or Estonia have the larger area?", True, 1),
        ("Did Latvia join after Croatia?", True, 1),
        ("Who lives there?", None, 1),
    ],
)
def test_the_words_tell_the_end_and_the_place(text: str, greatest: bool | None, rank: int) -> None:
    found = kind_of(text)
    assert (found.greatest, found.rank) == (greatest, rank)


def test_the_first_year_is_read() -> None:
    assert kind_of("Who led Latvia from 1993 to 1999?").year == 1993
    assert kind_of("Who led Latvia?").year is None


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Who wrote Not Another Last Summer of 1969?", "Not Another Last Summer of 1969", "lookup"),
        ("Which films of the last year are there?", "last year", "ordinal"),
        ("Does it treat more of a sign or symptom?", "sign or symptom", "yes-no"),
    ],
)
def test_words_of_linked_names_tell_no_kind(text: str, name: str, kind: str) -> None:
    start = text.index(name)
    for link in (Link("e", start=start, end=start + len(name), name=name), Link("e", name=name)):
        assert kind_of(unnamed_text(Question("q", text, (link,)))).kind == kind
    assert kind_of(text).kind != "lookup"


@pytest.mark.parametrize("text", ["Which country has the largest area in km ²?", "What are the ① largest lakes?"])
def test_signs_that_only_look_like_figures_are_no_number_of_places(text: str) -> None:
    assert kind_of(text).places == 1


def test_up_to_fifty_places_are_asked_for_in_words_or_figures() -> None:
    words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    assert [kind_of(f"Name the {word} largest cities.").places for word in words] == list(range(2, 11))
    assert [kind_of(f"Name the {n} largest cities.").places for n in (1, 2, 50, 51)] == [1, 2, 50, 1]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Name the 1 best of the top 3", 3),
        ("Name two cities largest in area", 1),
        ("Name two with the most mills", 2),
        ("Name two big old towns with the most mills", 2),
        ("Name two big old grey towns with the most mills", 1),
        ("Which 3 star hotel is the largest?", 1),
    ],
)
def test_a_number_before_an_order_or_before_what_has_the_most_is_of_places(text: str, places: int) -> None:
    assert kind_of(text).places == places


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("Which doors are not blue?", " blue?"),
        ("Which doors aren’t dark blue?", " dark blue?"),
        ("Which doors are not blue but old?", ""),
        ("Which doors have no blue paint?", " blue paint?"),
        ("Which doors without paint are blue or red?", ""),
        ("Which doors cost no more than 20?", None),
        ("Which doors are blue?", None),
    ],
)
def test_what_is_excluded_stands_behind_not_where_no_further_clause_does(text: str, excluded: str | None) -> None:
    assert excluded_text(text) == excluded
