"""The forms of plain texts that are numbers, dates and truth values, with their datatypes."""

from __future__ import annotations

import re

# A number that begins with a needless zero is a code.
NUMBERS = (
    (r"[+-]?(0|[1-9][0-9]*)", "integer", "{}"),
    (r"[+-]?(0|[1-9][0-9]*)\.[0-9]+", "decimal", "{}"),
    (r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][+-]?[0-9]+", "double", "{}"),
    (r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "date", "{}"),
    (r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T[0-9:.]{5,}(Z|[+-][0-9]{2}:[0-9]{2})?", "dateTime", "{}"),
    (r"(?i)true|false", "boolean", "lower({})"),
)
"""Regular expression, local name of the XML Schema datatype, and SQL expression of the lexical form."""

_FORMS = [(re.compile(form), kind) for form, kind, _ in NUMBERS]


def number_datatype(text: str) -> str | None:
    """Return the datatype of a number, a date or a truth value, such as ``xsd:integer``; None for any other text."""
    return next((f"xsd:{kind}" for form, kind in _FORMS if form.fullmatch(text)), None)
