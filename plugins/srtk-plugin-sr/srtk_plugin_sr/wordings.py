"""Wordings of a path: a question made of the labels of its relations.

A step becomes a noun phrase ("the capital of Riga's country"), a genitive ("Riga's country"), a clause ("whose capital
is Riga") or a few words ("country Riga"), below changing question words. People do not repeat a whole label in its
order: words are left out, and "place of birth" is turned to "birth place".
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from srtk_plugin_sr.templates import readable

DROPPED = 0.15
"""Probability with which a word of a label with several words is left out."""
TURNED = 0.2
"""Probability with which the two sides of an "of" in a label change places."""

FORWARD = (
    "the {r} of {x}",
    "{x}'s {r}",
    "{r} of {x}",
    "{x} {r}",
    "the {r} that {x} has",
    "what {x} has as {r}",
    "the {r} for {x}",
    "{r} for {x}",
    "the {r} in which {x} is",
    "whatever is the {r} of {x}",
)
BACKWARD = (
    "what has {x} as {r}",
    "the one whose {r} is {x}",
    "the ones with the {r} {x}",
    "those that have {x} as {r}",
    "{r} {x}",
    "what {x} is the {r} of",
    "everything with {x} as its {r}",
    "that of which {x} is the {r}",
    "the one with {r} {x}",
)
OPENINGS = (
    "what is {x}",
    "who is {x}",
    "which is {x}",
    "where is {x}",
    "when is {x}",
    "what are {x}",
    "who are {x}",
    "name {x}",
    "list {x}",
    "tell me {x}",
    "give me {x}",
    "do you know {x}",
    "how is {x} called",
    "in what is {x}",
    "{x}",
    "{x} is what",
)
_MARK = "\0"


def in_words(name: str, steps: Sequence[tuple[str, bool]], chance: random.Random) -> tuple[str, tuple[int, int]]:
    """Put a path into words.

    Args:
        name: Name of its entity.
        steps: Label of each relation, and whether the step goes against it.
        chance: Draws the wording.

    Returns:
        The question, and where the name stands in it.
    """
    phrase = _MARK
    for label, inverse in steps:
        form = chance.choice(BACKWARD if inverse else FORWARD)
        phrase = form.format(r=_some_words(label, chance), x=phrase)
    text = chance.choice(OPENINGS).format(x=phrase) + chance.choice(("?", "", " ?"))
    start = text.index(_MARK)
    return text.replace(_MARK, name), (start, start + len(name))


def spoken(label: str) -> str:
    """Return a relation's label without the prefix of its namespace, split into words."""
    return readable(label.rpartition(":")[2] or label)


def _some_words(label: str, chance: random.Random) -> str:
    """Return a label in small letters, now and then turned or without a word."""
    words = label.lower().split()
    if "of" in words[1:-1] and chance.random() < TURNED:
        at = words.index("of", 1)
        words = words[at + 1 :] + words[:at]
    if len(words) > 1:
        words = [word for word in words if chance.random() >= DROPPED] or words
    return " ".join(words)
