"""Records of questions and retrievals: a superset of SRTK's format, and readers for other programs' formats."""

from __future__ import annotations

import itertools
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, TypeVar

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.records.answers import answer_from_record, record_from_answer
from srtk_framework.records.gold_answers import TOPICS, gold_answers
from srtk_framework.records.jsonl import base_suffix, parse_object, read_jsonl, read_lines, shown
from srtk_framework.values import (
    NIL,
    DriverError,
    Evidence,
    InputError,
    Link,
    Pattern,
    Question,
    Retrieval,
    Subgraph,
    Triple,
    confidence,
    rounded,
)

T = TypeVar("T")

_RECENT = 4096
"""Hashes of ids that are kept in a set before they are sorted."""

QUESTION_FIELDS = (
    "id",
    "question",
    "pattern",
    "candidates",
    "question_entities",
    "spans",
    "entity_names",
    "entity_scores",
    "answer_entities",
    "gold_paths",
    "gold_triples",
    "gold_links",
    "options",
)
RESULT_FIELDS = (
    "triplets",
    "scores",
    "paths",
    "triplet_paths",
    "provenance",
    "qualifiers",
    "confidences",
    "evidence",
    "joins",
    "expected_recall",
    "searches",
    "labels",
    "answer",
    "trace",
    "error",
)
# Keys of the field ``journal`` by which a line of a run's journal is checked; such a field is not the question's.
_MARK = {"number", "run", "checksum"}
_TRIPLE_FIELDS = ("triplets", "triples", "scored_triples", "graph")
_ALIASES = {"q_entity": "question_entities", "a_entity": "answer_entities"}


def question_from_record(record: Mapping[str, Any], where: str, default_id: str | None = None) -> Question:
    """Read a question record; unknown fields are kept in ``extra``.

    Without ``answer_entities``, the gold answers are read from the fields of public sets (``gold_answers``); without
    ``question_entities``, the topics from ``q_entity``.

    Args:
        record: A JSON object.
        where: Place of the record, ``file:line``, for messages.
        default_id: Id of a record that has none.

    Raises:
        InputError: If a field is missing or of the wrong type.
    """
    written = record.get("pattern")
    pattern = fields.pattern(written, where, "pattern") if isinstance(written, list) else None
    text = record.get("question", None if pattern is None else str(pattern))
    if not isinstance(text, str):
        raise fields.wrong(where, "question", "a string", text)
    answers = record.get("answer_entities")
    if answers is None and pattern is None and (found := gold_answers(record)) is not None:
        answers = list(found[1])
    if record.get("question_entities") is None and (topics := record.get(TOPICS)) is not None:
        record = {**record, "question_entities": [topics] if isinstance(topics, str) else topics}
    paths, triples, gold = record.get("gold_paths"), record.get("gold_triples"), record.get("gold_links")
    return Question(
        id=_id(record, where, default_id),
        text=text,
        links=fields.links(record, where),
        answers=None if answers is None else tuple(fields.items(answers, where, "answer_entities", fields.term)),
        gold_paths=None if paths is None else tuple(fields.items(paths, where, "gold_paths", fields.path)),
        gold_triples=None if triples is None else tuple(fields.items(triples, where, "gold_triples", fields.triple)),
        options=tuple(fields.items(record.get("options") or [], where, "options", fields.string)),
        extra={f: v for f, v in record.items() if f not in _own_fields(pattern) and not _is_mark(f, v)},
        gold_links=None if gold is None else tuple(fields.items(gold, where, "gold_links", fields.gold_link)),
        pattern=pattern,
        candidates=() if pattern is None else fields.candidates(record.get("candidates"), where, "candidates"),
    )


def _own_fields(pattern: Pattern | None) -> set[str]:
    """Return the fields of a question; ``pattern`` is one if it is a list, else it and its candidates are another's."""
    return {*QUESTION_FIELDS} if pattern is not None else {*QUESTION_FIELDS} - {"pattern", "candidates"}


def _is_mark(field: str, value: Any) -> bool:
    return field == "journal" and isinstance(value, Mapping) and value.keys() == _MARK


def record_from_question(question: Question) -> dict[str, Any]:
    """Convert a question to a record, with ``extra`` last; unknown values are omitted."""
    paths, triples, gold = question.gold_paths, question.gold_triples, question.gold_links
    record = {
        "id": question.id,
        "question": question.text,
        "pattern": None if question.pattern is None else list(question.pattern),
        "candidates": list(question.candidates) or None,
        **_link_columns(question.links),
        "answer_entities": None if question.answers is None else list(question.answers),
        "gold_paths": None if paths is None else [[str(step) for step in path] for path in paths],
        "gold_triples": None if triples is None else [list(triple) for triple in triples],
        "gold_links": None if gold is None else [_gold_link(link) for link in gold],
        "options": list(question.options) or None,
    }
    foreign = {*question.extra} - _own_fields(question.pattern) - {*RESULT_FIELDS}
    kept = {field: value for field, value in question.extra.items() if field in foreign}
    return {**{field: value for field, value in record.items() if value is not None}, **kept}


