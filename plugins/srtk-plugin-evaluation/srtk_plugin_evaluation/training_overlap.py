"""Relations and paths in the data of a training, and whether it had those of a question."""

from __future__ import annotations

from pathlib import Path as FilePath

import attrs

from srtk_framework.records import shown
from srtk_framework.values import END, InputError, Question, Step
from srtk_plugin_evaluation.rows import Row

SEEN, UNSEEN = "seen", "unseen"
RELATIONS, PATH = "relations in training", "path in training"


@attrs.frozen
class TrainingOverlap:
    """Relations and paths in training data.

    Attributes:
        relations: Relations of the paths or gold triples.
        paths: Relation paths as text, without END.
    """

    relations: frozenset[str]
    paths: frozenset[tuple[str, ...]]

    def relations_of(self, row: Row) -> str | None:
        """Return ``seen`` if training had all relations of some gold path, else ``unseen``; None without gold."""
        if not row.relations:
            return None
        return SEEN if any(self.relations.issuperset(some) for some in row.relations) else UNSEEN

    def path_of(self, row: Row) -> str | None:
        """Return ``seen`` if training had some gold path, else ``unseen``; None without gold paths."""
        if not row.paths:
            return None
        return SEEN if any(path in self.paths for path in row.paths) else UNSEEN


def read_training_overlap(file: str | FilePath) -> TrainingOverlap:
    """Read the relations and paths of training examples, or of questions with gold.

    The paths of training examples are used; in a file without paths, gold paths and gold triples.

    Raises:
        InputError: If the file cannot be read or has none of these.
    """
    found = _overlap(FilePath(file))
    if found is None:
        raise InputError(
            f"{shown(file)}: no record has paths, gold_paths or gold_triples; give the training examples, or the"
            " training questions with gold"
        )
    return found


def overlap_of_training(folder: FilePath) -> TrainingOverlap | None:
    """Read the relations and paths that the training in a folder had; None without either.

    Raises:
        InputError: If its examples cannot be read.
    """
    file = folder / "training_examples.jsonl"
    return _overlap(file) if file.exists() else None


def _overlap(file: FilePath) -> TrainingOverlap | None:
    from srtk_framework.records import read_training_examples

    relations: set[str] = set()
    paths: set[tuple[str, ...]] = set()
    examples = read_training_examples(file)
    has_paths = any(example.paths for example in examples)
    for example in examples:
        question = example.question
        if has_paths:
            question = attrs.evolve(question, gold_paths=tuple(p.steps for p in example.paths), gold_triples=None)
        paths.update(gold_paths(question))
        for some in gold_relations(question):
            relations.update(some)
    return TrainingOverlap(frozenset(relations), frozenset(paths)) if relations else None


def gold_paths(question: Question) -> tuple[tuple[str, ...], ...]:
    """Return the gold paths as text, without END."""
    return tuple(tuple(str(step) for step in path if step != END) for path in question.gold_paths or ())


def gold_relations(question: Question) -> tuple[tuple[str, ...], ...]:
    """Return the relations of each gold path, else the relations of all gold triples as one set."""
    if question.gold_paths:
        paths: list[tuple[Step, ...]] = list(question.gold_paths)
        return tuple(tuple(sorted({step.relation for step in path if step != END})) for path in paths)
    return (tuple(sorted({triple.relation for triple in question.gold_triples})),) if question.gold_triples else ()
