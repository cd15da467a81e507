"""The ``pattern`` expander: the triples that fit the pattern of a question, and the entities at its open end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import (
    Answer,
    Budget,
    Literal,
    Origin,
    Pattern,
    Question,
    Subgraph,
    Triple,
    close_matches,
    open_end,
    rounded,
)

_NO_PATTERN = "the question has no pattern; give one, such as [subject, relation, null], or use another expander"
_LEAST = 1e-6
"""Confidence that stands for none in a logarithm."""
_NAMED = 10
"""Most answers whose names make up the text of the answer."""


@attrs.define(eq=False)
class PatternExpander(Expander):
    """Look up the triples that fit a question's pattern, the most confident first.

    The bound end may be a hub: then the first triples are kept, as many as ``hub`` of the budget says.
    A triple that the graph holds scores 0, another one the logarithm of its confidence. Equally confident triples are
    sorted. The answer names what stands at the open end, in the order of the triples.

    Attributes:
        graph: Graph to read.
        budget: Limits of a question.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)

    def needs_links(self) -> bool:
        """A pattern names its entity itself."""
        return False

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Return the triples that fit the pattern of each question.

        Raises:
            DriverError: If a pattern has no relation, or no or two open ends.
        """
        asked = [(i, question.pattern) for i, question in enumerate(questions) if question.pattern is not None]
        patterns = [pattern for _, pattern in asked]
        for pattern in patterns:
            open_end(pattern)
        rows = self.graph.match(patterns) if patterns else []
        origins = iter(self.graph.origins([triple for row in rows for triple in row]))
        found = [Subgraph(trace={"reason": _NO_PATTERN}) for _ in questions]
        empty = []
        for (i, pattern), row in zip(asked, rows, strict=True):
            whole = _ranked(row, [next(origins) for _ in row])
            found[i] = whole if self.budget.hub is None else whole.first(self.budget.hub, "hub")
            if not row:
                empty.append((i, pattern))
        for (i, _), reason in zip(empty, self._reasons([pattern for _, pattern in empty]), strict=True):
            found[i] = Subgraph(trace={"reason": reason})
        cut = finish(self.graph, found, self.budget)
        ends = {i: 0 if pattern.subject is None else 2 for i, pattern in asked}
        return self._answered(cut, [ends.get(i, 2) for i in range(len(cut))])

    def _reasons(self, patterns: Sequence[Pattern]) -> list[str]:
        """Say for each pattern why nothing fits it."""
        ends = [open_end(pattern) for pattern in patterns]
        places = self.graph.frontiers([[bound] for bound, _ in ends])
        steps = self.graph.steps(places, True)
        reasons = []
        for pattern, (bound, step), place, row in zip(patterns, ends, places, steps, strict=True):
            if not place.size and not isinstance(bound, Literal):
                reasons.append(f"the graph has no {bound}, so nothing fits {pattern}; check the id")
                continue
            known = [one.relation for one in row if one.inverse == step.inverse]
            near = "" if step.relation in known else close_matches(step.relation, known)
            reasons.append(f"no triple of the graph fits {pattern}.{near}")
        return reasons

    def _answered(self, subgraphs: Sequence[Subgraph], ends: Sequence[int]) -> list[Subgraph]:
        """Answer with the entities at the open ends, whose places in a triple are given, and the names of the first."""
        rows = [tuple(dict.fromkeys(t[end] for t in one.triples)) for one, end in zip(subgraphs, ends, strict=True)]
        ids = sorted({id_ for row in rows for id_ in row[:_NAMED]})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True)) if ids else {}
        return [
            attrs.evolve(
                one, answer=Answer(", ".join(labels[id_] for id_ in row[:_NAMED]), row, tuple(range(len(one.triples))))
            )
            if row
            else one
            for one, row in zip(subgraphs, rows, strict=True)
        ]


def _ranked(triples: Sequence[Triple], origins: Sequence[Origin]) -> Subgraph:
    """Order triples by confidence."""
    order = sorted(range(len(triples)), key=lambda i: (-origins[i].confidence, triples[i]))
    return Subgraph(
        triples=tuple(triples[i] for i in order),
        scores=tuple(rounded(math.log(max(origins[i].confidence, _LEAST))) for i in order),
        path_of=(-1,) * len(order),
    )