def _link_columns(links: Sequence[Link]) -> dict[str, list[Any] | None]:
    """Convert links to parallel lists; None for a list without values."""
    spans = [None if link.start is None or link.end is None else [link.start, link.end] for link in links]
    return {
        "question_entities": [link.entity for link in links],
        "spans": spans if any(spans) else None,
        "entity_names": [link.name for link in links] if any(link.name for link in links) else None,
        "entity_scores": [rounded(link.score) for link in links] if any(link.score != 1 for link in links) else None,
    }


def _gold_link(link: Link) -> dict[str, Any]:
    """Convert a gold link to an object; the entity NIL becomes null, score 0 becomes ``optional``."""
    written: dict[str, Any] = {"entity": None if link.entity == NIL else link.entity}
    if link.start is not None and link.end is not None:
        written.update(start=link.start, end=link.end)
    if link.name:
        written["name"] = link.name
    if link.score == 0:
        written["optional"] = True
    return written


def record_from_retrieval(retrieval: Retrieval) -> dict[str, Any]:
    """Convert a retrieval to a record: the question's fields, then the result's, then ``extra``.

    ``triplets``, ``scores``, ``triplet_paths``, ``provenance`` and ``qualifiers`` are parallel; so are ``confidences``
    and ``evidence``, which are there only if the graph lacks some of the triples. ``joins`` is there if paths from
    several topics meet, ``expected_recall`` if the search gives it, ``searches`` if an index was searched.

    Raises:
        DriverError: If a field of the subgraph is not parallel to its triples.
    """
    subgraph = retrieval.subgraph
    known = record_from_question(retrieval.question)
    own = _own_fields(retrieval.question.pattern)
    extra = {field: known.pop(field) for field in list(known) if field not in own}
    path_of: tuple[int, ...] = _aligned(subgraph, "path_of", subgraph.path_of, -1)
    record: dict[str, Any] = {
        **known,
        "triplets": [list(triple) for triple in subgraph.triples],
        "scores": [rounded(score) for score in _aligned(subgraph, "scores", subgraph.scores, 0.0)],
        "paths": [
            {"entity": path.entity, "steps": [str(step) for step in path.steps], "score": rounded(path.score)}
            for path in subgraph.paths
        ],
        "triplet_paths": list(path_of),
        "provenance": list(_aligned(subgraph, "provenance", subgraph.provenance, "")),
        "qualifiers": [[list(q) for q in row] for row in _aligned(subgraph, "qualifiers", subgraph.qualifiers, ())],
        **_completed(subgraph),
        **_joined(subgraph),
        **_searched(subgraph),
        "labels": dict(sorted(retrieval.labels.items())),
        "answer": record_from_answer(retrieval.answer),
        "trace": dict(subgraph.trace),
    }
    if retrieval.error is not None:
        record["error"] = retrieval.error
    return {**record, **extra}


def _completed(subgraph: Subgraph) -> dict[str, Any]:
    """Return the fields of a subgraph with completed triples; none for another."""
    confidences = _aligned(subgraph, "confidences", subgraph.confidences, 1.0)
    if all(confidence >= 1 for confidence in confidences):
        return {}
    evidence = _aligned(subgraph, "evidence", subgraph.evidence, ())
    return {
        "confidences": [one if one >= 1 else confidence(one) for one in confidences],
        "evidence": [[_reason(reason) for reason in row] for row in evidence],
    }


def _joined(subgraph: Subgraph) -> dict[str, Any]:
    """Return the fields on meeting topics and the expected recall, as far as they are known."""
    joins = [{"paths": list(join.paths), "nodes": list(join.nodes)} for join in subgraph.joins]
    recall = subgraph.expected_recall
    return {**({"joins": joins} if joins else {}), **({} if recall is None else {"expected_recall": rounded(recall)})}


def _searched(subgraph: Subgraph) -> dict[str, Any]:
    """Return the searches of an index; none for another method."""
    searches = [{"text": one.text, "hits": [[id_, rounded(s)] for id_, s in one.hits]} for one in subgraph.searches]
    return {"searches": searches} if searches else {}


