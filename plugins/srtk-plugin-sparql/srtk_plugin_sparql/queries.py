"""Query texts: whole IRIs, sorted values, nothing unchecked; equal questions give equal texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from srtk_framework.text import LITERAL_FORM
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

Pair = tuple[str, str]
"""IRIs of a node and of a relation."""

# Virtuoso refuses to sort more rows than this for one page, unless sorting stands in a query of its own.
SORTED = 10_000

CALLED_IN_ANY = "SELECT DISTINCT ?l ?n WHERE { ?n "  # How the query for names in any language begins
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_OWL = "http://www.w3.org/2002/07/owl#"
_PARTS = [
    terms.iri(name)
    for name in (
        *(_RDF + "first", _RDF + "rest", _OWL + "intersectionOf", _OWL + "unionOf"),
        *(_OWL + "someValuesFrom", _OWL + "allValuesFrom", _OWL + "onClass"),
    )
]
_WITHIN = f"({'|'.join(_PARTS)})*"  # Path within a list or a class expression, which may be of any length
_BACK = f"({'|'.join('^' + part for part in _PARTS)})*"


class Queries:
    """The queries about one vocabulary; all arguments are IRIs.

    Attributes:
        classes: Ids of the relations that lead to classes.
    """

    def __init__(self, vocabulary: Vocabulary, ids: Ids) -> None:
        labels, aliases = ids.named
        self._ids = ids
        self._labels = labels
        self._names = self._naming = (*labels, *aliases)
        relations = (*vocabulary.type_relations, *vocabulary.subclass_relations)
        self.classes = frozenset(r for r in relations if ids.iri(r) is not None and not ids.is_hidden(r))
        self._relation = self.relation("?p")
        self._subject = self.entity("?o")
        if not vocabulary.literals:
            self._object = self._subject
        elif ids.entities:
            self._object = f"FILTER(isLiteral(?o) || ({self._is_entity('?o')}))"
        else:
            self._object = "FILTER(!isBlank(?o))"
        self._language = _language_filter(vocabulary.languages)
        self._spaces = dict(vocabulary.prefixes)

    def narrow(self, used: Collection[str]) -> None:
        """Test relations only for the names that a graph uses: a server compares each triple with each of them.

        A name of SKOS-XL stays, since its relation may lead to nodes without a text.
        """
        self._naming = tuple(one for one in self._names if one in used or _any([one]) != terms.iri(one))
        self._relation = self.relation("?p")

    def relation(self, variable: str) -> str:
        """Let a variable be a relation of the graph."""
        naming = ", ".join(map(terms.iri, self._naming))
        parts = [f"{variable} NOT IN ({naming})"] if naming else []
        if self._ids.relations:
            parts.append(f"isIRI({variable}){_starts(variable, self._ids.relations)}")
        return f"FILTER({' && '.join(parts)})" if parts else ""

    def entity(self, variable: str) -> str:
        """Let a variable be an entity of the graph."""
        return f"FILTER({self._is_entity(variable)})"

    def _is_entity(self, variable: str) -> str:
        return f"isIRI({variable}){_starts(variable, self._ids.entities)}"

    def sides(self, values: Sequence[str], forward: str = "?n ?p ?o", inverse: str = "?o ?p ?n") -> str:
        """Write the two directions; a direction without values is left out."""
        parts = []
        for number, (value, pattern) in enumerate(zip(values, (forward, inverse), strict=True)):
            if value:
                object_ = self._subject if number else self._object
                parts.append(f"{{ {value} {pattern} . {self._relation} {object_} BIND({number} AS ?d) }}")
        return " UNION ".join(parts)

    def steps(self, nodes: Iterable[tuple[int, str]], forward: bool, inverse: bool) -> str:
        """Count the neighbours of numbered nodes by relation (?d: 0 forward, 1 inverse; ?p); see ``packed``."""
        values = numbered(nodes)
        where = self.sides([values if forward else "", values if inverse else ""])
        return packed(where, "?d ?p")

    def are_objects(self, nodes: Iterable[str]) -> str:
        """Ask which nodes (?n) are object of anything."""
        values = _values("?n", map(terms.iri, sorted(nodes)))
        return f"SELECT ?n WHERE {{ {values} FILTER EXISTS {{ ?o ?p ?n . {self._relation} {self._subject} }} }}"

    def are_there(self, nodes: Iterable[str]) -> str:
        """Ask which nodes (?n) are in any triple."""
        values = _values("?n", map(terms.iri, sorted(nodes)))
        out, into = f"?n ?p ?o . {self._relation} {self._object}", f"?o ?p ?n . {self._relation} {self._subject}"
        return f"SELECT ?n WHERE {{ {values} FILTER(EXISTS {{ {out} }} || EXISTS {{ {into} }}) }}"

    def loops(self, nodes: Iterable[str]) -> str:
        """Ask which relations (?p) lead from nodes (?n) to themselves."""
        values = _values("?n", map(terms.iri, sorted(nodes)))
        return f"SELECT DISTINCT ?n ?p WHERE {{ {values} ?n ?p ?n . {self._relation} }}"

    def neighbours(self, forward: Iterable[Pair], inverse: Iterable[Pair]) -> str:
        """Ask for the neighbours (?o) of nodes along relations (?d, ?n, ?p)."""
        values = [_values("(?n ?p)", (_pair(pair) for pair in sorted(pairs))) for pairs in (forward, inverse)]
        return f"SELECT DISTINCT ?d ?n ?p ?o WHERE {{ {self.sides(values)} }}"

    def by_namespace(self, query: str) -> list[str]:
        """Divide a query about neighbours (?o): a query for each namespace of short ids, and one for the rest."""
        head, _, body = query.partition(" WHERE ")
        tests = []
        for prefix, space in sorted(self._spaces.items()):
            deeper = [other for other in self._spaces.values() if other.startswith(space) and other != space]
            test = _started("?o", [space])
            if deeper:
                test += f" && !({_started('?o', deeper)})"
            if not prefix:
                test += f' && !CONTAINS(SUBSTR(STR(?o), {len(space) + 1}), ":")'
            tests.append(test)
        rest = [" && ".join(f"!({test})" for test in tests)] if tests else ["true"]
        return [f"{head} WHERE {{ {body} FILTER({test}) }}" for test in (*tests, *rest)]

    def between(self, ends: Iterable[Pair]) -> str:
        """Ask for the relations (?p) from nodes (?n) to nodes (?o)."""
        values = _values("(?n ?o)", (_pair(pair) for pair in sorted(ends)))
        return f"SELECT DISTINCT ?n ?p ?o WHERE {{ {values} ?n ?p ?o . {self._relation} {self._object} }}"

    def with_literals(self, literals: Iterable[tuple[int, str]]) -> str:
        """Ask for the subjects and relations (?n, ?p) of literals, written as terms, each with a number (?i)."""
        values = _values("(?i ?o)", (f"({number} {literal})" for number, literal in literals))
        return f"SELECT DISTINCT ?i ?n ?p WHERE {{ {values} ?n ?p ?o . {self._relation} FILTER(isIRI(?n)) }}"

    def labels(self, nodes: Iterable[str], relations: Sequence[str] = (), used: bool = False) -> str:
        """Ask for the labels (?l) of nodes (?n) in the wanted languages; with relations, also by which one (?r).

        With ``used``, nodes that are in no triple have none, as in a snapshot.
        """
        values = _values("?n", map(terms.iri, sorted(nodes)))
        test = f"{self._language}{self._used() if used else ''}"
        if relations:
            parts = (f"{{ {values} ?n {_any([one])} ?l . BIND({terms.iri(one)} AS ?r) {test} }}" for one in relations)
            return f"SELECT DISTINCT ?n ?r ?l WHERE {{ {' UNION '.join(parts)} }}"
        return f"SELECT DISTINCT ?n ?l WHERE {{ {values} ?n {_any(self._labels)} ?l . {test} }}"

    def _used(self) -> str:
        """Let a node (?n) be in a triple, be a relation, or be where the label of a relation stands."""
        out, into = f"?n ?p ?o . {self._relation} {self._object}", f"?o ?p ?n . {self._relation} {self._subject}"
        tests = [f"EXISTS {{ {way} }}" for way in (out, into, "?o ?n ?p")]
        if spaces := sorted(self._ids.label_namespaces.values()):
            tests.append(_started("?n", spaces))
        return f" FILTER({' || '.join(tests)})"

    def called(self, names: Iterable[str], relations: Sequence[str] = ()) -> str:
        """Ask for the nodes (?n) that have one of some names (?l), written as terms, by these relations or by any."""
        values, named = _values("?l", sorted(names)), _any(relations or self._names)
        return f"SELECT DISTINCT ?n ?l WHERE {{ {values} ?n {named} ?l . FILTER(isIRI(?n)) }}"

    def called_in_any_language(self, names: Iterable[str], relations: Sequence[str] = ()) -> str:
        """Ask for the nodes (?n) that have one of some names (?l) in whatever language, by looking at all names."""
        texts, named = ", ".join(map(terms.text, sorted(names))), _any(relations or self._names)
        test = f"FILTER(isIRI(?n) && STR(?l) IN ({texts}))"
        return f"{CALLED_IN_ANY}{named} ?l . {test} }}"

    def subjects(self, most: int) -> str:
        """Ask for some nodes (?n) that are subjects."""
        rows = f"SELECT ?n WHERE {{ ?n ?p ?o . {self._relation} }} LIMIT {most}"
        return f"SELECT DISTINCT ?n WHERE {{ {{ {rows} }} FILTER(isIRI(?n)) }}"

    def languages(self, most: int) -> str:
        """Ask for the languages (?g) of the first names of each relation (?k: its place), and their number (?c)."""
        parts = (
            f"{{ {{ SELECT ?l WHERE {{ ?n {_any([relation])} ?l }} LIMIT {most} }} BIND({place} AS ?k) }}"
            for place, relation in enumerate(self._names)
        )
        where = f'{" UNION ".join(parts)} BIND(COALESCE(LANG(?l), "") AS ?g)'
        return f"SELECT ?k ?g (COUNT(?l) AS ?c) WHERE {{ {where} }} GROUP BY ?k ?g"

    def all_names(self) -> str:
        """Ask for all names (?l) of all nodes (?n), and by which relation (?r)."""
        plain = [one for one in self._names if _any([one]) == terms.iri(one)]
        parts = [f"{_values('?r', map(terms.iri, plain))} ?n ?r ?l ."] if plain else []
        parts += [f"?n {_any([one])} ?l . BIND({terms.iri(one)} AS ?r)" for one in self._names if one not in plain]
        where = parts[0] if len(parts) == 1 else " UNION ".join(f"{{ {part} }}" for part in parts)
        return f"SELECT DISTINCT ?n ?r ?l WHERE {{ {where} FILTER(isIRI(?n)) {self._language} }}"

    def over_blanks(self, nodes: Iterable[str], hops: int) -> str:
        """Ask for the triples (?b ?q ?o) of blank nodes to which nodes lead (?n ?p ?c).

        At most ``hops`` relations between blank nodes are followed, besides those that hold lists and class
        expressions together.
        """
        values = _values("?n", map(terms.iri, sorted(nodes)))
        parts = []
        for count in range(hops + 1):
            way = [f"{values} ?n ?p ?c . {self._relation} FILTER(isBlank(?c)) ?c {_WITHIN} ?b0 ."]
            for place in range(count):
                way.append(
                    f"?b{place} ?r{place} ?c{place} . FILTER(isBlank(?c{place})) ?c{place} {_WITHIN} ?b{place + 1} ."
                )
            way.append(f"BIND(?b{count} AS ?b) ?b{count} ?q ?o . FILTER(isBlank(?b{count}))")
            parts.append(f"{{ {' '.join(way)} }}")
        return f"SELECT DISTINCT ?n ?p ?c ?b ?q ?o WHERE {{ {' UNION '.join(parts)} }}"

    def into_blanks(self, ends: Iterable[str], hops: int) -> str:
        """Ask for the nodes (?s) that lead to nodes or literals (?n), written as terms, over so many blank nodes."""
        values = _values("?n", sorted(ends))
        way = [f"{values} ?b0 ?q ?n . FILTER(isBlank(?b0) && ?q != {terms.iri(_OWL + 'onProperty')})"]
        for place in range(hops):
            way.append(
                f"?b{place} {_BACK} ?c{place} . ?b{place + 1} ?r{place} ?c{place} . FILTER(isBlank(?b{place + 1}))"
            )
        way.append(f"?b{hops} {_BACK} ?c . ?s ?p ?c .")
        return f"SELECT DISTINCT ?n ?s WHERE {{ {' '.join(way)} }}"

    def all_nodes(self) -> str:
        """Ask for all nodes (?n)."""
        out = f"{{ ?n ?p ?o . {self._relation} {self._object} FILTER(isIRI(?n)) }}"
        into = f"{{ ?o ?p ?n . {self._relation} {self._subject} FILTER(isIRI(?n)) }}"
        return f"SELECT DISTINCT ?n WHERE {{ {out} UNION {into} }}"


def packed(where: str, step: str) -> str:
    """Count the neighbours (?o) of nodes with a number (?i) by step, a row for each step.

    A row has the numbers and counts of its nodes in one text (?c), as ``number:count``, and how many nodes these are
    (?m). A row for each node would take the server longer to write, and the client several times longer to read.
    """
    inner = f"SELECT {step} ?i (COUNT(DISTINCT ?o) AS ?k) WHERE {{ {where} }} GROUP BY {step} ?i"
    # Virtuoso wants a separator.
    listed = '(GROUP_CONCAT(CONCAT(STR(?i), ":", STR(?k)); SEPARATOR=" ") AS ?c) (COUNT(*) AS ?m)'
    return f"SELECT {step} {listed} WHERE {{ {{ {inner} }} }} GROUP BY {step}"


def numbered(nodes: Iterable[tuple[int, str]]) -> str:
    """Write nodes (?n) with their numbers (?i)."""
    return _values("(?i ?n)", (f"({number} {terms.iri(iri)})" for number, iri in nodes))


_COUNT = "SELECT (COUNT(*) AS ?c) WHERE { "


def count(query: str) -> str:
    """Ask how many rows (?c) a query has."""
    return f"{_COUNT}{{ {query} }} }}"


def is_count(query: str) -> bool:
    """Return whether a query asks for a number of rows, which is one row by itself."""
    return query.startswith(_COUNT)


def table(side: int) -> str:
    """Ask for ``side * side`` rows (?a, ?b) that need no data."""
    values = " ".join(f'"{number}"' for number in range(side))
    first, second = (f"{{ SELECT ?{name} WHERE {{ VALUES ?{name} {{ {values} }} }} }}" for name in "ab")
    return f"SELECT ?a ?b WHERE {{ {first} {second} }}"


def page(query: str, order: str, size: int, start: int) -> str:
    """Ask for some rows of a query, in an order of its variables; far ones of a sorted whole, as Virtuoso wants it."""
    rows = f"{query} ORDER BY {order}"
    if start + size > SORTED:
        rows = f"SELECT * WHERE {{ {{ {rows} }} }}"
    return f"{rows} LIMIT {size} OFFSET {start}"


def _values(names: str, rows: Iterable[str]) -> str:
    written = " ".join(rows)
    return f"VALUES {names} {{ {written} }}" if written else ""


def _any(relations: Iterable[str]) -> str:
    """Write a path by any of some relations; a second VALUES would make Oxigraph read them whole.

    A label of SKOS-XL is a node of its own, whose text is one step further.
    """
    text = terms.iri(LITERAL_FORM)
    xl = LITERAL_FORM.removesuffix("literalForm")
    return "|".join(f"{terms.iri(one)}/{text}" if one.startswith(xl) else terms.iri(one) for one in relations)


def _pair(pair: Pair) -> str:
    return f"({terms.iri(pair[0])} {terms.iri(pair[1])})"


def _starts(variable: str, starts: Sequence[str]) -> str:
    return f" && ({_started(variable, starts)})" if starts else ""


def _started(variable: str, starts: Sequence[str]) -> str:
    return " || ".join(f"STRSTARTS(STR({variable}), {terms.text(start)})" for start in starts)


def _language_filter(languages: Sequence[str]) -> str:
    if not languages:
        return "FILTER(!isBlank(?l))"
    wanted = " || ".join(f"LANGMATCHES(LANG(?l), {terms.text(_checked(language))})" for language in languages)
    return f'FILTER(isIRI(?l) || (isLiteral(?l) && (LANG(?l) = "" || {wanted})))'


def _checked(language: str) -> str:
    terms.text("", language)
    return language
