"""SQL expressions of values: how IRIs are shortened and which texts are literals."""

from __future__ import annotations

import duckdb
import pytest
from srtk_plugin_local.snapshot.staging_values import first_row, is_literal, quote, shorten, shortened, value

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = {"ex": "http://e.org/", "l": "http://e.org/long/", "": "http://bare.org/"}
CON = duckdb.connect()


def of(expression: str, text: str) -> str:
    """Return the value of an expression over a column ``x``."""
    row = CON.execute(f"SELECT {expression} FROM (SELECT ? AS x)", [text]).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.parametrize(
    ("iri", "short"),
    [
        ("http://e.org/a", "ex:a"),
        ("http://e.org/long/a", "l:a"),  # the longest namespace wins
        ("http://e.org/", "http://e.org/"),  # no name is left
        ("http://e.org/long/", "ex:long/"),
        ("http://bare.org/a", "a"),
        ("http://bare.org/a:b", "http://bare.org/a:b"),  # would read as a prefixed name
        ("http://e.org/a:b", "ex:a:b"),
        ("https://e.org/a", "https://e.org/a"),
    ],
)
def test_the_longest_namespace_shortens_an_iri(iri: str, short: str) -> None:
    assert of(shortened("x", PREFIXES), iri) == short


def test_of_two_prefixes_of_a_namespace_the_first_by_the_alphabet_is_taken() -> None:
    assert of(shortened("x", {"b": "http://e.org/", "a": "http://e.org/"}), "http://e.org/x") == "a:x"


def test_without_prefixes_a_column_stays() -> None:
    assert shortened("x", {}) == "x"


def test_iris_are_shortened_in_their_order() -> None:
    assert shorten(["http://e.org/b", "c", "http://bare.org/a"], CON, PREFIXES) == ["ex:b", "c", "a"]
    assert shorten([], CON, PREFIXES) == []


@pytest.mark.parametrize(
    ("text", "literals", "made"),
    [
        (f'"7"^^{XSD}integer', "typed", '"7"^^xsd:integer'),
        (f'"x"^^{XSD}string', "typed", '"x"'),
        ('"x"^^xsd:string', "typed", '"x"'),
        ('"x"@en', "typed", '"x"@en'),
        ('"x"', "typed", '"x"'),
        ("http://e.org/a", "typed", "ex:a"),
        (f'"7"^^{XSD}integer', "none", f'"7"^^{XSD}integer'),
    ],
)
def test_datatypes_of_literals_are_abbreviated_and_iris_shortened(text: str, literals: str, made: str) -> None:
    assert of(value("x", PREFIXES, literals), text) == made


@pytest.mark.parametrize(
    ("text", "literals", "wanted"),
    [
        ('"x"@en', "typed", True),
        ('"x"^^d', "typed", True),
        ('"two\nlines"@en', "typed", True),
        ('"x"', "typed", False),  # quotation marks alone may belong to a name
        ('"x"', "quoted", True),
        ('"x" y', "quoted", False),
        ('x"@en', "typed", False),
        ('"x"@en', "none", False),
    ],
)
def test_a_text_is_a_literal_by_the_setting(text: str, literals: str, wanted: bool) -> None:
    assert of(is_literal("x", literals), text) == str(wanted)


def test_quotation_marks_are_doubled_in_sql() -> None:
    assert quote("it's") == "'it''s'"
    assert of(quote("it's"), "") == "it's"


def test_a_first_row_is_of_numbers_with_nothing_as_0() -> None:
    assert first_row(CON, "SELECT 7, NULL, TRUE") == (7, 0, 1)
    assert first_row(CON, "SELECT 7 WHERE FALSE") == ()
    assert first_row(CON, "SELECT * FROM (VALUES (2), (1)) AS t (n) ORDER BY n") == (1,)
