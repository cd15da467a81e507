"""The ``bfs`` expander: the triples nearest to the links, breadth first."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Question, Subgraph, at_least
from srtk_plugin_baselines.neighbourhood import neighbourhoods, ranked_subgraph


@attrs.define(eq=False)
class BfsExpander(Expander):
    """Keep the triples nearest to the links, breadth first.

    Within a hop, triples are ordered by falling weight of the link from which they were reached, then by start node,
    step and end node. A triple in hop h, reached from a link of weight w, scores 1 / (h + 1 - w).

    Attributes:
        graph: Graph to read.
        budget: Limits of a question.
        depth: Number of hops from the links.
        inverse: Also follow relations against their direction.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    depth: int = attrs.field(default=2, validator=at_least(1))
    inverse: bool = True

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Return the triples nearest to the links of each question."""
        found = neighbourhoods(
            self.graph, questions, self.depth, self.inverse, self.budget, most=self.budget.triples, cut_by="triples"
        )
        subgraphs = [ranked_subgraph(one, 1.0 / (one.hops + 1.0 - one.weights), self.budget) for one in found]
        return finish(self.graph, subgraphs, self.budget)
