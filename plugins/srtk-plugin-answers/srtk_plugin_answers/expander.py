"""The ``operations`` expander: the whole set that a question counts, compares or takes from, and what decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph, PathScorer
from srtk_framework.values import Budget, Question, RankedPath, Subgraph, Triple
from srtk_plugin_answers.node_sets import Lead
from srtk_plugin_answers.operations import Operations
from srtk_plugin_answers.question_kinds import QuestionKind
from srtk_plugin_answers.result_order import merged

_PART = 0.5
"""Part of the budget for a set that does not fit into all of it."""


@attrs.define(eq=False)
class OperationsExpander(Expander):
    """Put first what the question's operation needs: a whole set, and for a comparison the values that decide.

    The kind of the question (``kind_of``) and, of the set, its path, size and completeness are in the trace.

    - `count`: all that the best path of the inner expander leads to.
    - `superlative`, `ordinal`: all that a path leads to, each with the number or date of one relation, those asked for
      first; of an order by counts (*the most neighbours*) with the ends of a step. Path and relation are chosen
      together: the inner expander's score of the path plus the path scorer's of the relation as its next step, among
      relations with numbers or dates.
    - `comparison`: such a value for each linked entity.
    - `difference`: all that the best path from one link leads to, without what a path from another link leads to first.
    - `yes-no`: the triples that join two links.
    - `lookup` with several topics: what joins two of them, by the best paths over a node, of those that the inner
      expander found.
    - `time-bound`: statements whose qualifiers allow the year before the others, those that contradict it last.

    All else follows as the inner expander has it. Besides:

    - *Classes.* Where the schema has type relations and the question names a class (*which city*), what has that class
      comes before the rest; in sets it alone is counted and compared.
    - *Values.* Where the question bounds a number or a date (*with more than two million inhabitants*), the members of
      a set whose value is within come first, each with it; the relation is chosen as for a superlative.

    Attributes:
        inner: Expander that finds the paths.
        graph: Graph from which the sets are read.
        scorer: Chooses the relation that decides.
        budget: Limits on the result.
        paths: Best paths of the inner expander that may lead to the set.
        sets: Sets of which the member that is asked for comes first; of the best of them all members follow. For
            topics that are joined, the paths of which a node comes first; of the best of them all nodes do.
        members: Maximum number of instances of a path that are read.
        mention: Replaces the linked entities' mentions in the text that the scorer reads; null leaves them, and `auto`
            is what suits the scorer.
        types: Whether a class that the question names decides what comes first.
        typed: Maximum number of nodes of a question whose classes are read.
    """

    inner: Expander
    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget = attrs.field(factory=Budget)
    paths: int = 10
    sets: int = 3
    members: int = 1000
    mention: str | None = "auto"
    types: bool = True
    typed: int = 1000
    _operations: Operations = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for name in ("paths", "sets", "members", "typed"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")

    def open(self) -> None:
        """Read the graph's schema."""
        same = ("graph", "scorer", "budget", "paths", "sets", "members", "mention", "types", "typed")
        self._operations = Operations(**{name: getattr(self, name) for name in same})

    def needs_links(self) -> bool:
        """Return what the inner expander returns."""
        return self.inner.needs_links()

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Expand with the inner expander, and put first what each question's operation needs."""
        if not questions:
            return []
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
        return None if most is None or size <= most else max(1, int(most * _PART))
