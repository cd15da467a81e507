"""Whether an answer is exactly the gold answer; the rule by which every reader is judged.

An answer is a mapping with ``entities`` (ids or names), ``number``, ``value`` (with ``unit``) or ``yes``; a refusal is
None. A gold answer of None is right only where it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

Answer = Mapping[str, Any] | None

_LITERAL = re.compile(r'"(.*)"(?:\^\^\S+|@[\w-]+)?', re.DOTALL)
_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_UNITS = {"sq km": "km²", "square kilometres": "km²", "km2": "km²", "m2": "m²", "€": "EUR"}


def is_exact(answer: Answer, gold: Answer) -> bool:
    """Return whether the answer is the gold answer: the same set, number, value or yes."""
    if gold is None or answer is None:
        return gold is None and answer is None
    if "yes" in gold:
        return answer.get("yes") is gold["yes"]
    if "number" in gold:
        found = _number(answer.get("number", answer.get("value")))
        return found is not None and abs(found - gold["number"]) < 1e-6 and _units_fit(answer, gold)
    # On a table a text may be a node or a literal, so a set of one and a value are alike.
    return bool(_texts(gold)) and _texts(answer) == _texts(gold) and _units_fit(answer, gold)


def _number(value: Any) -> float | None:
    """Read a number, also of a literal; no number is None, and true is none."""
    if value is None or isinstance(value, bool):
        return None
    try:
        return float(_plain(value))
    except ValueError:
        return None


def _texts(answer: Mapping[str, Any]) -> frozenset[str]:
    held = answer["entities"] if "entities" in answer else [answer["value"]] if "value" in answer else []
    return frozenset(_normal(one) for one in held)


def _plain(value: Any) -> str:
    """Return the text of a literal without its quotes and type."""
    text = str(value).strip()
    literal = _LITERAL.fullmatch(text)
    return literal[1] if literal else text


def _normal(value: Any) -> str:
    """Write dates as year-month-day and leave a time without seconds of zero; other text as it is."""
    text = _plain(value)
    day = _DATE.fullmatch(text)
    if day:
        try:
            return date(int(day[3]), int(day[2]), int(day[1])).isoformat()
        except ValueError:
            return text
    text = text.removesuffix("T00:00:00")
    return text[:5] if re.fullmatch(r"\d\d:\d\d:00", text) else text


def _units_fit(answer: Mapping[str, Any], gold: Mapping[str, Any]) -> bool:
    """A unit that is given must be the gold one; none given is none wrong."""
    ours, theirs = answer.get("unit"), gold.get("unit")
    return ours is None or theirs is None or _UNITS.get(ours, ours) == _UNITS.get(theirs, theirs)
