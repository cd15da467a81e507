"""The kind of a question by its words."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.question_kinds import (
    KINDS,
    CountedOrder,
    arithmetic_of,
    asked_relation,
    asks_for_things,
    classes_asked,
    counted_order,
    is_of_age,
    is_of_length,
    is_yes_no,
    kind_of,
    measure_asked,
    measured_noun,
    order_clause,
    ordering_words,
    unnamed_text,
    value_kind,
)

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


def test_how_asks_for_a_measure() -> None:
    assert measure_asked("How heavy is it?") == "heavy weight or mass"
    assert measure_asked("How big is it?") is None
    assert measure_asked("Which heavy boat is it?") is None
    assert measure_asked("how") is None


def test_the_first_year_is_read() -> None:
    assert kind_of("Who led Latvia from 1993 to 1999?").year == 1993
    assert kind_of("Who led Latvia?").year is None


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


def test_age_length_and_yes_or_no_are_meaningful_by_single_words() -> None:
    assert is_of_age("Who is the oldest?")
    assert not is_of_age("Who is the longest-serving?")
    assert is_of_length("Who is the longest-serving?")
    assert not is_of_length("Who belongs there?")
    assert is_yes_no("Isn’t Riga a city?")
    assert not is_yes_no("Is it Riga or Tartu?")
    assert not is_yes_no("What is it?")


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


def test_the_names_of_some_relations_order() -> None:
    assert ordering_words("largest_city")
    assert ordering_words("First name")
    assert not ordering_words("capital of area")


def test_a_difference_is_counted_in_a_unit_unless_that_is_of_time() -> None:
    assert measured_noun("How many square kilometres is it larger?") == "square kilometres"
    assert measured_noun("How many metres higher is it?") == "metres higher"
    assert measured_noun("How many years are between them?") is None
    assert measured_noun("How much larger is it?") is None


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
