"""Typed readers of the fields of JSON Lines records.

Every reader takes a JSON value, its place (``file:line``) and its field name, and raises InputError if the value is
malformed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from srtk_framework.values import (
    NIL,
    Evidence,
    InputError,
    Join,
    Link,
    Literal,
    Path,
    Pattern,
    Qualifier,
    RankedPath,
    Search,
    Step,
    Triple,
    shortened,
)
from srtk_framework.values.origins import EVIDENCE_KINDS

T = TypeVar("T")

Read = Callable[[Any, str, str], T]


def wrong(where: str, field: str, wanted: str, value: Any) -> InputError:
    """Return the error for a field that is missing or of the wrong type."""
    if value is None:
        return InputError(f"{where}: field {field!r} is missing; it must be {wanted}")
    return InputError(f"{where}: field {field!r} must be {wanted}, not {shortened(repr(value))}")


def string(value: Any, where: str, field: str) -> str:
    """Read a string."""
    if not isinstance(value, str):
        raise wrong(where, field, "a string", value)
    return value


def term(value: Any, where: str, field: str) -> str:
    """Read an entity's id, or a literal in its quoted form."""
    text = string(value, where, field)
    return Literal(text) if len(text) > 1 and text.startswith('"') else text


def number(value: Any, where: str, field: str) -> float:
    """Read a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(where, field, "a number", value)
    try:
        return float(value)
    except OverflowError as error:
        raise wrong(where, field, "a number that a float can hold", value) from error


def index(value: Any, where: str, field: str) -> int:
    """Read an index into a list; -1 means none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < -1:
        raise wrong(where, field, "a whole number from -1", value)
    return value


def items(values: Any, where: str, field: str, read: Read[T]) -> list[T]:
    """Read a list, with ``read`` for each item."""
    if not isinstance(values, list):
        raise wrong(where, field, "a list", values)
    return [read(value, where, f"{field}[{i}]") for i, value in enumerate(values)]


def column(record: Mapping[str, Any], field: str, of: str, size: int, where: str, read: Read[T]) -> list[T] | None:
    """Read a list parallel to the ``size`` items of the field ``of``; None if the record lacks the field."""
    if record.get(field) is None:
        return None
    found = items(record[field], where, field, read)
    if len(found) != size:
        raise InputError(f"{where}: field {field!r} has {len(found)} items and {of!r} has {size}; give one for each")
    return found


def path(value: Any, where: str, field: str) -> Path:
    """Read a list of steps; inverse steps start with ``^``."""
    return tuple(Step.parse(step) for step in items(value, where, field, string))


def ranked_path(value: Any, where: str, field: str) -> RankedPath:
    """Read a path with its entity and score, or a list of relations as written by SRTK, which has neither."""
    if isinstance(value, list):
        return RankedPath("", path(value, where, field), 0.0)
    if not isinstance(value, dict):
        raise wrong(where, field, "an object with 'entity', 'steps' and 'score'", value)
    return RankedPath(
        entity=string(value.get("entity"), where, f"{field}.entity"),
        steps=path(value.get("steps"), where, f"{field}.steps"),
        score=number(value.get("score", 0.0), where, f"{field}.score"),
    )


def triple(value: Any, where: str, field: str) -> Triple:
    """Read ``[subject, relation, object]``."""
    if not isinstance(value, list) or len(value) != 3:
        raise wrong(where, field, "a list [subject, relation, object]", value)
    return scored_triple(value, where, field)[0]


def scored_triple(value: Any, where: str, field: str) -> tuple[Triple, float | None]:
    """Read a triple, with an optional score as its fourth item."""
    if not isinstance(value, list) or len(value) not in (3, 4):
        raise wrong(where, field, "a list [subject, relation, object]", value)
    score = number(value[3], where, f"{field}[3]") if len(value) == 4 else None
    subject, relation, object_ = value[0], value[1], value[2]
    return (
        Triple(
            term(subject, where, f"{field}[0]"),
            string(relation, where, f"{field}[1]"),
            term(object_, where, f"{field}[2]"),
        ),
        score,
    )


def qualifiers(value: Any, where: str, field: str) -> tuple[Qualifier, ...]:
    """Read the qualifiers of a triple, a list of ``[relation, value]``."""
    return tuple(items(value, where, field, _qualifier))


def _qualifier(value: Any, where: str, field: str) -> Qualifier:
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(where, field, "a list [relation, value]", value)
    return string(value[0], where, f"{field}[0]"), term(value[1], where, f"{field}[1]")


def join(value: Any, where: str, field: str) -> Join:
    """Read where paths meet: an object with ``paths``, a list of indices, and ``nodes``, a list of ids."""
    if not isinstance(value, dict):
        raise wrong(where, field, "an object with 'paths' and 'nodes'", value)
    return Join(
        tuple(items(value.get("paths"), where, f"{field}.paths", index)),
        tuple(items(value.get("nodes"), where, f"{field}.nodes", term)),
    )


