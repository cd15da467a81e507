"""The ``operations`` expander: the whole set that a question counts or orders, and the values that decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph, PathScorer
from srtk_framework.values import Budget, Question, RankedPath, Subgraph, Triple, at_least
from srtk_plugin_answers.node_sets import Lead
from srtk_plugin_answers.operations import PART, Operations
from srtk_plugin_answers.question_kinds import QuestionKind
from srtk_plugin_answers.result_order import merged


@attrs.define(eq=False)
class OperationsExpander(Expander):
    """Put the triples that the question's operation needs first: a whole set, or the values that decide.

    The kind of the question (``kind_of``) decides; the README of the package has a table. It is in the trace, with the
    path, size and completeness of the set. All else follows as the inner expander has it. The relation whose values
    decide is chosen together with the path to the set, by the inner expander's score of the path plus the path scorer's
    score of the next step.

    Where the schema has type relations and the question names a class (*which city*), nodes of that class come before
    the rest, and sets are of them alone. Where it bounds a number or a date (*with more than two million inhabitants*),
    the members of a set with a value within come first.

    Attributes:
        inner: Expander that finds the paths.
        graph: Graph from which the sets are read.
        scorer: Chooses the relation that decides.
        budget: Limits on the result.
        members: Maximum number of instances of a path that are read.
        types: Whether a class that the question names decides the order; false saves a server the reads of classes.
    """

    inner: Expander
    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget = attrs.field(factory=Budget)
    members: int = attrs.field(default=1000, validator=at_least(1))
    types: bool = True
    _operations: Operations = attrs.field(init=False, repr=False)

    def open(self) -> None:
        """Read the graph's schema."""
        self._operations = Operations(self.graph, self.scorer, self.budget, self.members, self.types)

    def needs_links(self) -> bool:
        """Return whether the inner expander needs links."""
        return self.inner.needs_links()

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Expand with the inner expander, and put the triples of each question's operation first."""
        if not questions:
            return []
        self._operations.budget = self.budget  # a call to a session may have tighter limits
        operated = self._operations.of(questions, self.inner.expand(questions))
        return finish(self.graph, [self._led(one.found, one.kind, one.lead) for one in operated], self.budget)

    def _led(self, found: Subgraph, kind: QuestionKind, lead: Lead) -> Subgraph:
        """Put the lead before the inner expander's triples."""
        trace: dict[str, Any] = {**found.trace, "kind": kind.kind}
        if not lead.rows:
            return attrs.evolve(found, trace=trace)
        triples: dict[Triple, RankedPath | None] = {}
        most = self._room(lead)
        shown = 0
        for row in [*lead.rows[: lead.before], *lead.others, *lead.rows[lead.before :]]:
            new = {triple: path for triple, path in row if triple not in triples}
            if most is not None and len(triples) + len(new) > most:
                break
            triples.update(new)
            shown += row not in lead.others
        trace["set"] = {**lead.facts, "shown": shown}
        return merged(found, triples, trace)

    def _room(self, lead: Lead) -> int | None:
        """Return how many triples the lead may have: all, or a part of the budget if it does not fit."""
        most = self.budget.triples
        size = len({triple for row in (*lead.rows, *lead.others) for triple, _ in row})
        return None if most is None or size <= most else max(1, int(most * PART))