def _reason(evidence: Evidence) -> dict[str, Any]:
    """Convert one reason to an object; an unknown source and an empty list of triples are omitted."""
    written: dict[str, Any] = {"kind": evidence.kind, "text": evidence.text, "score": rounded(evidence.score)}
    if evidence.source:
        written["source"] = evidence.source
    if evidence.triples:
        written["triples"] = [list(triple) for triple in evidence.triples]
    return written


def _aligned(subgraph: Subgraph, name: str, values: tuple[T, ...], missing: T) -> tuple[T, ...]:
    if not values:
        return (missing,) * len(subgraph.triples)
    if len(values) != len(subgraph.triples):
        raise DriverError(
            f"the subgraph has {len(subgraph.triples)} triples and {len(values)} {name}; give one for each"
        )
    return values


def retrieval_from_record(record: Mapping[str, Any], where: str, default_id: str | None = None) -> Retrieval:
    """Read a result record of this framework or another program.

    The other formats are SRTK (``triplets`` or ``triples`` only), RoG and SubgraphRAG (``q_entity``, ``a_entity``,
    ``graph``, ``scored_triples``, ``prediction``; triples with a score as their fourth item are sorted by it).
    Missing values default to score 0, path -1 and empty provenance. Duplicate triples are dropped.

    Raises:
        InputError: If a field is of the wrong type or not parallel to the triples.
    """
    renamed = {_ALIASES.get(f, f): v for f, v in record.items() if _ALIASES.get(f, "") not in record}
    for field in _ALIASES.values():
        if isinstance(renamed.get(field), str):
            renamed[field] = [renamed[field]]
    own = not any(field in record for field in ("a_entity", "prediction"))
    if not own and renamed.get("answer_entities") is None and (gold := gold_answers({"answer": record.get("answer")})):
        renamed["answer_entities"] = list(gold[1])
    answer_field = "answer" if own else "prediction"
    field = next((f for f in _TRIPLE_FIELDS if isinstance(record.get(f), list)), "triplets")
    for name in {*RESULT_FIELDS, field, *(() if own else ("prediction",))}:
        renamed.pop(name, None)
    error = record.get("error")
    if error is not None and not isinstance(error, str):
        raise fields.wrong(where, "error", "a string", error)
    answer = record.get(answer_field)
    subgraph = _with_probability(_subgraph(record, field, where), answer)
    supported = isinstance(answer, Mapping) and answer.get("support")
    written = fields.items(record.get(field) or [], where, field, fields.scored_triple) if supported else []
    return Retrieval(
        question=question_from_record(renamed, where, default_id),
        subgraph=subgraph,
        answer=answer_from_record(answer, where, answer_field, [triple for triple, _ in written], subgraph.triples),
        labels=fields.labels(record.get("labels"), where, "labels"),
        error=error,
    )


def _with_probability(subgraph: Subgraph, answer: Any) -> Subgraph:
    """Keep the probability of an answer where a reader of this framework has it: in its part of the trace."""
    value = answer.get("probability", answer.get("confidence")) if isinstance(answer, Mapping) else None
    reader = subgraph.trace.get("reader", {})
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(reader, Mapping):
        return subgraph
    return attrs.evolve(subgraph, trace={**subgraph.trace, "reader": {"probability": value, **reader}})


def _subgraph(record: Mapping[str, Any], field: str, where: str) -> Subgraph:
    """Read the triples; of a triple that comes twice, the first in the order of the scores."""
    rows = record.get(field)
    scored = fields.items([] if rows is None else rows, where, field, fields.scored_triple)
    size = len(scored)
    paths = tuple(fields.items(record.get("paths") or [], where, "paths", fields.ranked_path))
    columns = _columns(record, field, size, where)
    joins = fields.items(record.get("joins") or [], where, "joins", fields.join)
    _check_paths([max(columns["path_of"], default=-1)], -1, len(paths), where, "triplet_paths")
    _check_paths([index for join in joins for index in join.paths], 0, len(paths), where, "joins")
    expected, trace = record.get("expected_recall"), record.get("trace")
    if trace is not None and not isinstance(trace, dict):
        raise fields.wrong(where, "trace", "an object", trace)
    order = list(range(size))
    if columns["scores"] is None:
        columns["scores"] = scores = [score or 0.0 for _, score in scored]
        order.sort(key=scores.__getitem__, reverse=True)
    first: dict[Triple, int] = {}
    for i in order:
        first.setdefault(scored[i][0], i)
    kept: dict[str, Any] = {
        name: tuple(values[i] for i in first.values()) for name, values in columns.items() if values
    }
    kept["scores"] = tuple(map(rounded, kept.get("scores", ())))
    return Subgraph(
        triples=tuple(first),
        paths=paths,
        **kept,
        trace=trace or {},
        joins=tuple(joins),
        expected_recall=None if expected is None else fields.confidence(expected, where, "expected_recall"),
        searches=tuple(fields.items(record.get("searches") or [], where, "searches", fields.search)),
    )


