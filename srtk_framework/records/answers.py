"""Answers in records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srtk_framework.records import record_fields as fields
from srtk_framework.values import CERTAINTIES, Alternative, Answer, InputError, Triple


def record_from_answer(answer: Answer | None) -> dict[str, Any] | None:
    """Convert an answer to an object, without its trace, which is part of the record's trace.

    Fields that a reader leaves open are left out.
    """
    if answer is None:
        return None
    said = {
        "operation": answer.operation or None,
        "number": _number(answer.number),
        "unit": answer.unit or None,
        "truth": answer.truth,
        "complete": answer.complete,
        "certainty": answer.certainty,
        "missing": answer.missing or None,
        "alternatives": [_alternative_record(one) for one in answer.alternatives] or None,
    }
    return {
        "text": answer.text,
        "entities": list(answer.entities),
        "support": list(answer.support),
        "enough": answer.enough,
        **{name: value for name, value in said.items() if value is not None},
    }


def _number(value: float | None) -> float | None:
    """Write a whole number without a fraction."""
    return int(value) if value is not None and value == int(value) else value


def _alternative_record(one: Alternative) -> dict[str, Any]:
    return {"text": one.text, "entities": list(one.entities), **({"path": one.path} if one.path >= 0 else {})}


def answer_from_record(
    value: Any, where: str, field: str, written: Sequence[Triple] = (), kept: Sequence[Triple] = ()
) -> Answer | None:
    """Read an answer in the format of this framework or of other programs.

    The own format is an object with ``text``, ``entities``, ``support`` and ``enough``, and further fields of a reader
    (``record_from_answer``). A string is the answer's text; a list holds its entities, which also make up its text.

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
        operation=fields.string(value.get("operation") or "", where, f"{field}.operation"),
        number=_optional(value, "number", _is_number, "a number", where, field),
        unit=fields.string(value.get("unit") or "", where, f"{field}.unit"),
        truth=_optional(value, "truth", _is_truth, "true or false", where, field),
        complete=_optional(value, "complete", _is_truth, "true or false", where, field),
        certainty=_optional(value, "certainty", CERTAINTIES.__contains__, ", ".join(CERTAINTIES), where, field),
        missing=fields.string(value.get("missing") or "", where, f"{field}.missing"),
        alternatives=tuple(fields.items(value.get("alternatives") or [], where, f"{field}.alternatives", _alternative)),
    ).moved(written, kept)


def _optional(
    value: Mapping[str, Any], name: str, fits: Callable[[Any], bool], form: str, where: str, field: str
) -> Any:
    """Read a field that may be missing or null; raises InputError if it has another form."""
    found = value.get(name)
    if found is None:
        return None
    if isinstance(found, list | dict) or not fits(found):
        raise fields.wrong(where, f"{field}.{name}", form, found)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _alternative(value: Any, where: str, field: str) -> Alternative:
    if not isinstance(value, Mapping):
        raise fields.wrong(where, field, "an object with 'text' and 'entities'", value)
    path = value.get("path", -1)
    return Alternative(
        text=fields.string(value.get("text") or "", where, f"{field}.text"),
        entities=tuple(fields.items(value.get("entities") or [], where, f"{field}.entities", fields.term)),
        path=-1 if path == -1 else fields.index(path, where, f"{field}.path"),
    )
