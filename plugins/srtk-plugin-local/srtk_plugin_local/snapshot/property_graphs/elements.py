"""Nodes and edges with properties, as GraphML, GEXF and networkx have them, before their meaning is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import attrs


class Typed(str):
    """A value that is declared to be no text: a number, a date or a truth value."""

    __slots__ = ()


Value = str | list[str]
"""One value of a property, or several."""

Properties = dict[str, Value]

# Short values repeat (kinds, weights) and are kept once; looking up long ones costs more than it saves.
_SHORT = 32
_NONE: Properties = {}


class Edge(NamedTuple):
    """An edge; ``key`` is its id in the file, or its key in a networkx graph, if that is a text."""

    source: str
    target: str
    properties: Properties
    key: str = ""


@attrs.define
class PropertyGraph:
    """A graph whose nodes and edges have properties.

    Attributes:
        nodes: Properties by id.
        edges: The edges, from source to target where they have a direction.
        undirected: Places of the edges that have none.
        members: Pairs of a node and the group that it is nested in.
        layout: Names of properties that the file itself declares to be layout.
        qualifiers: Qualifiers of facts that are known as such: subject, relation, object, relation, value.
    """

    nodes: dict[str, Properties] = attrs.field(factory=dict)
    edges: list[Edge] = attrs.field(factory=list)
    members: dict[tuple[str, str], None] = attrs.field(factory=dict)
    undirected: set[int] = attrs.field(factory=set)
    layout: set[str] = attrs.field(factory=set)
    qualifiers: list[tuple[str, str, str, str, str]] = attrs.field(factory=list)
    _texts: dict[str, str] = attrs.field(factory=dict, repr=False)

    def add_edge(self, source: str, target: str, properties: Properties, key: str = "", directed: bool = True) -> None:
        """Add an edge; equal ids and short texts are kept in memory once."""
        one = self._texts.setdefault
        for name, value in properties.items():
            if type(value) is str and len(value) <= _SHORT:
                properties[name] = one(value, value)
        if not directed:
            self.undirected.add(len(self.edges))
        self.edges.append(Edge(one(source, source), one(target, target), properties or _NONE, key))


def values(value: Value | None) -> list[str]:
    """Return the values of a property."""
    return [] if value is None else value if isinstance(value, list) else [value]


def add_value(properties: Properties, name: str, value: str) -> None:
    """Add a value to a property, unless it has it already."""
    known = properties.get(name)
    if known is None:
        properties[name] = value
    elif value not in values(known):
        properties[name] = [*values(known), value]


def columns(elements: Iterable[Properties]) -> dict[str, Counter[str]]:
    """Count the values of each property, in the order of the properties."""
    found: dict[str, Counter[str]] = {}
    for properties in elements:
        for name, value in properties.items():
            counter = found.get(name)
            if counter is None:
                counter = found[name] = Counter()
            if isinstance(value, list):
                counter.update(value)
            else:
                counter[value] += 1
    return found


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def numeric(profiles: dict[str, Counter[str]]) -> set[str]:
    """Return the names of the properties whose values are all numbers."""
    return {name for name, counter in profiles.items() if all(map(is_number, counter))}
