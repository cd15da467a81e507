"""What a question asks for by its words."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.answer_types import (
    arithmetic_of,
    asked_relation,
    asks_for_things,
    classes_asked,
    measure_asked,
    measured_noun,
    value_kind,
)


def test_how_asks_for_a_measure() -> None:
    assert measure_asked("How heavy is it?") == "heavy weight or mass"
    assert measure_asked("How big is it?") is None
    assert measure_asked("Which heavy boat is it?") is None
    assert measure_asked("how") is None


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("What is the most populous city?", ("city",)),
        ("Which second largest city is meant?", ("city",)),
        ("Number of cities in ¤?", ("city",)),
        ("Cities in ¤", ("city",)),
        ("cities whose area is over 100", ("city",)),
        ("Towards which city does it lead?", ("city",)),
        ("Texas borders which states?", ("state",)),
        ("What's the largest of the neighbours of ¤?", ("largest",)),
        ("Is it there?", ()),
    ],
)
def test_words_that_order_are_no_part_of_the_class(text: str, phrases: tuple[str, ...]) -> None:
    assert classes_asked(text) == phrases


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("What is the total area of the states?", "sum"),
        ("What is the total number of states?", None),
        ("What is the average age?", "average"),
        ("What is the difference in area between A and B?", "distance"),
        ("How many years passed between A and B?", "distance"),
        ("How much taller is A than B?", "distance"),
        ("By how much is A larger?", "distance"),
        ("How many states are there?", None),
        ("How long is A?", None),
    ],
)
def test_some_words_ask_for_arithmetic(text: str, operation: str | None) -> None:
    assert arithmetic_of(text) == operation


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *[("When was A born?", "date"), ("In which year was A born?", "date"), ("What year was it?", "date")],
        *[("How tall is A?", "number"), ("How much does A cost?", "number"), ("How many are there?", None)],
        *[("Who wrote A?", "name"), ("Where is A?", "name"), ("What is A?", None), ("", None)],
    ],
)
def test_the_first_words_tell_the_kind_of_value(text: str, kind: str | None) -> None:
    assert value_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("What is the capital of Latvia?", "capital"),
        ("Who was the first president of Latvia?", "first president"),
        ("What is Ann Smith's profession?", "profession"),
        ("The capital of Latvia", "capital"),
        ("Who wrote it?", None),
        ("", None),
    ],
)
def test_a_question_names_the_relation_that_it_asks_for(text: str, noun: str | None) -> None:
    assert asked_relation(text) == noun


def test_some_questions_name_the_class_of_what_they_ask_for() -> None:
    for text in ("Which films won?", "In which city is it?", "Films by A", "List all films.", "What films won?"):
        assert asks_for_things(text)
    for text in ("Who won?", "What did it win?", "Does it work?", "This is it", ""):
        assert not asks_for_things(text)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("Name the most city of X", ("city",)),
        ("What is the largest city of X?", ("city",)),
        ("What is the largest big city of X?", ("big city",)),
        ("What is the most populous big city of X?", ("big city",)),
        ("Name the top three big cities", ("big city",)),
        ("Name the third largest city", ("city",)),
        ("Cars whose maker is X", ("car",)),
        ("Men whose maker is X", ("man",)),
    ],
)
def test_words_that_order_are_no_part_of_a_class(text: str, classes: tuple[str, ...]) -> None:
    assert classes_asked(text) == classes


def test_a_difference_is_counted_in_a_unit_unless_that_is_of_time() -> None:
    assert measured_noun("How many square kilometres is it larger?") == "square kilometres"
    assert measured_noun("How many metres higher is it?") == "metres higher"
    assert measured_noun("How many years are between them?") is None
    assert measured_noun("How much larger is it?") is None
