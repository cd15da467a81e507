"""The ``candidates`` expander: the candidates of a pattern question, rated by a completer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Completer, Expander, KnowledgeGraph
from srtk_framework.values import Budget, Origin, Pattern, Question, Subgraph, Triple, confidence, open_end
from srtk_plugin_baselines.answered import NO_PATTERN, answered, ranked

_NO_CANDIDATES = "the question has no candidates; list the entities to be ranked, or use the expander `pattern`"


@attrs.define(eq=False)
class CandidatesExpander(Expander):
    """Rank the candidates of a pattern by a completer, the most confident first.

    Each candidate becomes a triple: with confidence 1 and its origin where the graph holds it, else with the confidence
    that the completer rates it, 0 included. Equally confident triples are sorted. The budget's ``hub`` limits
    them. The evidence for a rated triple is not looked up; the graph ``completed`` has it.

    Attributes:
        graph: Graph to read.
        completer: Completer that rates.
        budget: Limits of a question; a candidate that is cut counts as ranked last.
    """

    graph: KnowledgeGraph
    completer: Completer
    budget: Budget = attrs.field(factory=Budget)

    def needs_links(self) -> bool:
        """A pattern names its entity itself."""
        return False

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Return the triples of the candidates of each question.

        Raises:
            DriverError: If a pattern has no relation, or no or two open ends.
        """
        asked = {
            i: (question.pattern, question.candidates)
            for i, question in enumerate(questions)
            if question.pattern is not None and question.candidates
        }
        rows = [(open_end(pattern)[1].inverse, pattern, ids) for pattern, ids in asked.values()]
        triples = [[pattern.filled(id_) for id_ in ids] for _, pattern, ids in rows]
        held = self._held([triple for row in triples for triple in row])
        rated = self.completer.rate([pattern for _, pattern, _ in rows], [ids for _, _, ids in rows]) if rows else []
        by = getattr(self.completer, "name", "") or type(self.completer).__name__
        source = self.graph.source()
        found = [
            Subgraph(trace={"reason": NO_PATTERN if question.pattern is None else _NO_CANDIDATES})
            for question in questions
        ]
        for i, own, ratings in zip(asked, triples, rated, strict=True):
            whole = ranked(
                own,
                [
                    held.get(triple) or Origin(source, confidence(rating), by)
                    for triple, rating in zip(own, ratings, strict=True)
                ],
                True,
            )
            found[i] = whole if self.budget.hub is None else whole.first(self.budget.hub, "hub")
        inverse = {i: row[0] for i, row in zip(asked, rows, strict=True)}
        cut = finish(self.graph, found, self.budget)
        return answered(self.graph, cut, [0 if inverse.get(i) else 2 for i in range(len(cut))])

    def _held(self, triples: Sequence[Triple]) -> dict[Triple, Origin]:
        """Return the origins of the triples that the graph holds."""
        stored = (
            [row[0] for row in self.graph.match([Pattern(*triple) for triple in triples]) if row] if triples else []
        )
        origins = self.graph.origins(stored) if stored else []
        return {triple: one for triple, one in zip(stored, origins, strict=True) if one.confidence >= 1}
