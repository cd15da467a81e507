"""Slices of the questions: by hops, links, overlap with the training data, and fields of their records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.records import shown
from srtk_framework.values import END, InputError, Question, Step, close_matches
from srtk_plugin_evaluation.rows import Row

if TYPE_CHECKING:
    from srtk_plugin_evaluation.row_table import RowTable

SEEN, UNSEEN = "seen", "unseen"
RELATIONS, PATH = "relations in training", "path in training"
KIND = "kind"  # Field of question records by which a report is always sliced, where there is one.
MOST_GROUPS = 50  # Maximum number of groups of a slice; a field with more values does not define kinds of questions.

LINKS = ("none", "given", "linked", "mixed")  # Origins of links; the number of both is that of each, joined by "or".

_LONGEST = 200  # A longer text is no kind of question.


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


def fields_of(question: Question) -> dict[str, tuple[str, ...]]:
    """Return the other fields of a question's record whose values are scalars or lists of scalars, as text."""
    found: dict[str, tuple[str, ...]] = {}
    for field, value in question.extra.items():
        values = value if isinstance(value, list | tuple) else [value]
        texts = [_text(item) for item in values]
        if texts and all(text is not None for text in texts):
            found[field] = tuple(dict.fromkeys(text for text in texts if text is not None))
    return found


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | str):
        return text if len(text := str(value)) <= _LONGEST else None
    return None


def groups(
    methods: Mapping[str, RowTable], fields: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, Sequence[int]]]]:
    """Yield each slice with its groups: group to the places of its questions, in order.

    The slices ``hops``, ``topics``, ``kind`` (the field of this name) and ``links`` are omitted if they have one group
    only, and ``kind`` if it has too many. ``links`` is ``mixed`` if the methods differ on a question. A question with
    several values of a field is in the group of each value.

    Args:
        methods: Method to the table of its rows, for the same questions in the same order.
        fields: Fields of the question records to slice by.

    Raises:
        InputError: If no question has one of the fields, or a field has too many values.
    """
    if not methods:
        return
    first = next(iter(methods.values()))
    found = {name: first.groups(name) for name in ("hops", "topics", KIND, RELATIONS, PATH)}
    if KIND in fields or len(found[KIND]) > MOST_GROUPS:
        del found[KIND]
    origins = _origins(methods.values())
    found["links"] = {LINKS[code]: np.flatnonzero(origins == code).tolist() for code in np.unique(origins)}
    for name, placed in found.items():
        if len(placed) > (0 if name in (RELATIONS, PATH) else 1):
            yield name, _ordered(placed)
    for field in fields:
        placed = first.groups(field)
        if not placed:
            known = sorted(first.field_names)
            has = f"choose one of {', '.join(known)}" if known else "the records have no fields to slice by"
            raise InputError(f"no question has a scalar field {field!r}; {has}.{close_matches(field, known)}")
        if len(placed) > MOST_GROUPS:
            raise InputError(
                f"field {field!r} has {len(placed)} values, but a slice has at most {MOST_GROUPS}; choose another field"
            )
        yield field, _ordered(placed)


def links_of(tables: Iterable[RowTable]) -> str:
    """Return the origin of the links of some methods: ``given``, ``linked``, ``mixed`` or ``none``."""
    return LINKS[np.bitwise_or.reduce(_origins(tables), initial=0)]


def _origins(tables: Iterable[RowTable]) -> npt.NDArray[np.int64]:
    """Return the origin of the links of each question in all tables together."""
    found: npt.NDArray[np.int64] = np.bitwise_or.reduce([table.links.astype(np.int64) for table in tables])
    return found


def _ordered(placed: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    return {label: placed[label] for label in sorted(placed, key=_order)}


def _order(label: str) -> tuple[int, float, str]:
    """Order numbers by value, before other texts."""
    plain = label.removeprefix("-").replace(".", "", 1)
    return (0, float(label), label) if plain.isascii() and plain.isdigit() else (1, 0.0, label)
