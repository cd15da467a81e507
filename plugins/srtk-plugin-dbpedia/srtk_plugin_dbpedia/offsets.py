"""Conversion of offsets in UTF-16 units to character spans."""

from __future__ import annotations

import unicodedata


def span(text: str, offset: int, surface: str) -> tuple[int, int] | None:
    """Return the character span of a mention without surrounding space, or None if the text does not contain it.

    The offset counts UTF-16 units, as on a JVM; it is read as characters if those fit better.
    """
    words = surface.strip()
    if not words:
        return None
    units = offset + _units(surface[: len(surface) - len(surface.lstrip())])
    starts = [_character(text, units), units]
    for start in starts:
        for end in _ends(text, start, words):
            return start, end
    found = [start for start in range(len(text)) if _ends(text, start, words)]
    if not found:
        return None
    nearest = min(found, key=lambda start: (abs(start - starts[0]), start))
    return nearest, _ends(text, nearest, words)[0]


def _ends(text: str, start: int, words: str) -> list[int]:
    """Return the possible ends of the words that start here; canonically equivalent forms are equal."""
    if text.startswith(words, start):
        return [start + len(words)]
    if words.isascii():
        return []
    wanted = unicodedata.normalize("NFC", words)
    first = unicodedata.normalize("NFD", words)[0]
    if unicodedata.normalize("NFD", text[start : start + 1])[:1] != first:
        return []
    stop = min(len(text), start + len(unicodedata.normalize("NFD", words)))
    return [end for end in range(stop, start, -1) if unicodedata.normalize("NFC", text[start:end]) == wanted]


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _character(text: str, units: int) -> int:
    """Return the character at an offset in UTF-16 units."""
    if text.isascii():
        return units
    passed = 0
    for place, character in enumerate(text):
        if passed >= units:
            return place
        passed += 2 if character > "\uffff" else 1
    return len(text)
