"""Blank nodes of a server, which no query can name: read together with the nodes that lead to them.

The labels of blank nodes hold within one answer; so each answer has all that is read about a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from srtk_framework.values import Literal, Triple
from srtk_plugin_sparql import terms
from srtk_plugin_sparql.names import Names
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.terms import Row, Term

HOPS = 3  # Most relations in a chain of blank nodes, besides those at its ends


class BlankNodes:
    """Reads triples over blank nodes, for the view `folded`."""

    def __init__(self, reader: StepReader, names: Names) -> None:
        self._reader = reader
        self._names = names
        self._answers = 0

    def triples(self, nodes: Iterable[str]) -> list[Triple]:
        """Read the triples from nodes to blank nodes, and from these on.

        Blank nodes are named apart for each answer; a node may have several names.
        """
        left = list(self._reader.iris(nodes).values())
        found: dict[str, list[Triple]] = {}
        for hops in range(HOPS + 1):
            if not left:
                break
            rows = self._reader.ask_all(left, partial(self._asked, hops), "?n ?p ?c ?b ?q ?o")
            read = self._by_node(rows)
            found |= read
            left = [iri for iri, triples in read.items() if _is_unfinished(triples)]
        return list(dict.fromkeys(triple for triples in found.values() for triple in triples))

    def _asked(self, hops: int, iris: Sequence[str]) -> str:
        return self._reader.queries.over_blanks(iris, hops)

    def _by_node(self, rows: Iterable[Row]) -> dict[str, list[Triple]]:
        """Group the triples of an answer by the node that leads to them."""
        self._answers += 1
        ids = self._reader.ids
        found: dict[str, dict[Triple, None]] = {}
        for row in rows:
            iri = row["n"].value
            near = Triple(ids.short(iri), ids.short(row["p"].value), self._end(row["c"], iri))
            far = Triple(self._end(row["b"], iri), ids.short(row["q"].value), self._end(row["o"], iri))
            kept = (triple for triple in (near, far) if not ids.is_hidden(triple.relation))
            found.setdefault(iri, {}).update(dict.fromkeys(kept))
        return {iri: list(triples) for iri, triples in found.items()}

    def _end(self, term: Term, iri: str) -> str:
        if term.kind == "blank":
            # Answers are divided by the nodes that they are about, so that labels hold for one of these alone.
            return f"_:{self._answers}.{iri}.{term.value}"
        return self._reader.ids.short(term.value) if term.kind == "iri" else term.literal()

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the entities with each name, those too that have no triple but over blank nodes."""
        return self._names.find(names, alone=True)

    def starts(self, ends: Iterable[str]) -> dict[str, set[str]]:
        """Find the nodes that lead to nodes or literals over blank nodes."""
        every = list(dict.fromkeys(ends))
        written: dict[str, str] = {terms.literal(end): end for end in every if isinstance(end, Literal)}
        iris = self._reader.iris(end for end in every if not isinstance(end, Literal))
        written |= {terms.iri(iri): end for end, iri in iris.items()}
        found: dict[str, set[str]] = {end: set() for end in every}
        left = sorted(written)
        for hops in range(HOPS + 1):
            if not left:
                break
            rows = self._reader.ask_all(left, partial(self._back, hops), "?n ?s")
            unfinished = set()
            for row in rows:
                end = written[_written(row["n"])]
                if row["s"].kind == "iri":
                    found[end].add(self._reader.ids.short(row["s"].value))
                elif row["s"].kind == "blank":
                    unfinished.add(_written(row["n"]))
            left = sorted(unfinished)
        return found

    def _back(self, hops: int, ends: Sequence[str]) -> str:
        return self._reader.queries.into_blanks(ends, hops)


def _written(term: Term) -> str:
    return terms.iri(term.value) if term.kind == "iri" else terms.literal(term.literal())


def _is_unfinished(triples: Iterable[Triple]) -> bool:
    """Return whether a triple leads to a blank node without a triple of its own."""
    known = {triple.subject for triple in triples}
    return any(
        triple.object.startswith("_:") and not isinstance(triple.object, Literal) and triple.object not in known
        for triple in triples
    )
