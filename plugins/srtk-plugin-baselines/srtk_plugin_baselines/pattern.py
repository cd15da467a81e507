"""The ``pattern`` expander: the triples that fit the pattern of a question, and the entities at its open end."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Literal, Pattern, Question, Subgraph, close_matches, open_end
from srtk_plugin_baselines.answered import NO_PATTERN, answered, ranked


@attrs.define(eq=False)
class PatternExpander(Expander):
    """Look up the triples that fit a question's pattern, the most confident first.

    The budget's ``hub`` limits the triples, since the bound end may be a hub. A triple that the graph holds scores 0,
    a proposed triple the logarithm of its confidence. Equally confident triples are sorted. The answer names the
    entities at the open end, in the order of the triples.

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
        found = [Subgraph(trace={"reason": NO_PATTERN}) for _ in questions]
        empty = []
        for (i, pattern), row in zip(asked, rows, strict=True):
            whole = ranked(row, [next(origins) for _ in row], False)
            found[i] = whole if self.budget.hub is None else whole.first(self.budget.hub, "hub")
            if not row:
                empty.append((i, pattern))
        for (i, _), reason in zip(empty, self._reasons([pattern for _, pattern in empty]), strict=True):
            found[i] = Subgraph(trace={"reason": reason})
        cut = finish(self.graph, found, self.budget)
        ends = {i: 0 if pattern.subject is None else 2 for i, pattern in asked}
        return answered(self.graph, cut, [ends.get(i, 2) for i in range(len(cut))])

    def _reasons(self, patterns: Sequence[Pattern]) -> list[str]:
        """Explain for each pattern why nothing fits it."""
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
