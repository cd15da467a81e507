"""The forms of plain texts that are numbers, dates and truth values, with their datatypes."""

from __future__ import annotations

import re

from srtk_plugin_local.snapshot.column_types import BOOLEAN, ISO_DAY, WHOLE

# Unlike the types of a column, these are found value by value, so a value keeps its form: 1.0 stays a decimal.
NUMBERS = (
    (WHOLE, "integer", "{}"),
    (rf"{WHOLE}\.[0-9]+", "decimal", "{}"),
    (rf"{WHOLE}(\.[0-9]+)?[eE][+-]?[0-9]+", "double", "{}"),
    (ISO_DAY, "date", "{}"),
    (rf"{ISO_DAY}T[0-9:.]{{5,}}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?", "dateTime", "{}"),
    (BOOLEAN.pattern, BOOLEAN.datatype, BOOLEAN.canonical),
)
"""Regular expression, local name of the XML Schema datatype, and SQL expression of the lexical form."""

_FORMS = [(re.compile(form), kind) for form, kind, _ in NUMBERS]


def number_datatype(text: str) -> str | None:
    """Return the datatype of a number, a date or a truth value, such as ``xsd:integer``; None for any other text."""
    return next((f"xsd:{kind}" for form, kind in _FORMS if form.fullmatch(text)), None)
