"""Reads of steps, with single and joined relations in the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from srtk_plugin_sparql import terms
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.terms import Rows, Term
from srtk_plugin_views import composites

from srtk_framework.values import Literal, Qualifier, Step, Triple
from srtk_plugin_freebase.ids import FreebaseIds
from srtk_plugin_freebase.queries import JoinQueries, Statement


class MediatorReads(StepReader):
    """Steps and neighbours of entities in the joined graph, where mediators are not nodes."""

    def __init__(
        self, source: Source, ids: FreebaseIds, queries: JoinQueries, page: int, nodes: int, workers: int, both: bool
    ) -> None:
        super().__init__(source, ids, queries, page, nodes, workers, both)
        self._freebase = ids
        self._joins = queries
        self._is_mediator: dict[str, bool] = {}

    def forget(self) -> None:
        """Empty the cache if it is full."""
        before = self._kept
        super().forget()
        if self._kept < before:
            self._is_mediator.clear()

    def iris(self, nodes: Iterable[str]) -> dict[str, str]:
        """Return the IRIs of the nodes that may be in the graph and are not mediators."""
        found = super().iris(nodes)
        unsure = [iri for node, iri in found.items() if node not in self._out and node not in self._in]
        missing = [iri for iri in unsure if iri not in self._is_mediator and self._joins.may_be_mediator(iri)]
        if missing:
            rows = self.ask_all(missing, self._joins.named, "?n") if self._joins.unnamed else []
            named = {row["n"].value for row in rows}
            self._is_mediator.update({iri: iri not in named for iri in missing})
            self._kept += len(missing)
        return {node: iri for node, iri in found.items() if not self._is_mediator.get(iri, False)}

    def relation_of(self, row: Mapping[str, Term]) -> str:
        """Return the id of the relation of a row, single or composite."""
        first = self.ids.short(row["p"].value)
        return composites.join(first, self.ids.short(row["q"].value)) if "q" in row else composites.escape(first)

    def _first(self, query: str, order: str, wanted: int, most: int | None = None, fresh: bool = False) -> Rows:
        # Rows that differ only in the second relation need an order, too.
        whole = order.replace("?p", "?p ?q") if " ?q " in query and "?q" not in order else order
        return super()._first(query, whole, wanted, most, fresh)

    def _write(self, pairs: Sequence[tuple[str, Step]]) -> str:
        single: tuple[list[tuple[str, str]], ...] = ([], [])
        joined: tuple[list[tuple[str, str, str]], ...] = ([], [])
        for node, step in pairs:
            start, legs = self.ids.iri(node), self._freebase.legs(step.relation)
            if start is not None and len(legs) == 2:
                joined[step.inverse].append((start, legs[0], legs[1]))
            elif start is not None and legs:
                single[step.inverse].append((start, legs[0]))
        return self._joins.walks(single, joined)

    def _grouped(self, rows: Rows, asked: Iterable[tuple[str, Step]]) -> dict[tuple[str, Step], tuple[str, ...]]:
        # Neighbours of an entity are never mediators, which saves a query about them.
        self._is_mediator.update({row["o"].value: False for row in rows if row["o"].kind == "iri"})
        return super()._grouped(rows, asked)

    def qualifiers(self, triples: Iterable[Triple]) -> dict[Triple, list[Qualifier]]:
        """Read the qualifiers of composite triples: the other triples of their mediators."""
        wanted: dict[Statement, None] = {}
        for subject, relation, object_ in triples:
            start, legs = self.iris([subject]).get(subject), self._freebase.legs(relation)
            end = self._term(object_)
            if start is not None and end is not None and len(legs) == 2:
                wanted[start, legs[0], legs[1], end] = None
        rows = self.ask_all(wanted, self._joins.statements, "?n ?p ?q ?o ?k ?v") if wanted else []
        found: dict[Triple, set[Qualifier]] = {}
        for row in rows:
            # Virtuoso compares terms of VALUES unreliably, so the triple itself is left out here.
            if row["v"] == row["n"] or (row["k"], row["v"]) == (row["q"], row["o"]):
                continue
            triple = Triple(self.ids.short(row["n"].value), self.relation_of(row), self._id(row["o"]))
            found.setdefault(triple, set()).add((composites.escape(self.ids.short(row["k"].value)), self._id(row["v"])))
        return {triple: sorted(pairs) for triple, pairs in found.items()}

    def _term(self, object_: str) -> str | None:
        if isinstance(object_, Literal):
            return terms.literal(object_)
        iri = self.ids.iri(object_)
        return None if iri is None else terms.iri(iri)

    def _id(self, term: Term) -> str:
        return self.ids.short(term.value) if term.kind == "iri" else term.literal()
