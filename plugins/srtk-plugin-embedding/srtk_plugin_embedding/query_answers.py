"""Training queries: each distinct (s, r, ?) and (?, r, o) of a table, with all of its answers."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable

Ints = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class QueryAnswers:
    """Queries in a fixed order with their answers.

    Attributes:
        ends: Number of each query's bound end [queries].
        steps: Number of its relation; for an open subject, + the number of relations [queries].
        offsets: Where the answers of each query start [queries + 1].
        answers: Numbers of the entities that answer [2 * triples].
    """

    ends: Ints
    steps: Ints
    offsets: Ints
    answers: Ints

    @classmethod
    def of(cls, table: TripleTable) -> QueryAnswers:
        """Collect the queries of a table, by relation and bound end."""
        subjects, relations, objects = table.triples.T.astype(np.int64)
        ends, answers = np.concatenate([subjects, objects]), np.concatenate([objects, subjects])
        steps = np.concatenate([relations, relations + len(table.relations)])
        order = np.lexsort((answers, ends, steps))
        keys = (steps * len(table.entities) + ends)[order]
        _, starts = np.unique(keys, return_index=True)
        return cls(ends[order][starts], steps[order][starts], np.append(starts, len(keys)), answers[order])

    def __len__(self) -> int:
        return len(self.ends)

    def of_queries(self, queries: Ints) -> tuple[Ints, Ints]:
        """Return the answers of some queries, laid end to end, and the place of the query of each."""
        starts, counts = self.offsets[queries], self.offsets[queries + 1] - self.offsets[queries]
        rows = np.repeat(np.arange(len(queries)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.answers[starts[rows] + within], rows
