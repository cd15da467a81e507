"""Replies about an answer: their JSON schema, and the content of a reply of any form."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.text import clean, fold
from srtk_framework.values import CERTAINTIES, shortened

_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_MARKS = " \t\r\n.\"'`*"

_MOST_MISSING = 200  # Characters; small models may go on for as long as they may
_MOST_NUMBER = 1e15  # Below 2 ** 53, so that a whole number is exact as a float

_MOST_STARTS = 50  # Most braces tried as the start of a JSON object; a degenerate reply may consist of braces


@attrs.frozen
class AnswerReply:
    """A parsed reply about an answer.

    Attributes:
        enough: Whether the facts suffice.
        answers: Names, as the reply writes them.
        numbers: Numbers of the facts that support the answer, sorted, without duplicates.
        beyond: How many of the numbers belong to no fact.
        number: The number that the question asks for, where the reply gives it as such.
        truth: The answer to a yes/no question, where the reply gives it as such.
        certainty: A word of ``CERTAINTIES``, if the reply has any.
        missing: Missing knowledge, if the reply names it.
    """

    enough: bool
    answers: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    beyond: int = 0
    number: float | None = None
    truth: bool | None = None
    certainty: str | None = None
    missing: str = ""


def answer_schema(count: int, names: Sequence[str] = (), certainty: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a reply, for generators that can enforce it.

    Lists have a maximum length, since small models continue a list for as long as they may. There may be two
    answers for each of ``count`` facts. Without names, any text may be an answer.
    """
    number = {"type": "integer", "minimum": 1, "maximum": count}
    answer = {"type": "string", "enum": list(names)} if names else {"type": "string"}
    fields = {
        "enough": {"type": "boolean"},
        "answer": {"type": "array", "items": answer, "maxItems": 2 * count},
        "triples": {"type": "array", "items": number, "maxItems": count},
    }
    if certainty:
        fields["certainty"] = {"type": "string", "enum": list(CERTAINTIES)}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def parse_answer(text: str, count: int, known: Mapping[str, Any], named: bool = False) -> AnswerReply | None:
    """Parse a reply about an answer.

    Accepts the JSON object that the prompt asks for, alone, in prose or in a code fence, and a reply that is nothing
    but a name from the facts. Never searches words for a refusal: `Norway` is an answer.

    A name is found among the ``known`` names, folded; with ``named``, no other answer is accepted. The result is
    None for a reply that is ambiguous or of another form.
    """
    text = text.rpartition("</think>")[2].strip()
    found = [value for value in _objects(text) if isinstance(value.get("enough"), bool)]
    if found:
        # A repeated object is accepted; objects that differ are ambiguous.
        reply = _answer_reply(found[0], count) if all(value == found[0] for value in found) else None
        foreign = named and reply is not None and any(fold(answer) not in known for answer in reply.answers)
        return None if foreign else reply
    bare = text.strip(_MARKS)
    return AnswerReply(True, (bare,)) if fold(bare) in known else None


def _answer_reply(value: Mapping[str, Any], count: int) -> AnswerReply | None:
    if not value["enough"]:
        missing = value.get("missing")
        return AnswerReply(False, missing=shortened(clean(missing), _MOST_MISSING) if isinstance(missing, str) else "")
    number, truth = _number(value.get("number")), value.get("truth")
    truth = truth if isinstance(truth, bool) else None
    answers = _answers(value, number, truth)
    if not answers:
        return None
    cited = {item for item in _list(value.get("triples")) if isinstance(item, int) and not isinstance(item, bool)}
    valid = {place for place in cited if 1 <= place <= count}
    certainty = value.get("certainty")
    return AnswerReply(
        True,
        answers,
        tuple(sorted(valid)),
        len(cited - valid),
        number,
        truth,
        certainty if isinstance(certainty, str) and certainty in CERTAINTIES else None,
    )


def _answers(value: Mapping[str, Any], number: float | None, truth: bool | None) -> tuple[str, ...]:
    """Return the answers in words; a number or truth is one where the reply has no other."""
    given = _list(value.get("answer", value.get("answers")))
    answers = dict.fromkeys(str(item).strip() for item in given if isinstance(item, str | int | float))
    found = tuple(answer for answer in answers if answer)
    if found:
        return found
    if truth is not None:
        return ("Yes" if truth else "No",)
    return () if number is None else (f"{number:g}",)


def _number(value: Any) -> float | None:
    """Return a number; JSON of Python has infinities, and integers that no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _MOST_NUMBER:
        return None
    return None if math.isnan(value) else float(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text: those in its code fences, or all if it has no fence."""
    decoder = json.JSONDecoder()
    starts = _MOST_STARTS
    for part in _FENCE.findall(text) or [text]:
        at = part.find("{")
        while at >= 0 and starts:
            starts -= 1
            try:
                value, end = decoder.raw_decode(part, at)
            except (ValueError, RecursionError):  # a reply may be any text
                end = at + 1
            else:
                yield value
            at = part.find("{", end)
