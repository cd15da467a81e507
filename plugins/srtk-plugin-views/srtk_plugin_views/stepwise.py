"""Base class of views that change what there is to read: searches go step by step through the view."""

from __future__ import annotations

import attrs

from srtk_framework.roles import GraphView, KnowledgeGraph


@attrs.define(eq=False)
class StepwiseView(GraphView):
    """A view whose ``neighbourhood``, ``paths`` and ``degrees`` use the view's own reads, not those of its graph."""

    neighbourhood = KnowledgeGraph.neighbourhood
    paths = KnowledgeGraph.paths
    degrees = KnowledgeGraph.degrees
