"""What a head learns from: the triples that the inner expander found for each lesson, and which are right."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.graph import instance_triples
from srtk_framework.records import dumps
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import DriverError, Lesson, Literal, RankedPath, Step, Subgraph, Triple

_BATCH = 32


@attrs.frozen
class Example:
    """One question with its candidates.

    Attributes:
        lesson: The question and its paths.
        found: What the inner expander returned.
        right: The triples that should be found, each with how right it is, above 0 and up to 1.
    """

    lesson: Lesson
    found: Subgraph
    right: Mapping[Triple, float]


def right_triples(graph: KnowledgeGraph, lesson: Lesson, hub: int | None) -> dict[Triple, float]:
    """Return the gold triples of a lesson, else those on its paths' whole instances that end in an answer.

    A triple is as right as the best path that it is on.
    """
    question = lesson.question
    if question.gold_triples is not None:
        return dict.fromkeys(question.gold_triples, 1.0)

    def read(nodes: Sequence[str], step: Step) -> Sequence[Triple]:
        return graph.triples(graph.frontiers([nodes]), [step], hub)[0]

    right: dict[Triple, float] = {}
    for path in lesson.paths:
        worth = min(path.score, 1.0)
        if worth > 0:
            for triple in instance_triples(read, path.entity, path.steps, question.answers):
                right[triple] = max(worth, right.get(triple, 0.0))
    return right


def examples(
    inner: Expander, graph: KnowledgeGraph, lessons: Sequence[Lesson], hub: int | None, file: FilePath
) -> Iterator[Example]:
    """Expand the lessons' questions batch by batch; what an earlier call wrote to ``file`` is read instead.

    Args:
        inner: Finds the candidates.
        graph: Where the paths of lessons are walked.
        lessons: In a fixed order.
        hub: Most neighbours read of one node where paths are walked.
        file: JSON lines, one for each lesson, added to batch by batch; a last line that is not whole is dropped.
    """
    known = _whole_lines(file)
    if len(known) > len(lessons):
        raise DriverError(f"{file} holds {len(known)} questions, not {len(lessons)}; remove it to train anew")
    for lesson, line in zip(lessons, known, strict=False):
        yield _read(lesson, line, file)
    for start in range(len(known), len(lessons), _BATCH):
        batch = lessons[start : start + _BATCH]
        found = inner.expand([lesson.question for lesson in batch])
        made = [
            Example(lesson, subgraph, right_triples(graph, lesson, hub))
            for lesson, subgraph in zip(batch, found, strict=True)
        ]
        with file.open("a", encoding="utf-8") as out:
            out.write("".join(_line(example) for example in made))
        yield from made


def _whole_lines(file: FilePath) -> list[str]:
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    return whole.split("\n")[:-1]


def _line(example: Example) -> str:
    found = example.found
    record = {
        "id": example.lesson.question.id,
        "triples": [_plain(triple) for triple in found.triples],
        "scores": found.scores,
        "paths": [[path.entity, [str(step) for step in path.steps], path.score] for path in found.paths],
        "path_of": found.path_of,
        "right": [[*_plain(triple), worth] for triple, worth in example.right.items()],
    }
    return dumps(record) + "\n"


def _read(lesson: Lesson, line: str, file: FilePath) -> Example:
    record = json.loads(line)
    if record["id"] != lesson.question.id:
        raise DriverError(f"{file} is of other questions ({record['id']!r} is there); remove it to train anew")
    found = Subgraph(
        triples=tuple(_triple(row) for row in record["triples"]),
        scores=tuple(record["scores"]),
        paths=tuple(RankedPath(e, tuple(Step.parse(s) for s in steps), score) for e, steps, score in record["paths"]),
        path_of=tuple(record["path_of"]),
    )
    return Example(lesson, found, {_triple(row): row[-1] for row in record["right"]})


def _plain(triple: Triple) -> list[Any]:
    """Write a triple; whether its object is a literal cannot be seen from its text."""
    return [triple.subject, triple.relation, str(triple.object), isinstance(triple.object, Literal)]


def _triple(row: Sequence[Any]) -> Triple:
    subject, relation, object_, literal = row[:4]
    return Triple(subject, relation, Literal(object_) if literal else object_)
