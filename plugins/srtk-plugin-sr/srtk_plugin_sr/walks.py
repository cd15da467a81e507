"""Paths drawn from a graph, as people would ask for them: unevenly, and rather towards few ends."""

from __future__ import annotations

import math
import random
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.values import Path, Step

Numbers = npt.NDArray[np.int32]

CONTINUED = 0.55
"""Probability with which a path goes on by another step, below its greatest length."""
# A walk may end at a node without a further step, and is drawn again.
_TRIES = 8


class WalkSource:
    """Draws paths from a graph.

    The first relation is drawn by the square root of the number of its triples: few relations are asked for often, but
    not as often as they occur. Of two of its triples the one whose start has more triples is walked, since people ask
    about known things. Of the ends of a step, fewer are likelier, since a question has few answers as a rule.

    Args:
        table: The triples.
        seed: Seed of the drawing.
        depth: Largest number of steps.
        left_out: Relations that no path takes.
    """

    def __init__(self, table: TripleTable, seed: int, depth: int = 2, left_out: Collection[str] = ()) -> None:
        self._table = table
        self._chance = random.Random(seed)
        self._depth = depth
        rows = table.triples
        self._rows = rows
        counts = np.bincount(rows[:, 1], minlength=len(table.relations))
        self._counts = counts
        self._first = np.searchsorted(rows[:, 1], np.arange(len(counts)))
        asked = [0.0 if name in left_out else 1.0 for name in table.relations]
        self._weights: list[float] = (np.sqrt(counts) * asked).tolist()
        # Stable, so that equal keys keep the order of the triples on every machine.
        self._by_subject = np.argsort(rows[:, 0], kind="stable")
        self._by_object = np.argsort(rows[:, 2], kind="stable")
        self._subjects = rows[self._by_subject, 0]
        self._objects = rows[self._by_object, 2]

    def draw(self) -> tuple[str, Path] | None:
        """Draw an entity and a path from it; None if none was found."""
        if not any(self._weights):
            return None
        for _ in range(_TRIES):
            relation = self._chance.choices(range(len(self._weights)), self._weights)[0]
            start, step, node = max((self._triple(relation) for _ in range(2)), key=lambda walk: self._degree(walk[0]))
            steps = [step]
            while len(steps) < self._depth and self._chance.random() < CONTINUED:
                if (walk := self._next(node, steps[-1])) is None:
                    break
                steps.append(walk[0])
                node = walk[1]
            else:
                names = self._table.relations
                return self._table.entities[start], tuple(Step(names[r], inverse) for r, inverse in steps)
        return None

    def ends(self, entity: str, steps: Path) -> list[str]:
        """Return the entities that a path leads to from an entity, sorted, without the entity itself."""
        names, table = self._table.entities, self._table
        nodes = {table.entity_numbers[entity]}
        for step in steps:
            relation = table.relation_numbers[step.relation]
            nodes = {end for node in nodes for end in table.fillers(node, relation, step.inverse).tolist()}
        return sorted({names[node] for node in nodes} - {entity})

    def _triple(self, relation: int) -> tuple[int, tuple[int, bool], int]:
        """Draw a triple of a relation, and the direction of the walk: rather towards fewer ends."""
        row = self._rows[self._first[relation] + self._chance.randrange(int(self._counts[relation]))]
        subject, object_ = int(row[0]), int(row[2])
        forward = math.sqrt(len(self._table.fillers(subject, relation)))
        backward = math.sqrt(len(self._table.fillers(object_, relation, inverse=True)))
        if self._chance.random() < forward / (forward + backward):
            return object_, (relation, True), subject
        return subject, (relation, False), object_

    def _next(self, node: int, last: tuple[int, bool]) -> tuple[tuple[int, bool], int] | None:
        """Draw a step from a node that does not go back, rather with few ends, and an end of it."""
        options: dict[tuple[int, bool], int] = {}
        for inverse in (False, True):
            relations, counts = np.unique(self._at(node, inverse)[:, 1], return_counts=True)
            options.update({(int(r), inverse): int(n) for r, n in zip(relations, counts, strict=True)})
        options.pop((last[0], not last[1]), None)
        weights = [math.sqrt(self._weights[relation] / count) for (relation, _), count in options.items()]
        if not any(weights):
            return None
        step = self._chance.choices(list(options), weights)[0]
        return step, int(self._chance.choice(self._table.fillers(node, *step)))

    def _degree(self, node: int) -> int:
        return len(self._at(node, False)) + len(self._at(node, True))

    def _at(self, node: int, inverse: bool) -> Numbers:
        """Return the triples whose object (inverse) or subject is a node."""
        keys, order = (self._objects, self._by_object) if inverse else (self._subjects, self._by_subject)
        low, high = np.searchsorted(keys, [node, node + 1])
        return self._rows[order[low:high]]
