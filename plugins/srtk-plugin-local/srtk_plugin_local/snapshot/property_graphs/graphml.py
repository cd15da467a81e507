"""GraphML as programs write it: yEd, yFiles, igraph, TinkerPop, Neo4j, Gephi, networkx."""

from __future__ import annotations

import html
import re

import attrs

from srtk_plugin_local.snapshot.input_report import FileReport, counted
from srtk_plugin_local.snapshot.property_graphs.cells import read_cell, read_list, untyped
from srtk_plugin_local.snapshot.property_graphs.elements import Properties, PropertyGraph, add_value

# Property of the texts that yEd and yFiles draw at a node or an edge.
LABEL = "label"

_LABEL_TAGS = ("NodeLabel", "EdgeLabel", "Label.Text")
_OWN = ("id", "source", "target", "directed", "sourceport", "targetport")
_ASIDE = ("port", "hyperedge", "endpoint", "locator")
_TAG = re.compile(r"<[^<>]*>")


@attrs.frozen
class _Key:
    name: str
    kind: str
    default: str | None = None
    list_of: str = ""


@attrs.define
class _Owner:
    """An element in the making."""

    tag: str
    id: str = ""
    attributes: dict[str, str] = attrs.field(factory=dict)
    properties: Properties = attrs.field(factory=dict)


