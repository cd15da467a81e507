"""The ``random`` expander: triples around the links in random order."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

import attrs
import numpy as np

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Question, Subgraph, at_least
from srtk_plugin_baselines.neighbourhood import neighbourhoods, ranked_subgraph

_LEAST = 1e-4  # Least weight of a link, so that the triples of links with score 0 come last


@attrs.define(eq=False)
class RandomExpander(Expander):
    """Draw triples around the links at random, without replacement.

    A triple draws u between 0 and 1 and scores u ** (1 / w), where w is the weight of the link from which it was
    reached: this is weighted sampling without replacement (Efraimidis and Spirakis 2006). Draws depend on
    the seed and the question's id alone.

    Attributes:
        graph: Graph to read.
        budget: Limits of a question.
        depth: Number of hops from the links.
        inverse: Also follow relations against their direction.
        seed: Seed of the draws.
        most_read: Maximum number of triples to draw from, nearest first; null for no limit.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    depth: int = attrs.field(default=2, validator=at_least(1))
    inverse: bool = True
    seed: int = 0
    most_read: int | None = attrs.field(default=100_000, validator=at_least(1))

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Return triples of the neighbourhood in random order."""
        found = neighbourhoods(
            self.graph, questions, self.depth, self.inverse, self.budget, most=self.most_read, cut_by="read"
        )
        subgraphs = []
        for question, one in zip(questions, found, strict=True):
            generator = self._generator(question.id)
            scores = [generator.random() ** (1.0 / max(weight, _LEAST)) for weight in one.weights.tolist()]
            subgraphs.append(ranked_subgraph(one, np.array(scores), self.budget))
        return finish(self.graph, subgraphs, self.budget)

    def _generator(self, id_: str) -> random.Random:
        name = f"{self.seed}\0{id_}".encode("utf-8", "surrogatepass")
        return random.Random(int.from_bytes(hashlib.sha256(name).digest()))
