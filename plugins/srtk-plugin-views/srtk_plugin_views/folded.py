"""The ``folded`` graph: a view in which lists, OWL restrictions and chains of blank nodes are one step."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.host import driver_of
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Schema, at_least
from srtk_plugin_views import composites
from srtk_plugin_views.chosen_reader import ChosenReader
from srtk_plugin_views.folded_edges import FoldedEdges
from srtk_plugin_views.joining_view import JoiningView
from srtk_plugin_views.owl_terms import owl_terms


@attrs.define(eq=False)
class _Folding(JoiningView):
    """The reads of a graph with blank nodes.

    Attributes:
        edges: Its folded edges.
    """

    edges: FoldedEdges

    @property
    def _open(self) -> FoldedEdges:
        return self.edges

    def schema(self) -> Schema:
        """Return the schema of the graph, with relations as they are named here."""
        known = self.graph.schema()
        types, above = known.type_relations, known.subclass_relations
        return attrs.evolve(
            known,
            type_relations=tuple(map(composites.escape, types)),
            subclass_relations=tuple(map(composites.escape, above)),
        )

    def _called(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        return self.edges.called(names)

    def near_names(self, names: Sequence[str], limit: int) -> Sequence[Sequence[str]]:
        """Find names almost like each name, of entities that are shown."""
        found = self.graph.near_names(names, limit)
        every = list(dict.fromkeys(name for row in found for name in row))
        known = {name for name, ids in zip(every, self.find(every), strict=True) if ids}
        return [[name for name in row if name in known] for row in found]


@attrs.define(eq=False)
class FoldedGraph(ChosenReader):
    """A view of RDF that shows what structure says as one step, and hides the structure.

    The members of a list are objects of the triple whose object the list is. An OWL restriction is a step along its
    property: ``Koala subClassOf [onProperty habitat; someValuesFrom Forest]`` is ``Koala habitat Forest``. Relations
    over further blank nodes are one, such as ``address..city``. A blank node with a label, or one that nothing leads
    to, stays. Where the graph has no blank nodes, every read is passed on.

    Attributes:
        graph: Graph with blank nodes.
        depth: Most relations in a chain over blank nodes.
        most: Most blank nodes that are read for one node; what is beyond is counted, with a warning.
    """

    graph: KnowledgeGraph
    depth: int = attrs.field(default=4, validator=at_least(1))
    most: int = attrs.field(default=100_000, validator=at_least(1))

    def open(self) -> None:
        """Find out whether the graph has blank nodes; where it cannot tell, all are looked at as they are read."""
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
