"""What the values of a column are: numbers, dates, truth values, quantities, codes, texts or names of things.

A type is found from the whole column, never cell by cell: each pattern here is valid for Python and for DuckDB alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

import attrs

USUAL = ("null", "nan", "none", "n/a", "#n/a", "<na>", "nat", r"\n")
"""Words of a missing value, in small letters; ``na`` is none of them, since it is Namibia and sodium."""

SPELLINGS = ("NULL", "null", "NaN", "nan", "NAN", "None", "none", "NONE", "N/A", "n/a", "#N/A", "<NA>", "NaT", r"\N")
"""How programs write them; ``Nan`` and ``Null`` are names of persons."""

NEARLY = 0.95
"""Share of the values that must fit a type; the others are kept as texts, and counted."""
_LONG = 100
"""Mean length from which texts are descriptions, not names."""

_ASKS = ("is", "has", "was", "are", "can", "does", "should")
"""First words of a heading that asks for yes or no."""
_SPANS = frozenset(
    (
        *("duration", "length", "runtime", "playtime", "elapsed", "lap", "laps", "pace", "split", "dauer", "duree"),
        *("score", "result", "ratio", "verse", "odds"),
    )
)
"""Words of headings under which two numbers with a colon are no time of day."""

WHOLE = r"[+-]?(0|[1-9][0-9]*)"
"""A whole number; one that begins with a needless zero is a code."""
_DAY = r"(0?[1-9]|[12][0-9]|3[01])"
_MONTH = r"(0?[1-9]|1[0-2])"
_TIME = r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?"
ISO_DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
"""A day as 2001-02-03."""


@attrs.frozen
class ColumnType:
    """A type of values.

    Attributes:
        name: Its name in a plan.
        pattern: Regular expression of a value.
        datatype: Datatype of its literals in XSD; empty for plain texts.
        canonical: SQL expression of the canonical text; ``{}`` is the column.
        numeric: Whether values are numbers.
    """

    name: str
    pattern: str
    datatype: str = ""
    canonical: str = "{}"
    numeric: bool = False


_SHORT = r"regexp_replace(regexp_replace(ltrim({}, '+'), '(\.[0-9]*[1-9])0+$', '\1'), '\.0+$', '')"
_DMY = (
    "printf('%s-%02d-%02d', split_part({0}, '{1}', 3), "
    "split_part({0}, '{1}', {2})::INT, split_part({0}, '{1}', {3})::INT)"
)

BOOLEAN = ColumnType("boolean", r"(?i)true|false", "boolean", "lower({})")
INTEGER = ColumnType(
    "integer", rf"{WHOLE}(\.0+)?", "integer", r"regexp_replace(ltrim({}, '+'), '\.0+$', '')", numeric=True
)
DECIMAL = ColumnType("decimal", rf"{WHOLE}(\.[0-9]+)?", "decimal", _SHORT, numeric=True)
DOUBLE = ColumnType("double", rf"{WHOLE}(\.[0-9]+)?([eE][+-]?[0-9]+)?", "double", "ltrim({}, '+')", numeric=True)
COMMA = ColumnType(
    "decimal comma",
    r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]+)?",
    "decimal",
    _SHORT.replace("{}", "replace(replace({}, '.', ''), ',', '.')"),
    numeric=True,
)
GROUPED = ColumnType(
    "grouped number",
    r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(,[0-9]{3})+)(\.[0-9]+)?",
    "decimal",
    _SHORT.replace("{}", "replace({}, ',', '')"),
    numeric=True,
)
DATE = ColumnType("date", rf"{ISO_DAY}([ T]00:00(:00(\.0+)?)?)?", "date", "left({}, 10)")
DATE_TIME = ColumnType(
    "dateTime", rf"{ISO_DAY}[ T]{_TIME}(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?", "dateTime", "replace({}, ' ', 'T')"
)
DOTTED = ColumnType("date D.M.Y", rf"{_DAY}\.{_MONTH}\.[0-9]{{4}}", "date", _DMY.format("{0}", ".", 2, 1))
DAY_FIRST = ColumnType("date D/M/Y", rf"{_DAY}/{_MONTH}/[0-9]{{4}}", "date", _DMY.format("{0}", "/", 2, 1))
MONTH_FIRST = ColumnType("date M/D/Y", rf"{_MONTH}/{_DAY}/[0-9]{{4}}", "date", _DMY.format("{0}", "/", 1, 2))
_HOUR = (
    "CASE WHEN regexp_matches({0}, '(?i)pm$') THEN split_part({0}, ':', 1)::INT % 12 + 12 "
    "WHEN regexp_matches({0}, '(?i)am$') THEN split_part({0}, ':', 1)::INT % 12 ELSE split_part({0}, ':', 1)::INT END"
)
_MINUTES = "regexp_replace(substr({0}, strpos({0}, ':') + 1), '(?i) ?[ap]m$', '')"
TIME = ColumnType(
    "time",
    rf"{_TIME}( ?(?i:[ap]m))?",
    "time",
    f"printf('%02d:%s%s', {_HOUR}, {_MINUTES}, CASE WHEN contains({_MINUTES}, ':') THEN '' ELSE ':00' END)",
)
YES_NO = ColumnType(
    "yes or no", r"(?i)yes|no|y|n", "boolean", "CASE WHEN lower({0}) IN ('yes', 'y') THEN 'true' ELSE 'false' END"
)
ZERO_ONE = ColumnType(
    "0 or 1", r"[01](\.0+)?", "boolean", "CASE WHEN starts_with({0}, '1') THEN 'true' ELSE 'false' END"
)
ADDRESS = ColumnType("address", r"(?i)(https?|ftp|mailto|file)://?\S+|[^@\s]+@[^@\s]+\.[a-z]{2,}|\#\S*\.html?\#?")
PHONE = ColumnType("phone number", r"[+(]*[0-9][0-9 ()./+-]{4,}[0-9]")
CODE = ColumnType(
    "code",
    r"[A-Z0-9_./-]*[0-9][A-Z0-9_./-]*|0x[0-9a-f]+|[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-f]{32,}",
)
QUANTITY = ColumnType(
    "quantity",
    r"[<>~≈±+-]?\s?[€$£¥]?\s?[0-9]+([.,:/' -]?[0-9]+)*\s?[^\s0-9][^0-9]{0,12}|[€$£¥]\s?[0-9.,]+|-?[0-9.,]+ ?%",
)
TEXT = ColumnType("text", r"(?s).*")
MIXED = ColumnType("mixed", r"(?s).*")
NAMES = ColumnType("names", r"(?s).*")

_EXACT = (BOOLEAN, INTEGER, DECIMAL, DOUBLE, DATE, DATE_TIME, DOTTED)
_LITERAL = (TIME, YES_NO, ADDRESS, CODE, PHONE, QUANTITY)

BY_NAME = {
    kind.name: kind
    for kind in (*_EXACT, COMMA, GROUPED, DAY_FIRST, MONTH_FIRST, ZERO_ONE, *_LITERAL, TEXT, MIXED, NAMES)
}
"""All types, by their names in a plan."""


@attrs.frozen
class Found:
    """The type of a column.

    Attributes:
        type: The type.
        doubt: Why another type would be possible; empty if none is.
    """

    type: ColumnType
    doubt: str = ""


def type_of(values: Sequence[str], separator: str) -> Found:
    """Find the type of values, none of which is missing.

    Args:
        values: The values; repeated ones count as often as they occur.
        separator: Separator of the file's columns, which decides what a comma in a number is.
    """
    if not values:
        return Found(TEXT)
    if (exact := _first(values, _EXACT, 1.0)) is not None:
        return Found(exact)
    if (found := _with_comma(values, separator) or _slashed(values)) is not None:
        return found
    if len(values) >= 20 and (nearly := _first(values, _EXACT, NEARLY)) is not None:
        return Found(nearly)
    if (literal := _first(values, _LITERAL, NEARLY)) is not None:
        return Found(literal if literal is not YES_NO or _has_both(values) else TEXT)
    if sum(map(len, values)) / len(values) > _LONG:
        return Found(TEXT)
    numbers = share(values, DOUBLE)
    if numbers >= 0.5:
        return Found(MIXED)
    if _share_of_digits(values) >= 0.9:
        return Found(QUANTITY)
    return Found(NAMES)


def type_by_heading(kind: ColumnType, words: Sequence[str], values: Collection[str]) -> ColumnType:
    """Return the type of a column whose heading says more than its values do.

    Zeros and ones are truth values under ``is_active``, and ``3:45`` is no time of day under ``duration``.

    Args:
        kind: The type by the values.
        words: The words of the heading, in small letters.
        values: The values.
    """
    if kind is INTEGER and words and (words[0] in _ASKS or words[-1] == "flag") and share(list(values), ZERO_ONE) == 1:
        return ZERO_ONE
    return TEXT if kind is TIME and not _SPANS.isdisjoint(words) else kind


def share(values: Sequence[str], kind: ColumnType) -> float:
    """Return the share of the values that fit a type."""
    fits = re.compile(kind.pattern).fullmatch
    return sum(fits(value) is not None for value in values) / len(values)


def _first(values: Sequence[str], kinds: Iterable[ColumnType], least: float) -> ColumnType | None:
    return next((kind for kind in kinds if share(values, kind) >= least), None)


def _has_both(values: Sequence[str]) -> bool:
    """Return whether some values say yes and others no; ``NO`` alone may be Norway."""
    return len({value[:1].lower() for value in values} & {"y", "n"}) == 2


def _share_of_digits(values: Sequence[str]) -> float:
    return sum(value[:1].isdigit() for value in values) / len(values)


def _with_comma(values: Sequence[str], separator: str) -> Found | None:
    """Return the type of numbers with commas: decimal commas or groups of thousands."""
    commas = [value for value in values if "," in value]
    if not commas:
        return None
    decimal, grouped = share(values, COMMA) >= NEARLY, share(values, GROUPED) >= NEARLY
    if decimal and grouped:
        chosen = COMMA if separator == ";" else GROUPED
        other = GROUPED if chosen is COMMA else COMMA
        return Found(chosen, f"its numbers were read as {chosen.name}; {other.name} would fit, too")
    return Found(COMMA) if decimal else Found(GROUPED) if grouped else None


def _slashed(values: Sequence[str]) -> Found | None:
    """Return the type of dates with slashes, whose order a day above 12 decides."""
    day, month = share(values, DAY_FIRST) >= NEARLY, share(values, MONTH_FIRST) >= NEARLY
    if day and month:
        return Found(TEXT, "its dates may be D/M/Y or M/D/Y, so they stay texts")
    return Found(DAY_FIRST) if day else Found(MONTH_FIRST) if month else None


def is_missing(value: str, words: Sequence[str] | None) -> bool:
    """Return whether a value is a word for a missing value."""
    return value.casefold() in (USUAL if words is None else words)
