"""The facts, names and qualifiers of a property graph: the same for a file and for a networkx graph."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from srtk_framework.values import InputError, Literal, close_matches
from srtk_plugin_local.snapshot.build_settings import EDGE
from srtk_plugin_local.snapshot.column_types import USUAL, number_datatype
from srtk_plugin_local.snapshot.headings import TYPE, normal
from srtk_plugin_local.snapshot.input_report import FileReport, counted, read_as
from srtk_plugin_local.snapshot.layout_words import BOOKKEEPING, LAYOUT, kept, unwanted_columns
from srtk_plugin_local.snapshot.property_graphs import roles
from srtk_plugin_local.snapshot.property_graphs.elements import (
    Edge,
    Properties,
    PropertyGraph,
    Typed,
    columns,
    is_number,
    numeric,
    values,
)

# Relation of a node to the group that it is nested in.
PART_OF = "part of"

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DESCRIPTION = "description"
# Separator of several values in LightRAG's texts.
_SEPARATOR = "<SEP>"

Row = tuple[str, str, str, str]
"""Id, relation, value, and kind of value: ``entity``, ``text``, ``literal``, ``label`` or ``alias``."""

QualifierRow = tuple[str, str, str, str, str]
"""Subject, relation and object of a fact, relation and value of the qualifier."""


@attrs.frozen
class Wishes:
    """Wishes of a person about a property graph, and the flags for them.

    Attributes:
        relation: Property with the relation of an edge; by default found.
        keep: Properties that are read although they are layout or bookkeeping.
        relation_flag: How to name the relation, for messages.
        keep_flag: How to keep properties, for messages.
    """

    relation: str | None = None
    keep: Sequence[str] = ()
    relation_flag: str = "--columns source,NAME,target"
    keep_flag: str = "--keep NAME,..."


def facts(graph: PropertyGraph, wishes: Wishes, report: FileReport) -> Iterator[Row | QualifierRow]:
    """Yield the facts and names of a graph, and the qualifiers of its edges.

    Raises:
        InputError: If no edge has the property that is wished for as relation.
    """
    if not graph.edges and not graph.nodes:
        return
    _drop_missing(graph, report)
    edges, nodes = _Edges(graph, wishes, report), _Nodes(graph, wishes, report)
    left_out = [(name, kind, "nodes") for name, kind in nodes.left_out.items()]
    left_out += [(name, kind, "edges") for name, kind in edges.left_out.items()]
    report.columns += [read_as(f"{name} of {owner}", kind) for name, kind, owner in left_out]
    if left_out:
        kinds = " and ".join(sorted({kind for _, kind, _ in left_out}, reverse=True))
        shown = ", ".join(dict.fromkeys(name for name, _, _ in left_out))
        report.note(f"left out as {kinds}: {shown}; {wishes.keep_flag} reads them")
    yield from edges.rows()
    yield from nodes.rows()
    yield from graph.qualifiers
    for member, group in graph.members:
        yield member, PART_OF, group, "entity"
    if graph.members:
        report.note(counted(len(graph.members), f"nodes are nested in groups: facts of the relation {PART_OF!r}"))
    undeclared = {end for edge in graph.edges for end in (edge.source, edge.target)} - graph.nodes.keys()
    if undeclared:
        what = f"nodes of edges are not declared, such as {min(undeclared)!r}; each is an entity that its id names"
        report.note(counted(len(undeclared), what))
    report.rows += len(graph.edges) + len(graph.nodes)


def value_of(text: str) -> Literal:
    """Return the literal of a property's value: a number by its form if it is declared to be no text."""
    if text.startswith('"') and ((typed := Literal(text)).datatype or typed.language):
        return Literal.make(typed.lexical, typed.datatype, typed.language)
    if isinstance(text, Typed):
        kind = number_datatype(text)
        return Literal.make(text.lower() if kind == "xsd:boolean" else str(text), kind)
    return Literal.make(text)


def _drop_missing(graph: PropertyGraph, report: FileReport) -> None:
    """Leave out words for a missing value; a name may be such a word."""
    count = 0
    for properties, named in (
        *((data, True) for data in graph.nodes.values()),
        *((e.properties, False) for e in graph.edges),
    ):
        for name in [name for name, value in properties.items() if isinstance(value, str) and value.lower() in USUAL]:
            if not (named and roles.is_name(name)):
                del properties[name]
                count += 1
    if count:
        report.note(counted(count, "values such as null were left out as empty"))


