"""DBpedia's vocabulary: its namespaces, and the relations about Wikipedia rather than the world."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from srtk_plugin_sparql.vocabulary import RDFS_LABEL, SKOS_ALIAS, Vocabulary

from srtk_plugin_dbpedia.titles import RESOURCE

ONTOLOGY = "http://dbpedia.org/ontology/"
PROPERTY = "http://dbpedia.org/property/"
CATEGORY = RESOURCE + "Category:"
REDIRECTS = ONTOLOGY + "wikiPageRedirects"
DISAMBIGUATES = ONTOLOGY + "wikiPageDisambiguates"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_TERMS = "http://purl.org/dc/terms/"

PREFIXES = {
    "dbr": RESOURCE,
    "dbo": ONTOLOGY,
    "dbp": PROPERTY,
    "dbc": CATEGORY,
    "dbt": RESOURCE + "Template:",
    "dct": _TERMS,
    "rdf": _RDF,
    "rdfs": _RDFS,
    "skos": _SKOS,
    "owl": "http://www.w3.org/2002/07/owl#",
    "foaf": "http://xmlns.com/foaf/0.1/",
}

# Relations of each part of DBpedia, as prefixes.
NAMESPACES = {"ontology": (ONTOLOGY,), "property": (PROPERTY,), "category": (_TERMS + "subject", _SKOS + "broader")}

HIDDEN = (
    "dbo:wikiPageWikiLink",
    "dbo:wikiPageExternalLink",
    "dbo:wikiPageInterLanguageLink",
    "dbo:wikiPageRedirects",
    "dbo:wikiPageDisambiguates",
    "dbo:wikiPageUsesTemplate",
    "dbp:wikiPageUsesTemplate",
    "dbo:abstract",
    "dbo:thumbnail",
    "dbo:thumbnailCaption",
    "dbp:image",
    "dbo:wiki*",
    "dbp:wiki*",
)
"""Relations between pages, and their texts and pictures; frequent ones by their whole id."""

NOISE = (
    "dbp:*[cC]aption*",
    "dbp:*[iI]mage*",
    "dbp:*[wW]idth",
    "dbp:*[sS]ize",
    "dbp:alt",
    "dbp:*Alt",
    "dbp:date[0-9]*",
    "dbp:reference*",
    "dbp:quote",
    "dbp:source",
    "dbp:url",
    "dbp:signature",
    "dbo:soundRecording",
    "dbo:filename",
    "dbo:fileExtension",
)
"""Relations of infobox layout."""


def vocabulary(namespaces: Sequence[str], languages: Sequence[str]) -> Vocabulary:
    """Return the vocabulary of some parts of DBpedia, with types and superclasses."""
    wanted = [start for name, starts in NAMESPACES.items() if name in namespaces for start in starts]
    return Vocabulary(
        prefixes=PREFIXES,
        label_relations=(RDFS_LABEL,),
        alias_relations=(SKOS_ALIAS, "http://xmlns.com/foaf/0.1/name"),
        languages=tuple(languages),
        entities=(RESOURCE, ONTOLOGY),
        relations=(*wanted, _RDF + "type", _RDFS + "subClassOf"),
        hidden=HIDDEN,
        type_relations=("rdf:type",),
        subclass_relations=("rdfs:subClassOf",),
        # Titles never have two underscores in a row; such nodes are terms of office or seasons of a career.
        mediators=("dbr:*__*",),
        noise=NOISE,
    )


def pages(meaning: Vocabulary) -> Vocabulary:
    """Return the vocabulary of redirects and disambiguation pages."""
    return attrs.evolve(meaning, relations=(REDIRECTS, DISAMBIGUATES), hidden=(), literals=False)
