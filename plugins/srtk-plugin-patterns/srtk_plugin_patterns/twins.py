"""Twins of a relation: steps that join nearly the same pairs, and so say its facts again.

The inverse of a relation is a twin, and so is a near-duplicate. A symmetric relation is its own: who holds out that ann
is married to bob must not leave that bob is married to ann. Where the triple of a pair is held out, its twins are too;
for other pairs they remain.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.values import Step, Triple

logger = logging.getLogger(__name__)

# In a whole graph the bound of Akrami et al. (SIGMOD 2020, "Realistic Re-evaluation of Knowledge Graph Completion
# Methods") is .8. Missing facts lower an overlap by their share: without a fifth of the facts of Nations and Countries,
# .6 finds best what .8 finds in the whole (benchmarks/path_patterns/twins.py --choose).
OVERLAP = 0.6

_SHARED = 2  # Least pairs that a relation and its twin share: a single pair is chance.

_NAMED = 3  # Twins that a message names.

Ints = npt.NDArray[np.int64]


@attrs.frozen
class Twin:
    """A step that joins nearly the same pairs as a relation, from subject to object.

    Attributes:
        step: The step.
        shared: Pairs of the relation that it joins.
        overlap: Their share of the relation's pairs, or of the step's if that is less.
    """

    step: Step
    shared: int
    overlap: float


Twins = Mapping[str, tuple[Twin, ...]]  # By relation, which has some; the greatest overlap first.


def find_twins(table: TripleTable, least: float | None = OVERLAP) -> dict[str, tuple[Twin, ...]]:
    """Find the twins of all relations.

    Args:
        table: All triples; a loop is no pair.
        least: Least overlap of a twin; None finds none.
    """
    if least is None:
        return {}
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    subjects, relations, objects = table.triples[table.triples[:, 0] != table.triples[:, 2]].T.astype(np.int64)
    size, count = len(table.entities), len(table.relations)
    keys = np.concatenate([subjects * size + objects, objects * size + subjects])
    pairs, rows = np.unique(keys, return_inverse=True)
    steps = np.concatenate([2 * relations, 2 * relations + 1])
    joins = csr_array((np.ones(len(rows), np.int64), (rows, steps)), shape=(len(pairs), 2 * count))
    both = (joins[:, ::2].T @ joins).tocoo()
    facts = np.bincount(relations, minlength=count)
    overlaps = both.data / np.maximum(facts[both.row], facts[both.col // 2])
    kept = (overlaps >= least) & (both.data >= _SHARED) & (both.col != 2 * both.row)
    found: dict[str, tuple[Twin, ...]] = {}
    for at in np.flatnonzero(kept)[np.lexsort((both.col[kept], -overlaps[kept], both.row[kept]))].tolist():
        name = table.relations[both.row[at]]
        twin = Twin(table.step(int(both.col[at])), int(both.data[at]), round(float(overlaps[at]), 4))
        found[name] = (*found.get(name, ()), twin)
    return found


def step_numbers(table: TripleTable, twins: Twins, relation: int, inverse: bool = False) -> list[int]:
    """Return the numbers of a relation's twins, as steps from its subject or, with ``inverse``, from its object."""
    return [table.step_number(twin.step) ^ inverse for twin in twins.get(table.relations[relation], ())]


def with_twins(table: TripleTable, facts: Ints, twins: Twins) -> tuple[Ints, Ints]:
    """Return triples of one relation and the table's triples that say them again.

    Returns:
        Rows [m, 3], and for each the place of its triple in ``facts`` [m].
    """
    rows, of = [facts], [np.arange(len(facts))]
    for step in step_numbers(table, twins, int(facts[0, 1])) if len(facts) else ():
        there = triples_of(facts[:, 0], step, facts[:, 2])
        held = np.flatnonzero(table.holds(there.astype(np.int32)))
        rows.append(there[held])
        of.append(held)
    return np.concatenate(rows), np.concatenate(of)


def without_held_out(
    table: TripleTable, held_out: Sequence[Triple], least: float | None = OVERLAP
) -> tuple[TripleTable, list[Triple]]:
    """Return a table without held-out facts and without the triples that say them again, and these triples.

    Args:
        table: All triples, among which twins are found.
        held_out: The facts.
        least: Least overlap of a twin; None finds none.
    """
    again = said_again(table, held_out, find_twins(table, least)) if held_out else []
    return table.without([*held_out, *again]), again


def said_again(table: TripleTable, facts: Sequence[Triple], twins: Twins) -> list[Triple]:
    """Return the triples of a table, none of the facts, by which twins say some facts again, sorted."""
    rows = table.numbers([fact for fact in facts if fact.relation in twins]).astype(np.int64)
    rows = rows[(rows >= 0).all(axis=1)]
    parts = [rows[rows[:, 1] == relation] for relation in np.unique(rows[:, 1])]
    found = {
        one for part in parts for one in table.named(with_twins(table, part, twins)[0][len(part) :].astype(np.int32))
    }
    return sorted(found - set(facts))


def twins_alone(table: TripleTable, starts: Ints, step: int, twins: Twins) -> tuple[Ints, Ints]:
    """Return the triples by which twins lead from some entities to others that a step does not reach.

    They say what a question about the step asks for.

    Returns:
        Rows [m, 3], and for each the place of its entity in ``starts`` [m].
    """
    relation, inverse = divmod(step, 2)
    rows, of = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for twin in step_numbers(table, twins, relation, bool(inverse)):
        for at, start in enumerate(starts.tolist()):
            reached = table.fillers(start, twin // 2, bool(twin % 2))
            ends = np.setdiff1d(reached, table.fillers(start, relation, bool(inverse))).astype(np.int64)
            rows.append(triples_of(np.full(len(ends), start), twin, ends))
            of.append(np.full(len(ends), at))
    return np.concatenate(rows), np.concatenate(of)


def triples_of(starts: Ints, step: int, ends: Ints) -> Ints:
    """Return the triples [n, 3] by which a step leads from some entities to others."""
    subjects, objects = (ends, starts) if step % 2 else (starts, ends)
    return np.stack([subjects, np.full(len(starts), step // 2), objects], axis=1).astype(np.int64)


def described(twins: Twins) -> str:
    """Say which relations have twins; empty if none has."""
    if not twins:
        return ""
    some = [f"{name} by {row[0].step} ({row[0].overlap:.0%})" for name, row in list(twins.items())[:_NAMED]]
    return f"{len(twins):,} relations have twins, which were held out: {', '.join(some)}" + (
        ", ..." if len(twins) > _NAMED else ""
    )


def said(twins: Twins) -> float:
    """Say on the screen which twins a training holds out; return the number of relations that have some."""
    if text := described(twins):
        logger.warning("%s; `fit: {twins: null}` learns from them", text)
    return float(len(twins))


def to_json(twins: Twins) -> dict[str, Any]:
    """Return JSON values."""
    return {name: [[str(twin.step), twin.shared, twin.overlap] for twin in row] for name, row in sorted(twins.items())}


def from_json(data: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Twin, ...]]:
    """Read the result of ``to_json``.

    Raises:
        AttributeError, TypeError or ValueError: For anything else.
    """
    return {name: tuple(Twin(Step.parse(step), *rest) for step, *rest in row) for name, row in data.items()}
