"""Training examples in JSON Lines: question records with paths from supervision."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from srtk_framework.records import record_fields as fields
from srtk_framework.records.jsonl import read_jsonl, shown, write_jsonl
from srtk_framework.records.retrieval_records import question_from_record, record_from_question
from srtk_framework.values import InputError, RankedPath, TrainingExample, rounded

_FIELDS = ("paths", "path_scores", "path_entities")


def write_training_examples(file: Path, examples: Iterable[TrainingExample]) -> None:
    """Write one record per training example, with the parallel fields ``paths``, ``path_scores``, ``path_entities``.

    ``paths`` and ``path_scores`` are as in SRTK's intermediate files. The file is written atomically.

    Raises:
        RunError: If the file cannot be written; its old content stays.
    """
    write_jsonl(file, map(_record, examples))


def _record(example: TrainingExample) -> dict[str, Any]:
    record = record_from_question(example.question)
    record = {field: value for field, value in record.items() if field not in _FIELDS}
    record["paths"] = [[str(step) for step in path.steps] for path in example.paths]
    record["path_scores"] = [rounded(path.score) for path in example.paths]
    record["path_entities"] = [path.entity for path in example.paths]
    return record


def read_training_examples(file: Path) -> list[TrainingExample]:
    """Read training examples; without ``path_entities``, as in SRTK's files, every path starts at each linked entity.

    Raises:
        InputError: If a record is malformed, with file and line.
    """
    examples = []
    for number, record in read_jsonl(file):
        where = f"{shown(file)}:{number}"
        plain = {field: value for field, value in record.items() if field not in _FIELDS}
        question = question_from_record(plain, where, str(number))
        steps = fields.items(record.get("paths", []), where, "paths", fields.path)
        scores = fields.column(record, "path_scores", "paths", len(steps), where, fields.number)
        entities = fields.column(record, "path_entities", "paths", len(steps), where, fields.string)
        if any(not path for path in steps):
            raise InputError(f"{where}: field 'paths' has an empty path; remove it")
        found = [
            RankedPath(entity, path, 1.0 if scores is None else scores[i])
            for i, path in enumerate(steps)
            for entity in ([link.entity for link in question.links] if entities is None else [entities[i]])
        ]
        examples.append(TrainingExample(question, tuple(found)))
    return examples
