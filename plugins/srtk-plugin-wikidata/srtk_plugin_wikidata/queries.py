"""Writes the queries that only a Wikibase can answer: qualifiers of statements, labels in any language."""

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
"""Subject, property and object, as they are written into a query: IRI, local name, term."""


class WikidataQueries(Queries):
    """The queries about a Wikibase.

    Args:
        vocabulary: What belongs to the graph.
        ids: Its namespaces, resolved.
        spaces: The namespaces of the Wikibase.
        literals: Which literals are objects: none, values (all but plain texts), or all.
    """

    def __init__(self, vocabulary: Vocabulary, ids: Ids, spaces: Spaces, literals: str) -> None:
        # Properties as nodes, and relations, have ids of another form than the rest of their namespace.
        parts = {"wd": spaces.entity + "P", "wdt P": spaces.direct + "P"}
        prefixes = {**vocabulary.prefixes, **parts}
        super().__init__(attrs.evolve(vocabulary, prefixes=prefixes, literals=literals != "none"), ids)
        if literals == "values":
            self._object += f" FILTER(!isLiteral(?o) || DATATYPE(?o) != {terms.iri(_STRING)})"
        self._spaces_of = spaces
        self._label_relations = ids.named[0]
        self._items_only = bool(ids.entities) and all(start.startswith(spaces.entity + "Q") for start in ids.entities)

    def by_namespace(self, query: str) -> list[str]:
        """Divide a query about neighbours into parts in which ids sort as IRIs; items alone are one part."""
        return [query] if self._items_only else super().by_namespace(query)

    def qualifiers(self, facts: Iterable[Fact]) -> str:
        """Ask for the qualifiers (?q, ?v) of facts (?n, ?s, ?o), over all their statements of the best rank."""
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
        """Ask for one label of each node (?n): the first by language, then by text, as ``language text`` (?l)."""
        values = " ".join(map(terms.iri, sorted(nodes)))
        relations = " ".join(map(terms.iri, self._label_relations))
        return (
            f'SELECT ?n (MIN(CONCAT(LANG(?t), " ", STR(?t))) AS ?l) WHERE {{ VALUES ?n {{ {values} }} '
            f"VALUES ?r {{ {relations} }} ?n ?r ?t . FILTER(isLiteral(?t)) }} GROUP BY ?n"
        )
