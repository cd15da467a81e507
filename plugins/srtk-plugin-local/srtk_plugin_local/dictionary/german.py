"""German in questions: every noun has a capital, and names are inflected (Berlins, im Weißen Haus)."""

from __future__ import annotations

from itertools import product

LANGUAGE = "de"

_ENDINGS = ("", "e", "em", "en", "er", "es")
_STEMS = ("all", "dies", "ein", "jed", "kein", "mein", "sein", "ihr", "unser", "viel", "welch")
DETERMINERS = frozenset(
    ("das", "dem", "den", "der", "des", "die", *(stem + ending for stem in _STEMS for ending in _ENDINGS))
)

# Endings of an adjective, longest first; a label has one of the last three: Zweiter Weltkrieg.
_ADJECTIVES = ("em", "en", "er", "es", "e")

# Letters that an ending must leave.
_LEAST = 3


def is_determined(before: str, is_stop: bool) -> bool:
    """Return whether a word is a determiner or an adjective in small letters: a noun after it is hardly a name.

    Args:
        before: The word, in the text's letters.
        is_stop: Whether it is a function word.
    """
    if not before.islower():
        return False
    return before in DETERMINERS or (not is_stop and before.endswith(_ADJECTIVES))


def base_forms(name: str) -> list[str]:
    """Return the folded names that a folded name may be inflected from, without itself.

    A name ends in the genitive's *s* or *es*, or a dative's *n*; the first word of several may be an adjective.
    """
    *first, last = name.split(" ")
    lasts = [
        last,
        *(last[: -len(end)] for end in ("s", "es", "n") if last.endswith(end) and len(last) - len(end) >= _LEAST),
    ]
    starts = [" ".join(first)]
    ending = next((end for end in _ADJECTIVES if first and first[0].endswith(end)), None)
    if ending and len(first[0]) - len(ending) >= _LEAST:
        starts += [" ".join([first[0][: -len(ending)] + other, *first[1:]]) for other in _ADJECTIVES[2:]]
    forms = [f"{start} {end}".strip() for start, end in product(starts, lasts)]
    return [form for form in dict.fromkeys(forms) if form != name]
