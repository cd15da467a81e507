"""The ``random`` expander: triples drawn at random around the links."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Question, Subgraph
from srtk_plugin_baselines.ranking import ranked
from srtk_plugin_baselines.walking import around

_positive: Any = attrs.validators.optional(attrs.validators.ge(1))
_LEAST = 1e-4
"""Stands for the weight of links without any, so that their triples come last rather than never."""


@attrs.define(eq=False)
class RandomExpander(Expander):
    """Draw triples around the links at random, without replacement.

    A triple draws u between 0 and 1 and scores u ** (1 / w), where w is the weight of the link that leads
    to it: the order is that of weighted draws without replacement (Efraimidis and Spirakis 2006). Draws
    depend on the seed and the question's id alone.

    Attributes:
        graph: Where to read.
        budget: Limits of a question.
        depth: Hops from the links.
        inverse: Whether to walk against the direction of relations too.
        seed: Another seed, another draw.
        most_read: Most triples to draw from, nearest first; null for all.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    depth: int = attrs.field(default=2, validator=attrs.validators.ge(1))
    inverse: bool = True
    seed: int = 0
    most_read: int | None = attrs.field(default=100_000, validator=_positive)

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Return triples of the neighbourhood in random order."""
        found = around(self.graph, questions, self.depth, self.inverse, self.budget, most=self.most_read, cut_by="read")
        subgraphs = []
        for question, one in zip(questions, found, strict=True):
            chance = self._generator(question.id)
            scores = [chance.random() ** (1.0 / max(weight, _LEAST)) for weight in one.weights]
            subgraphs.append(ranked(one.triples, scores, one.trace))
        return finish(self.graph, subgraphs, self.budget)

    def _generator(self, id_: str) -> random.Random:
        name = f"{self.seed}\0{id_}".encode("utf-8", "surrogatepass")
        return random.Random(int.from_bytes(hashlib.sha256(name).digest()))
