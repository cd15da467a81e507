"""Sentences of a text, found by punctuation."""

from __future__ import annotations

import re

from srtk_framework.text.mentions import Span, trimmed

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）]*|\n\s*\n|\Z")
_NEXT = re.compile(r"\s*[\"'“‘„«(\[¿¡]*(\w?)")
_WORD = re.compile(r"(\w[\w.'’-]*)\.$")
# Abbreviations, without their last full stop, that names and numbers follow.
_SHORT = frozenset(
    word
    for line in (
        "mr mrs ms dr prof st mt ft no nos vs jr sr rev hon gen col capt lt sgt gov sen rep pres inc ltd co corp",
        "e.g i.e z.b d.h dept univ ca cf vol fig ed eds pp jan feb mar apr jun jul aug sep sept oct nov dec nr bzw",
    )
    for word in line.split()
)


def sentences(text: str) -> list[Span]:
    """Return the (start, end) spans of the sentences of a text, without the blanks between them.

    A sentence ends at an empty line, an ideographic full stop, or a full stop, question or exclamation mark before a
    blank. It goes on before a small letter, and after an initial or a common abbreviation.
    """
    found = []
    start = 0
    for match in _END.finditer(text):
        mark, end = match[0], match.end()
        if mark.startswith(".") and not mark.startswith(("..", "...")) and not _ends(text, start, match.start(), end):
            continue
        span = trimmed(text, start, end)
        if span[0] < span[1]:
            found.append(span)
        start = end
    return found


def _ends(text: str, start: int, stop: int, end: int) -> bool:
    """Return whether a full stop ends a sentence."""
    after = _NEXT.match(text, end)
    if after is not None and after[1].islower():
        return False
    word = _WORD.search(text[start : stop + 1])
    if word is None or end > stop + 1:
        return True
    return not (word[1].lower() in _SHORT or (len(word[1]) == 1 and word[1].isupper()) or _is_initials(word[1]))


def _is_initials(word: str) -> bool:
    """Return whether a word is of single letters with full stops between, which names follow: J.R.R."""
    return len(word) > 1 and all(len(letter) == 1 and letter.isupper() for letter in word.split("."))