def search(value: Any, where: str, field: str) -> Search:
    """Read a search of an index: an object with ``text`` and ``hits``, a list of pairs of an entry's id and score."""
    if not isinstance(value, dict):
        raise wrong(where, field, "an object with 'text' and 'hits'", value)
    return Search(
        string(value.get("text"), where, f"{field}.text"), tuple(items(value.get("hits"), where, f"{field}.hits", _hit))
    )


def _hit(value: Any, where: str, field: str) -> tuple[str, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(where, field, "a pair [id, score]", value)
    return string(value[0], where, field), number(value[1], where, field)


def confidence(value: Any, where: str, field: str) -> float:
    """Read a confidence between 0 and 1."""
    found = number(value, where, field)
    if not 0 <= found <= 1:
        raise wrong(where, field, "a number from 0 to 1", value)
    return found


def evidence(value: Any, where: str, field: str) -> tuple[Evidence, ...]:
    """Read the reasons for a triple, a list of objects with ``kind``, ``text``, ``score``, ``source``, ``triples``."""
    return tuple(items(value, where, field, _reason))


def _reason(value: Any, where: str, field: str) -> Evidence:
    if not isinstance(value, dict) or value.get("kind") not in EVIDENCE_KINDS:
        raise wrong(where, field, f"an object with 'kind' ({', '.join(EVIDENCE_KINDS)}) and 'text'", value)
    return Evidence(
        kind=value["kind"],
        text=string(value.get("text"), where, f"{field}.text"),
        source=string(value.get("source", ""), where, f"{field}.source"),
        score=number(value.get("score", 0.0), where, f"{field}.score"),
        triples=tuple(items(value.get("triples") or [], where, f"{field}.triples", triple)),
    )


def pattern(value: Any, where: str, field: str) -> Pattern:
    """Read ``[subject, relation, object]`` with null at the one end that is asked for."""
    if not isinstance(value, list) or len(value) != 3:
        raise wrong(where, field, "a list [subject, relation, object] with null for the open end", value)
    relation = string(value[1], where, f"{field}[1]")
    subject, object_ = (None if value[i] is None else term(value[i], where, f"{field}[{i}]") for i in (0, 2))
    if (subject is None) == (object_ is None):
        open_ = "no" if subject is not None else "two"
        raise InputError(f"{where}: field {field!r} has {open_} open ends; write null for one of subject and object")
    return Pattern(subject, relation, object_)


def candidates(value: Any, where: str, field: str) -> tuple[str, ...]:
    """Read distinct ids of entities; null is an empty list."""
    ids = items([] if value is None else value, where, field, string)
    first: dict[str, int] = {}
    for place, id_ in enumerate(ids):
        if first.setdefault(id_, place) != place:
            raise InputError(f"{where}: field {field!r} has {id_!r} at {first[id_]} and at {place}; keep one of them")
    return tuple(ids)


def labels(value: Any, where: str, field: str) -> dict[str, str]:
    """Read an object of id to label; null is an empty object."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong(where, field, "an object of id to label", value)
    return {id_: string(label, where, f"{field}.{id_}") for id_, label in value.items()}


def links(record: Mapping[str, Any], where: str) -> tuple[Link, ...]:
    """Read the links of a record: ``question_entities`` with ``spans``, ``entity_names`` and ``entity_scores``."""
    of = "question_entities"
    entities = items(record.get(of) or [], where, of, string)
    size = len(entities)
    spans = column(record, "spans", of, size, where, _span) or [(None, None)] * size
    names = column(record, "entity_names", of, size, where, _name) or [""] * size
    scores = column(record, "entity_scores", of, size, where, number) or [1.0] * size
    return tuple(
        Link(entity, score, start, end, name)
        for entity, score, (start, end), name in zip(entities, scores, spans, names, strict=True)
    )


def gold_link(value: Any, where: str, field: str) -> Link:
    """Read a gold link, an object with ``entity`` (null for NIL), ``start``, ``end``, ``name`` and ``optional``."""
    if not isinstance(value, dict):
        raise wrong(where, field, "an object with 'entity', 'start' and 'end'", value)
    entity, start, end = value.get("entity"), value.get("start"), value.get("end")
    optional = value.get("optional", False)
    if not isinstance(optional, bool):
        raise wrong(where, f"{field}.optional", "true or false", optional)
    if (start is None) != (end is None):
        raise InputError(f"{where}: field {field!r} has a start or an end alone; give both, or none")
    if start is not None and not 0 <= index(start, where, f"{field}.start") < index(end, where, f"{field}.end"):
        raise InputError(f"{where}: field {field!r} has the span [{start}, {end}]; start must be from 0 and below end")
    return Link(
        NIL if entity is None else string(entity, where, f"{field}.entity"),
        score=0.0 if optional else 1.0,
        start=start,
        end=end,
        name=_name(value.get("name"), where, f"{field}.name"),
    )


def _name(value: Any, where: str, field: str) -> str:
    return "" if value is None else string(value, where, field)


def _span(value: Any, where: str, field: str) -> tuple[int | None, int | None]:
    if value is None:
        return None, None
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(where, field, "a list [start, end]", value)
    return index(value[0], where, f"{field}[0]"), index(value[1], where, f"{field}[1]")
