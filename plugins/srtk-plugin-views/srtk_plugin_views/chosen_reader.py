"""Base class of views that find out at opening what answers their reads."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles import GraphView, KnowledgeGraph, not_open
from srtk_framework.values import Budget, FoundPaths, Frontier, Origin, Pattern, Qualifier, Schema, Step, Triple


@attrs.define(eq=False)
class ChosenReader(GraphView):
    """A view whose reads go to what ``open`` chooses: the graph itself, or a view that changes its triples.

    Attributes:
        graph: The graph.
    """

    _reader: KnowledgeGraph | None = attrs.field(init=False, default=None, repr=False)

    def close(self) -> None:
        """Release the cached edges."""
        self._reader = None

    @property
    def _open(self) -> KnowledgeGraph:
        if self._reader is None:
            raise not_open(self)
        return self._reader

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids."""
        return self._open.frontiers(node_sets)

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier, sorted."""
        return self._open.steps(frontiers, inverse)

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Follow each step to the entities at its end."""
        return self._open.follow(frontiers, steps, limit)

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples along each step, literals included."""
        return self._open.triples(frontiers, steps, limit)

    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Find the triples of each pattern, sorted."""
        return self._open.match(patterns)

    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Read all triples within ``hops`` of each frontier."""
        return self._open.neighbourhood(frontiers, hops, budget)

    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        """Find the relation paths between two sets of entities."""
        return self._open.paths(starts, ends, hops, budget, shortest, inverse)

    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the label of each id; a joined relation has the labels of its parts."""
        return self._open.labels(ids)

    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities with each name that are shown."""
        return self._open.find(names)

    def near_names(self, names: Sequence[str], limit: int) -> Sequence[Sequence[str]]:
        """Find names almost like each name, of entities that are shown."""
        return self._open.near_names(names, limit)

    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples at each id."""
        return self._open.degrees(ids)

    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Read the qualifiers of each triple."""
        return self._open.qualifiers(triples)

    def origins(self, triples: Sequence[Triple]) -> Sequence[Origin]:
        """Return the origin of each triple; of a joined one, that of its least confident part."""
        return self._open.origins(triples)

    def schema(self) -> Schema:
        """Return the schema of the graph."""
        return self._open.schema()
