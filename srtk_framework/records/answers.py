"""Answers in records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.records import record_fields as fields
from srtk_framework.values import Answer, InputError, Triple


def record_from_answer(answer: Answer | None) -> dict[str, Any] | None:
    """Convert an answer to an object, without its trace, which is part of the record's trace."""
    if answer is None:
        return None
    return {
        "text": answer.text,
        "entities": list(answer.entities),
        "support": list(answer.support),
        "enough": answer.enough,
    }


def answer_from_record(
    value: Any, where: str, field: str, written: Sequence[Triple] = (), kept: Sequence[Triple] = ()
) -> Answer | None:
    """Read an answer in the format of this framework or of other programs.

    The own format is an object with ``text``, ``entities``, ``support`` and ``enough``. A string is the answer's text;
    a list holds its entities, which also make up its text.

    Args:
        value: The JSON value.
        where: Place of the record, ``file:line``, for messages.
        field: Field of the record, for messages.
        written: Triples in the order of the record, which ``support`` refers to.
        kept: Triples in the order of the subgraph.

    Raises:
        InputError: If the value has another form, or its support is out of range.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return Answer(text=value)
    if isinstance(value, list):
        entities = tuple(fields.items(value, where, field, fields.term))
        return Answer(text=", ".join(entities), entities=entities)
    if not isinstance(value, Mapping):
        raise fields.wrong(where, field, "null, an object with 'text' and 'entities', a text or a list of texts", value)
    support = fields.items(value.get("support") or [], where, f"{field}.support", fields.index)
    wrong = [place for place in support if not 0 <= place < len(written)]
    if wrong:
        raise InputError(f"{where}: field '{field}.support' names triple {wrong[0]}, but there are {len(written)}")
    enough = value.get("enough", True)
    if not isinstance(enough, bool):
        raise fields.wrong(where, f"{field}.enough", "true or false", enough)
    return Answer(
        text=fields.string(value.get("text") or "", where, f"{field}.text"),
        entities=tuple(fields.items(value.get("entities") or [], where, f"{field}.entities", fields.term)),
        support=tuple(support),
        enough=enough,
    ).moved(written, kept)
