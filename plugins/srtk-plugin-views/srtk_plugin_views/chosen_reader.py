"""Base class of views that find out at opening what answers their reads."""

from __future__ import annotations

import attrs

from srtk_framework.roles import GraphView, KnowledgeGraph, not_open


@attrs.define(eq=False)
class ChosenReader(GraphView):
    """A view whose reads go to what ``open`` chooses: the graph itself, or a view that changes its triples."""

    _reader: KnowledgeGraph | None = attrs.field(init=False, default=None, repr=False)

    def close(self) -> None:
        """Release the cached edges."""
        self._reader = None

    @property
    def answering(self) -> KnowledgeGraph:
        """What ``open`` chose."""
        if self._reader is None:
            raise not_open(self)
        return self._reader
