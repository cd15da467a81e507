"""Answers: their form in records, and asking a reader about subgraphs that have none yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.records import record_fields as fields
from srtk_framework.values import Answer, InputError, Triple


def record_from_answer(answer: Answer | None) -> dict[str, Any] | None:
    """Write an answer as an object; its trace stands in that of the record."""
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
    """Read an answer: an object with ``text``, ``entities``, ``support``, ``enough``, or what other programs write.

    A text is taken for the answer's words, a list for its entities, which are then its words too.

    Args:
        value: The JSON value.
        where: Its place, for messages.
        field: Its field.
        written: The triples in the order of the record, which ``support`` counts.
        kept: The triples in the order in which they are read.

    Raises:
        InputError: If it is none of these, or its support names no triple.
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
