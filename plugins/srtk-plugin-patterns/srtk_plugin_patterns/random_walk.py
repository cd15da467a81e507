"""Random walks along a path: the probability of each entity at its end, exactly and for many starts at once.

A walk takes one of the edges of its step at random, each with the same probability (Lao and Cohen 2010). Where a step
has no edge the walk ends there, so that the probabilities of a path may sum to less than 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_plugin_patterns.step_matrices import StepMatrices

Ints = npt.NDArray[np.int64]


@attrs.define(eq=False)
class RandomWalk:
    """Walks over a table.

    Attributes:
        table: The triples; a loop is no edge.
        simple: Whether a walk visits no entity twice: it chooses among the edges to new entities.
    """

    table: TripleTable
    simple: bool = False
    _matrices: StepMatrices = attrs.field(init=False)
    _of_step: dict[int, Any] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self._matrices = StepMatrices(self.table)

    def ends(self, starts: Ints, path: Sequence[int], held_out: Ints | None = None, of: Ints | None = None) -> Any:
        """Return the probability of each entity at the end of a path.

        Args:
            starts: Numbers of the entities to start from [n].
            path: Step numbers; the empty path ends where it starts.
            held_out: Rows (subject, relation, object) of distinct triples of the table for a start [m, 3], which its
                walks do not use.
            of: Place of the start that each row belongs to [m]; by default there is one row for each start.

        Returns:
            Sparse float64 matrix [n, entities].
        """
        if held_out is not None and of is None:
            of = np.arange(len(held_out))
        if self.simple:
            return self._simple(starts, path, held_out, of)
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        size = len(self.table.entities)
        reached = csr_array((np.ones(len(starts)), (np.arange(len(starts)), starts)), shape=(len(starts), size))
        for step in path:
            edges = self._matrices.step(step)
            after = reached @ self._shares(step)
            if held_out is not None and of is not None:
                after = after + self._without(reached, edges, step, held_out, of)
            after.eliminate_zeros()
            reached = after
        return reached

    def _shares(self, step: int) -> Any:
        """Return the edges of a step, each with its probability."""
        if step not in self._of_step:
            edges = self._matrices.step(step)
            shares = edges.astype(np.float64)
            shares.data = np.repeat(1 / np.maximum(np.diff(edges.indptr), 1), np.diff(edges.indptr))
            self._of_step[step] = shares
        return self._of_step[step]

    def _without(self, reached: Any, edges: Any, step: int, held_out: Ints, of: Ints) -> Any:
        """Return the change of the probabilities at a step where some triples are no edges for a start."""
        from scipy.sparse import csr_array

        size = len(self.table.entities)
        of, begins, ends = _edges_of(held_out, of, step)
        # The walks of a start that stand where some of its triples begin share the other edges there.
        keys, group = np.unique(of * size + begins, return_inverse=True)
        rows, nodes = np.divmod(keys, size)
        weights = np.asarray(reached[rows, nodes]).ravel() if len(keys) else np.zeros(0)
        counts = np.diff(edges.indptr)[nodes]
        left = counts - np.bincount(group, minlength=len(keys))
        shares = weights / np.maximum(counts, 1)
        risen = np.where(left > 0, weights / np.maximum(left, 1), shares)
        more = csr_array((risen - shares, (rows, np.arange(len(keys)))), shape=(reached.shape[0], len(keys)))
        return more @ edges[nodes] - csr_array((risen[group], (of, ends)), shape=reached.shape)

    def _simple(self, starts: Ints, path: Sequence[int], held_out: Ints | None, owners: Ints | None) -> Any:
        from scipy.sparse import csr_array

        size = len(self.table.entities)
        of, nodes = np.arange(len(starts)), starts.astype(np.int64)
        weights, visited = np.ones(len(starts)), [nodes]
        for step in path:
            edges = self._matrices.step(step)
            counts = np.diff(edges.indptr)[nodes]
            parents = np.repeat(np.arange(len(nodes)), counts)
            places = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            ends = edges.indices[np.repeat(edges.indptr[:-1][nodes], counts) + places].astype(np.int64)
            fresh = np.ones(len(ends), dtype=bool)
            for column in visited:
                fresh &= ends != column[parents]
            if held_out is not None and owners is not None:
                start, begin, end = _edges_of(held_out, owners, step)
                taken = (of[parents] * size + nodes[parents]) * size + ends
                fresh &= ~np.isin(taken, (start * size + begin) * size + end)
            parents, ends = parents[fresh], ends[fresh]
            left = np.bincount(parents, minlength=len(nodes))
            weights = weights[parents] / left[parents]
            of, visited, nodes = of[parents], [column[parents] for column in visited] + [ends], ends
        return csr_array((weights, (of, nodes)), shape=(len(starts), size))


def _edges_of(triples: Ints, of: Ints, step: int) -> tuple[Ints, Ints, Ints]:
    """Return the edges of a step among triples: the place of the start that each belongs to, its begin, its end."""
    mine = (triples[:, 1] == step // 2) & (triples[:, 0] != triples[:, 2])
    subjects, _, objects = triples[mine].T
    return (of[mine], objects, subjects) if step % 2 else (of[mine], subjects, objects)
