"""Numbers and dates of literals."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.literal_values import is_date, value_of

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


def test_dates_are_told_by_their_type() -> None:
    assert is_date(Literal('"1998"^^xsd:gYear'))
    assert not is_date(Literal('"1998"^^xsd:integer'))
    assert not is_date("1998")


def test_a_later_date_is_greater() -> None:
    dates = ["1999-12-31", "2000-01-01", "2000-01-31", "2000-02-01", "2000-12-31"]
    values = [value_of(Literal.make(date, "xsd:date")) for date in dates]
    assert values == sorted(set(values))
