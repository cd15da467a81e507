"""Graphs whose nodes and edges have properties: GraphML, GEXF and networkx."""

from __future__ import annotations

from srtk_plugin_local.snapshot.property_graphs.files import read_property_graph

__all__ = ["read_property_graph"]
