"""A networkx graph as a property graph, so that it is read as the GraphML file of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.property_graphs.elements import Edge, Properties, PropertyGraph, Typed

if TYPE_CHECKING:
    import networkx


def property_graph(graph: networkx.Graph[Any], relation: str | None, report: FileReport) -> PropertyGraph:
    """Return the nodes and edges of a networkx graph; ids are the texts of its nodes.

    The edges of a graph that ``Subgraph.to_networkx`` made have their relations as keys, and qualifiers.

    Args:
        graph: The graph.
        relation: Edge attribute with the relation; the key of a multigraph's edge where it is missing.
        report: Receives the attributes that are not read.

    Raises:
        ValueError: If two nodes have the same text, or an edge lacks the relation.
    """
    ids = {node: node if isinstance(node, str) else str(node) for node in graph}
    if len(set(ids.values())) < len(ids):
        raise ValueError("two nodes of the networkx graph have the same text; rename one of them")
    found = PropertyGraph()
    # ``Subgraph.to_networkx`` gives every node and every edge these attributes.
    marked = all("literal" in data for _, data in graph.nodes(data=True))
    made_here = marked and all("relation" in data for *_, data in graph.edges(data=True))
    for node, data in graph.nodes(data=True):
        kept = {"label": data["label"]} if made_here and "label" in data else {} if made_here else data
        found.nodes[ids[node]] = _properties(kept, "nodes", report)
    for edge in graph.edges:
        data = graph.edges[edge]
        key = edge[2] if len(edge) > 2 and isinstance(edge[2], str) else ""
        source, target = ids[edge[0]], ids[edge[1]]
        properties = {} if made_here else _properties(data, "edges", report)
        if relation is not None:
            properties[relation] = _relation(data.get(relation), key, edge, relation)
        elif made_here and key:
            found.qualifiers += [
                (source, key, target, name, value) for name, value in json.loads(data.get("qualifiers", "[]"))
            ]
        found.edges.append(Edge(source, target, properties, key))
    found.undirected = set() if graph.is_directed() else set(range(len(found.edges)))
    return found


def _relation(value: Any, key: str, edge: Any, relation: str) -> str:
    text = str(value).strip() if value is not None and not isinstance(value, int) else key
    if not text:
        raise ValueError(f"the networkx edge {edge!r} has no relation; set its attribute {relation!r}")
    return text


def _properties(data: Mapping[Any, Any], owner: str, report: FileReport) -> Properties:
    properties: Properties = {}
    for name, value in data.items():
        if not str(name):
            continue
        items = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        cells = [_cell(item) for item in items]
        if None in cells:
            if f"{name} of {owner}" not in report.unread:
                report.unread.append(f"{name} of {owner}")
            continue
        texts = list(dict.fromkeys(cell for cell in cells if cell))
        if texts:
            properties[str(name)] = texts[0] if len(texts) == 1 else texts
    return properties


def _cell(value: Any) -> str | None:
    """Return a value as text, empty if it is missing; None if it is no text, number, date or truth value."""
    if hasattr(value, "item") and not isinstance(value, str | int | float):
        value = value.item()  # a scalar of numpy
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return Typed("true" if value else "false")
    if isinstance(value, int | float):
        return Typed(value)
    if isinstance(value, date):
        return Typed(value.isoformat())
    return value.strip() if isinstance(value, str) else None
