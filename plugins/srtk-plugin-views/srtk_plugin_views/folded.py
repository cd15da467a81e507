"""The ``folded`` graph: a view in which lists, OWL restrictions and chains of blank nodes are one step."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.host import driver_of
from srtk_framework.roles import GraphView, KnowledgeGraph, not_open
from srtk_framework.values import (
    Budget,
    FoundPaths,
    Frontier,
    Origin,
    Pattern,
    Qualifier,
    Schema,
    Step,
    Triple,
    at_least,
)
from srtk_plugin_views import composites
from srtk_plugin_views.folded_edges import FoldedEdges
from srtk_plugin_views.joining_view import JoiningView
from srtk_plugin_views.owl_terms import owl_terms


@attrs.define(eq=False)
class _Folding(JoiningView):
    """The reads of a graph with blank nodes.

    Attributes:
        graph: The graph.
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
class FoldedGraph(GraphView):
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
    _reader: KnowledgeGraph | None = attrs.field(init=False, default=None, repr=False)

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

    def close(self) -> None:
        """Release the cached edges."""
        self._reader = None

    @property
    def _open(self) -> KnowledgeGraph:
        if self._reader is None:
            raise not_open(self)
        return self._reader

    @property
    def left_out(self) -> int:
        """Number of edges to blank nodes that ``depth`` and ``most`` left out."""
        return self._open.edges.left_out if isinstance(self._open, _Folding) else 0

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids, without blank nodes that are left out."""
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
        """Return the label of each id; a chain has the labels of its relations."""
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
        """Read the qualifiers of each triple; a folded one has none."""
        return self._open.qualifiers(triples)

    def origins(self, triples: Sequence[Triple]) -> Sequence[Origin]:
        """Return the origin of each triple; of a folded one, that of the least confident triple on the way."""
        return self._open.origins(triples)

    def schema(self) -> Schema:
        """Return the schema of the graph."""
        return self._open.schema()
