"""Types of values: dates with the name of a month or a time, units before and behind, and dots between thousands."""

from __future__ import annotations

import duckdb
import pytest
from srtk_plugin_local.snapshot.column_types import (
    BY_NAME,
    ColumnType,
    is_missing,
    number_datatype,
    type_by_heading,
    type_by_name,
    type_of,
)


def canonical(kind: ColumnType, value: str) -> str:
    """Return the canonical text of a value, as the staging database makes it."""
    expression = kind.canonical.format("x", "")
    row = duckdb.sql(
        f"SELECT {expression} FROM (SELECT ? AS x) WHERE regexp_full_match(x, ?)", params=[value, kind.pattern]
    )
    return str(row.fetchall()[0][0])


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        ("March 5, 2024", "date with the name of a month", "2024-03-05"),
        ("Sept. 21st, 2024", "date with the name of a month", "2024-09-21"),
        ("5 May 1999", "date with the name of a month", "1999-05-05"),
        ("05-Dec-2024", "date with the name of a month", "2024-12-05"),
        ("16/JAN/2024", "date with the name of a month", "2024-01-16"),
        ("2nd August, 2024", "date with the name of a month", "2024-08-02"),
        ("April 2, 2024 9:00 AM", "dateTime with the name of a month", "2024-04-02T09:00:00"),
        ("12 Oct 2024, 21:30:15", "dateTime with the name of a month", "2024-10-12T21:30:15"),
        ("2024/2/11", "date Y/M/D", "2024-02-11"),
        ("2024/12/01 09:30", "dateTime Y/M/D", "2024-12-01T09:30:00"),
        ("2024-03-01 10:00:00 +0100", "dateTime", "2024-03-01T10:00:00+01:00"),
        ("2024-03-01T10:00:00-05:30", "dateTime", "2024-03-01T10:00:00-05:30"),
        ("2024-03-01 10:00:00.5 UTC", "dateTime", "2024-03-01T10:00:00.5Z"),
        ("2024-03-01 10:00:00", "dateTime", "2024-03-01T10:00:00"),
        ("2024-03-01 10:30", "dateTime", "2024-03-01T10:30:00"),
        ("2024-03-01T10:30Z", "dateTime", "2024-03-01T10:30:00Z"),
        ("2024-03-01 10:30 +0100", "dateTime", "2024-03-01T10:30:00+01:00"),
        ("31.1.2024 4:05 pm", "dateTime D.M.Y", "2024-01-31T16:05:00"),
        ("31/1/2024 14:30", "dateTime D/M/Y", "2024-01-31T14:30:00"),
        ("1/31/2024 12:05am", "dateTime M/D/Y", "2024-01-31T00:05:00"),
    ],
)
def test_a_date_has_one_form_however_it_is_written(value: str, name: str, text: str) -> None:
    kind, doubt = type_of([value], ",")
    assert (kind.name, doubt) == (name, "")
    assert canonical(kind, value) == text
    assert BY_NAME[name] is kind  # a plan can name it


@pytest.mark.parametrize(
    ("real", "unreal"),
    [
        ("2024/2/29", ["2024/2/30", "2024/02/31", "2024/4/31"]),
        ("30.4.2024", ["31.4.2024", "30.02.2024"]),
        ("31/12/2024", ["31/11/2024", "30/2/2024"]),
        ("12/31/2024", ["11/31/2024", "02/30/2024"]),
        ("2024/10/30", ["2024/10/32"]),
        ("February 29, 2024", ["February 30, 2024", "Feb. 31, 2024", "June 31st, 2024"]),
        ("31 May 2024", ["31 April 2024", "30th feb 2024", "31-Sep-2024"]),
        ("2024-02-29", ["2024-02-30", "2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2024-01-00"]),
        ("29.2.2000", ["29.2.1900", "29.2.2023"]),
        ("31-12-2024", ["31-11-2024", "29-02-2023"]),
        ("2024-2-29", ["2023-2-29", "2024-4-31"]),
        ("Feb 29, 2024", ["Feb 29, 2023"]),
    ],
)
def test_a_day_that_no_month_has_is_no_date(real: str, unreal: list[str]) -> None:
    assert type_of([real], ",")[0].datatype == "date"
    assert not any(type_of([value], ",")[0].datatype for value in unreal)


