"""Slices of the questions: by hops, by what training had seen, by links, and by fields of their records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.evaluation.rows import Row
from srtk_framework.records.jsonl import shown
from srtk_framework.values import END, InputError, Question, Step, close_matches

SEEN, UNSEEN = "seen", "unseen"
RELATIONS, PATH = "relations in training", "path in training"
MOST_GROUPS = 50
"""Most groups of one slice; a field with more values tells questions apart rather than kinds of them."""

_LONGEST = 200


@attrs.frozen
class Learnt:
    """What the questions of a training taught.

    Attributes:
        relations: On their paths or in their gold triples.
        paths: Their relation paths as text, without END.
    """

    relations: frozenset[str]
    paths: frozenset[tuple[str, ...]]

    def relations_of(self, row: Row) -> str | None:
        """Tell whether some gold path of a question has no relation that was not seen; None without gold."""
        if not row.relations:
            return None
        return SEEN if any(self.relations.issuperset(some) for some in row.relations) else UNSEEN

    def path_of(self, row: Row) -> str | None:
        """Tell whether some gold path of a question was seen as a whole; None without gold paths."""
        if not row.paths:
            return None
        return SEEN if any(path in self.paths for path in row.paths) else UNSEEN


def learnt_from(file: str | FilePath) -> Learnt:
    """Read what was learnt from a training's lessons, or from a file of questions with gold.

    The paths of lessons count; in a file without any, gold paths and gold triples.

    Raises:
        InputError: If the file cannot be read or has neither.
    """
    from srtk_framework.records.training_examples import read_lessons

    relations: set[str] = set()
    paths: set[tuple[str, ...]] = set()
    lessons = read_lessons(FilePath(file))
    taught = any(lesson.paths for lesson in lessons)
    for lesson in lessons:
        question = lesson.question
        if taught:
            question = attrs.evolve(question, gold_paths=tuple(p.steps for p in lesson.paths), gold_triples=None)
        paths.update(gold_paths(question))
        for some in gold_relations(question):
            relations.update(some)
    if not relations:
        raise InputError(
            f"{shown(file)}: no record has paths, gold_paths or gold_triples, so it does not tell which relations were"
            " seen; give the lessons of the training, or its questions with gold"
        )
    return Learnt(frozenset(relations), frozenset(paths))


def gold_paths(question: Question) -> tuple[tuple[str, ...], ...]:
    """Return the gold paths as text, without END."""
    return tuple(tuple(str(step) for step in path if step != END) for path in question.gold_paths or ())


def gold_relations(question: Question) -> tuple[tuple[str, ...], ...]:
    """Return the relations of each gold path, else those of all gold triples together."""
    if question.gold_paths:
        paths: list[tuple[Step, ...]] = list(question.gold_paths)
        return tuple(tuple(sorted({step.relation for step in path if step != END})) for path in paths)
    return (tuple(sorted({triple.relation for triple in question.gold_triples})),) if question.gold_triples else ()


def fields_of(question: Question) -> dict[str, tuple[str, ...]]:
    """Return the further fields of a question's record that hold plain values or lists of them, as texts."""
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
    methods: Mapping[str, Sequence[Row]], fields: Sequence[str] = (), learnt: Learnt | None = None
) -> Iterator[tuple[str, dict[str, list[int]]]]:
    """Yield the name of each slice and its groups: name to the places of its questions, in order.

    Hops and links with one group only say nothing and are left out. ``links`` is ``mixed`` for a question on which
    the methods differ. A question with several values of a field is in the group of each.

    Args:
        methods: Rows of each method, on the same questions in the same order.
        fields: Of the question records.
        learnt: What the training had seen, if there was one.

    Raises:
        InputError: If no question has one of the fields, or it has too many values.
    """
    first = next(iter(methods.values()), ())
    found: dict[str, list[tuple[str, ...]]] = {"hops": [() if r.hops is None else (str(r.hops),) for r in first]}
    if learnt is not None:
        found[RELATIONS] = [_one(learnt.relations_of(r)) for r in first]
        found[PATH] = [_one(learnt.path_of(r)) for r in first]
    found["links"] = [_links(rows) for rows in zip(*methods.values(), strict=True)]
    for name, labels in found.items():
        placed = _placed(labels)
        if len(placed) > (0 if name in (RELATIONS, PATH) else 1):
            yield name, placed
    for field in fields:
        placed = _placed([r.fields.get(field, ()) for r in first])
        if not placed:
            known = sorted({name for r in first for name in r.fields})
            has = f"they have {', '.join(known)}" if known else "they have none besides those of every question"
            raise InputError(
                f"no question has a field {field!r} with a plain value to slice by; {has}.{close_matches(field, known)}"
            )
        if len(placed) > MOST_GROUPS:
            raise InputError(
                f"field {field!r} has {len(placed)} values; a slice has at most {MOST_GROUPS}, so choose another field"
            )
        yield field, placed


def _one(label: str | None) -> tuple[str, ...]:
    return () if label is None else (label,)


def _links(rows: Sequence[Row]) -> tuple[str, ...]:
    kinds = sorted({r.links for r in rows} - {"none"})
    return ("mixed",) if len(kinds) > 1 else (next(iter(kinds), "none"),)


def _placed(labels: Sequence[tuple[str, ...]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, some in enumerate(labels):
        for label in some:
            places.setdefault(label, []).append(place)
    return {label: places[label] for label in sorted(places, key=_order)}


def _order(label: str) -> tuple[int, float, str]:
    """Order numbers by value, before texts."""
    plain = label.removeprefix("-").replace(".", "", 1)
    return (0, float(label), label) if plain.isascii() and plain.isdigit() else (1, 0.0, label)
