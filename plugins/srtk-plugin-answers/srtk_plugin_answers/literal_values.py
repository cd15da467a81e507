"""Numbers and dates of literals, so that they can be compared."""

from __future__ import annotations

import math
import re

from srtk_framework.values import Literal

_DATE = re.compile(
    r"^(?P<sign>-?)\+?0*(?P<year>\d{1,6})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?(?:T.*|Z|[+-]\d\d:\d\d)?$"
)
_MEASURED = re.compile(
    r"^(?P<sign>[+-]?)(?P<currency>[$€£¥]?) ?(?P<number>\d{1,3}(?:[ ,.']\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)"
    r" ?(?P<unit>(?:[^\W\d_]|[%°$€£¥/²³])[^\s\d]{0,11})?$"
)
"""A number with a unit: 54 cm, 13.5 %, €10.00."""
_PLAIN_DATE = re.compile(r"^\d{4}-\d\d-\d\d$")
_TIME = re.compile(r"^(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?")
_CLOCK = re.compile(r"^\d\d:\d\d:\d\d$")
_CODE = re.compile(r"^[A-Z]{0,3}[-/ ]?\d+$")
_YEAR = re.compile(r"^(?:1\d|20)\d\d$")
# A number without a datatype within these is taken for a year.
_YEARS = (1000, 2100)
_YES, _NO = frozenset(["yes", "true", "ja", "oui", "sí"]), frozenset(["no", "false", "nein", "non"])
_DATES = ("date", "dateTime", "gYear", "gYearMonth")


def is_date(literal: str) -> bool:
    """Return whether a literal is typed as a date or a year, or it or a node's name can be nothing else."""
    if not isinstance(literal, Literal):
        return bool(_PLAIN_DATE.match(literal))
    if literal.language is not None:
        return False
    if literal.datatype is None:
        return bool(_PLAIN_DATE.match(literal.lexical))
    return literal.datatype.rpartition(":")[2].rpartition("#")[2] in _DATES


def is_time(literal: str) -> bool:
    """Return whether a literal is typed as a time of day, or a node is called as one: 16:45:00."""
    if not isinstance(literal, Literal):
        return bool(_CLOCK.match(literal))
    return (literal.datatype or "").endswith((":time", "#time")) and ":" in literal.lexical


def is_year(value: float) -> bool:
    """Return whether a number without a datatype may be a year."""
    return value == int(value) and _YEARS[0] <= value < _YEARS[1]


def fits(end: str, wanted: str) -> bool:
    """Return whether the end of a path is of a kind (``ValueKind``): a date, a number, or a name.

    A node that is called as a year or a time fits as a date and as a name alike.
    """
    if not isinstance(end, Literal):
        is_when = value_of(end) is not None or is_time(end)
        return truth_of(end) is None if wanted == "name" else wanted == "date" and is_when
    value = value_of(end)
    if wanted == "name":
        return value is None and truth_of(end) is None
    if value is None:
        return False
    return is_date(end) or is_time(end) or is_year(value) if wanted == "date" else not (is_date(end) or is_time(end))


_MISSING = {"?", "??", "-", "--", "–", "n/a", "na", "none", "nil", "missing", "unknown", "notknown", "notyet"}
_MISSING |= {"notavailable", "tba", "tbc", "tbd", "k.a.", "k.a", "keineangabe", "unbekannt"}
"""Texts, without spaces, that stand for a value that is not known."""


def is_missing(text: str) -> bool:
    """Return whether a text stands for a value that is not known, such as *n/a*, *k. A.* or *?*.

    Sodium's symbol and Namibia's code are values: a table has lost its NA when it was read.
    """
    text = text.lexical if isinstance(text, Literal) else text
    return text not in ("Na", "NA") and "".join(text.casefold().split()) in _MISSING


def is_code(name: str) -> bool:
    """Return whether a node's name is a code: *L-12*, of the table loans *loans:L-12*."""
    return bool(_CODE.match(name.rpartition(":")[2]))


def truth_of(end: str) -> bool | None:
    """Return the truth that a value such as *yes* stands for; None for any other value."""
    text = (end.lexical if isinstance(end, Literal) else end).casefold()
    return True if text in _YES else False if text in _NO else None


def unit_of(literal: str) -> str:
    """Return the unit that a text has after or before its number; none of a typed value."""
    found = _MEASURED.match(literal.lexical) if isinstance(literal, Literal) and literal.datatype is None else None
    return (found["unit"] or found["currency"]) if found else ""


def value_of(literal: str) -> float | None:
    """Return the number of a literal, or of its date as a year with a fraction; None for any other literal or id.

    A literal without a datatype counts if all of it is a number, or a number with a unit; a node if it is called as a
    year or a date.
    """
    if not isinstance(literal, Literal):
        is_when = _YEAR.match(literal) or is_date(literal)
        return value_of(Literal.make(literal)) if is_when else None
    if literal.language is not None:
        return None
    if is_date(literal):
        found = _DATE.match(literal.lexical)
        if found is None:
            return None
        value = int(found["year"]) + (int(found["month"] or 1) - 1) / 12 + (int(found["day"] or 1) - 1) / 372
        return -value if found["sign"] else value
    if is_time(literal) and (found := _TIME.match(literal.lexical)):
        return int(found[1]) + int(found[2]) / 60 + float(found[3] or 0) / 3600
    try:
        number = float(literal.lexical)
    except ValueError:
        return None if literal.datatype is not None else _measured(literal.lexical)
    return number if math.isfinite(number) else None


def _measured(text: str) -> float | None:
    found = _MEASURED.match(text)
    if found is None or not (found["unit"] or found["currency"]):
        return None
    digits = re.sub(r"[ ,.'](?=\d{3}(?!\d))", "", found["number"]).replace(",", ".")
    return float(f"{found['sign']}{digits}")
