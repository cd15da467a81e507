"""The ``folded`` graph: a view with one step for each list, OWL restriction and chain of blank nodes."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.host import driver_of
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Schema, at_least
from srtk_plugin_views.folded_edges import FoldedEdges
from srtk_plugin_views.joining_view import ChosenReader, JoiningView
from srtk_plugin_views.owl_terms import owl_terms


@attrs.define(eq=False)
class _Folding(JoiningView):
    """The reads of a graph with blank nodes."""

    edges: FoldedEdges

    def schema(self) -> Schema:
        """Return the schema of the graph, with relations as they are named here."""
        return attrs.evolve(super().schema(), mediators=self.graph.schema().mediators)

    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> Sequence[Sequence[str]]:
        """Find names almost like each name, of entities that are shown."""
        return self._near_names_here(names, limit, whole)


@attrs.define(eq=False)
class FoldedGraph(ChosenReader):
    """A view of RDF that shows the meaning of a structure as one step, and hides the structure.

    The members of a list are objects of the triple whose object the list is. An OWL restriction is a step along its
    property: ``Koala subClassOf [onProperty habitat; someValuesFrom Forest]`` is ``Koala habitat Forest``. Relations
    over further blank nodes are a single relation, such as ``address..city``. A blank node with a label, or without
    incoming edges, stays. If the graph has no blank nodes, every read is passed on.

    Attributes:
        graph: Graph with blank nodes.
        depth: Most relations in a chain over blank nodes.
        most: Most blank nodes that are read for one node; edges beyond are counted, with a warning.
    """

    graph: KnowledgeGraph
    depth: int = attrs.field(default=4, validator=at_least(1))
    most: int = attrs.field(default=100_000, validator=at_least(1))

    def open(self) -> None:
        """Find out whether the graph has blank nodes; if it does not know, nodes are judged as they are read."""
        tell = getattr(driver_of(self.graph), "has_blank_nodes", None)
        if tell is not None and not tell():
            self._reader = self.graph
            return
        terms = owl_terms(self.graph.schema().prefixes)
        unnamed = getattr(driver_of(self.graph), "blank_nodes", None)
        edges = FoldedEdges(self.graph, terms, self.depth, self.most, unnamed() if unnamed is not None else None)
        self._reader = _Folding(self.graph, edges)

    @property
    def left_out(self) -> int:
        """Number of edges to blank nodes that ``depth`` and ``most`` left out."""
        return self.answering.edges.left_out if isinstance(self.answering, _Folding) else 0