@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        (
            ["2023-02-28", "2023-02-30"],
            "not all of its days are in the calendar, such as 2023-02-30, so they stay texts",
        ),
        (["31.4.2024"], "not all of its days are in the calendar, such as 31.4.2024, so they stay texts"),
        (
            ["5 May 2024", "31 June 2024"],
            "not all of its days are in the calendar, such as 31 June 2024, so they stay texts",
        ),
        (
            ["2024-01-02 10:30", "2024-02-30 10:30"],
            "not all of its days are in the calendar, such as 2024-02-30 10:30, so they stay texts",
        ),
        (["2024-01-02", "25/12/2023"], "its dates are written in several ways, so they stay texts"),
        (["13-05-2024", "05-13-2024"], "its dates are written in several ways, so they stay texts"),
        (["05-06-2024"], "its dates may be D/M/Y or M/D/Y, so they stay texts"),
        (
            ["2024/03/01 9:15:22 am GMT+1"],
            "not all of its times have a known form, such as 2024/03/01 9:15:22 am GMT+1, so its dates stay texts",
        ),
    ],
)
def test_days_that_are_no_dates_are_said(values: list[str], doubt: str) -> None:
    assert type_of(values, ",") == (BY_NAME["text"], doubt)


def test_numbers_of_cases_that_are_no_days_are_codes() -> None:
    assert type_of(["2023-14-3", "2023-15-3", "2023-1-1"], ",") == (BY_NAME["code"], "")


@pytest.mark.parametrize(
    "values",
    [
        ("ja", "nein"),
        ("Oui", "Non"),
        ("sí", "no"),
        ("sim", "não"),
        ("ja", "nee"),
        ("ja", "nej"),
        ("vrai", "faux"),
        ("да", "нет"),
    ],
)
def test_yes_and_no_of_other_languages_are_truth_values(values: tuple[str, str]) -> None:
    kind, _ = type_of(values, ",")
    assert kind is BY_NAME["yes or no"]
    assert [canonical(kind, value) for value in values] == ["true", "false"]
    assert type_of(values[:1], ",")[0] is not kind, "where there is no other, it may be a name"


@pytest.mark.parametrize("value", ["10.1000/al.19", "10.48550/arXiv.2101.00001"])
def test_a_doi_is_a_code(value: str) -> None:
    assert type_of([value, "10.1234/x-5"], ",")[0] is BY_NAME["code"]


@pytest.mark.parametrize(("value", "name"), [("13-05-2024", "date D/M/Y"), ("05-13-2024", "date M/D/Y")])
def test_hyphens_stand_between_the_parts_of_a_day_as_slashes_do(value: str, name: str) -> None:
    kind, _ = type_of([value], ",")
    assert (kind.name, canonical(kind, value)) == (name, "2024-05-13")


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (["34 years", "1 year"], "number in years"),
        (["1 year", "1 year"], "number in year"),
        (["1 hour", "2.5 hours"], "number in hours"),
        (["1 lb", "2 lbs"], "number in lbs"),
        (["3 m", "1 ms"], "quantity"),
        (["1 year", "2 days"], "quantity"),
    ],
)
def test_singular_and_plural_of_a_unit_are_one_unit(values: list[str], name: str) -> None:
    kind, _ = type_of(values, ",")
    assert kind.name == name
    if kind.unit:
        assert [canonical(kind, value) for value in values] == [value.split()[0] for value in values]
        assert type_by_name(name) is kind


@pytest.mark.parametrize("value", ["May", "May 2024", "March 5", "32 May 2024", "5 Maybe 2024", "Plan 5 May 2024"])
def test_a_month_or_a_sentence_is_no_date(value: str) -> None:
    assert not type_of([value], ",")[0].datatype


