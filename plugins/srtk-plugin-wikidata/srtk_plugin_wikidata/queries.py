"""SPARQL queries of a Wikibase: qualifiers of statements and labels in any language."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.vocabulary import BLANKS, Ids, Vocabulary

from srtk_plugin_wikidata.vocabulary import Spaces

BEST_RANK = "http://wikiba.se/ontology#BestRank"
LITERALS = ("none", "values", "all")

_STRING = "http://www.w3.org/2001/XMLSchema#string"

Fact = tuple[str, str, str]
"""IRI of a subject, local name of a property, and an object as a SPARQL term."""


class WikidataQueries(Queries):
    """The queries of a Wikibase.

    Objects may be no literals, ``values`` (all but plain texts), or all literals.
    """

    def __init__(self, vocabulary: Vocabulary, ids: Ids, spaces: Spaces, literals: str) -> None:
        # Relations, and properties as nodes, have another form of ids than the rest of their namespace.
        parts = {"wd": spaces.entity + "P", "wdt P": spaces.direct + "P"}
        prefixes = {**vocabulary.prefixes, **parts}
        super().__init__(attrs.evolve(vocabulary, prefixes=prefixes, literals=literals != "none"), ids)
        if literals == "values":
            self._object += f" FILTER(!isLiteral(?o) || DATATYPE(?o) != {terms.iri(_STRING)})"
        self._spaces_of = spaces
        self._label_relations = ids.named[0]
        self._items_only = bool(ids.entities) and all(start.startswith(spaces.entity + "Q") for start in ids.entities)

    def by_namespace(self, query: str) -> list[str]:
        """Split a query for neighbours into parts that have ids and IRIs in the same order; items are one part."""
        return [query] if self._items_only else super().by_namespace(query)

    def qualifiers(self, facts: Iterable[Fact]) -> str:
        """Select the qualifiers (?q, ?v) of the best-rank statements of facts (?n, ?s, ?o)."""
        spaces = self._spaces_of
        unknown = " || ".join(f"STRSTARTS(STR(?v), {terms.text(start)})" for start in (spaces.genid, BLANKS))
        values = " ".join(
            f"({terms.iri(subject)} {terms.iri(spaces.claim + name)} {terms.iri(spaces.value + name)} {object_})"
            for subject, name, object_ in sorted(facts)
        )
        return (
            f"SELECT DISTINCT ?n ?s ?o ?q ?v WHERE {{ VALUES (?n ?c ?s ?o) {{ {values} }} "
            f"?n ?c ?t . ?t ?s ?o . ?t a {terms.iri(BEST_RANK)} . ?t ?q ?v . "
            f"FILTER(STRSTARTS(STR(?q), {terms.text(spaces.qualifier + 'P')}) && !isBlank(?v)"
            f" && !(isIRI(?v) && ({unknown}))) }}"
        )

    def first_labels(self, nodes: Iterable[str]) -> str:
        """Select one label of each node (?n): the first by language, then by text, as ``language text`` (?l)."""
        values = " ".join(map(terms.iri, sorted(nodes)))
        relations = " ".join(map(terms.iri, self._label_relations))
        return (
            f'SELECT ?n (MIN(CONCAT(LANG(?t), " ", STR(?t))) AS ?l) WHERE {{ VALUES ?n {{ {values} }} '
            f"VALUES ?r {{ {relations} }} ?n ?r ?t . FILTER(isLiteral(?t)) }} GROUP BY ?n"
        )
