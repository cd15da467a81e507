"""Numbers and dates of literals."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.literal_values import fits, is_date, is_year, truth_of, unit_of, value_of

from srtk_framework.values import Literal


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ('"12"^^xsd:integer', 12.0),
        ('"-1.5"^^xsd:decimal', -1.5),
        ('"1e3"^^xsd:double', 1000.0),
        ('"7"', 7.0),
        ('"1998"^^xsd:gYear', 1998.0),
        ('"-0044"^^xsd:gYear', -44.0),
        ('"2000-07-01"^^xsd:date', 2000.5),
        ('"2000-07-01T12:00:00Z"^^xsd:dateTime', 2000.5),
        ('"+2000-01-01T00:00:00Z"^^http://www.w3.org/2001/XMLSchema#dateTime', 2000.0),
        ('"soon"^^xsd:date', None),
        ('"Riga"', None),
        ('"12"@lv', None),
        ('"NaN"^^xsd:double', None),
        ('"INF"^^xsd:double', None),
    ],
)
def test_a_literal_has_the_number_that_it_says(literal: str, value: float | None) -> None:
    assert value_of(Literal(literal)) == value


def test_an_id_that_looks_like_a_number_is_none() -> None:
    assert value_of("12") is None


def test_dates_are_meaningful_by_their_type() -> None:
    assert is_date(Literal('"1998"^^xsd:gYear'))
    assert not is_date(Literal('"1998"^^xsd:integer'))
    assert not is_date("1998")


def test_a_later_date_is_greater() -> None:
    dates = ["1999-12-31", "2000-01-01", "2000-01-31", "2000-02-01", "2000-12-31"]
    values = [value_of(Literal.make(date, "xsd:date")) for date in dates]
    assert values == sorted(set(values))


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("54 cm", 54.0, "cm"),
        ("13.5 %", 13.5, "%"),
        ("13,5 %", 13.5, "%"),
        ("€10.00", 10.0, "€"),
        ("-3 °C", -3.0, "°C"),
        ("1,200 km", 1200.0, "km"),
        ("1 200 300 km", 1200300.0, "km"),
        ("54", 54.0, ""),
        ("1,200", None, ""),
        ("$5 m", 5.0, "m"),
        ("+1.5 km", 1.5, "km"),
        ("1.200,50 €", 1200.5, "€"),
        ("54 cm tall", None, ""),
        ("about 54 cm", None, ""),
        ("cm", None, ""),
    ],
)
def test_a_text_that_is_a_number_with_a_unit_has_both(text: str, value: float | None, unit: str) -> None:
    assert (value_of(Literal.make(text)), unit_of(Literal.make(text))) == (value, unit)


def test_a_typed_value_and_an_id_have_no_unit() -> None:
    assert unit_of(Literal.make("54", "xsd:integer")) == unit_of("54 cm") == ""


def test_a_whole_date_is_one_without_a_type_and_a_year_is_not() -> None:
    assert is_date(Literal.make("1998-05-01"))
    assert value_of(Literal.make("1998-07-01")) == value_of(Literal.make("1998-07-01", "xsd:date")) == 1998.5
    assert not is_date(Literal.make("1998"))
    assert not is_date(Literal.make("1998-05-01", language="en"))


def test_a_time_of_day_is_a_number_of_hours() -> None:
    times = [value_of(Literal.make(text, "xsd:time")) for text in ("00:00", "08:30:00", "08:30:36", "23:59:59.5")]
    assert times[:3] == [0.0, 8.5, 8.51]
    assert times == sorted(times)
    assert value_of(Literal.make("08:30")) is None


@pytest.mark.parametrize(
    ("text", "truth"),
    [("yes", True), ("True", True), ("JA", True), ("no", False), ("false", False), ("maybe", None), ("1", None)],
)
def test_some_texts_say_yes_or_no(text: str, truth: bool | None) -> None:
    assert truth_of(Literal.make(text)) is truth
    assert truth_of(text) is truth


@pytest.mark.parametrize(
    ("end", "kinds"),
    [
        (Literal('"1998-05-01"^^xsd:date'), {"date"}),
        (Literal('"08:30"^^xsd:time'), {"date"}),
        (Literal('"1998"^^xsd:integer'), {"date", "number"}),
        (Literal('"170"^^xsd:integer'), {"number"}),
        (Literal('"Riga"'), {"name"}),
        (Literal('"yes"'), set()),
        ("riga", {"name"}),
        ("1960", {"date", "name"}),
        ("07:30:00", {"date", "name"}),
        ("Q1960", {"name"}),
        ("no", set()),
    ],
)
def test_an_end_is_a_date_a_number_or_a_name(end: str, kinds: set[str]) -> None:
    assert {kind for kind in ("date", "number", "name") if fits(end, kind)} == kinds


@pytest.mark.parametrize(("value", "year"), [(999, False), (1000, True), (2099, True), (2100, False), (1990.5, False)])
def test_a_number_from_1000_to_2099_may_be_a_year(value: float, year: bool) -> None:
    assert is_year(value) is year


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("2000-07-16", "date", 2000 + 6 / 12 + 15 / 372),
        ("1998-03", "gYearMonth", 1998 + 2 / 12),
        ("01:00:01", "time", 1 + 1 / 3600),
        ("8", "time", 8.0),
        ("one:two", "time", None),
        ("54 cm", "duration", None),
        ("0:00", "duration", None),
    ],
)
def test_a_typed_text_has_the_number_of_its_type(text: str, kind: str, value: float | None) -> None:
    assert value_of(Literal.make(text, f"xsd:{kind}")) == (None if value is None else pytest.approx(value, abs=1e-9))


def test_a_time_without_a_colon_is_a_number_and_a_date_is_none() -> None:
    kinds = {
        text: {kind for kind in ("date", "number", "name") if fits(Literal.make(text, f"xsd:{of}"), kind)}
        for text, of in (("8", "time"), ("08:00", "time"), ("0008-01-01", "date"), ("8.5", "decimal"))
    }
    assert kinds == {"8": {"number"}, "08:00": {"date"}, "0008-01-01": {"date"}, "8.5": {"number"}}
