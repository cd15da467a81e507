"""The ``mediated`` graph: a view that joins two relations through a mediator of another graph into one step."""

from __future__ import annotations

import attrs

from srtk_framework.roles import KnowledgeGraph, not_open
from srtk_plugin_views.joined_edges import JoinedEdges
from srtk_plugin_views.joining_view import JoiningView

MEDIATORS = ("m.*", "g.*", "/m/*", "/g/*")


@attrs.define(eq=False)
class MediatedGraph(JoiningView):
    """A view that joins two relations through a mediator into one, as ``freebase`` does on the server.

    Attributes:
        graph: Graph with mediators as nodes.
        patterns: Patterns (``*``, ``?``, ``[a-z]``) of the ids of mediators; by default those of mids and guids.
        unnamed: Whether only nodes without a label are mediators.
        to_literals: Whether a joined step may end in a literal; qualifiers include literals in any case.
        hidden: Patterns of relations to leave out; type relations stay.
    """

    graph: KnowledgeGraph
    patterns: tuple[str, ...] = MEDIATORS
    unnamed: bool = True
    to_literals: bool = True
    hidden: tuple[str, ...] = ()
    _joined_edges: JoinedEdges | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Read the schema of the graph: type relations and noise are not joined."""
        known = self.graph.schema()
        types = (*known.type_relations, *known.subclass_relations)
        self._joined_edges = JoinedEdges(
            self.graph, self.patterns, self.unnamed, self.to_literals, self.hidden, types, known.noise
        )

    def close(self) -> None:
        """Release the cached edges."""
        self._joined_edges = None

    @property
    def _open(self) -> JoinedEdges:
        if self._joined_edges is None:
            raise not_open(self)
        return self._joined_edges
