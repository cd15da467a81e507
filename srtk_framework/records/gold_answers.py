"""Gold answers in the fields of public question sets: CWQ, GrailQA, Mintaka, QALD, RoG, WebQSP and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from srtk_framework.values import Question

FIELDS = (
    "a_entity",
    "answer_entity",
    "answerEntity",
    "answerEntities",
    "answer_ids",
    "gold_answers",
    "ground_truth",
    "answers",
    "Answers",
    "Parses",
    "answer",
)
"""Fields with gold answers, in the order in which they are looked at; ``answer_entities`` goes before all of them."""

TOPICS = "q_entity"
"""Field of public sets with the topic entities, which ``question_entities`` goes before."""

OF_RESULTS = ("triplets", "triples", "scored_triples", "trace", "paths", "prediction")
"""Fields by which a record is a result: its ``answer`` is the answer of a method, not the gold."""

_IDS = ("answer_id", "answer_argument", "AnswerArgument", "kb_id", "entity_id", "id", "uri", "entity", "name")
_VALUES = ("value", "answer", "text", "label")
_LOOKS = ("answer", "gold", "target", "ground_truth")


def gold_answers(record: Mapping[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    """Find the gold answers of a record that has no ``answer_entities``.

    Answers are texts, numbers or truth values, objects with an id or a value, or results of SPARQL as in QALD. Ids are
    ``answer_id`` of CWQ, ``answer_argument`` of GrailQA, ``AnswerArgument`` of WebQSP and ``name`` of Mintaka. Of
    several parses of WebQSP, the first with answers counts.

    Returns:
        The field and its answers, each once; None if there is no such field, or it has none of these forms.
    """
    for field in FIELDS:
        if field not in record or (field == "answer" and any(name in record for name in OF_RESULTS)):
            continue
        found = _parses(record[field]) if field == "Parses" else _answers(record[field])
        if found and _fits(found, record.get("options")):
            return field, tuple(dict.fromkeys(found))
    return None


def field_of_gold(question: Question) -> str | None:
    """Return the field of a public set from which a question has its answers; None for ``answer_entities``."""
    found = None if question.answers is None else gold_answers(question.extra)
    return found[0] if found is not None and found[1] == question.answers else None


def has_topics_of_set(question: Question) -> bool:
    """Return whether the links of a question were read from ``q_entity``, as RoG and SubgraphRAG write it."""
    topics = question.extra.get(TOPICS)
    given = [topics] if isinstance(topics, str) else topics
    return bool(given) and [link.entity for link in question.links] == given


def unread_gold(question: Question) -> list[str]:
    """Return the fields of a question without answers whose names speak of gold."""
    if question.answers is not None:
        return []
    return [field for field in question.extra if any(part in field.casefold() for part in _LOOKS)]


def _fits(answers: Sequence[str], options: Any) -> bool:
    """Refuse a letter or a number that only points at an option."""
    return not isinstance(options, list) or not options or all(answer in options for answer in answers)


def _answers(value: Any) -> list[str] | None:
    """Read one answer or a list of them; None if one of them has no known form."""
    if isinstance(value, Mapping) and ("text" in value or "entities" in value) and "support" in value:
        return None
    if isinstance(value, Mapping) and isinstance(value.get("answer"), list):
        return _answers(value["answer"])
    found: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        some = list(_read(item))
        if not some:
            return None
        found += some
    return found


def _read(item: Any) -> Iterator[str]:
    if isinstance(item, bool):
        yield str(item).lower()
    elif isinstance(item, int | float):
        yield str(item)
    elif isinstance(item, str) and item.strip():
        yield item
    elif isinstance(item, Mapping):
        yield from _bindings(item) if "results" in item or "boolean" in item else _named(item)


def _named(item: Mapping[str, Any]) -> Iterator[str]:
    for field in (*_IDS, *_VALUES):
        value = item.get(field)
        if value is not None and not isinstance(value, Mapping | list) and value != "":
            yield from _read(value)
            return


def _bindings(item: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(item.get("boolean"), bool):
        yield from _read(item["boolean"])
        return
    results = item.get("results")
    rows = results.get("bindings") if isinstance(results, Mapping) else None
    for row in rows if isinstance(rows, list) else ():
        for cell in row.values() if isinstance(row, Mapping) else ():
            if isinstance(cell, Mapping) and isinstance(cell.get("value"), str):
                yield cell["value"]


def _parses(value: Any) -> list[str] | None:
    for parse in value if isinstance(value, list) else ():
        found = _answers(parse["Answers"]) if isinstance(parse, Mapping) and parse.get("Answers") else None
        if found:
            return found
    return None
