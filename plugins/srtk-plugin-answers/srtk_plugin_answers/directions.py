"""Which of two linked things a question for yes or no has as the subject of a relation: *is X the parent of Y*."""

from __future__ import annotations

import re

from srtk_framework.text import fold
from srtk_plugin_answers.question_classes import is_of_agent, name_of, stems_of, word_set

_IS = r"^(?:is|are|was|were)"
_PHRASE = r"(?P<noun>[^\W\d_]+(?: [^\W\d_]+)?)"
_NOUN = re.compile(rf"{_IS} (?:the )?¤ (?:the |an? )?{_PHRASE} (?:of|to|in|for) ")
_OWN = re.compile(rf"{_IS} ¤ ¤ ?['’]s {_PHRASE}$")
_PASSIVE = re.compile(rf"{_IS} ¤ (?P<verb>[^\W\d_]+) by ")
_ACTIVE = re.compile(r"^(?:do|does|did|has|have|had) ¤ (?P<verb>[^\W\d_]+) ")
_AGENT = ("er", "or", "ing")  # a director directs it, and who stars in it is starring
BOTH_WAYS = word_set(
    """
    adjacent ally border bordering borders brother colleague connected connects cousin friend married marry meet met
    neighbor neighbour opponent partner related rival sibling similar sister spouse twin wife husband
    """
)
"""Words of relations that are said of both things alike."""


def is_first_subject(text: str, label: str) -> bool | None:
    """Return whether the first of the two mentions of a question in English is the subject of a relation.

    Args:
        text: The question with ``MENTION`` in the place of its two links' mentions.
        label: Name of the relation: of *is X the parent of Y* the first thing is the subject of *parent of*, and the
            second one of *parent*.

    Returns:
        None where the words do not tell it, or the relation goes both ways.
    """
    plain, name = " ".join(fold(text).strip(" ?.!").split()), name_of(label)
    if plain.count("¤") != 2 or BOTH_WAYS & {*name.split()}:
        return None
    if found := _NOUN.match(plain) or _OWN.match(plain):
        return True if name == f"{found['noun']} of" else False if name == found["noun"] else None
    passive, active = _PASSIVE.match(plain), _ACTIVE.match(plain)
    found = passive or active
    if found is None or not stems_of(found["verb"]) & stems_of(name):
        return None
    return is_agent(name) == (passive is not None)


def is_agent(name: str) -> bool:
    """Return whether a relation's name is of who does something to its subject: *director*, *directed by*."""
    return is_of_agent(name) or (" " not in name and name.endswith(_AGENT))
