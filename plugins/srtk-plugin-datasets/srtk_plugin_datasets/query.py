"""Meaning of a SPARQL query: its form, its constants, and the paths that lead from them to the answer.

This is no SPARQL engine. It reads basic graph patterns, `;` and `,`, UNION, and paths of `/` and `^`. OPTIONAL, MINUS,
FILTER and the like only narrow an answer and are skipped. Statements of Wikidata (`p:P39`, `ps:P39`) are read as the
direct claim, without their qualifiers. Whatever may change the paths (a subquery, a variable as relation, `*`, `+`,
`|`) makes them unknown; they are never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from srtk_framework.values import Link, Path, Step, Triple
from srtk_plugin_datasets.files import link
from srtk_plugin_datasets.ids import DBPEDIA, WIKIDATA, name_of, shortened
from srtk_plugin_datasets.sparql_parser import REPEATED, TYPE, NotUnderstood, Parser

_CLAIM = "http://www.wikidata.org/prop/"
_CLASS_RELATIONS = (_CLAIM + "direct/P31", _CLAIM + "direct/P279")  # A class is no topic, unless there is nothing else.
_NAMESPACES = {"ontology": "http://dbpedia.org/ontology/", "property": "http://dbpedia.org/property/"}


@attrs.frozen
class Query:
    """A parsed query.

    Attributes:
        form: ``select``, ``count`` (the answer is the number of results), or ``ask``.
        answer: The projected variable, with its question mark, or None.
        constants: IRIs in subject and object position, in order, without FILTERs; all IRIs of a query that
            cannot be parsed.
        classes: The constants that occur only as the object of a type relation.
        branches: The triple patterns, one set for each choice among UNIONs; None where they cannot be parsed.
    """

    form: str
    answer: str | None
    constants: tuple[str, ...]
    classes: tuple[str, ...]
    branches: tuple[tuple[Triple, ...], ...] | None

    def paths(self) -> tuple[Path, ...] | None:
        """Find the shortest relation paths from each constant that is not a class to the answer; None if unknown."""
        if self.branches is None or self.answer is None:
            return None
        found: dict[Path, None] = {}
        for triples in self.branches:
            for constant in self.constants:
                if constant not in self.classes:
                    found.update(dict.fromkeys(shortest_paths(triples, constant, self.answer, _open)))
        whole = [path for path in found if not any(step.relation.startswith(REPEATED) for step in path)]
        return tuple(whole) or None


def _open(node: str) -> bool:
    return node.startswith(("?", "_:"))


def read_query(text: str, type_relations: Iterable[str] = ()) -> Query:
    """Parse a query; an unreadable query still has its form and its constants.

    Args:
        text: SPARQL.
        type_relations: IRIs of relations from an entity to its class, besides ``rdf:type``.
    """
    parser = Parser(text)
    form, answer = parser.head()
    start = parser.at
    try:
        branches: tuple[tuple[Triple, ...], ...] | None = tuple(_direct(branch) for branch in parser.group())
    except NotUnderstood:
        branches = None
    triples = parser.seen
    nodes = [node for triple in triples for node in (triple.subject, triple.object) if node.startswith("http")]
    if branches is None:
        nodes = parser.iris(start)
    types = {TYPE, *type_relations}
    classes = {t.object for t in triples if t.relation.removeprefix(REPEATED) in types}
    classes -= {t.object for t in triples if t.relation.removeprefix(REPEATED) not in types}
    classes -= {t.subject for t in triples}
    constants = tuple(dict.fromkeys(nodes))
    return Query(form, answer, constants, tuple(node for node in constants if node in classes), branches)


def _direct(triples: Sequence[Triple]) -> tuple[Triple, ...]:
    """Replace the two triple patterns of a Wikidata statement by its direct claim; drop its other patterns."""
    owners = {t.object: t for t in triples if t.relation.startswith(_CLAIM) and "/" not in t.relation[len(_CLAIM) :]}
    found = []
    for triple in triples:
        owner = owners.get(triple.subject)
        if owner is None:
            if triple.object not in owners or not triple.relation.startswith(_CLAIM):
                found.append(triple)
        elif triple.relation == _CLAIM + "statement/" + owner.relation[len(_CLAIM) :]:
            found.append(Triple(owner.subject, _CLAIM + "direct/" + owner.relation[len(_CLAIM) :], triple.object))
    return tuple(found)


def shortest_paths(
    triples: Sequence[Triple], start: str, end: str, through: Callable[[str], bool] = lambda _: True
) -> list[Path]:
    """Find the shortest relation paths between two nodes of a small set of triples, in either direction.

    Args:
        triples: The triples.
        start: First node.
        end: Last node.
        through: Whether a path may pass through a node; any node by default.

    Returns:
        Distinct paths of equal length, in order of their triples; empty where ``start`` is ``end``.
    """
    level: list[tuple[str, Path]] = [(start, ())]
    seen = {start}
    while level and start != end:
        further = []
        for node, path in level:
            for subject, relation, object_ in triples:
                for near, far, step in ((subject, object_, Step(relation)), (object_, subject, Step(relation, True))):
                    if near == node and far not in seen and (far == end or through(far)):
                        further.append((far, (*path, step)))
        if found := [path for node, path in further if node == end]:
            return list(dict.fromkeys(found))
        level = list(dict.fromkeys(further))
        seen.update(node for node, _ in level)
    return []


@attrs.frozen
class QueryGold:
    """The gold data that the SPARQL query of a question implies.

    Attributes:
        form: ``select``, ``count`` or ``ask``.
        entities: Id and name of each entity (an empty name where the IRI has none); classes only if there is nothing
            else.
        paths: Relation paths from an entity to the answer, or None if they are unknown.
    """

    form: str
    entities: tuple[tuple[str, str], ...]
    paths: tuple[Path, ...] | None


def read_gold(sparql: str, prefixes: Mapping[str, str] | None, relations: str = "written") -> QueryGold:
    """Parse a query over DBpedia or Wikidata and shorten its ids.

    Args:
        sparql: The query.
        prefixes: As ``ids.shortened`` takes them.
        relations: ``written``; or ``ontology`` or ``property`` to map all of DBpedia's properties to one namespace.
    """
    query = read_query(sparql, _CLASS_RELATIONS)
    entities = [iri for iri in query.constants if iri.startswith((DBPEDIA, WIKIDATA))]
    topics = [iri for iri in entities if iri not in query.classes] or entities
    paths = query.paths()

    def short(relation: str) -> str:
        namespace = next((n for n in _NAMESPACES.values() if relation.startswith(n)), None)
        if namespace is not None and relations in _NAMESPACES:
            relation = _NAMESPACES[relations] + relation[len(namespace) :]
        return shortened(relation, prefixes)

    return QueryGold(
        form=query.form,
        entities=tuple((shortened(iri, prefixes), name_of(iri)) for iri in topics),
        paths=None if paths is None else tuple(tuple(Step(short(s.relation), s.inverse) for s in p) for p in paths),
    )


def topic_links(gold: QueryGold, text: str) -> tuple[Link, ...]:
    """Link the entities; a link has a span where the text contains the name, with or without its bracketed part."""
    return tuple(link(entity, name, text, name.partition(" (")[0]) for entity, name in gold.entities)