def test_the_order_of_a_dated_time_must_be_plain() -> None:
    assert type_of(["3/5/2024 9:00", "4/5/2024 9:00"], ",") == (
        BY_NAME["text"],
        "its dates may be D/M/Y or M/D/Y, so they stay texts",
    )


@pytest.mark.parametrize("value", ["12/Jan/24 9:14 AM", "1.2.99 9:14", "12 Jan 24"])
def test_a_year_of_two_digits_is_said_beside_a_time_or_the_name_of_a_month_too(value: str) -> None:
    assert type_of([value], ",")[1] == "its years have two digits, so its dates stay texts"


@pytest.mark.parametrize("values", [["m1", "m2"], ["g 7", "g 8"], ["V1", "V2"], ["(h3)", "h4"]])
def test_a_measure_before_a_number_makes_a_code(values: list[str]) -> None:
    assert not type_of(values, ",")[0].unit


THOUSANDS = "its numbers were read as decimal comma, such as 1.250 with thousands; decimal would fit, too"
DECIMALS = "its numbers were read as decimal; decimal comma would fit, too"


@pytest.mark.parametrize(
    ("values", "separator", "name", "doubt"),
    [
        (["1.250 €", "240 €"], ",", "decimal comma in €", THOUSANDS),
        (["€ 1.250", "€ 240"], ",", "decimal comma in €", THOUSANDS),
        (["1.250 kr", "1.999 kr"], ",", "decimal comma in kr", THOUSANDS),
        (["1.250", "2.400"], ";", "decimal comma", THOUSANDS),
        (["1.250", "240"], ";", "decimal", DECIMALS),
        (["$1.250", "$240"], ",", "number in $", DECIMALS),
        (["R$ 1.250", "R$ 3.500"], ";", "decimal comma in R$", THOUSANDS),
        (["R$ 1.250", "R$ 240"], ";", "number in R$", DECIMALS),
        (["R$ 1.250", "R$ 3.500"], ",", "number in R$", DECIMALS),
        (["$1.250", "240 $"], ",", "number in $", DECIMALS),
        (["1.250 €", "2.40 €"], ",", "number in €", ""),
        (["1.250 €", "2.400,50 €"], ",", "decimal comma in €", ""),
        (["0.250 €", "240 €"], ",", "number in €", ""),
        (["1.250 €", "2,5 €"], ",", "decimal comma in €", ""),
        (["1.250 kg", "240 kg"], ",", "number in kg", ""),
        (["1.250", "240"], ",", "decimal", ""),
        (["250 €", "240 €"], ",", "number in €", ""),
    ],
)
def test_dots_between_thousands_are_told_from_decimals(
    values: list[str], separator: str, name: str, doubt: str
) -> None:
    kind, said = type_of(values, separator)
    assert (kind.name, said) == (name, doubt)


def test_dots_between_thousands_are_left_out() -> None:
    assert canonical(type_of(["1.250 €"], ",")[0], "1.250 €") == "1250"


@pytest.mark.parametrize(
    ("words", "values", "name"),
    [
        ("start date", ["20240131", "19991201"], "date YYYYMMDD"),
        ("date", ["20240131"], "date YYYYMMDD"),
        ("start", ["20240131"], "integer"),
        ("date of start", ["20240131"], "integer"),
        ("date", ["20240131", "20241301"], "integer"),
        ("date", ["20240131", "20240100"], "integer"),
        ("date", ["20240131", "20231131"], "integer"),
        ("date", ["2024"], "integer"),
    ],
)
def test_eight_digits_are_a_day_under_a_heading_of_dates(words: str, values: list[str], name: str) -> None:
    kind = type_by_heading(type_of(values, ",")[0], words.split(), values)
    assert kind is BY_NAME[name]
    if kind.datatype == "date":
        assert canonical(kind, values[0]) == "2024-01-31"


NARROW = "\u202f"
BRACKETS = "its numbers in brackets were read as negative, such as (1)"


