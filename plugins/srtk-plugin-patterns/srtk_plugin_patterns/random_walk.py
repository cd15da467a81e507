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

    def ends(self, starts: Ints, path: Sequence[int], held_out: Ints | None = None) -> Any:
        """Return the probability of each entity at the end of a path.

        Args:
            starts: Numbers of the entities to start from [n].
            path: Step numbers; the empty path ends where it starts.
            held_out: Rows (subject, relation, object) of a triple for each start [n, 3], which its walks do not use.

        Returns:
            Sparse float64 matrix [n, entities].
        """
        if self.simple:
            return self._simple(starts, path, held_out)
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        size = len(self.table.entities)
        reached = csr_array((np.ones(len(starts)), (np.arange(len(starts)), starts)), shape=(len(starts), size))
        for step in path:
            edges = self._matrices.step(step)
            after = reached @ self._shares(step)
            if held_out is not None:
                after = after + self._without(reached, edges, step, held_out)
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

    def _without(self, reached: Any, edges: Any, step: int, held_out: Ints) -> Any:
        """Return the change of the probabilities at a step where each start's triple is no edge."""
        from scipy.sparse import csr_array, diags_array

        relation, inverse = divmod(step, 2)
        begins, ends = held_out[:, 2 if inverse else 0], held_out[:, 0 if inverse else 2]
        rows = np.arange(len(held_out))
        mine = (held_out[:, 1] == relation) & (begins != ends)
        weights = np.zeros(len(held_out))
        weights[mine] = np.asarray(reached[rows[mine], begins[mine]]).ravel()
        mine &= weights > 0
        counts = np.diff(edges.indptr)[begins]
        # The walks that stand at the triple's begin share its other edges: each gets 1 / (n - 1) in place of 1 / n.
        more = np.zeros(len(held_out))
        several = mine & (counts > 1)
        more[several] = weights[several] * (1 / (counts[several] - 1) - 1 / counts[several])
        others = diags_array(more) @ edges[begins]
        lost = np.where(several, -weights / np.maximum(counts - 1, 1), np.where(mine, -weights, 0.0))
        held = csr_array((lost, (rows, ends)), shape=reached.shape)
        return others + held

    def _simple(self, starts: Ints, path: Sequence[int], held_out: Ints | None) -> Any:
        from scipy.sparse import csr_array

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
            if held_out is not None:
                subject, relation, object_ = held_out[of[parents]].T
                begin, end = (object_, subject) if step % 2 else (subject, object_)
                fresh &= (relation != step // 2) | (begin != nodes[parents]) | (end != ends)
            parents, ends = parents[fresh], ends[fresh]
            left = np.bincount(parents, minlength=len(nodes))
            weights = weights[parents] / left[parents]
            of, visited, nodes = of[parents], [column[parents] for column in visited] + [ends], ends
        shape = (len(starts), len(self.table.entities))
        return csr_array((weights, (of, nodes)), shape=shape)
