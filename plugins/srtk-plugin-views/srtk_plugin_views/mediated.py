"""The ``mediated`` graph: a view that joins two relations through a mediator of another graph into one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from srtk_framework.host import driver_of
from srtk_framework.roles import GraphView, KnowledgeGraph
from srtk_plugin_views.joined_edges import JoinedEdges
from srtk_plugin_views.joining_view import ChosenReader, JoiningView

MEDIATORS = ("m.*", "g.*", "/m/*", "/g/*")


@attrs.define(eq=False)
class MediatedGraph(ChosenReader):
    """A view that joins two relations through a mediator, as ``freebase`` does on the server.

    Only a node without a label is a mediator; statements of Wikidata that the build noticed are in any case.

    Attributes:
        graph: Graph with mediators as nodes.
        patterns: Patterns (``*``, ``?``, ``[a-z]``) of the ids of mediators. By default the mediators of the graph's
            schema, else the patterns that its build noticed, else mids and guids.
        hidden: Patterns of relations to leave out; type relations stay.
        known: Whether only mediators of a known vocabulary (Freebase, Wikidata) that the graph's build noticed are
            joined; every read of another graph is passed on.
    """

    graph: KnowledgeGraph
    patterns: tuple[str, ...] | None = None
    hidden: tuple[str, ...] = ()
    known: bool = False

    def open(self) -> None:
        """Choose the patterns, and read the schema of the graph: type relations and noise are not joined."""
        chosen = self._chosen()
        if chosen is None:
            self._reader = self.graph
            return
        schema = self.graph.schema()
        types = (*schema.type_relations, *schema.subclass_relations)
        self._reader = JoiningView(self.graph, JoinedEdges(self.graph, *chosen, self.hidden, types, schema.noise))

    def fingerprint(self) -> str:
        """Identify the graph, the settings and the patterns."""
        # The hash of a graph's content leaves out the mediators that its build noticed.
        return f"{super().fingerprint()} joined at {self._chosen()}"

    def _chosen(self) -> tuple[tuple[str, ...], bool] | None:
        """Return the patterns of mediators, and whether only unnamed nodes are; None where every read is passed on."""
        noticed = _noticed(self.graph)
        if self.known and not noticed.get("vocabulary"):
            return None
        given = self.patterns or self.graph.schema().mediators
        patterns = tuple(given or noticed.get("patterns", MEDIATORS))
        # Where ids are names, the local part of a statement's IRI would pass for a label.
        return patterns, bool(given) or noticed.get("vocabulary") != "Wikidata"


def _noticed(graph: KnowledgeGraph) -> Mapping[str, Any]:
    """Return the mediators that the build of a graph noticed, or of the graph below its views; empty without any."""
    driver = driver_of(graph)
    tell = getattr(driver, "noticed_mediators", None)
    if tell is not None:
        return tell() or {}
    return _noticed(driver.graph) if isinstance(driver, GraphView) else {}
