"""Answers in words: one line that ends in the answer, and what it rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping

from srtk_framework.values import Answer, Literal, Subgraph

NAMED = 10
"""Names that the note below an answer has; the others are counted."""
_LONG_NUMBER = re.compile(r"-?\d{5,}(?:\.\d+)?")
_NUMERIC = re.compile(r"(?:integer|int|long|short|decimal|double|float)>?$", re.IGNORECASE)
_NOT_SUFFICIENT = "the triples do not suffice"
_NOT_WHOLE = "not all was read, so there may be more"


def answer_line(answer: Answer) -> str:
    """Write an answer as one line that ends in its text; empty for a refusal.

    "Perhaps" stands before an unsure answer, "at least" before a count that a limit stopped.
    """
    if not answer.enough:
        return ""
    least = "at least " if answer.complete is False and _is_count(answer) else ""
    return f"{'Perhaps ' if answer.certainty == 'unsure' else ''}{least}{answer.text}"


def refusal_line(answer: Answer) -> str:
    """Write why a reader refuses to answer."""
    return answer.missing.strip() or _NOT_SUFFICIENT


def answer_notes(answer: Answer, subgraph: Subgraph, labels: Mapping[str, str], most: int | None = NAMED) -> list[str]:
    """Write what stands below an answer: what was counted, the values that decided, and whether anything is unread.

    Args:
        answer: The answer.
        subgraph: The subgraph to which its support refers.
        labels: Labels of ids, where they differ from the id.
        most: Most names of a note; None for all.
    """
    if not answer.enough:
        return []
    members = _members(answer, subgraph, labels)
    notes = []
    if members:
        head = "" if answer.number is None or not answer.unit else f"{answer.unit}: "
        notes.append(head + _listed(members, most))
    if answer.complete is False and not _is_count(answer):
        notes.append(_NOT_WHOLE)
    return notes


def _is_count(answer: Answer) -> bool:
    return answer.number is not None and answer.operation == "count"


def _members(answer: Answer, subgraph: Subgraph, labels: Mapping[str, str]) -> list[str]:
    """Return the names of what was counted or compared, each with the values that the support has of it."""
    values: dict[str, dict[str, None]] = {}
    for place in answer.support:
        triple = subgraph.triples[place]
        if isinstance(triple.object, Literal):
            text = f"{labels.get(triple.relation, triple.relation)} {value_text(triple.object)}"
            values.setdefault(triple.subject, {})[text] = None
    own = [entity for entity in answer.entities if not isinstance(entity, Literal)]
    asked = answer.truth is not None or answer.number is not None
    if not own:
        named = dict.fromkeys(values if asked else ())
    elif answer.number is not None:
        named = dict.fromkeys(own)
    else:
        # What was compared with the answer stands after it.
        named = dict.fromkeys([*own, *values] if any(one in values for one in own) else ())
    return [labels.get(id_, id_) + (f" ({', '.join(values[id_])})" if id_ in values else "") for id_ in named]


def value_text(value: Literal) -> str:
    """Return the text of a value; a long number with commas between its thousands."""
    text = value.lexical
    if not _LONG_NUMBER.fullmatch(text) or not _NUMERIC.search(value.datatype or ""):
        return text
    whole, dot, fraction = text.partition(".")
    return f"{int(whole):,}{dot}{fraction}"


def _listed(names: list[str], most: int | None) -> str:
    if most is None or len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
