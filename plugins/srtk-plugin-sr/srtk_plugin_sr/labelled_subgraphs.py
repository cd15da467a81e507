"""Subgraphs of the inner expander with labelled triples, which the head of ``rerank`` is trained on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.graph import instance_triples
from srtk_framework.records import dumps, parse_json
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import DriverError, InputError, Literal, RankedPath, Step, Subgraph, TrainingExample, Triple

_LESSONS_AT_ONCE = 32


@attrs.frozen
class LabelledSubgraph:
    """Candidates of one question, and the triples that it needs.

    Attributes:
        example: The question and its paths.
        found: Subgraph that the inner expander returned.
        gold: Needed triples, found or not, each with its quality, above 0 and up to 1.
    """

    example: TrainingExample
    found: Subgraph
    gold: Mapping[Triple, float]


def needed_triples(graph: KnowledgeGraph, example: TrainingExample, hub: int | None) -> dict[Triple, float]:
    """Return the gold triples of a example, else the triples on its paths' complete instances that end in an answer.

    Args:
        graph: Graph in which the paths are followed.
        example: The question and its paths.
        hub: Maximum number of neighbours read of one node; None for no limit.

    Returns:
        Each triple with the quality of the best path that it is on, at most 1; a gold triple with 1.
    """
    question = example.question
    if question.gold_triples is not None:
        return dict.fromkeys(question.gold_triples, 1.0)

    def read(nodes: Sequence[str], step: Step) -> Sequence[Triple]:
        return graph.triples(graph.frontiers([nodes]), [step], hub)[0]

    needed: dict[Triple, float] = {}
    for path in example.paths:
        quality = min(path.score, 1.0)
        if quality > 0:
            for triple in instance_triples(read, path.entity, path.steps, question.answers):
                needed[triple] = max(quality, needed.get(triple, 0.0))
    return needed


def labelled_subgraphs(
    inner: Expander, graph: KnowledgeGraph, examples: Sequence[TrainingExample], hub: int | None, file: FilePath
) -> Iterator[LabelledSubgraph]:
    """Expand the questions of examples batch by batch, and label what is found.

    Args:
        inner: Expander that finds the candidates.
        graph: Graph in which the paths of examples are followed.
        examples: Examples in a fixed order.
        hub: Maximum number of neighbours read of one node where paths are followed.
        file: JSON lines, one for each example, to which each batch is appended. Lines that an earlier call wrote are
            read instead of expanding again; an incomplete last line is dropped.

    Raises:
        DriverError: If the file belongs to other examples.
    """
    known = _complete_lines(file)
    if len(known) > len(examples):
        raise DriverError(
            f"{file} holds {len(known)} questions, not {len(examples)}; remove it to train from the start"
        )
    for number, (example, line) in enumerate(zip(examples, known, strict=False), 1):
        yield _read(example, line, f"{file}:{number}")
    for start in range(len(known), len(examples), _LESSONS_AT_ONCE):
        batch = examples[start : start + _LESSONS_AT_ONCE]
        found = inner.expand([example.question for example in batch])
        made = [
            LabelledSubgraph(example, subgraph, needed_triples(graph, example, hub))
            for example, subgraph in zip(batch, found, strict=True)
        ]
        with file.open("a", encoding="utf-8") as out:
            out.write("".join(_line(labelled) for labelled in made))
        yield from made


def _complete_lines(file: FilePath) -> list[str]:
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    complete = text[: text.rfind("\n") + 1]
    if complete != text:
        file.write_text(complete, encoding="utf-8")
    return complete.split("\n")[:-1]


def _line(labelled: LabelledSubgraph) -> str:
    found = labelled.found
    record = {
        "id": labelled.example.question.id,
        "triples": [_triple_record(triple) for triple in found.triples],
        "scores": found.scores,
        "paths": [[path.entity, [str(step) for step in path.steps], path.score] for path in found.paths],
        "path_of": found.path_of,
        "confidences": found.confidences,
        "right": [[*_triple_record(triple), quality] for triple, quality in labelled.gold.items()],
    }
    return dumps(record) + "\n"


def _read(example: TrainingExample, line: str, where: str) -> LabelledSubgraph:
    remedy = "remove the file to train from the start"
    try:
        record = parse_json(line, where)
    except InputError as error:
        raise DriverError(f"{error}; {remedy}") from error
    try:
        return _labelled(example, record, f"{where} is of other questions; {remedy}")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DriverError(f"{where} is no labelled subgraph ({type(error).__name__}: {error}); {remedy}") from error


def _labelled(example: TrainingExample, record: Any, other: str) -> LabelledSubgraph:
    if record["id"] != example.question.id:
        raise DriverError(other)
    found = Subgraph(
        triples=tuple(_triple(row) for row in record["triples"]),
        scores=tuple(record["scores"]),
        paths=tuple(RankedPath(e, tuple(Step.parse(s) for s in steps), score) for e, steps, score in record["paths"]),
        path_of=tuple(record["path_of"]),
        confidences=tuple(record["confidences"]),
    )
    return LabelledSubgraph(example, found, {_triple(row): row[-1] for row in record["right"]})


def _triple_record(triple: Triple) -> list[Any]:
    """Return a triple as JSON data, with whether its object is a literal, which the text does not show."""
    return [triple.subject, triple.relation, str(triple.object), isinstance(triple.object, Literal)]


def _triple(row: Sequence[Any]) -> Triple:
    subject, relation, object_, literal = row[:4]
    return Triple(subject, relation, Literal(object_) if literal else object_)
