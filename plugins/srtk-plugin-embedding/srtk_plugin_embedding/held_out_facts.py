"""Held-out facts of a training, on which embeddings are compared."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_evaluation import TiedRanks, filtered_ranks, hits, reciprocal_ranks

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple
from srtk_plugin_embedding.model import BLOCK, EmbeddingModel

Ints = npt.NDArray[np.int64]

# Facts that a validation ranks. Each costs two passes over all entities, and the figure only selects the best epoch.
_MOST = 2000


@attrs.frozen(eq=False)
class HeldOutFacts:
    """Facts whose ends are ranked among all entities, first the object of each, then the subject.

    Attributes:
        ends: Numbers of the bound ends [2 * facts].
        steps: Numbers of the relations; for an open subject, + the number of relations [2 * facts].
        right: Numbers of the right answers [2 * facts].
        known: Per query, numbers of all answers that the whole graph holds.
    """

    ends: Ints
    steps: Ints
    right: Ints
    known: Sequence[Ints]

    @classmethod
    def of(cls, facts: Sequence[Triple], table: TripleTable, whole: TripleTable, seed: int) -> HeldOutFacts:
        """Number facts, at most 2000 of them.

        Args:
            facts: The held-out facts; a fact whose end or relation has no triple left is omitted.
            table: Table of the triples that are learnt.
            whole: Table of the whole graph, whose triples are no wrong answers.
            seed: Seed of the draw.
        """
        rows = table.numbers(facts).astype(np.int64)
        rows = rows[(rows >= 0).all(axis=1)]
        if len(rows) > _MOST:
            rows = rows[np.sort(np.random.default_rng(seed).choice(len(rows), _MOST, replace=False))]
        subjects, relations, objects = rows.T
        ends, right = np.concatenate([subjects, objects]), np.concatenate([objects, subjects])
        columns = np.array([table.entity_numbers.get(id_, -1) for id_ in whole.entities], dtype=np.int64)
        known = []
        for place, end in enumerate(ends.tolist()):
            number = whole.entity_numbers[table.entities[end]]
            relation = whole.relation_numbers[table.relations[int(relations[place % len(rows)])]]
            found = columns[whole.fillers(number, relation, inverse=place >= len(rows))]
            known.append(found[found >= 0])
        return cls(ends, np.concatenate([relations, relations + len(table.relations)]), right, known)

    def __len__(self) -> int:
        return len(self.right) // 2

    def figures(self, model: EmbeddingModel) -> dict[str, float]:
        """Return filtered MRR and Hits@10 over both ends, ties at expectation."""
        parts = []
        for start in range(0, len(self.right), BLOCK):
            some = slice(start, start + BLOCK)
            scores = model.scores(self.ends[some], self.steps[some])
            parts.append(filtered_ranks(scores, self.right[some], self.known[some]))
        ranks = TiedRanks(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return {"mrr": float(reciprocal_ranks(ranks).mean()), "hits_at_10": float(hits(ranks, 10).mean())}
