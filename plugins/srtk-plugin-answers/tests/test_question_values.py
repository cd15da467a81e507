"""Constraints on numbers and dates that a question names."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_answers.question_kinds import kind_of
from srtk_plugin_answers.question_values import (
    ValueConstraint,
    clauses,
    compared_noun,
    compared_verb,
    value_constraints,
)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("Which cities have more than two million inhabitants?", ["(2000000, inf)"]),
        ("Which are taller than 3000 m?", ["(3000, inf)"]),
        ("Which are taller than 3,000m?", ["(3000, inf)"]),
        ("Which have over 1.5 million people?", ["(1500000, inf)"]),
        ("Which have no more than 1.000.000 people?", ["(-inf, 1000000]"]),
        ("Which have fewer than 12 500 people?", ["(-inf, 12500)"]),
        ("Which have at least half a million people?", ["[500000, inf)"]),
        ("Which have not fewer than five seats?", ["[5, inf)"]),
        ("Which have up to ten seats?", ["(-inf, 10]"]),
        ("Which have exactly 5 members?", ["[5, 5]"]),
        ("Which have between two and three million people?", ["[2000000, 3000000]"]),
        ("Which cover more than one hundred thousand square kilometres?", ["(100000, inf)"]),
        ("Which have a population below 50,000.", ["(-inf, 50000)"]),
        ("Which earned less than $200 million?", ["(-inf, 200000000)"]),
        ("Which have more than 5 seats and less than 3 doors?", ["(5, inf)", "(-inf, 3)"]),
        ("Which have more than 2000 seats?", ["(2000, inf)"]),
        ("Which have more than a million people?", ["(1000000, inf)"]),
        ("Which have more than an hundred seats?", ["(100, inf)"]),
        ("Which cost more than 7 billion or 3 trillion?", ["(7000000000, inf)"]),
        ("Which cost more than 3 trillion?", ["(3000000000000, inf)"]),
        ("Which cost between five hundred and two thousand?", ["[500, 2000]"]),
        ("Which cost between 999 and 1000 thousand?", ["[999000, 1000000]"]),
        ("Which cost between 1000 and 3000 thousand?", ["[1000000, 3000000]"]),
        ("Which have between 5 and 5 seats?", ["[5, 5]"]),
        ("Which have between 5 and 4 seats?", []),
        ("Which have between 5 and a seats?", []),
        ("over 1.5 m and below 2.25 m", ["(1.5, inf)", "(-inf, 2.25)"]),
        ("Which were seen more than once?", []),
        ("Which lasted more than a century?", []),
        ("Which grew by at least 10%?", ["[10, inf)"]),
        ("Which lie over the hill?", []),
        ("Which grew over tenfold?", []),
        ("", []),
    ],
)
def test_bounds_on_numbers_are_read(text: str, bounds: list[str]) -> None:
    found = value_constraints(text)
    assert [str(one) for one in found] == bounds
    assert not any(one.date for one in found)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("Which were founded before 1900?", "(-inf, 1900)"),
        ("Which were founded after the year 1900?", "[1901, inf)"),
        ("Which exist since 1900?", "[1900, inf)"),
        ("Which existed until 1900?", "(-inf, 1901)"),
        ("Who was born in 1965?", "[1965, 1966)"),
        ("Who was born in the 1960s?", "[1960, 1970)"),
        ("Which are older than 1900?", "(-inf, 1900)"),
        ("Which were built between 1990 and 1999?", "[1990, 2000)"),
        ("Who ruled from 1993 to 1999?", "[1993, 2000)"),
        ("Which series ran from 1977-1986?", "[1977, 1987)"),
        ("Which of the films from 1977 won?", "[1977, 1978)"),
        ("Which were admitted during the 1840's?", "[1840, 1850)"),
    ],
)
def test_bounds_on_years_are_read(text: str, bounds: str) -> None:
    [found] = value_constraints(text)
    assert (str(found), found.date) == (bounds, True)


@pytest.mark.parametrize(
    "text",
    [
        "Which novels were not released in 2014?",
        "Which novels weren't released before 2003?",
        "Who won in the 2020 election?",
        "Who won in 2021 Grammy Awards?",
        "Which was built between 1999 and 1990?",
        "Which was built between 1990 and 1989?",
        "not before 1900",
    ],
)
def test_a_year_that_is_negated_or_part_of_a_name_bounds_nothing(text: str) -> None:
    assert value_constraints(text) == ()


def test_the_places_of_a_constraint_are_those_of_the_text() -> None:
    text = "Which İzmir streets were built before 1900?"
    [found] = value_constraints(text)
    assert text[found.start : found.end] == "before 1900"


@pytest.mark.parametrize(
    ("text", "rest", "clause"),
    [
        ("Of those with a population above 20 million, which is first?", "Of those , which is first?", None),
        ("Which state smaller than 50,000 square miles next to it is first?", "Which state next to it is first?", None),
        ("Which songs were released in 1999?", "Which songs were ?", "released in 1999"),
        ("Which have more than 5 seats?", "Which have ?", "more than 5 seats"),
        ("Which is first?", "Which is first?", None),
        ("released in 1999", "", "released in 1999"),
    ],
)
def test_a_constraint_takes_the_words_that_say_of_what_it_is(text: str, rest: str, clause: str | None) -> None:
    left, found = clauses(text)
    assert left == rest
    if clause is not None:
        assert found == [clause]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which cities have more than two million inhabitants?", "lookup"),
        ("Which mountains are higher than 2000 m?", "lookup"),
        ("Which have no more than five seats?", "lookup"),
        ("How many cities have more than 2000 inhabitants?", "count"),
        ("Which city with fewer than 5,000 inhabitants has the largest area?", "superlative"),
        ("Which neighbours larger than 1,000 acres do not use the euro?", "difference"),
        ("Which were founded before 1900?", "time-bound"),
        ("Is Latvia larger than 1000 acres?", "yes-no"),
    ],
)
def test_a_bound_is_no_kind_of_its_own(text: str, kind: str) -> None:
    assert kind_of(text).kind == kind


def test_a_number_that_is_bounded_is_no_year() -> None:
    assert kind_of("Which have more than 2000 seats?").year is None


@given(st.integers(0, 10**13))
def test_a_number_means_the_same_in_any_way_of_writing_it(number: int) -> None:
    forms = {str(number), f"{number:,}", f"{number:,}".replace(",", " ")}
    if number >= 10**6:
        forms.add(f"{number:,}".replace(",", "."))
    found = {str(value_constraints(f"Which have more than {form} people?")[0]) for form in forms}
    assert found == {f"({number}, inf)"}


@given(st.integers(0, 12), st.sampled_from(["", " hundred", " thousand", " million", " billion"]))
def test_words_mean_what_digits_do(number: int, scale: str) -> None:
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    one, other = (value_constraints(f"at least {form}{scale} seats")[0] for form in (words[number], number))
    assert (one.low, one.high) == (other.low, other.high)


@given(st.integers(0, 10**9), st.floats(-1e10, 1e10))
def test_what_is_above_a_number_is_all_but_what_is_at_most_that(number: int, value: float) -> None:
    for above, others in (("more than", "at most"), ("at least", "less than"), ("over", "no more than")):
        [one], [other] = (value_constraints(f"{form} {number} seats") for form in (above, others))
        assert one.allows(value) != other.allows(value)


@given(st.integers(1000, 2098), st.floats(900, 2200))
def test_a_year_lies_before_in_or_after_a_year(year: int, value: float) -> None:
    held = [value_constraints(f"{form} {year}")[0].allows(value) for form in ("before", "in", "after")]
    assert sum(held) == 1


@given(st.text())
def test_any_text_has_bounds_in_order_that_do_not_overlap(text: str) -> None:
    found = value_constraints(text)
    ends = [place for one in found for place in (one.start, one.end)]
    assert ends == sorted(ends)
    clauses(text)


def test_a_year_in_a_span_is_no_bound_of_its_own_and_hides_none_behind_it() -> None:
    [span] = value_constraints("from 1990 to 1999")
    assert str(span) == "[1990, 2000)"
    both = value_constraints("from 1990 to 1999 or from 1977")
    assert list(map(str, both)) == ["[1990, 2000)", "[1977, 1978)"]
    assert clauses("Which have more than 5 seats and less than 3 doors?")[1] == [
        "more than 5 seats",
        "less than 3 doors",
    ]


@pytest.mark.parametrize(
    ("bound", "small"),
    [
        (ValueConstraint(low=12.0), True),
        (ValueConstraint(high=12.0), True),
        (ValueConstraint(low=12.5), False),
        (ValueConstraint(low=1.0, high=100.0), False),
        (ValueConstraint(high=5.0, date=True), False),
    ],
)
def test_a_bound_up_to_a_dozen_may_count_things(bound: ValueConstraint, small: bool) -> None:
    assert bound.is_small is small


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("Is it between 1000 and 2000 thousand?", ["[1000000, 2000000]"]),
        ("Is it between 500 and 2 million?", ["[500, 2000000]"]),
        ("Is it between 1000 and 2000 km long?", ["[1000, 2000]"]),
        ("Is it at least 5,5?", ["[5.5, inf)"]),
        ("Is it at least 5,500?", ["[5500, inf)"]),
        ("Is it below -5 or above −2.5?", ["(-inf, -5)", "(-2.5, inf)"]),
    ],
)
def test_multipliers_signs_and_decimal_commas_are_read(text: str, bounds: list[str]) -> None:
    assert [str(one) for one in value_constraints(text)] == bounds


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("built before 1950-06-15", -math.inf, 1950 + 5 / 12 + 14 / 372),
        ("built after 15 June 1950", 1950 + 5 / 12 + 15 / 372, math.inf),
        ("built after June 15, 1950", 1950 + 5 / 12 + 15 / 372, math.inf),
        ("built in May 1950", 1950 + 4 / 12, 1950 + 5 / 12),
        ("built on the 1st of January 1950", 1950, 1950 + 1 / 372),
        ("built between 1950 and June 1951", 1950, 1951 + 6 / 12),
    ],
)
def test_dates_with_a_month_or_a_day_bound_values_at_that_time(text: str, low: float, high: float) -> None:
    [one] = value_constraints(text)
    assert (one.date, one.plain) == (True, False)
    assert (one.low, one.high) == (pytest.approx(low), pytest.approx(high))


def test_years_that_nothing_calls_so_may_be_numbers() -> None:
    [one] = value_constraints("Which have an area between 1000 and 2000?")
    assert (one.date, one.plain, str(one), str(one.of_numbers())) == (True, True, "[1000, 2001)", "[1000, 2000]")
    [one] = value_constraints("Which were built in 1990?")
    assert (one.plain, one.of_numbers()) == (False, one)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Is the code of ¤ larger than 50?", [("code", "", "")]),
        ("Is ¤'s lowest temperature at most -5?", [("lowest temperature", "", "")]),
        ("Does ¤ have a depth over 50 m and below 90 m?", [("depth", "", ""), ("depth", "", "")]),
        ("Is the population of the capital of ¤ above 50?", [("capital", "", "")]),
        ("Which lakes were discovered before 1950?", [("", "discovered", "")]),
        ("Which have more than two million inhabitants?", [("", "", "inhabitants")]),
        ("Which have a number of rooms over 20?", [("number of rooms", "", "")]),
        ("Which lakes with the country ¤ are over 20?", [("", "", "")]),
        ("over 5 rivers over 6 lakes over 7 hills", [("", "", "rivers"), ("", "", "lakes"), ("", "", "hills")]),
    ],
)
def test_a_bound_has_the_name_of_its_value(text: str, names: list[tuple[str, str, str]]) -> None:
    assert [(one.noun, one.verb, one.behind) for one in value_constraints(text)] == names


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("Is the depth of ¤ larger than the depth of ¤?", "depth"),
        ("Is ¤'s lowest point not higher than ¤'s?", "lowest point"),
        ("Which has the lower storage temperature, ¤ or ¤?", "storage temperature"),
        ("Does ¤ have a larger area than ¤?", "area"),
        ("Is ¤ larger than ¤?", ""),
    ],
)
def test_a_comparison_has_the_name_of_its_value(text: str, noun: str) -> None:
    assert compared_noun(text) == noun


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("Was ¤ Built before ¤?", "built"),
        ("Was ¤ founded later than ¤?", "founded"),
        ("Is ¤ older than ¤?", ""),
    ],
)
def test_a_comparison_of_dates_has_the_verb_of_its_dates(text: str, verb: str) -> None:
    assert compared_verb(text) == verb
