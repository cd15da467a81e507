"""Base class of views with other triples than their graph: searches go step by step through the view."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles import GraphView, KnowledgeGraph


@attrs.define(eq=False)
class StepwiseView(GraphView):
    """A view whose ``neighbourhood``, ``paths`` and ``degrees`` read through the view itself."""

    neighbourhood = KnowledgeGraph.neighbourhood
    paths = KnowledgeGraph.paths
    degrees = KnowledgeGraph.degrees

    def _near_names_here(self, names: Sequence[str], limit: int, whole: bool) -> Sequence[Sequence[str]]:
        """Find names almost like each name, without names of entities that the view lacks."""
        found = self.graph.near_names(names, limit, whole)
        every = list(dict.fromkeys(name for row in found for name in row))
        known = {name for name, ids in zip(every, self.find(every), strict=True) if ids}
        return [[name for name in row if name in known] for row in found]
