"""Base class of views that change what there is to read: searches go step by step through the view."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.graph import degrees, find_paths, neighbourhood
from srtk_framework.roles import GraphView
from srtk_framework.values import Budget, FoundPaths, Frontier, Triple


@attrs.define(eq=False)
class StepwiseView(GraphView):
    """A view whose ``neighbourhood``, ``paths`` and ``degrees`` use the view's own reads, not those of its graph."""

    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Read all triples within ``hops`` of each frontier step by step."""
        return neighbourhood(self, frontiers, hops, budget)

    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        """Find the relation paths between two sets of entities step by step."""
        return find_paths(self, starts, ends, hops, budget, shortest, inverse)

    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples at each id that the view has."""
        return degrees(self, ids)