@pytest.mark.parametrize(
    ("values", "separator", "name", "doubt"),
    [
        ([], ",", "text", ""),
        # A type that all values have goes before one that nearly all have.
        (["1"] * 19 + ["1.5"], ",", "decimal", ""),
        (["1"] * 19 + ["x"], ",", "integer", ""),
        (["1"] * 18 + ["x"], ",", "mixed", ""),
        (["true"] * 19 + ["x"], ",", "boolean", ""),
        # A yes and a no.
        (["yes", "no"], ",", "yes or no", ""),
        (["y", "N"], ",", "yes or no", ""),
        (["no", "no"], ",", "text", ""),
        (["yes", "yes"], ",", "text", ""),
        (["yes", "no", "maybe"], ",", "names", ""),
        (["yes"] * 10 + ["no"] * 9 + ["maybe"], ",", "yes or no", ""),
        (["1:05", "1:06"], ",", "time", ""),
        (["x@y.org"] * 19 + ["none"], ",", "address", ""),
        (["x@y.org"] * 18 + ["none"], ",", "names", ""),
        # Long texts describe.
        (["x" * 100, "y" * 100], ",", "names", ""),
        (["x" * 101, "y" * 100], ",", "text", ""),
        # Numbers among words.
        (["1", "a"], ",", "mixed", ""),
        (["1", "a", "b"], ",", "names", ""),
        (["1 x yz"] * 9 + ["none"], ",", "quantity", ""),
        (["1st of all the long names there"] * 9 + ["none"], ",", "quantity", ""),
        (["1st of all the long names there"] * 8 + ["none"], ",", "names", ""),
        # Commas, and groups of digits.
        (["1,5", "2,25"], ",", "decimal comma", ""),
        (
            ["1,250", "240"],
            ",",
            "grouped number",
            "its numbers were read as grouped number; decimal comma would fit, too",
        ),
        (
            ["1,250", "240"],
            ";",
            "decimal comma",
            "its numbers were read as decimal comma; grouped number would fit, too",
        ),
        (["1,250,300", "240"], ",", "grouped number", ""),
        (["1 250", "240"], ",", "grouped number", ""),
        (["1.5"] * 19 + ["[x"], ",", "decimal", ""),
        (["1.5"] * 19 + ["x]"], ",", "decimal", ""),
        ([f"1{NARROW}250", "240"], ",", "grouped number", ""),
        (["1.250.300", "2.400.100"], ",", "decimal comma", ""),
        (["1.250.300"] * 19 + ["x"], ",", "decimal comma", ""),
        (["1,250,300"] * 19 + ["x"], ",", "grouped number", ""),
        (["1,250,300"] * 18 + ["x"], ",", "quantity", ""),
        (["1,5"] * 19 + ["x"], ",", "decimal comma", ""),
        (["123 456 789", "987 654 321"], ",", "phone number", ""),  # or the codes of companies
        (["123 456 789", "1 000"], ",", "grouped number", ""),
        (["(1)", "2"], ",", "grouped number", BRACKETS),
        (["(1)", "2", "(3)"], ",", "grouped number", BRACKETS),
        (["(1)", "(2)"], ",", "names", ""),
        # Units.
        (["7 kg", "8 kg"], ",", "number in kg", ""),
        (["7 kg", "8 g"], ",", "quantity", "its numbers have several units (g, kg), so they stay texts"),
        (["7 kg"] * 19 + ["x"], ",", "number in kg", ""),
        (["7 kg"] * 19 + ["8 g"], ",", "number in kg", ""),
        (["7 kg"] * 18 + ["8 g"], ",", "quantity", "its numbers have several units (g, kg), so they stay texts"),
        (["7 km²", "8 km²"], ",", "number in km²", ""),
        (["7 km/h", "8 km/h"], ",", "number in km/h", ""),
        (["($7)", "$8"], ",", "number in $", "its numbers in brackets were read as negative, such as (7)"),
        (["$7 kg", "$8 kg"], ",", "quantity", ""),
        (["1,5 kg", "2,25 kg"], ",", "decimal comma in kg", ""),
        # Days and months.
        (["13/1/2024", "1/2/2024"], ",", "date D/M/Y", ""),
        (["1/13/2024", "1/2/2024"], ",", "date M/D/Y", ""),
        (["13/1/2024"] * 19 + ["x"], ",", "date D/M/Y", ""),
        (["1/13/2024"] * 19 + ["x"], ",", "date M/D/Y", ""),
        (["1.2.99"] * 19 + ["x"], ",", "text", "its years have two digits, so its dates stay texts"),
    ],
)
def test_the_type_is_that_of_nearly_all_values(values: list[str], separator: str, name: str, doubt: str) -> None:
    kind, said = type_of(values, separator)
    assert (kind.name, said) == (name, doubt)


