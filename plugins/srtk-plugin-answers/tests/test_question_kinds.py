"""The kind of a question by its words."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.question_kinds import KINDS, kind_of


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
        ("Which neighbour has the fewest inhabitants?", False, 1),
        ("Which is the oldest city?", False, 1),
        ("Which is the second smallest state?", False, 2),
        ("Which is the 5th most populous city?", True, 5),
        ("Which neighbour is third by area?", None, 3),
        ("What was the last film?", True, 1),
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
