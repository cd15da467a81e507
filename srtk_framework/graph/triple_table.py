"""Triple table: all triples between entities of a graph, as one integer array with indexes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import DriverError, GraphLike, Literal, Pattern, Step, Triple

Numbers = npt.NDArray[np.int32]
"""Numbers of entities, relations, or rows (subject, relation, object) of both."""


@attrs.frozen(eq=False, slots=False)
class TripleTable:
    """All triples of a graph whose object is an entity; read-only.

    An entity or a relation has its place in the sorted ids as number.

    Attributes:
        entities: Ids of the entities, sorted by code point.
        relations: Ids of the relations, sorted by code point.
        triples: int32 array [n, 3] of distinct rows (subject, relation, object), sorted by relation, then subject,
            then object.
    """

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    triples: Numbers

    @classmethod
    def of(cls, graph: GraphLike) -> TripleTable:
        """Read a graph.

        Raises:
            DriverError: If the graph cannot list its triples.
        """
        try:
            (found,) = graph.match([Pattern()])
        except DriverError as error:
            raise DriverError(
                f"the triples of {graph.source()} cannot be listed ({error}); make a snapshot of the graph with"
                " `srtk graph build` from its files, or `srtk graph pull` from a server, and use that"
            ) from error
        return cls.from_triples(found)

    @classmethod
    def from_triples(cls, triples: Iterable[Triple]) -> TripleTable:
        """Number the ids of some triples; those with a literal are left out."""
        kept = [triple for triple in triples if not isinstance(triple.object, Literal)]
        subjects, relations, objects = zip(*kept, strict=True) if kept else ((), (), ())
        ends = tuple(sorted({*subjects, *objects}))
        names = tuple(sorted(set(relations)))
        numbers = {id_: number for number, id_ in enumerate(ends)}
        of_relation = {id_: number for number, id_ in enumerate(names)}
        rows = np.empty((len(kept), 3), dtype=np.int32)
        for column, ids, known in ((0, subjects, numbers), (1, relations, of_relation), (2, objects, numbers)):
            rows[:, column] = np.fromiter(map(known.__getitem__, ids), dtype=np.int32, count=len(kept))
        return cls(ends, names, _sorted(rows))

    @cached_property
    def entity_numbers(self) -> Mapping[str, int]:
        """Number of each entity by id."""
        return {id_: number for number, id_ in enumerate(self.entities)}

    @cached_property
    def relation_numbers(self) -> Mapping[str, int]:
        """Number of each relation by id."""
        return {id_: number for number, id_ in enumerate(self.relations)}

    def numbers(self, triples: Sequence[Triple]) -> Numbers:
        """Return the rows of triples, int32 [n, 3]; -1 stands for an id that the table lacks."""
        entity, relation = self.entity_numbers, self.relation_numbers
        rows = [(entity.get(s, -1), relation.get(r, -1), entity.get(o, -1)) for s, r, o in triples]
        return np.array(rows, dtype=np.int32).reshape(len(rows), 3)

    def named(self, rows: Numbers) -> list[Triple]:
        """Return the triples of rows [n, 3]."""
        entity, relation = self.entities, self.relations
        return [Triple(entity[s], relation[r], entity[o]) for s, r, o in rows.tolist()]

    def without(self, hidden: Iterable[Triple]) -> TripleTable:
        """Return the table without some triples; entities and relations keep their numbers, also without a triple."""
        rows = self.numbers(list(hidden))
        kept = ~np.isin(self._keys(self.triples), self._keys(rows[(rows >= 0).all(axis=1)]))
        return TripleTable(self.entities, self.relations, self.triples[kept])

    def compact(self) -> TripleTable:
        """Return the same triples with only the entities and relations that some triple has, numbered anew in order."""
        triples = self.triples
        entities, relations = np.unique(triples[:, ::2]), np.unique(triples[:, 1])
        rows = np.empty_like(triples)
        rows[:, ::2] = np.searchsorted(entities, triples[:, ::2])
        rows[:, 1] = np.searchsorted(relations, triples[:, 1])
        return TripleTable(
            tuple(self.entities[number] for number in entities.tolist()),
            tuple(self.relations[number] for number in relations.tolist()),
            rows,
        )

    def content_hash(self) -> str:
        """Return a hash of the triples: equal for equal triples, whatever graph holds them."""
        table = self.compact()
        digest = hashlib.sha256(json.dumps([table.entities, table.relations]).encode())
        digest.update(np.ascontiguousarray(table.triples, dtype="<i4").tobytes())
        return digest.hexdigest()[:32]

    def holds(self, rows: Numbers) -> npt.NDArray[np.bool_]:
        """Return whether the table holds each row of an array [n, 3]; rows with a -1 are not held."""
        known = (rows >= 0).all(axis=1)
        found = np.zeros(len(rows), dtype=bool)
        wanted, keys = self._keys(rows[known]), self._forward_keys
        if len(keys):
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found[known] = keys[at] == wanted
        return found

    def of_relation(self, relation: int) -> Numbers:
        """Return the rows of a relation, sorted by subject, then object."""
        low, high = np.searchsorted(self.triples[:, 1], [relation, relation + 1])
        return self.triples[low:high]

    def fillers(self, entity: int, relation: int, inverse: bool = False) -> Numbers:
        """Return the numbers of the entities that a step reaches, sorted.

        Args:
            entity: Number of the entity at which the step starts: the subject, or with ``inverse`` the object.
            relation: Number of the relation.
            inverse: Whether the step goes from object to subject.
        """
        keys, ends = self._backward if inverse else self._forward
        wanted = relation * len(self.entities) + entity
        low, high = np.searchsorted(keys, [wanted, wanted + 1])
        return ends[low:high]

    def step_numbers(self) -> tuple[Numbers, Numbers]:
        """Return, for both ends of all triples, the entity and its step: relation number * 2, + 1 if inverse.

        Step numbers have the order of steps; see ``step``. The pairs are distinct and sorted by entity, then step.
        """
        subjects, relations, objects = self.triples.T.astype(np.int64)
        width = max(2 * len(self.relations), 1)
        keys = np.concatenate([subjects * width + 2 * relations, objects * width + 2 * relations + 1])
        nodes, steps = np.divmod(_distinct(keys), width)
        return nodes.astype(np.int32), steps.astype(np.int32)

    def step(self, number: int) -> Step:
        """Return the step of a step number."""
        return Step(self.relations[number // 2], bool(number % 2))

    def step_number(self, step: Step) -> int:
        """Return the number of a step; -1 for one whose relation the table lacks."""
        number = self.relation_numbers.get(step.relation, -1)
        return -1 if number < 0 else 2 * number + step.inverse

    def _keys(self, rows: Numbers) -> npt.NDArray[np.int64]:
        """Number rows in the order of the table: by relation, subject, object."""
        width = np.int64(max(len(self.entities), 1))
        subjects, relations, objects = rows.T.astype(np.int64)
        keys: npt.NDArray[np.int64] = (relations * width + subjects) * width + objects
        return keys

    @cached_property
    def _forward_keys(self) -> npt.NDArray[np.int64]:
        return self._keys(self.triples)

    @cached_property
    def _forward(self) -> tuple[npt.NDArray[np.int64], Numbers]:
        """Objects of all triples, with the sorted key of relation and subject."""
        subjects, relations, objects = self.triples.T
        return relations.astype(np.int64) * len(self.entities) + subjects, objects

    @cached_property
    def _backward(self) -> tuple[npt.NDArray[np.int64], Numbers]:
        """Subjects of all triples, with the sorted key of relation and object."""
        subjects, relations, objects = self.triples.T
        keys = relations.astype(np.int64) * len(self.entities) + objects
        order = np.lexsort((subjects, keys))
        return keys[order], subjects[order]


def candidate_numbers(candidates: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> list[npt.NDArray[np.int64]]:
    """Return the number of each candidate, by list; -1 for unknown ids. A list that stands twice is read once."""
    # Whoever ranks all entities gives the same list with every pattern.
    found = {id(ids): ids for ids in candidates}
    read = {key: np.array([numbers.get(id_, -1) for id_ in ids], dtype=np.int64) for key, ids in found.items()}
    return [read[id(ids)] for ids in candidates]


def _sorted(rows: Numbers) -> Numbers:
    """Sort rows by relation, subject, object, and drop duplicates."""
    rows = rows[np.lexsort((rows[:, 2], rows[:, 0], rows[:, 1]))]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[fresh]


def _distinct(keys: npt.NDArray[Any]) -> npt.NDArray[Any]:
    keys = np.sort(keys)
    fresh = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return keys[fresh]