class _Edges:
    """The edges of a graph with the roles of their properties."""

    def __init__(self, graph: PropertyGraph, wishes: Wishes, report: FileReport) -> None:
        self.graph, self.report = graph, report
        profiles = columns(edge.properties for edge in graph.edges)
        self.left_out = _left_out(profiles, graph, wishes)
        profiles = {name: values_ for name, values_ in profiles.items() if name not in self.left_out}
        self.by_key = False
        if wishes.relation is not None:
            if wishes.relation not in profiles:
                known = sorted(profiles)
                raise InputError(
                    f"{report.name}: no edge has a property {wishes.relation!r}; the edges have {known}."
                    f"{close_matches(wishes.relation, known)}"
                )
            self.relations = [wishes.relation]
        else:
            self.relations = self._found(profiles, wishes)
        self.dropped = self._say_nothing(profiles, wishes)
        used = {*self.relations, *self.left_out, *self.dropped}
        self.qualifiers = {name: _title(name, profiles[name]) for name in profiles if name not in used}
        report.columns += [read_as(f"{name} of edges", "relation") for name in self.relations]
        report.columns += [read_as(f"{name} of edges", "qualifier") for name in self.qualifiers]

    def _found(self, profiles: roles.Profiles, wishes: Wishes) -> list[str]:
        found, doubt = roles.relations(profiles, len(self.graph.edges))
        if doubt or not found:
            self.by_key = roles.keys_are_relations([edge.key for edge in self.graph.edges])
            if self.by_key:
                return []
        if doubt:
            self.report.note(f"{doubt}; {wishes.relation_flag} names another")
        return found

    def _say_nothing(self, profiles: roles.Profiles, wishes: Wishes) -> list[str]:
        """Return the properties without information: equal weights, and directions."""
        found = []
        for name, counter in profiles.items():
            if name in self.relations or kept(name, wishes.keep):
                continue
            if normal(name) == "id" and len(counter) == counter.total() and all(map(roles.is_code, counter)):
                self.report.note(f"the {name} of edges numbers them; it was left out ({wishes.keep_flag} reads it)")
                found.append(name)
            elif normal(name) == "type" and all(value.lower() in roles.DIRECTIONS for value in counter):
                found.append(name)
            elif normal(name) in roles.WEIGHTS and _is_constant(counter):
                weight = next(iter(counter))
                self.report.note(f"the {name} of all edges is {weight}; it was left out ({wishes.keep_flag} reads it)")
                found.append(name)
        return found

    def rows(self) -> Iterator[Row | QualifierRow]:
        """Yield a fact for each edge, and its qualifiers."""
        undirected = self.graph.undirected
        every = enumerate(self.graph.edges)
        directed = {self._relation(edge)[0] or EDGE for place, edge in every if place not in undirected}
        symmetric: set[str] = set()
        bare = twice = 0
        for place, edge in enumerate(self.graph.edges):
            relation, taken = self._relation(edge)
            bare += not relation
            relation = relation or EDGE
            yield from self._of_edge(edge, edge.source, relation, edge.target, taken)
            if place in undirected and relation in directed:
                twice += 1
                yield from self._of_edge(edge, edge.target, relation, edge.source, taken)
            elif place in undirected:
                symmetric.add(relation)
        self.report.symmetric = sorted(symmetric)
        if bare:
            self.report.note(counted(bare, f"edges name no relation; it is called {EDGE!r}"))
        if undirected and len(undirected) == len(self.graph.edges):
            self.report.note("its edges have no direction; answers are of both")
        elif undirected:
            self.report.note(counted(len(undirected), "edges have no direction; answers are of both"))
        if twice:
            what = "edges without direction were read in both directions, as others of their relation have one"
            self.report.note(counted(twice, what))

    def _of_edge(self, edge: Edge, source: str, relation: str, target: str, taken: str) -> Iterator[Row | QualifierRow]:
        """Yield the fact of an edge, from one of its ends to the other, and its qualifiers."""
        yield source, relation, target, "entity"
        for name, title in self.qualifiers.items():
            for value in _parts(edge.properties.get(name)):
                yield source, relation, target, title, value_of(value)
        for name in self.relations:
            for value in values(edge.properties.get(name))[name == taken :]:
                yield source, relation, target, name, value_of(value)

    def _relation(self, edge: Edge) -> tuple[str, str]:
        """Return the relation of an edge and the property that it is from."""
        if self.by_key:
            return edge.key, ""
        for name in self.relations:
            if texts := values(edge.properties.get(name)):
                return texts[0].replace(_SEPARATOR, ", "), name
        return "", ""


