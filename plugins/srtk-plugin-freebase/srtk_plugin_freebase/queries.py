"""SPARQL queries of Freebase, which filter noise and join mediators on the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.queries import Pair, Queries, numbered, packed
from srtk_plugin_sparql.vocabulary import Vocabulary

from srtk_plugin_freebase.ids import FreebaseIds

Join = tuple[str, str, str]
"""IRIs of a node, the relation to a mediator, and the relation from it."""
Statement = tuple[str, str, str, str]
"""IRIs of a subject and two relations, and an object as a SPARQL term."""


@attrs.frozen
class Mediators:
    """The definition of mediators: patterns of ids, no label if ``unnamed``; and whether steps end in literals."""

    patterns: tuple[str, ...]
    unnamed: bool
    to_literals: bool


class FreebaseQueries(Queries):
    """Queries that leave out hidden relations, but never type relations."""

    def __init__(self, vocabulary: Vocabulary, ids: FreebaseIds) -> None:
        types = (*vocabulary.type_relations, *vocabulary.subclass_relations)
        self._types = ids.starts_of(types, "type relation")[1]
        self._hidden = ids.starts_of(vocabulary.hidden, "hidden")
        self._space = vocabulary.prefixes[""]
        self._slashes = ids.slashes
        super().__init__(vocabulary, ids)

    def relation(self, variable: str) -> str:
        """Return the constraint that a variable is a relation of the graph and not hidden."""
        if not any(self._hidden):
            return super().relation(variable)
        kept = f"{variable} IN ({_listed(self._types)}) || " if self._types else ""
        return f"{super().relation(variable)} FILTER({kept}!({_fits(variable, *self._hidden)}))"

    def by_namespace(self, query: str) -> list[str]:
        """Split a query for neighbours (?o) into parts that have ids and IRIs in the same order."""
        first, *others = super().by_namespace(query)
        if not self._slashes:
            return [first, *others]
        # The empty prefix comes first. Local names that cannot have slashes are whole IRIs.
        local = f"SUBSTR(STR(?o), {len(self._space) + 1})"
        odd = f'CONTAINS({local}, "/") || CONTAINS({local}, "..") || STRSTARTS({local}, ".") || STRENDS({local}, ".")'
        body = first.removesuffix("}")
        return [f"{body}FILTER(!({odd})) }}", f"{body}FILTER({odd}) }}", *others]


class JoinQueries(FreebaseQueries):
    """Queries that join two relations through a mediator; ?q is the second relation, if any.

    With ``grouped``, the steps to mediators are a group of their own, for engines that test EXISTS late and would walk
    on from all neighbours of a hub. Virtuoso takes minutes for such a group.
    """

    def __init__(self, vocabulary: Vocabulary, ids: FreebaseIds, mediators: Mediators, grouped: bool = False) -> None:
        super().__init__(vocabulary, ids)
        self._grouped = grouped
        self._patterns = ids.starts_of(mediators.patterns, "mediator pattern")
        self.unnamed = mediators.unnamed and bool(self._labels)
        noise = ids.starts_of(vocabulary.noise, "noise")
        self._unjoined = (noise[0], tuple(dict.fromkeys((*noise[1], *self._types))))
        self._end = self._object if mediators.to_literals else self._subject

    def may_be_mediator(self, iri: str) -> bool:
        """Return whether an IRI matches the patterns of mediators."""
        starts, wholes = self._patterns
        return iri.startswith(starts) or iri in wholes

    # Parts

    def named(self, nodes: Iterable[str]) -> str:
        """Select the nodes (?n) with a label."""
        return f"SELECT DISTINCT ?n WHERE {{ {_values('?n', nodes)} {self._name('?n')} }}"

    def _name(self, variable: str) -> str:
        name = f"?name_{variable[1:]}"
        path = "|".join(map(terms.iri, self._labels))
        return f'{variable} {path} {name} . {self._language.replace("?l", name)} FILTER(REGEX(STR({name}), "[^ ]"))'

    def _mediator(self, variable: str) -> str:
        """Return the constraint that a variable is a mediator."""
        test = f"FILTER(isIRI({variable}) && ({_fits(variable, *self._patterns)}))"
        return f"{test} FILTER NOT EXISTS {{ {self._name(variable)} }}" if self.unnamed else test

    def _apart(self, variable: str) -> str:
        """Return the constraint that a variable is not a mediator."""
        other = f"!isIRI({variable}) || !({_fits(variable, *self._patterns)})"
        return f"FILTER({other} || EXISTS {{ {self._name(variable)} }})" if self.unnamed else f"FILTER({other})"

    def _joined(self, variable: str) -> str:
        """Return the constraint that a variable is a relation that may be half of a composite."""
        left_out = f" FILTER(!({_fits(variable, *self._unjoined)}))" if any(self._unjoined) else ""
        return self.relation(variable) + left_out

    def _edges(self, inverse: bool, known: bool = False) -> str:
        """Return the pattern of ?p from ?n to ?o, or inverse, where ?o is not a mediator; skip checks of a known ?p."""
        pattern, object_ = ("?o ?p ?n", self._subject) if inverse else ("?n ?p ?o", self._object)
        test = "" if known else self._relation
        return f"{pattern} . {test} {object_} {self._apart('?o')}"

    def _joins(self, inverse: bool, known: bool = False, values: str = "") -> str:
        """Return the pattern of ?p, mediator, ?q from ?n to ?o, or inverse; skip checks of known relations.

        Args:
            inverse: The steps lead to ?n.
            known: ?p and ?q are bound by the values.
            values: VALUES that bind ?n.
        """
        near, far = ("?m ?q ?n", "?o ?p ?m") if inverse else ("?n ?p ?m", "?m ?q ?o")
        tests = {one: "" if known else self._joined(one) for one in ("?p", "?q")}
        mediator = self._mediator("?m")
        end = f"{self._subject if inverse else self._end} FILTER(!sameTerm(?n, ?o))"
        if not self._grouped:
            start, stop = (far, near) if inverse else (near, far)
            return f"{values} {start} . {stop} . {' '.join(tests.values())} {end} {mediator} {self._apart('?o')}"
        first, second = (tests["?q"], tests["?p"]) if inverse else tests.values()
        return f"{{ {values} {near} . {first} {mediator} }} {far} . {second} {end} {self._apart('?o')}"

    # Queries

    def steps(self, nodes: Iterable[tuple[int, str]], forward: bool, inverse: bool) -> str:
        """Count the neighbours of numbered nodes by relation (?d: 0 forward, 1 inverse; ?p, ?q); see ``packed``."""
        values = numbered(nodes)
        parts = [
            f"{{ {written} BIND({int(back)} AS ?d) }}"
            for back, wanted in ((False, forward), (True, inverse))
            for written in (f"{values} {self._edges(back)}", self._joins(back, values=values))
            if wanted
        ]
        return packed(" UNION ".join(parts), "?d ?p ?q")

    def are_objects(self, nodes: Iterable[str]) -> str:
        """Select the nodes (?n) that are the object of a triple."""
        values = _values("?n", nodes)
        parts = (f"{{ {one} }}" for one in (f"{values} {self._edges(True)}", self._joins(True, values=values)))
        return f"SELECT DISTINCT ?n WHERE {{ {' UNION '.join(parts)} }}"

    def walks(self, pairs: Sequence[Iterable[Pair]], joins: Sequence[Iterable[Join]]) -> str:
        """Select the neighbours (?o) of nodes along single and composite relations, in both directions."""
        parts = []
        for number in (0, 1):
            single, joined = (
                " ".join(f"({' '.join(map(terms.iri, row))})" for row in sorted(rows))
                for rows in (pairs[number], joins[number])
            )
            if single:
                values = f"VALUES (?n ?p) {{ {single} }}"
                parts.append(f"{{ {values} {self._edges(bool(number), True)} BIND({number} AS ?d) }}")
            if joined:
                values = f"VALUES (?n ?p ?q) {{ {joined} }}"
                parts.append(f"{{ {self._joins(bool(number), True, values)} BIND({number} AS ?d) }}")
        return f"SELECT DISTINCT ?d ?n ?p ?q ?o WHERE {{ {' UNION '.join(parts)} }}"

    def between(self, ends: Iterable[Pair]) -> str:
        """Select the relations (?p, ?q) from nodes (?n) to nodes (?o)."""
        rows = " ".join(f"({terms.iri(start)} {terms.iri(end)})" for start, end in sorted(ends))
        values = f"VALUES (?n ?o) {{ {rows} }}"
        parts = (f"{{ {one} }}" for one in (f"{values} {self._edges(False)}", self._joins(False, values=values)))
        return f"SELECT DISTINCT ?n ?p ?q ?o WHERE {{ {' UNION '.join(parts)} }}"

    def with_literals(self, literals: Iterable[tuple[int, str]]) -> str:
        """Select the subjects and relations (?n, ?p, ?q) of literals, given as SPARQL terms with a number (?i)."""
        values = f"VALUES (?i ?o) {{ {' '.join(f'({number} {literal})' for number, literal in literals)} }}"
        edge = f"{{ {values} ?n ?p ?o . {self._relation} FILTER(isIRI(?n)) {self._apart('?n')} }}"
        if self._end == self._subject:
            return f"SELECT DISTINCT ?i ?n ?p ?q WHERE {{ {edge} }}"
        join = (
            f"{{ {values} ?n ?p ?m . ?m ?q ?o . {self._joined('?p')} {self._joined('?q')} "
            f"FILTER(isIRI(?n)) {self._mediator('?m')} {self._apart('?n')} }}"
        )
        return f"SELECT DISTINCT ?i ?n ?p ?q WHERE {{ {edge} UNION {join} }}"

    def all_nodes(self) -> str:
        """Select all nodes (?n)."""
        one = f"FILTER(isIRI(?n)) {self._apart('?n')}"
        parts = (f"{{ {write(back)} {one} }}" for write in (self._edges, self._joins) for back in (False, True))
        return f"SELECT DISTINCT ?n WHERE {{ {' UNION '.join(parts)} }}"

    def statements(self, wanted: Iterable[Statement]) -> str:
        """Select the other triples (?k, ?v) of the mediators that join ?n and ?o by ?p and ?q."""
        rows = " ".join(f"({terms.iri(n)} {terms.iri(p)} {terms.iri(q)} {o})" for n, p, q, o in sorted(wanted))
        value = self._object.replace("?o", "?v")
        joins = self._joins(False, values=f"VALUES (?n ?p ?q ?o) {{ {rows} }}")
        return (
            f"SELECT DISTINCT ?n ?p ?q ?o ?k ?v WHERE {{ {joins} "
            f"?m ?k ?v . {self._joined('?k')} {value} {self._apart('?v')} }}"
        )


def _values(name: str, nodes: Iterable[str]) -> str:
    return f"VALUES {name} {{ {' '.join(map(terms.iri, sorted(nodes)))} }}"


def _listed(iris: Iterable[str]) -> str:
    return ", ".join(terms.iri(iri) for iri in iris)


def _fits(variable: str, starts: Sequence[str], wholes: Sequence[str]) -> str:
    parts = [f"STRSTARTS(STR({variable}), {terms.text(start)})" for start in starts]
    if wholes:
        parts.append(f"{variable} IN ({_listed(wholes)})")
    return " || ".join(parts) or "false"
