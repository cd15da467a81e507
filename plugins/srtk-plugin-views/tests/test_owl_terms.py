"""Ids of the terms of RDF and OWL, as graphs write them."""

from __future__ import annotations

import attrs
import pytest
from srtk_plugin_views.owl_terms import owl_terms

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
NAMES = {
    "type": {"rdf:type"},
    "nil": {"rdf:nil"},
    "first": {"rdf:first"},
    "rest": {"rdf:rest"},
    "on_property": {"owl:onProperty"},
    "fillers": {f"owl:{name}" for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass", "onDataRange")},
    "boolean": {"owl:intersectionOf", "owl:unionOf"},
    "above": {"rdfs:subClassOf", "owl:equivalentClass"},
    "classes": {"rdf:List", "rdfs:Class", "rdfs:Datatype", "owl:Class", "owl:Restriction", "owl:DataRange"},
}


def whole(name: str) -> str:
    prefix, _, local = name.partition(":")
    return {"rdf": RDF, "rdfs": RDFS, "owl": OWL}[prefix] + local


@pytest.mark.parametrize("field", NAMES)
def test_each_term_is_known_as_an_iri_and_by_every_prefix(field: str) -> None:
    iris = {whole(name) for name in NAMES[field]}
    assert getattr(owl_terms({"x": "http://example.org/"}), field) == iris
    found = getattr(owl_terms({"rdf": RDF, "rdfs": RDFS, "owl": OWL}), field)
    assert found == iris | NAMES[field]
    assert set(NAMES) == set(attrs.fields_dict(type(owl_terms({}))))


def test_a_namespace_may_have_several_prefixes_and_an_empty_one_leaves_the_name_alone() -> None:
    assert owl_terms({"": RDF, "r": RDF, "o": OWL}).nil == {f"{RDF}nil", "nil", "r:nil"}
