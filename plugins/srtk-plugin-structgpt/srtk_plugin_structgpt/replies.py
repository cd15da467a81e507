"""Read what a language model says of some facts: enough or not, the answers, and the facts that show them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.text import fold

_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_MARKS = " \t\r\n.\"'`*"

_TRIES = 50
"""So many braces are tried for the beginning of an object: a model that has gone wrong may write nothing else."""

CORRECTION = (
    "This could not be read. Reply with nothing but a JSON object such as"
    ' {"enough": true, "answer": ["a name from the facts"], "triples": [1]},'
    ' or {"enough": false, "answer": [], "triples": []} if more facts are needed.'
)


@attrs.frozen
class Said:
    """What a reply says.

    Attributes:
        enough: Whether the facts suffice.
        answers: Names, as the reply writes them.
        numbers: Of the facts that show it, each once, sorted.
        beyond: How many numbers were named that no fact has.
    """

    enough: bool
    answers: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    beyond: int = 0


def schema(count: int, names: Sequence[str] = ()) -> dict[str, Any]:
    """Describe the reply for generators that can be held to a JSON schema.

    Lists have an end, since small models go on for as long as they may.

    Args:
        count: Number of facts; each may show two answers.
        names: What an answer must be one of; empty for any words.
    """
    number = {"type": "integer", "minimum": 1, "maximum": count}
    answer = {"type": "string", "enum": list(names)} if names else {"type": "string"}
    return {
        "type": "object",
        "properties": {
            "enough": {"type": "boolean"},
            "answer": {"type": "array", "items": answer, "maxItems": 2 * count},
            "triples": {"type": "array", "items": number, "maxItems": count},
        },
        "required": ["enough", "answer", "triples"],
        "additionalProperties": False,
    }


def said(text: str, count: int, known: Mapping[str, Any], named: bool = False) -> Said | None:
    """Read a reply.

    Understood are the JSON object that was asked for, by itself, in prose or in a code fence, and a reply that is
    nothing but a name from the facts. Words are never searched for a refusal: `Norway` is an answer.

    Args:
        text: The reply.
        count: Number of facts.
        known: Their names, folded.
        named: Whether answers in other words than these names are unclear.

    Returns:
        What it says, or None where that is not clear.
    """
    text = text.rpartition("</think>")[2].strip()
    found = [value for value in _objects(text) if isinstance(value.get("enough"), bool)]
    if found:
        # What is repeated is the same; of several that differ, none is clear.
        read = _said(found[0], count) if all(value == found[0] for value in found) else None
        foreign = named and read is not None and any(fold(answer) not in known for answer in read.answers)
        return None if foreign else read
    name = text.strip(_MARKS)
    return Said(True, (name,)) if fold(name) in known else None


def _said(value: Mapping[str, Any], count: int) -> Said | None:
    if not value["enough"]:
        return Said(False)
    given = value.get("answer", value.get("answers"))
    listed = given if isinstance(given, list) else [given]
    answers = tuple(dict.fromkeys(str(item).strip() for item in listed if isinstance(item, str | int | float)))
    answers = tuple(answer for answer in answers if answer)
    if not answers:
        return None
    numbers = {item for item in _list(value.get("triples")) if isinstance(item, int) and not isinstance(item, bool)}
    fitting = {number for number in numbers if 1 <= number <= count}
    return Said(True, answers, tuple(sorted(fitting)), len(numbers - fitting))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text: in its fences if it has some, else wherever they begin."""
    decoder = json.JSONDecoder()
    tries = _TRIES
    for part in _FENCE.findall(text) or [text]:
        at = part.find("{")
        while at >= 0 and tries:
            tries -= 1
            try:
                value, end = decoder.raw_decode(part, at)
            except (ValueError, RecursionError):  # a reply is what anybody may have made it
                end = at + 1
            else:
                yield value
            at = part.find("{", end)
