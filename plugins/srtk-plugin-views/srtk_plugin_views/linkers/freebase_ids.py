"""Freebase ids in their written forms, and the number that the mid and the guid of an entity share."""

from __future__ import annotations

import re

# The 32 digits of a machine id in ascending order; without vowels, so that ids are not words.
DIGITS = "0123456789bcdfghjklmnpqrstvwxyz_"

# A machine id: ``m`` ids start with 0, ``g`` ids with 1.
MID = rf"(?P<kind>[mg])[./](?P<digits>(?:(?<=m[./])0(?=[{DIGITS[1:]}])|(?<=g[./])1)[{DIGITS}]{{1,12}})"

_START = r"(?:<?https?://rdf\.freebase\.com/ns/|ns:|fb:|freebase:|/)?"
# Prefix of every guid; the last 15 hexadecimal digits are the number.
_GUID = "9202a8c04000641f8"

_MID = re.compile(rf"{_START}{MID}>?")
_LONG = re.compile(rf"{_START}(?:guid[./])?#?{_GUID}(?P<number>[0-9a-f]{{15}})>?", re.IGNORECASE)
_PLAIN = str.maketrans(DIGITS, "0123456789abcdefghijklmnopqrstuv")
# Flag of ``g`` ids, whose numbers are separate.
_G_BIT = 1 << 62


def number(text: str) -> int | None:
    """Return the number of a Freebase id in any form, or None for other texts.

    ``/m/02mjmr``, ``m.02mjmr``, ``ns:m.02mjmr``, the IRI and ``#9202a8c04000641f800000000029c277`` are one id.
    """
    long = _LONG.fullmatch(text)
    if long:
        return int(long["number"], 16)
    found = _MID.fullmatch(text)
    return value(found["kind"], found["digits"]) if found else None


def value(kind: str, digits: str) -> int:
    """Return the number of a machine id from its kind and digits."""
    plain = int(digits.translate(_PLAIN), 32)
    return plain | _G_BIT if kind == "g" else plain


def written(number: int, form: str) -> str:
    """Return the id of a number: ``slash`` is ``/m/02mjmr``, ``dot`` is ``m.02mjmr``, ``guid`` is ``#9202...``.

    A ``g`` id has no guid and is written with slashes instead.
    """
    kind = "g" if number & _G_BIT else "m"
    if form == "guid" and kind == "m":
        return f"#{_GUID}{number:015x}"
    left, digits = number & ~_G_BIT, ""
    while left:
        left, digit = divmod(left, 32)
        digits = DIGITS[digit] + digits
    mark = "." if form == "dot" else "/"
    return f"{'' if form == 'dot' else '/'}{kind}{mark}{'0' if kind == 'm' else ''}{digits}"
