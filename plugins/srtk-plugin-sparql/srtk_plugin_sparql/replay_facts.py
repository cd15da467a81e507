"""Triples and names read from a record of queries and answers of a ``sparql`` graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from srtk_plugin_views.read_log import Name, Reads

from srtk_framework.values import InputError, Triple
from srtk_plugin_sparql.queries import CALLED_IN_ANY
from srtk_plugin_sparql.record import RECORD, read_record
from srtk_plugin_sparql.terms import Rows, Term
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

_CALLED = "SELECT DISTINCT ?n ?l WHERE { VALUES ?l "
_NEIGHBOURS, _BETWEEN = frozenset("dnpo"), frozenset("npo")
_LABELS, _NAMES = frozenset("nl"), frozenset("nrl")


def derive(folder: Path) -> Reads:
    """Gather the neighbours, the relations between nodes, and the names that a record holds.

    Raises:
        InputError: If the record lacks the vocabulary of its graph, or its answers are of another kind.
    """
    record = read_record(folder)
    header = record.header
    path = folder / RECORD
    graph = header.get("graph")
    if not isinstance(graph, dict):
        raise InputError(
            f"{path}: does not hold the vocabulary of its graph, so pull the recipe that it was made by instead, "
            f"with `replay: {folder}`"
        )
    if not graph["plain"]:
        raise InputError(
            f"{path}: is of a graph {graph['driver']}, whose answers are more than single triples; "
            f"pull its recipe instead, with `replay: {folder}`"
        )
    gathering = _Gathering(Vocabulary(**_tuples(graph["vocabulary"])))
    for query, rows in record.rows.items():
        gathering.add(query, rows)
    reads = gathering.reads
    reads.graph = {
        "source": header.get("source", ""),
        **{name: graph[name] for name in ("version", "schema")},
        "names": gathering.vocabulary.names,
        "languages": list(gathering.vocabulary.languages),
    }
    reads.closed = record.closed
    reads.times = [header["at"]] if "at" in header else []
    return reads


class _Gathering:
    """Rows of answers, sorted by their variables."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.reads = Reads()
        self._ids = Ids(vocabulary)

    def add(self, query: str, rows: Rows) -> None:
        """Take in one answer."""
        for row in rows:
            kind = frozenset(row)
            if kind in (_NEIGHBOURS, _BETWEEN):
                self._add_triple(row)
            elif kind == _LABELS:
                self._add_name(row, query.startswith((_CALLED, CALLED_IN_ANY)))
            elif kind == _NAMES:
                self._add_name(row, row["r"].value not in self._ids.named[0])

    def _add_triple(self, row: dict[str, Term]) -> None:
        node, relation = self._ids.short(row["n"].value), self._ids.short(row["p"].value)
        if self._ids.is_hidden(relation):
            return
        end = self._ids.short(row["o"].value) if row["o"].kind == "iri" else row["o"].literal()
        backward = "d" in row and row["d"].value == "1"
        self.reads.triples[Triple(end, relation, node) if backward else Triple(node, relation, end)] = None

    def _add_name(self, row: dict[str, Term], further: bool) -> None:
        iri, term = row["n"].value, row["l"]
        text = term.value if term.kind == "literal" else self._ids.short(term.value)
        named = [iri]
        for source, target in self._ids.label_namespaces.items():
            if iri.startswith(target):
                named.append(source + iri[len(target) :])
        self.reads.names += [Name(self._ids.short(one), text, term.language, further) for one in named]


def _tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
