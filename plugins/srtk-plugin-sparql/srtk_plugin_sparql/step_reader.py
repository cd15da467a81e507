"""Steps and neighbours of many nodes, read in few queries, each once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from srtk_plugin_web import PartialError, RequestError

from srtk_framework.values import Literal, Step
from srtk_plugin_sparql import queries
from srtk_plugin_sparql.errors import CappedError
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.query_batches import QueryBatches
from srtk_plugin_sparql.sources import RememberedSource, Source
from srtk_plugin_sparql.terms import Row, Rows, Term
from srtk_plugin_sparql.vocabulary import Ids

T = TypeVar("T")

MEMORY = 2_000_000  # Neighbours and steps kept in memory before all are forgotten


class Neighbours(NamedTuple):
    """Neighbours of one node along a step, sorted, or the first of them; and how many there are."""

    ends: tuple[str, ...]
    total: int


class StepReader(QueryBatches):
    """Steps and neighbours of nodes, each asked for once in the life of the reader.

    With ``both``, one query asks for incoming and outgoing steps.
    """

    def __init__(
        self, source: Source, ids: Ids, queries_: Queries, page: int, nodes: int, workers: int, both: bool
    ) -> None:
        super().__init__(source, page, nodes, workers)
        # Neighbours, most rows of all, are kept here by node and step, and not once more as rows.
        self._unremembered = source.behind if isinstance(source, RememberedSource) else source
        self.ids = ids
        self.queries = queries_
        self._both = both
        self._out: dict[str, dict[str, int]] = {}
        self._in: dict[str, dict[str, int]] = {}
        self._is_object: dict[str, bool] = {}
        self._is_there: dict[str, bool] = {}
        self._met: set[str] = set()
        self._ends: dict[tuple[str, Step], tuple[str, ...]] = {}
        self._kept = 0

    def walks_relations(self) -> bool:
        """Return whether each step is one relation of the graph; only then can the server walk whole paths.

        False for a derived class and for queries of another form, unless they override it.
        """
        own = type(self.queries)
        return type(self) is StepReader and (own.steps, own.neighbours, own.sides) == (
            Queries.steps,
            Queries.neighbours,
            Queries.sides,
        )

    # Steps

    def forget(self) -> None:
        """Empty the memory when it is full; called between reads, never within a read."""
        if self._kept > MEMORY:
            for kept in (self._out, self._in, self._is_object, self._is_there, self._ends):
                kept.clear()
            self._met.clear()
            self._kept = 0

    def load(self, nodes: Iterable[str], inverse: bool) -> None:
        """Read the steps of nodes: outgoing steps, and where wanted incoming steps too."""
        incoming = inverse or self._both
        unread = (node for node in nodes if node not in self._out or (incoming and node not in self._in))
        every = list(self.iris(unread).items())
        for forward, backward in ((True, True), (True, False), (False, True)):
            some = [
                (node, iri)
                for node, iri in every
                if (node not in self._out) == forward and (incoming and node not in self._in) == backward
            ]
            if some:
                self._load(some, forward, backward)

    def iris(self, nodes: Iterable[str]) -> dict[str, str]:
        """Return the IRIs of those nodes that may be in the graph."""
        found = ((node, self.ids.iri(node)) for node in dict.fromkeys(nodes))
        return {node: iri for node, iri in found if iri is not None and self._is_ours(iri)}

    def _is_ours(self, iri: str) -> bool:
        return not self.ids.entities or iri.startswith(self.ids.entities)

    def _load(self, nodes: Sequence[tuple[str, str]], forward: bool, backward: bool) -> None:
        nodes = sorted(nodes)
        rows = self.ask_all(
            enumerate(iri for _, iri in nodes), lambda some: self.queries.steps(some, forward, backward), "?d ?p"
        )
        found: list[dict[str, dict[str, int]]] = [{node: {} for node, _ in nodes} for _ in range(2)]
        try:
            for row in rows:
                # An answer without groups may be one row without values.
                if "p" not in row:
                    continue
                relation = self.relation_of(row)
                if not self.ids.is_hidden(relation):
                    table = found[row["d"].value == "1"]
                    for number, count in _unpacked(row, len(nodes)):
                        table[nodes[number][0]][relation] = count
                        self._kept += 1
        except PartialError:
            if len(nodes) == 1:
                raise
            # The server cuts a text that is too long for it.
            for half in (nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :]):
                self._load(half, forward, backward)
            return
        for known, table, wanted in ((self._out, found[0], forward), (self._in, found[1], backward)):
            if wanted:
                known.update(table)
        self._kept += len(nodes)

    def relation_of(self, row: Mapping[str, Term]) -> str:
        """Return the id of the relation in a row; a graph that joins relations overrides it."""
        return self.ids.short(row["p"].value)

    def counts(self, node: str, inverse: bool) -> dict[str, int]:
        """Return how many neighbours a loaded node has by relation."""
        return (self._in if inverse else self._out).get(node, {})

    def exist(self, nodes: Iterable[str]) -> set[str]:
        """Return those nodes that are in any triple; the neighbours of other nodes are."""
        every = list(dict.fromkeys(nodes))
        if met := [node for node in every if node in self._met and node not in self._is_there]:
            iris = self.iris(met)
            self._is_there.update({node: node in iris for node in met})
        unread = [node for node in every if node not in self._is_there]
        self.load(unread, inverse=False)
        if not self._both:
            unsure = [n for n in unread if not self._out.get(n) and not self._in.get(n) and n not in self._is_object]
            iris = {iri: n for n, iri in self.iris(unsure).items()}
            rows = self.ask_all(iris, self.queries.are_objects, "?n")
            found = {row["n"].value for row in rows}
            self._is_object.update({node: iri in found for iri, node in iris.items()})
        tables = (self._out, self._in, self._is_object, self._is_there)
        return {node for node in every if any(table.get(node) for table in tables)}

    def are_there(self, nodes: Iterable[str]) -> set[str]:
        """Return those nodes that are in any triple, without their steps: of many names most are no node's."""
        every = list(dict.fromkeys(nodes))
        if not self.walks_relations() or self.ids.hides:
            return self.exist(every)
        unread = [n for n in every if n not in self._is_there and n not in self._out and n not in self._in]
        iris = {iri: node for node, iri in self.iris(unread).items()}
        found = {row["n"].value for row in self.ask_all(iris, self.queries.are_there, "?n")}
        self._is_there.update({node: iri in found for iri, node in iris.items()})
        self._kept += len(iris)
        return self.exist(every)

    # Neighbours

    def neighbours(
        self, pairs: Iterable[tuple[str, Step]], limit: int | None = None
    ) -> dict[tuple[str, Step], Neighbours]:
        """Read the neighbours of nodes along steps, sorted: all of them, or at least the first ``limit``."""
        every = list(dict.fromkeys(pairs))
        self._read_classes([pair for pair in every if self._is_class(pair)])
        unread = [pair for pair in every if pair not in self._ends]
        for inverse in (False, True):
            self.load((node for node, step in unread if step.inverse == inverse), inverse)
        sizes = {pair: self.counts(pair[0], pair[1].inverse).get(pair[1].relation, 0) for pair in unread}
        missing = [pair for pair in unread if sizes[pair]]
        hubs = [pair for pair in missing if sizes[pair] > self.most_rows]
        short = [pair for pair in hubs if self._can_be_cut(pair[1], limit)]
        chunks = [[pair] for pair in hubs if pair not in short]
        chunks += _packed(
            [pair for pair in missing if sizes[pair] <= self.most_rows], sizes, self.most_rows, self.most_named
        )
        answers = self.together(chunks, lambda chunk: self._read(chunk, sizes))
        for chunk, rows in zip(chunks, answers, strict=True):
            self._ends.update(dict.fromkeys(chunk, ()))
            self._ends.update(self._grouped(rows, chunk))
            self._kept += len(rows)
        found = {pair: Neighbours(ends := self._ends.get(pair, ()), len(ends)) for pair in every}
        if limit is not None:
            firsts = self.together(short, lambda pair: self._read_first(pair, sizes[pair], limit))
            for pair, rows in zip(short, firsts, strict=True):
                found[pair] = Neighbours(self._grouped(rows, [pair]).get(pair, ()), sizes[pair])
        return found

    def _is_class(self, pair: tuple[str, Step]) -> bool:
        """Return whether a step leads from a node, whose steps were not read, to its classes."""
        (node, step), relations = pair, self.queries.classes
        return not step.inverse and step.relation in relations and node not in self._out and pair not in self._ends

    def _read_classes(self, pairs: Sequence[tuple[str, Step]]) -> None:
        """Read the classes of nodes, which are few, without counting all steps of the nodes before."""
        iris = self.iris(node for node, _ in pairs)
        asked = [pair for pair in pairs if pair[0] in iris]
        rows = self.ask_all(asked, self._write, "?d ?n ?p ?o")
        self._ends.update({**dict.fromkeys(pairs, ()), **self._grouped(rows, asked)})
        self._kept += len(rows) + len(pairs)

    def unread(self, nodes: Iterable[str], inverse: bool) -> int:
        """Count the nodes whose steps in a direction were not read."""
        table = self._in if inverse else self._out
        return sum(node not in table for node in nodes)

    def keeps(self, nodes: Iterable[str], step: Step) -> bool:
        """Return whether all neighbours of some nodes along a step are in memory."""
        return all((node, step) in self._ends for node in nodes)

    def between(self, subject: str, object_: str) -> list[str] | None:
        """Return the relations from one node to another; None where neither has all its neighbours in memory."""
        if not self.walks_relations():
            return None
        for node, end, inverse in ((subject, object_, False), (object_, subject, True)):
            relations = (self._in if inverse else self._out).get(node)
            if relations is not None and all((node, Step(name, inverse)) in self._ends for name in relations):
                return [name for name in relations if end in self._ends[node, Step(name, inverse)]]
        return None

    def keep(self, wanted: Iterable[tuple[Sequence[str], Step, int]], rows: Rows) -> None:
        """Keep neighbours that were read by another query, if there are as many as were counted."""
        every = list(wanted)
        found = self._grouped(rows, ((node, step) for nodes, step, _ in every for node in nodes))
        for nodes, step, size in every:
            if sum(len(found.get((node, step), ())) for node in nodes) == size:
                self._ends.update({(node, step): found.get((node, step), ()) for node in nodes})
                self._kept += len(nodes) + size

    def _can_be_cut(self, step: Step, limit: int | None) -> bool:
        """Return whether the server can choose the first neighbours by id: IRIs, in an order that ids share."""
        return step.inverse and limit is not None and limit < self.most_rows and not self.ids.decodes

    def _read_first(self, pair: tuple[str, Step], size: int, limit: int) -> Rows:
        """Read a hub's first neighbours by namespace, since ids and IRIs sort alike within one."""
        query = self._write([pair])
        rows: Rows = []
        for part in self.queries.by_namespace(query):
            # One more than wanted, as the namespace itself may be an IRI, whose id is not short.
            try:
                rows += self._source.select(queries.page(part, "STR(?o)", limit + 1, 0), False)
            except CappedError as error:
                rows += self._first(part, "STR(?o)", limit + 1, error.most)
        if len(rows) < min(limit, size):
            cause = f"the answer has {len(rows)} rows where {min(limit, size)} are the least"
            raise PartialError(cause).about(self._source.endpoint, query, "query")
        return rows

    def _read(self, chunk: Sequence[tuple[str, Step]], sizes: dict[tuple[str, Step], int]) -> Rows:
        """Read a chunk; it is divided and counted again where fewer rows come than were counted."""
        if len(chunk) == 1:
            return self._read_one(chunk[0], sizes[chunk[0]])
        wanted = sum(sizes[pair] for pair in chunk)
        try:
            rows = self._unremembered.select(self._write(chunk), divisible=True)
        except CappedError as error:
            if wanted > error.most > 1:
                smaller = _packed(chunk, sizes, error.most - 1, self.most_named)
                return [row for part in smaller for row in self._read(part, sizes)]
        except RequestError as error:
            if not error.divisible:
                raise
        else:
            if len(rows) >= wanted:
                return rows
        half = len(chunk) // 2
        return self._read(chunk[:half], sizes) + self._read(chunk[half:], sizes)

    def _read_one(self, pair: tuple[str, Step], wanted: int) -> Rows:
        query = self._write([pair])
        try:
            return self._pages(query, "?o", wanted)
        except PartialError:
            # The graph may have changed since the count was kept.
            return self._pages(query, "?o", self._count(query, fresh=True), fresh=True)

    def _write(self, pairs: Sequence[tuple[str, Step]]) -> str:
        written: tuple[list[queries.Pair], list[queries.Pair]] = ([], [])
        for node, step in pairs:
            start, relation = self.ids.iri(node), self.ids.iri(step.relation)
            if start is not None and relation is not None:
                written[step.inverse].append((start, relation))
        return self.queries.neighbours(*written)

    def _grouped(self, rows: Rows, asked: Iterable[tuple[str, Step]]) -> dict[tuple[str, Step], tuple[str, ...]]:
        """Group neighbours by node and step, sorted."""
        short = self.ids.short
        pairs = set(asked)
        found: dict[tuple[str, Step], list[str]] = {}
        for row in rows:
            step = Step(self.relation_of(row), row["d"].value == "1")
            end = row["o"]
            pair = (short(row["n"].value), step)
            if pair not in pairs:
                raise row.malformed("a row of the answer is about a node or relation that the query does not name")
            found.setdefault(pair, []).append(short(end.value) if end.kind == "iri" else end.literal())
        self._met.update(end for ends in found.values() for end in ends if not isinstance(end, Literal))
        return {pair: tuple(sorted(set(ends))) for pair, ends in found.items()}


def _unpacked(row: Row, nodes: int) -> list[tuple[int, int]]:
    """Read the numbers and counts of the nodes in a row of ``queries.packed``."""
    try:
        found = [(int(node), int(count)) for node, count in (one.split(":") for one in row["c"].value.split())]
    except ValueError:
        found = []
    if len(found) != row.number("m"):
        shown = row["c"].value[:40]
        raise row.about(
            PartialError(f"the answer has {shown!r} where {row['m'].value} nodes and counts were asked for")
        )
    if not all(0 <= node < nodes for node, _ in found):
        raise row.malformed("a row of the answer is about a node that the query does not name")
    return found


def _packed(pairs: Sequence[T], sizes: dict[T, int], page: int, most: int) -> list[list[T]]:
    """Put pairs into chunks whose answers have at most ``page`` rows."""
    chunks: list[list[T]] = []
    rows = 0
    for pair in pairs:
        if not chunks or rows + sizes[pair] > page or len(chunks[-1]) == most:
            chunks.append([])
            rows = 0
        chunks[-1].append(pair)
        rows += sizes[pair]
    return chunks
