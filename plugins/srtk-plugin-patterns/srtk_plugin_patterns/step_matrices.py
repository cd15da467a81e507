"""Step matrices: the steps of a table as sparse matrices, and the entities that simple paths reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable

Ints = npt.NDArray[np.int64]


@attrs.define(eq=False)
class StepMatrices:
    """One sparse matrix [entities, entities] for each step, without loops, made when it is asked for.

    Attributes:
        table: The triples.
    """

    table: TripleTable
    _steps: dict[int, Any] = attrs.field(factory=dict)
    _returns: dict[tuple[int, int], Any] = attrs.field(factory=dict)

    def step(self, number: int) -> Any:
        """Return the matrix of a step: 1 where it leads from the row to the column."""
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        if number not in self._steps:
            rows = self.table.of_relation(number // 2)
            rows = rows[rows[:, 0] != rows[:, 2]]
            starts, ends = (rows[:, 2], rows[:, 0]) if number % 2 else (rows[:, 0], rows[:, 2])
            size = len(self.table.entities)
            found = csr_array((np.ones(len(rows), dtype=np.int64), (starts, ends)), shape=(size, size))
            found.sort_indices()
            self._steps[number] = found
        return self._steps[number]

    def first(self, starts: Ints, step: int) -> Any:
        """Return the entities that a step reaches from some starts: a sparse matrix [starts, entities]."""
        return self.step(step)[starts]

    def second(self, starts: Ints, first: Any, step: int) -> Any:
        """Go on from ``first`` by a step; a path that is back at its start is dropped."""
        return without_starts(first @ self.step(step), starts)

    def third(self, starts: Ints, second: Any, steps: Sequence[int]) -> Any:
        """Go on from ``second`` by the last of three steps; only paths that visit no entity twice are counted.

        From all walks those are subtracted whose end is their second entity: for each such end, as many as lead from it
        to a third entity and back.
        """
        one, two, three = steps
        walks = without_starts(second @ self.step(three), starts)
        back = self.returns(two, three)
        if back is None:
            return walks
        reached = self.step(one)[starts]
        owners = np.repeat(np.arange(len(starts)), np.diff(reached.indptr))
        counts = back[reached.indices]
        # The start is no third entity.
        counts = counts - (
            self._values(two, reached.indices, starts[owners]) * self._values(three, starts[owners], reached.indices)
        )
        twice = reached.copy()
        twice.data = counts
        found = walks - twice
        found.eliminate_zeros()
        return found

    def returns(self, there: int, back: int) -> Any:
        """Return for each entity how many pairs of steps lead away from it and back; None if there are none at all."""
        key = (there, back)
        if key not in self._returns:
            both = self.step(there).multiply(self.step(back).T)
            self._returns[key] = np.asarray(both.sum(axis=1)).ravel() if both.nnz else None
        return self._returns[key]

    def reached(self, starts: Ints, steps: Sequence[int]) -> Any:
        """Return how many simple paths of one to three steps lead from some starts to each entity."""
        found = self.first(starts, steps[0])
        if len(steps) > 1:
            found = self.second(starts, found, steps[1])
        return self.third(starts, found, steps) if len(steps) > 2 else found

    def _values(self, step: int, rows: Ints, columns: Ints) -> Ints:
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        ends = (columns, rows) if step % 2 else (rows, columns)
        triples = np.stack([ends[0], np.full(len(rows), step // 2), ends[1]], axis=1).astype(np.int32)
        found: Ints = self.table.holds(triples).astype(np.int64)
        return found


def without_starts(matrix: Any, starts: Ints) -> Any:
    """Drop the entries of a matrix [starts, entities] whose column is the row's start."""
    owners = np.repeat(starts, np.diff(matrix.indptr))
    matrix.data[matrix.indices == owners] = 0
    matrix.eliminate_zeros()
    return matrix


def reversed_steps(steps: Sequence[int]) -> tuple[int, ...]:
    """Return the steps of a path as they are walked from its end."""
    return tuple(step ^ 1 for step in reversed(steps))