def _columns(record: Mapping[str, Any], field: str, size: int, where: str) -> dict[str, Any]:
    """Read the fields of a subgraph that are parallel to its triples; scores that are not there are None."""
    scores = fields.column(record, "scores", field, size, where, fields.number)
    path_of = fields.column(record, "triplet_paths", field, size, where, fields.index)
    provenance = fields.column(record, "provenance", field, size, where, fields.string)
    qualifiers = fields.column(record, "qualifiers", field, size, where, fields.qualifiers)
    confidences = fields.column(record, "confidences", field, size, where, fields.confidence)
    evidence = fields.column(record, "evidence", field, size, where, fields.evidence)
    return {
        "scores": scores,
        "path_of": path_of or [-1] * size,
        "provenance": provenance or [""] * size,
        "qualifiers": qualifiers or [()] * size,
        "confidences": confidences,
        "evidence": evidence if any(evidence or ()) else None,
    }


def _check_paths(named: Sequence[int], least: int, count: int, where: str, field: str) -> None:
    """Refuse the number of a path that is not there."""
    beyond = next((index for index in named if not least <= index < count), None)
    if beyond is not None:
        raise InputError(f"{where}: field {field!r} names path {beyond}, but 'paths' has {count}")


def read_questions(path: str | FilePath, text_field: str = "question") -> Iterator[Question]:
    """Read questions from JSON Lines, or from text with one question per line; ids default to line numbers.

    ``.jsonl``, ``.ndjson`` and ``.json`` files are JSON Lines, ``.txt`` files are text. The format of other files, and
    of the standard input (``-``), follows from the first character. Questions with empty text are kept.

    Args:
        path: The file, or ``-``.
        text_field: Field with the question's text; also kept in ``extra``.

    Raises:
        InputError: If a record is malformed or repeats an id, with file and line.
    """
    seen = _Seen()
    for number, question in _numbered(path, text_field):
        if seen.may_have(question.id):
            line = "an earlier line"
            if os.fspath(path) != "-" and FilePath(path).is_file():  # a pipe cannot be read again
                same = (other for other, one in _numbered(path, text_field) if one.id == question.id)
                line = f"line {next(same, number)}"
            if line != f"line {number}":  # else another id has its hash
                where = f"{shown(path)}:{number}"
                raise InputError(f"{where}: {line} already has the id {question.id!r}; make ids unique")
        yield question


def _numbered(path: str | FilePath, text_field: str) -> Iterator[tuple[int, Question]]:
    """Yield questions with the numbers of their lines."""
    lines = read_lines(path)
    head = list(itertools.islice(lines, 1))
    suffix = base_suffix(path)
    records = suffix in (".jsonl", ".ndjson", ".json")
    if not records and suffix != ".txt":
        records = bool(head) and head[0][1].lstrip().startswith("{")
    for number, text in itertools.chain(head, lines):
        where = f"{shown(path)}:{number}"
        if records:
            record = parse_object(text, where)
            if text_field != "question":
                record = {**record, "question": fields.string(record.get(text_field), where, text_field)}
            question = question_from_record(record, where, str(number))
        else:
            question = Question(id=str(number), text=text.strip())
        yield number, question


class _Seen:
    """Hashes of texts, in some 17 bytes each: a set of the texts would take 160."""

    def __init__(self) -> None:
        self._sorted, self._recent = array("q"), set[int]()

    def may_have(self, text: str) -> bool:
        """Add a text, and return whether one with its hash is there."""
        code = hash(text)
        place = bisect_left(self._sorted, code)
        if code in self._recent or self._sorted[place : place + 1] == array("q", [code]):
            return True
        self._recent.add(code)
        if len(self._recent) > max(_RECENT, len(self._sorted) // 8):
            import numpy as np

            recent = np.fromiter(self._recent, np.int64, len(self._recent))
            self._sorted = array("q", np.sort(np.concatenate([np.array(self._sorted, np.int64), recent])).tobytes())
            self._recent.clear()
        return False


def read_retrievals(path: str | FilePath) -> Iterator[Retrieval]:
    """Read result records from JSON Lines; ids default to line numbers."""
    for number, record in read_jsonl(path):
        yield retrieval_from_record(record, f"{shown(path)}:{number}", str(number))


def _id(record: Mapping[str, Any], where: str, default: str | None) -> str:
    value = record.get("id")
    if value is None:
        value = default
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return fields.string(value, where, "id")
