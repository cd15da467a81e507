"""Slices of the questions: by hops, links, overlap with the training data, and fields of their records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import InputError, Question, close_matches
from srtk_plugin_evaluation.row_table import KIND, LINKS, MOST_GROUPS, RowTable
from srtk_plugin_evaluation.training_overlap import PATH, RELATIONS

_LONGEST = 200  # A longer text is no kind of question.


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
