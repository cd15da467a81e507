"""Signatures: which steps the entities of a graph can have, by their classes or by the steps that they do have."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph.triple_table import Numbers, TripleTable
from srtk_framework.values import Schema, Step

Rows = tuple[npt.NDArray[np.int64], Numbers]
"""Lists of numbers: offsets [n + 1], and the numbers of all lists."""

# Most values that are joined at once, which bounds the memory.
_PART = 4_000_000


@attrs.frozen(eq=False)
class Signatures:
    """Steps that the entities of a graph can have, also where a triple is lacking.

    The traits of an entity are its classes, where the schema has type relations and the graph has its class. Else they
    are its signature: the steps (relation and side) that it has. An entity can have the steps that the entities of its
    classes have, or those that the entities have that share a step with it.

    Attributes:
        table: The triples.
    """

    table: TripleTable
    _traits: Rows
    _steps: Rows

    @classmethod
    def of(cls, table: TripleTable, schema: Schema) -> Signatures:
        """Read the signatures of a graph.

        Args:
            table: Triples of the graph.
            schema: Its schema, for the type relations.
        """
        nodes, steps = table.step_numbers()
        known = table.relation_numbers
        types = [known[relation] for relation in schema.type_relations if relation in known]
        typed = table.triples[np.isin(table.triples[:, 1], types)]
        # A trait is the number of a class (an entity), or of a step, after all entities.
        count = len(table.entities) + 2 * len(table.relations)
        has_class = np.zeros(len(table.entities), dtype=bool)
        has_class[typed[:, 0]] = True
        untyped = ~has_class[nodes]
        traits = _rows(
            np.concatenate([typed[:, 0], nodes[untyped]]),
            np.concatenate([typed[:, 2], steps[untyped] + np.int32(len(table.entities))]),
            len(table.entities),
        )
        of_node = _rows(nodes, steps, len(table.entities))
        # Per class the steps of its entities; per step the steps of the entities that have it.
        members, classes = (typed[:, 0], typed[:, 2])
        if untyped.any():
            members = np.concatenate([members, nodes])
            classes = np.concatenate([classes, steps + np.int32(len(table.entities))])
        return cls(table, traits, _joined(classes, members, of_node, count))

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Return the steps that some entity of each set can have, sorted; forward only unless ``inverse``."""
        known, table = self.table.entity_numbers, self.table
        answers = []
        for ids in node_sets:
            nodes = np.array([known[id_] for id_ in ids if id_ in known], dtype=np.int64)
            steps = _gathered(self._steps, _gathered(self._traits, nodes)).tolist()
            answers.append([table.step(number) for number in steps if inverse or not number % 2])
        return answers

    def can_have(self, step: Step) -> npt.NDArray[np.bool_]:
        """Return for each entity of the table whether it can have a step.

        An entity may fill the open end of (s, r, ?) if it can have the inverse step of r, that of (?, r, o) by the
        forward step.
        """
        offsets, steps = self._steps
        number = self.table.step_number(step)
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        with_it = np.zeros(len(offsets) - 1, dtype=bool)
        with_it[owner[steps == number]] = True
        offsets, traits = self._traits
        found = np.zeros(len(self.table.entities), dtype=bool)
        found[np.repeat(np.arange(len(found)), np.diff(offsets))[with_it[traits]]] = True
        return found


def _rows(owners: npt.NDArray[np.integer], values: npt.NDArray[np.integer], count: int) -> Rows:
    """Group values by owner; each list is sorted and distinct."""
    width = int(values.max()) + 1 if len(values) else 1
    keys = np.unique(owners.astype(np.int64) * width + values)
    owner, value = np.divmod(keys, width)
    offsets = np.searchsorted(owner, np.arange(count + 1))
    return offsets.astype(np.int64), value.astype(np.int32)


def _positions(rows: Rows, which: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the places of the values of some lists, and how many each list has."""
    offsets, _ = rows
    starts, lengths = offsets[which], offsets[which.astype(np.int64) + 1] - offsets[which]
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum(), dtype=np.int64) + np.repeat(starts - before, lengths), lengths


def _gathered(rows: Rows, which: npt.NDArray[np.integer]) -> Numbers:
    """Return the distinct values of some lists, sorted."""
    places, _ = _positions(rows, which)
    return np.unique(rows[1][places])


def _joined(traits: Numbers, nodes: Numbers, of_node: Rows, count: int) -> Rows:
    """Collect for each trait the values of the entities that have it, a part of the entities at a time."""
    width = int(of_node[1].max()) + 1 if len(of_node[1]) else 1
    parts = np.cumsum(np.diff(of_node[0])[nodes]) // _PART
    found = np.zeros(0, dtype=np.int64)
    for part in np.unique(parts):
        mine = np.flatnonzero(parts == part)
        places, lengths = _positions(of_node, nodes[mine])
        keys = np.repeat(traits[mine].astype(np.int64), lengths) * width + of_node[1][places]
        found = np.union1d(found, keys)
    owner, value = np.divmod(found, width)
    return _rows(owner, value, count)
