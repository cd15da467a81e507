"""The instances of a question's paths by number, for the choice of triples: no object is made of what is not chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import Instance, NumberedInstances
from srtk_framework.values import EdgeArrays, Path, RankedPath, Triple

Ints = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class ReadTable:
    """The instances of a question's paths; its nodes and its triples are numbered from 0.

    Attributes:
        ranks: Ranks of the paths that have instances, rising [r].
        rows: For each instance the place of its path in ``ranks``, rising [n].
        nodes: Its nodes, from the linked entity on; -1 behind the last [n, longest + 1].
        ends: Its last node [n].
        triples: Its triples; -1 behind the last [n, longest].
        confidences: Product of their confidences [n].
        subjects: Subject of each triple [t].
        relations: Relation of each triple [t], a place in ``names``.
        objects: Object of each triple [t].
        numbers: Number in the graph of each node, rising.
        names: Ids of the relations.
        graph: Gives the ids of numbers in the graph.
    """

    ranks: list[int]
    rows: Ints
    nodes: Ints
    ends: Ints
    triples: Ints
    confidences: npt.NDArray[np.float64]
    subjects: Ints
    relations: Ints
    objects: Ints
    numbers: Ints
    names: Sequence[str]
    graph: EdgeArrays | Interned

    @classmethod
    def of(cls, paths: Sequence[RankedPath], read: Mapping[int, Sequence[Instance]], interned: Interned) -> ReadTable:
        """Number the instances of paths, given by rank; a graph without numbers gets those of ``interned``."""
        ranks = sorted(read)
        graph: EdgeArrays | Interned = interned
        parts: list[Ints] = []
        confidences: list[float] = []
        for rank in ranks:
            found = read[rank]
            if isinstance(found, NumberedInstances):
                graph = found.arrays
                parts.append(found.nodes)
            else:
                parts.append(interned.nodes(found, paths[rank].steps))
                confidences += [one.confidence for one in found]
        sizes = [len(part) for part in parts]
        rows = np.repeat(np.arange(len(ranks)), sizes)
        longest = max((part.shape[1] for part in parts), default=1) - 1
        flat = np.concatenate([part.ravel() for part in parts]) if parts else np.empty(0, dtype=np.int64)
        numbers, places, _ = numbered(flat)
        nodes = np.full((len(rows), longest + 1), -1, dtype=np.int64)
        lengths = np.repeat(np.array([part.shape[1] for part in parts], dtype=np.int64), sizes)
        nodes[np.arange(longest + 1) < lengths[:, None]] = places
        names: dict[str, int] = {}
        steps = [
            [(names.setdefault(step.relation, len(names)), step.inverse) for step in paths[rank].steps]
            + [(0, False)] * (longest - len(paths[rank].steps))
            for rank in ranks
        ]
        relations, inverse = np.array(steps, dtype=np.int64).reshape(len(ranks), longest, 2).transpose(2, 0, 1)[:, rows]
        starts, ends = nodes[:, :-1], nodes[:, 1:]
        width = max(len(numbers), 1)
        subjects, objects = np.where(inverse, ends, starts), np.where(inverse, starts, ends)
        keys = (relations * width + subjects) * width + objects
        there = ends >= 0
        triples = np.full(ends.shape, -1, dtype=np.int64)
        every, triples[there], _ = numbered(keys[there])
        before, objects = np.divmod(every, width)
        relations, subjects = np.divmod(before, width)
        return cls(
            ranks=ranks,
            rows=rows,
            nodes=nodes,
            ends=nodes[np.arange(len(rows)), lengths - 1],
            triples=triples,
            confidences=np.array(confidences) if confidences else np.ones(len(rows)),
            subjects=subjects,
            relations=relations,
            objects=objects,
            numbers=numbers,
            names=list(names),
            graph=graph,
        )

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.numbers)

    def named(self, triples: Ints) -> list[Triple]:
        """Make triples of their numbers; each id is read once."""
        ends = np.concatenate([self.subjects[triples], self.objects[triples]])
        nodes = distinct(ends)
        ids = self.graph.ids(self.numbers[nodes])
        at = [ids[place] for place in np.searchsorted(nodes, ends).tolist()]
        middle = [self.names[relation] for relation in self.relations[triples].tolist()]
        # A call of the class itself takes twice the time.
        rows = zip(at[: len(middle)], middle, at[len(middle) :], strict=True)
        return list(map(tuple.__new__, repeat(Triple), rows))

    def find(self, other: ReadTable, triples: Ints) -> Ints:
        """Return the numbers of triples of another table of the same graph, all of which are here too."""
        own = {name: place for place, name in enumerate(self.names)}
        relations = np.array([own.get(name, -1) for name in other.names], dtype=np.int64)[other.relations[triples]]
        subjects, objects = (
            np.searchsorted(self.numbers, other.numbers[ends[triples]]) for ends in (other.subjects, other.objects)
        )
        width = max(self.size, 1)
        every = (self.relations * width + self.subjects) * width + self.objects
        return np.searchsorted(every, (relations * width + subjects) * width + objects)


@attrs.define(eq=False)
class Interned:
    """Numbers for the nodes of a graph that has none, in the order in which they come."""

    known: dict[str, int] = attrs.field(factory=dict)

    def ids(self, numbers: Ints) -> list[str]:
        """Return the ids of nodes."""
        known = list(self.known)
        return [known[number] for number in numbers.tolist()]

    def nodes(self, instances: Sequence[Instance], steps: Path) -> Ints:
        """Return the nodes of each instance of a path, from the linked entity on [n, steps + 1]."""
        number: Any = self.known.setdefault
        rows = []
        for one in instances:
            ends = [
                triple[::-2] if step.inverse else triple[::2] for triple, step in zip(one.triples, steps, strict=True)
            ]
            rows.append([number(node, len(self.known)) for node in (ends[0][0], *(end for _, end in ends))])
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(steps) + 1)


def distinct(numbers: Ints) -> Ints:
    """Return the sorted distinct numbers; faster than ``numpy.unique`` for a few thousand."""
    numbers = np.sort(numbers)
    fresh = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=fresh[1:])
    return numbers[fresh]


_BITS = 20


def numbered(values: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the sorted distinct values, the place of each value among them, and where each comes first."""
    if len(values) >> _BITS or int(values.max(initial=0)) >> (62 - _BITS):
        every, first, places = np.unique(values, return_index=True, return_inverse=True)
        return every, places, first
    # Sorted with its place, a number takes a tenth of the time of a stable sort of places.
    both = np.sort((values << _BITS) | np.arange(len(values)))
    order, ordered = both & ((1 << _BITS) - 1), both >> _BITS
    fresh = np.ones(len(values), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.cumsum(fresh) - 1
    return ordered[fresh], places, order[fresh]


def first_places(numbers: Ints, size: int) -> npt.NDArray[np.bool_]:
    """Return which of some numbers, each below ``size``, come for the first time."""
    places = np.arange(len(numbers))
    first = np.empty(size, dtype=np.int64)
    first[numbers[::-1]] = places[::-1]  # The last to be written is the first to come.
    found: npt.NDArray[np.bool_] = first[numbers] == places
    return found