@attrs.define
class GraphmlHandler:
    """Makes a property graph of the elements of a GraphML file."""

    report: FileReport
    graph: PropertyGraph = attrs.field(factory=PropertyGraph)
    graphs: int = 0
    line: int = 0
    _keys: dict[tuple[str, str], _Key] = attrs.field(factory=dict)
    _defaults: dict[str, list[_Key]] = attrs.field(factory=lambda: {"node": [], "edge": []})
    _owners: list[_Owner] = attrs.field(factory=list)
    _undirected: list[bool] = attrs.field(factory=list)
    _key: tuple[str, str, _Key] | None = None
    _default: str | None = None
    _aside: int = 0
    _data: str | None = None
    _inside: list[str] = attrs.field(factory=list)
    _texts: list[str] | None = None
    _labels: list[str] = attrs.field(factory=list)
    _realizer: list[int] = attrs.field(factory=list)
    _graph_of: dict[str, int] = attrs.field(factory=dict)
    _shared: int = 0
    _repeated: int = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Read the start of an element."""
        if self._aside:
            self._aside += 1
        elif self._data is not None:
            self._start_inside(tag, attributes)
        elif tag in _ASIDE:
            self._aside = 1
            if tag == "hyperedge":
                sentence = "an edge of several ends is no fact; write one edge for each pair of ends"
                self.report.skip("hyperedges", self.line, sentence)
        elif tag == "graph":
            self.graphs += not self._owners
            self._undirected.append(attributes.get("edgedefault", "").strip().lower() == "undirected")
        elif tag in ("node", "edge"):
            self._start_owner(tag, attributes)
        elif tag == "key":
            self._start_key(attributes)
        elif tag in ("data", "desc"):
            self._data, self._texts, self._labels = attributes.get("key", "") if tag == "data" else "", [], []
        elif tag == "default" and self._key is not None:
            self._data, self._texts = "", []

    def text(self, text: str) -> None:
        """Read text."""
        if self._texts is not None:
            self._texts.append(text)

    def end(self, tag: str) -> None:
        """Read the end of an element."""
        if self._aside:
            self._aside -= 1
        elif self._inside:
            self._close_label()
            self._inside.pop()
        elif tag in ("data", "desc", "default") and self._data is not None:
            self._end_data(tag)
        elif tag == "key" and self._key is not None:
            self._end_key()
        elif tag == "graph":
            self._undirected.pop()
        elif tag in ("node", "edge") and self._owners:
            owner = self._owners.pop()
            if tag == "edge":
                self._end_edge(owner)

    def _start_owner(self, tag: str, attributes: dict[str, str]) -> None:
        owner = _Owner(tag, attributes.get("id", ""), attributes)
        self._owners.append(owner)
        if tag == "node":
            if not owner.id:
                self.report.skip("nodes without id", self.line, "a node has no id; give it one")
                return
            if owner.id in self.graph.nodes:
                self._shared += self._graph_of[owner.id] != self.graphs
                self._repeated += self._graph_of[owner.id] == self.graphs
            owner.properties = self.graph.nodes.setdefault(owner.id, owner.properties)
            self._graph_of.setdefault(owner.id, self.graphs)
            group = next((outer.id for outer in reversed(self._owners[:-1]) if outer.tag == "node"), "")
            if group:
                self.graph.members[owner.id, group] = None
        for name, value in attributes.items():
            aside = name in _OWN or ":" in name or name.startswith(("xmlns", "parse.", "yfiles."))
            if not aside and (text := value.strip()):
                add_value(owner.properties, name, untyped(text))

    def _start_key(self, attributes: dict[str, str]) -> None:
        id_ = attributes.get("id", "")
        name = attributes.get("attr.name") or attributes.get("yfiles.type") or id_
        uri = next((value for key, value in attributes.items() if key.endswith("attr.uri")), "")
        if "yworks.com/xml/yfiles" in uri or attributes.get("yfiles.type"):
            self.graph.layout.add(name)
        owner, listed = attributes.get("for", "all").strip().lower(), attributes.get("attr.list", "")
        self._key = owner, id_, _Key(name, attributes.get("attr.type", ""), None, listed)
        self._default = None

    def _end_key(self) -> None:
        assert self._key is not None
        kind, id_, key = self._key
        key = self._keys[kind, id_] = attrs.evolve(key, default=self._default)
        for owner in self._defaults:
            if key.default is not None and kind in (owner, "all"):
                self._defaults[owner].append(key)
        self._key = None

    def _start_inside(self, tag: str, attributes: dict[str, str]) -> None:
        local = tag.rpartition(":")[2]
        if self._realizer and self._inside[-1:] == ["Realizers"]:
            self._realizer[1] += 1
        self._close_label()
        self._inside.append(local)
        if local == "Realizers":
            active = attributes.get("active", "0")
            self._realizer = [int(active) if active.isdigit() else 0, -1]
        elif local in _LABEL_TAGS:
            self._texts = []
        elif local == "Label" and not attributes.get("Text", "{").startswith("{"):
            self._labels.append(attributes["Text"])

    def _close_label(self) -> None:
        """Take the text of a label, which ends with the label or where the first element begins in it."""
        if self._inside and self._inside[-1] in _LABEL_TAGS and self._texts is not None:
            shown = not self._realizer or self._realizer[0] == self._realizer[1]
            if shown and (label := _plain("".join(self._texts))):
                self._labels.append(label)
        self._texts = None

    def _end_data(self, tag: str) -> None:
        id_, self._data = self._data or "", None
        text = "".join(self._texts or ())
        self._texts, self._realizer = None, []
        if tag == "default":
            self._default = text
            return
        owner = self._owners[-1] if self._owners else None
        if owner is None:
            if tag == "data" and self._undirected and text.strip():
                title = f"{self._key_of('graph', id_).name} of the graph"
                if title not in self.report.unread:
                    self.report.unread.append(title)
            return
        for label in self._labels:
            add_value(owner.properties, LABEL, label)
        key = _Key("description", "string") if tag == "desc" else self._key_of(owner.tag, id_)
        self._add(owner.properties, key, text)

    def _key_of(self, kind: str, id_: str) -> _Key:
        for wanted in (kind, "all", "node", "edge", "graph", "port"):
            if key := self._keys.get((wanted, id_)):
                return key
        self.report.note(f"the key {id_!r} is not declared; its values were read as texts of that name")
        return self._keys.setdefault((kind, id_), _Key(id_ or "data", "string"))

    def _end_edge(self, owner: _Owner) -> None:
        source, target = (owner.attributes.get(end, "") for end in ("source", "target"))
        if not source or not target:
            self.report.skip("edges with one end", self.line, "an edge lacks source or target; complete or remove it")
            return
        directed = owner.attributes.get("directed", "").strip().lower()
        usual = bool(self._undirected) and self._undirected[-1]
        has_direction = directed in ("true", "1") or (directed not in ("false", "0") and not usual)
        for key in self._defaults["edge"]:
            self._add_default(owner.properties, key)
        self.graph.add_edge(source, target, owner.properties, owner.id, has_direction)

    def _add_default(self, properties: Properties, key: _Key) -> None:
        if key.name not in properties and key.default is not None:
            self._add(properties, key, key.default)

    def _add(self, properties: Properties, key: _Key, text: str) -> None:
        if key.list_of:
            for part in read_list(text, key.list_of, key.name, self.line, self.report):
                add_value(properties, key.name, part)
        elif (value := read_cell(text, key.kind, key.name, self.line, self.report)) is not None:
            add_value(properties, key.name, value)
        elif key.default is not None and text.strip():
            properties.setdefault(key.name, [])  # a bad value is none, and not the default

    def finish(self) -> PropertyGraph:
        """Return the graph of the file."""
        for properties in self.graph.nodes.values():
            for key in self._defaults["node"]:
                self._add_default(properties, key)
        if self.graphs > 1:
            self.report.note(f"its {self.graphs:,} graphs were read as one")
        if self._shared:
            self.report.note(counted(self._shared, "nodes come again in another graph; nodes with the same id are one"))
        if self._repeated:
            self.report.note(counted(self._repeated, "nodes come again with the same id; each id is one node"))
        return self.graph


def _plain(text: str) -> str:
    """Return a drawn text on one line, without markup."""
    if text.lstrip().startswith("<"):
        text = html.unescape(_TAG.sub(" ", text))
    return " ".join(text.split())
