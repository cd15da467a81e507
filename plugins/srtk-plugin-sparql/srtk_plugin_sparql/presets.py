"""Vocabularies of public graphs that need no code of their own."""

from __future__ import annotations

from srtk_plugin_sparql.vocabulary import RDFS_LABEL, SKOS_ALIAS, Vocabulary

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_SCHEMA = "http://schema.org/"
_YAGO = "http://yago-knowledge.org/resource/"

PRESETS: dict[str, Vocabulary] = {
    "yago": Vocabulary(
        prefixes={"yago": _YAGO, "schema": _SCHEMA, "rdf": _RDF, "rdfs": _RDFS},
        label_relations=(RDFS_LABEL,),
        alias_relations=(_SCHEMA + "alternateName", SKOS_ALIAS),
        languages=("en",),
        entities=(_YAGO, _SCHEMA),
        relations=(_YAGO, _SCHEMA, _RDF + "type", _RDFS + "subClassOf"),
        type_relations=("rdf:type",),
        subclass_relations=("rdfs:subClassOf",),
        noise=("schema:image", "schema:url", "schema:sameAs", "schema:geo", "schema:mainEntityOfPage"),
    )
}
"""Name of a preset to its vocabulary."""
