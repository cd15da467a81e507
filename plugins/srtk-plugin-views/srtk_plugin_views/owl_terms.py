"""Ids of the terms of RDF and OWL that give a graph structure, written as the graph writes them."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"


@attrs.frozen
class OwlTerms:
    """Terms, each with every id that it may have.

    Attributes:
        type: ``rdf:type``.
        nil: The empty list.
        first: From a node of a list to its member.
        rest: From a node of a list to the next.
        on_property: From a restriction to the property that it is about.
        fillers: From a restriction to the objects of the property.
        boolean: From a class to the list of classes that it is made of.
        above: From a class to the classes that it is below or equal to.
        classes: Types of nodes that are structure and nothing else.
    """

    type: frozenset[str]
    nil: frozenset[str]
    first: frozenset[str]
    rest: frozenset[str]
    on_property: frozenset[str]
    fillers: frozenset[str]
    boolean: frozenset[str]
    above: frozenset[str]
    classes: frozenset[str]


def owl_terms(prefixes: Mapping[str, str]) -> OwlTerms:
    """Return the terms for a graph whose ids are IRIs, shortened by its prefixes or not."""

    def ids(namespace: str, *names: str) -> frozenset[str]:
        starts = [namespace]
        starts += [f"{prefix}:" if prefix else "" for prefix, space in prefixes.items() if space == namespace]
        return frozenset(start + name for start in starts for name in names)

    return OwlTerms(
        type=ids(_RDF, "type"),
        nil=ids(_RDF, "nil"),
        first=ids(_RDF, "first"),
        rest=ids(_RDF, "rest"),
        on_property=ids(_OWL, "onProperty"),
        fillers=ids(_OWL, "someValuesFrom", "allValuesFrom", "hasValue", "onClass", "onDataRange"),
        boolean=ids(_OWL, "intersectionOf", "unionOf"),
        above=ids(_RDFS, "subClassOf") | ids(_OWL, "equivalentClass"),
        classes=ids(_RDF, "List") | ids(_RDFS, "Class", "Datatype") | ids(_OWL, "Class", "Restriction", "DataRange"),
    )
