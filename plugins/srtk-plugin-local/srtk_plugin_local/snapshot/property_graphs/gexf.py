"""GEXF 1.0 to 1.3 as Gephi, networkx and others write it."""

from __future__ import annotations

import attrs

from srtk_plugin_local.snapshot.input_report import FileReport, counted
from srtk_plugin_local.snapshot.property_graphs.cells import read_cell, read_list, untyped
from srtk_plugin_local.snapshot.property_graphs.elements import Properties, PropertyGraph, add_value

_NODE_OWN = ("id", "pid", "for", "startopen", "endopen")
_EDGE_OWN = ("id", "source", "target", "type", "startopen", "endopen")
_DIRECTED = ("directed", "mutual")
# Attribute in which networkx writes the key of a multigraph's edge.
_NETWORKX_KEY = "networkx_key"
_TIMES = ("start", "end", "timestamp")


@attrs.frozen
class _Attribute:
    title: str
    kind: str
    default: str | None = None


@attrs.define
class GexfHandler:
    """Makes a property graph of the elements of a GEXF file."""

    report: FileReport
    graph: PropertyGraph = attrs.field(factory=PropertyGraph)
    graphs: int = 0
    line: int = 0
    _owner: str = "node"
    _attributes: dict[tuple[str, str], _Attribute] = attrs.field(factory=dict)
    _attribute: tuple[str, _Attribute] | None = None
    _texts: list[str] | None = None
    _nodes: list[str] = attrs.field(factory=list)
    _node: Properties | None = None
    _outer: list[Properties | None] = attrs.field(factory=list)
    _edge: tuple[dict[str, str], Properties] | None = None
    _undirected: bool = True
    _aside: int = 0
    _repeated: int = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Read the start of an element."""
        if self._aside:
            self._aside += 1
        elif tag == "graph":
            self.graphs += 1
            self._undirected = attributes.get("defaultedgetype", "undirected").strip().lower() != "directed"
        elif tag == "attributes":
            self._owner = attributes.get("class", "node").strip().lower()
        elif tag == "attribute":
            id_ = attributes.get("id", "")
            self._attribute = (id_, _Attribute(attributes.get("title") or id_, attributes.get("type", "string")))
        elif tag == "default" and self._attribute is not None:
            self._texts = []
        elif tag == "node":
            self._start_node(attributes)
        elif tag == "edge":
            self._edge = (attributes, {})
        elif tag == "parent" and self._nodes:
            self._member(self._nodes[-1], attributes.get("for", ""))
        elif tag == "attvalue":
            self._read_value(attributes)
        elif tag == "spell":
            self._add_times(self._properties(), attributes)
        elif tag not in ("nodes", "edges", "attvalues", "spells", "parents"):
            self._aside = 1

    def text(self, text: str) -> None:
        """Read text."""
        if self._texts is not None:
            self._texts.append(text)

    def end(self, tag: str) -> None:
        """Read the end of an element."""
        if self._aside:
            self._aside -= 1
        elif tag == "default" and self._attribute is not None:
            id_, attribute = self._attribute
            self._attribute = id_, attrs.evolve(attribute, default="".join(self._texts or ()))
            self._texts = None
        elif tag == "attribute" and self._attribute is not None:
            id_, attribute = self._attribute
            self._attributes[self._owner, id_] = attribute
            self._attribute = None
        elif tag == "node" and self._nodes:
            self._nodes.pop()
            self._node = self._outer.pop()
        elif tag == "edge" and self._edge is not None:
            self._end_edge(*self._edge)
            self._edge = None

    def _properties(self) -> Properties | None:
        return self._edge[1] if self._edge is not None else self._node

    def _start_node(self, attributes: dict[str, str]) -> None:
        id_ = attributes.get("id", "")
        if not id_:
            self.report.skip("nodes without id", self.line, "a node has no id; give it one")
        self._repeated += id_ in self.graph.nodes
        for group in (self._nodes[-1] if self._nodes else "", attributes.get("pid", "")):
            self._member(id_, group)
        self._nodes.append(id_)
        self._outer.append(self._node)
        self._node = self.graph.nodes.setdefault(id_, {}) if id_ else {}
        for name, value in attributes.items():
            if name not in (*_NODE_OWN, *_TIMES) and ":" not in name and (text := value.strip()):
                add_value(self._node, name, text if name == "label" else untyped(text))
        self._add_times(self._node, attributes)

    def _member(self, node: str, group: str) -> None:
        if node and group and group != node:
            self.graph.members[node, group] = None

    def _add_times(self, properties: Properties | None, attributes: dict[str, str]) -> None:
        for name in _TIMES:
            if properties is not None and (text := attributes.get(name, "").strip()):
                add_value(properties, name, untyped(text))

    def _read_value(self, attributes: dict[str, str]) -> None:
        properties = self._properties()
        if properties is None:
            return
        owner = "edge" if self._edge is not None else "node"
        id_ = attributes.get("for", attributes.get("id", ""))
        attribute = self._attributes.get((owner, id_))
        if attribute is None:
            self.report.note(f"the attribute {id_!r} of {owner}s is not declared; its values were read as texts")
            attribute = self._attributes[owner, id_] = _Attribute(id_ or "value", "string")
        if any(name in attributes for name in _TIMES):
            self.report.note(f"the times of the values of {attribute.title!r} are not kept")
        self._add(properties, attribute, attributes.get("value", ""))

    def _add(self, properties: Properties, attribute: _Attribute, text: str) -> None:
        kind, title = attribute.kind.strip().lower(), attribute.title
        if kind.startswith("list"):
            for part in read_list(text, kind.removeprefix("list"), title, self.line, self.report):
                add_value(properties, title, part)
        elif (value := read_cell(text, kind, title, self.line, self.report)) is not None:
            add_value(properties, title, value)
        elif attribute.default is not None and text.strip():
            properties.setdefault(title, [])  # a bad value is none, and not the default

    def _end_edge(self, attributes: dict[str, str], properties: Properties) -> None:
        source, target = (attributes.get(end, "") for end in ("source", "target"))
        if not source or not target:
            self.report.skip("edges with one end", self.line, "an edge lacks source or target; complete or remove it")
            return
        for name, value in attributes.items():
            if name not in (*_EDGE_OWN, *_TIMES) and ":" not in name and (text := value.strip()):
                if name == "weight":
                    self._add(properties, _Attribute(name, "double"), text)
                else:
                    add_value(properties, name, text if name == "label" else untyped(text))
        self._add_times(properties, attributes)
        self._add_defaults("edge", properties)
        direction = attributes.get("type", "").strip().lower()
        directed = direction in _DIRECTED or (direction != "undirected" and not self._undirected)
        key = properties.pop(_NETWORKX_KEY, attributes.get("id", ""))
        self.graph.add_edge(source, target, properties, key if isinstance(key, str) else "", directed)
        if direction == "mutual":
            self.report.note("its mutual edges were read in both directions")
            self.graph.add_edge(target, source, properties)

    def _add_defaults(self, owner: str, properties: Properties) -> None:
        for (kind, _), attribute in self._attributes.items():
            if kind == owner and attribute.default is not None and attribute.title not in properties:
                self._add(properties, attribute, attribute.default)

    def finish(self) -> PropertyGraph:
        """Return the graph of the file; a ``pid`` that is no node, such as 0, stands for no group."""
        self.graph.members = {pair: None for pair in self.graph.members if pair[1] in self.graph.nodes}
        for properties in self.graph.nodes.values():
            self._add_defaults("node", properties)
        if self.graphs > 1:
            self.report.note(f"its {self.graphs:,} graphs were read as one")
        if self._repeated:
            self.report.note(counted(self._repeated, "nodes come again with the same id; each id is one node"))
        return self.graph