def test_of_two_units_five_are_named_at_most() -> None:
    units = ("kg", "g", "mg", "lb", "oz", "km")
    assert type_of([f"7 {unit}" for unit in units], ",")[1] == (
        "its numbers have several units (g, kg, km, lb, mg), so they stay texts"
    )


@pytest.mark.parametrize(
    ("words", "values", "name"),
    [
        ("is active", ["0", "1"], "0 or 1"),
        ("is", ["0", "1"], "0 or 1"),
        ("active flag", ["0", "1.0"], "0 or 1"),
        ("survived", ["0", "1", "1"], "0 or 1"),
        ("newly sold", ["0", "1"], "0 or 1"),
        ("broken", ["0", "1"], "0 or 1"),
        ("survived", ["1", "1"], "integer"),
        ("survived", ["0", "1", "2"], "integer"),
        ("units sold", ["0", "1"], "integer"),
        ("won", ["0", "1"], "integer"),
        ("speed", ["0", "1"], "integer"),
        ("red", ["0", "1"], "integer"),
        ("flag of it", ["0", "1"], "integer"),
        ("it is", ["0", "1"], "integer"),
        ("", ["0", "1"], "integer"),
        ("is active", ["0", "2"], "integer"),
        ("is active", ["yes", "no"], "yes or no"),
        ("size", ["0", "1"], "integer"),
        ("duration", ["3:45", "4:10"], "text"),
        ("lap no", ["3:45", "4:10"], "text"),
        ("start", ["3:45", "4:10"], "time"),
        ("duration", ["345", "410"], "integer"),
        ("phone", ["1 250", "2 400"], "text"),
        ("phone", ["1,5", "2,5"], "text"),
        ("size", ["1 250", "2 400"], "grouped number"),
        ("phone", ["1250", "2400"], "integer"),
        ("country", ["NO", "SI"], "names"),
        ("open", ["NO", "SI"], "yes or no"),
    ],
)
def test_a_heading_decides_where_the_values_leave_it_open(words: str, values: list[str], name: str) -> None:
    assert type_by_heading(type_of(values, ",")[0], words.split(), values).name == name


def test_a_plan_names_a_type_with_its_unit() -> None:
    for name in ("number in kg", "decimal comma in kg", "integer", "text"):
        kind = type_by_name(name)
        assert kind is not None
        assert kind.name == name
    assert [type_by_name(name) for name in ("number", "number in ", "integer in kg", "shape")] == [None] * 4


def test_numbers_are_known_as_such() -> None:
    numbers = ("integer", "decimal", "double", "decimal comma", "grouped number", "number in kg")
    others = ("date", "time", "0 or 1", "text", "code")
    assert all(kind.numeric for name in numbers if (kind := type_by_name(name)))
    assert not any(kind.numeric for name in others if (kind := type_by_name(name)))


def test_values_of_facts_have_their_datatype_one_by_one() -> None:
    assert [number_datatype(text) for text in ("7", "7.0", "7e3", "2020-01-02", "True", "07", "x")] == [
        *("xsd:integer", "xsd:decimal", "xsd:double", "xsd:date", "xsd:boolean", None, None)
    ]


def test_words_of_a_missing_value_are_the_usual_or_the_given() -> None:
    assert [is_missing(text, None) for text in ("NULL", "n/a", "na", "x")] == [True, True, False, False]
    assert [is_missing(text, ["x"]) for text in ("NULL", "X")] == [False, True]
