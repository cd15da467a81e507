"""Base class of views: graphs that hold a graph."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles.base import hook_names
from srtk_framework.roles.knowledge_graph import KnowledgeGraph
from srtk_framework.values import Budget, FoundPaths, Frontier, Origin, Pattern, Qualifier, Schema, Step, Triple


@attrs.define(eq=False)
class GraphView(KnowledgeGraph):
    """A graph that passes every hook on to its inner graph; a view overrides the hooks that it changes.

    A view that changes which triples there are overrides ``steps``, ``follow``, ``triples`` and ``match``, and what the
    inner graph would otherwise answer by itself: ``neighbourhood``, ``paths`` and ``degrees``, whose defaults in
    ``graph`` work on any graph.

    Attributes:
        graph: Graph that answers.
    """

    graph: KnowledgeGraph

    @property
    def answering(self) -> KnowledgeGraph:
        """The graph that calls are passed to; a view may choose another one when it is opened."""
        return self.graph

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Pass the call on, as the other hooks do."""
        return self.answering.frontiers(node_sets)

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Pass the call on."""
        return self.answering.steps(frontiers, inverse)

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Pass the call on."""
        return self.answering.follow(frontiers, steps, limit)

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Pass the call on."""
        return self.answering.triples(frontiers, steps, limit)

    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Pass the call on."""
        return self.answering.match(patterns)

    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Pass the call on."""
        return self.answering.neighbourhood(frontiers, hops, budget)

    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        """Pass the call on."""
        return self.answering.paths(starts, ends, hops, budget, shortest, inverse)

    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Pass the call on."""
        return self.answering.labels(ids)

    def other_names(self, ids: Sequence[str]) -> Sequence[Sequence[str]]:
        """Pass the call on."""
        return self.answering.other_names(ids)

    def own_ids(self, ids: Sequence[str], relations: bool) -> Sequence[str]:
        """Pass the call on."""
        return self.answering.own_ids(ids, relations)

    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Pass the call on."""
        return self.answering.find(names)

    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> Sequence[Sequence[str]]:
        """Pass the call on."""
        return self.answering.near_names(names, limit, whole)

    def known_words(self, words: Sequence[str]) -> Sequence[bool]:
        """Pass the call on."""
        return self.answering.known_words(words)

    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Pass the call on."""
        return self.answering.degrees(ids)

    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Pass the call on."""
        return self.answering.qualifiers(triples)

    def origins(self, triples: Sequence[Triple]) -> Sequence[Origin]:
        """Pass the call on."""
        return self.answering.origins(triples)

    def schema(self) -> Schema:
        """Pass the call on."""
        return self.answering.schema()

    def source(self) -> str:
        """Pass the call on."""
        return self.graph.source()


_UNPASSED = hook_names(KnowledgeGraph).keys() - vars(GraphView).keys()
if _UNPASSED:
    raise TypeError(f"GraphView passes no {', '.join(sorted(_UNPASSED))} on")