class _Nodes:
    """The nodes of a graph with the roles of their properties."""

    def __init__(self, graph: PropertyGraph, wishes: Wishes, report: FileReport) -> None:
        self.graph, self.report = graph, report
        profiles = columns(graph.nodes.values())
        self.left_out = _left_out(profiles, graph, wishes)
        profiles = {name: values_ for name, values_ in profiles.items() if name not in self.left_out}
        codes = sum(roles.is_code(id_) for id_ in graph.nodes)
        self.names = roles.names(profiles, 2 * codes < len(graph.nodes))
        self.types = roles.types(profiles, self.names)
        if self.types and not any(_types(text) for name in self.types for text in profiles[name]):
            report.note(f"the {' and '.join(self.types)} of nodes says nothing; it was left out")
        for name in profiles:
            role = TYPE if name in self.types else "label" if name in self.names else "literal"
            report.columns.append(read_as(f"{name} of nodes", "alias" if roles.is_alias(name) else role))
        if any(normal(name) in roles.NAMES for name in self.types):
            report.note(f"the {' and '.join(self.types)} of nodes is their type, since many nodes have the same")

    def rows(self) -> Iterator[Row]:
        """Yield names, types and literals of each node."""
        named: set[str] = set()
        shown: dict[str, None] = {}
        ends = {end: None for edge in self.graph.edges for end in (edge.source, edge.target)}
        for id_, properties in self.graph.nodes.items():
            if isinstance(id_, Literal):
                continue
            label = self._label(id_, properties)
            if label:
                named.add(id_)
                yield id_, "label", label, "label"
            for name, value in properties.items():
                if name in self.types:
                    found = [type_ for text in values(value) for type_ in _types(text)]
                    shown |= dict.fromkeys(found)
                    yield from ((id_, TYPE, type_, "entity") for type_ in found)
                elif name not in self.left_out:
                    yield from self._literals(id_, name, _parts(value), label)
        # Where other nodes have names, types have too, and so have nodes whose ids are words.
        for id_ in {**self.graph.nodes, **ends, **shown} if named else ():
            if id_ not in named and not isinstance(id_, Literal) and (id_ in shown or not roles.is_code(id_)):
                yield id_, "label", id_.replace("_", " "), "label"

    def _label(self, id_: str, properties: Properties) -> str:
        """Return the name of a node; programs write the id where there is none, so that any other goes before it."""
        found = [text for name in self.names for text in values(properties.get(name))[:1]]
        return next((text for text in found if text != id_), found[0] if found else "")

    def _literals(self, id_: str, name: str, parts: list[str], label: str) -> Iterator[Row]:
        for part in parts:
            if part == id_ and (name in self.names or normal(name).split(" ")[-1:] == ["id"]):
                continue
            if part == label and name in self.names:
                continue
            if roles.is_alias(name) or (name in self.names and normal(name) == "label"):
                yield id_, name, part, "alias"
            else:
                yield id_, name, part, "literal" if isinstance(part, Typed) else "text"


def _left_out(profiles: dict[str, Counter[str]], graph: PropertyGraph, wishes: Wishes) -> dict[str, str]:
    found = unwanted_columns(profiles, numeric(profiles), wishes.keep, drawn=True)
    ids = [name for name, texts in profiles.items() if texts and all(map(_UUID.fullmatch, texts))]
    further = {**dict.fromkeys(ids, BOOKKEEPING), **dict.fromkeys(graph.layout & profiles.keys(), LAYOUT)}
    found |= {name: kind for name, kind in further.items() if not kept(name, wishes.keep)}
    return {name: kind for name, kind in found.items() if name != wishes.relation}


def _title(name: str, texts: Counter[str]) -> str:
    """Return the relation of a qualifier; texts that are no relation are a description, whatever their name."""
    return _DESCRIPTION if roles.promises_relation(name) and not all(map(is_number, texts)) else name


def _is_constant(weights: Counter[str]) -> bool:
    """Return whether all weights are equal; a single edge has its weight as a fact, unless it is 1."""
    amounts = {float(weight) if is_number(weight) else weight for weight in weights}
    return len(amounts) == 1 and (weights.total() > 1 or amounts == {1.0})


def _types(text: str) -> list[str]:
    """Return the types that a text names; Neo4j writes ``:Person:Actor``, and programs a word where there is none."""
    found = [part for part in text.split(":") if part] if text.startswith(":") else [text]
    return [part for part in found if part.lower() not in roles.DEFAULT_TYPES]


def _parts(value: str | list[str] | None) -> list[str]:
    """Return the values of a property, and of a text that holds several, as LightRAG and Neo4j write them."""
    parts: list[str] = []
    for text in values(value):
        if _SEPARATOR in text:
            parts += [part.strip() for part in text.split(_SEPARATOR) if part.strip()]
        elif text.startswith('["') and text.endswith('"]'):
            parts += _listed(text)
        else:
            parts.append(text)
    return parts


def _listed(text: str) -> list[str]:
    """Return the texts of a list in JSON; the text itself if it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return [text]
    return [item for item in found if item] if all(isinstance(item, str) for item in found) else [text]
