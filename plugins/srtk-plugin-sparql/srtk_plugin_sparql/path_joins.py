"""Search for paths between two sets of nodes, done by the server where that costs it little."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
from srtk_plugin_web import DeadlineError, RequestError

from srtk_framework.graph import find_paths, path_sort_key
from srtk_framework.values import Budget, FoundPaths, Path, Step
from srtk_plugin_sparql import path_queries
from srtk_plugin_sparql.errors import TooLargeError
from srtk_plugin_sparql.path_queries import Ends, Split
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.terms import Rows

if TYPE_CHECKING:
    from srtk_framework.roles import KnowledgeGraph

LONGEST = 3  # Steps of the longest path that the server searches: one around each end, and one that joins them
# Most pairs of nodes that the server looks up for one search and length; beyond it the graph is walked.
MOST_PAIRS = 400_000
PAIRS_FOR_A_NODE = 100
"""Pairs that take a server as long as it takes to walk on from one node: with hubs at both ends, walking is faster."""
PAIRS_AT_ONCE = 100_000  # Most pairs that the server looks up for one query


@attrs.define(eq=False)
class _Search:
    """One search.

    Attributes:
        number: Its place in the batch.
        starts: Id to IRI.
        ends: Id to IRI.
        found: Paths that the server found.
        walks: Whether the rest is found by walking.
        split: How the paths of the length in hand are divided.
        pairs: How many pairs of nodes the server looks up for them.
        around: How many nodes those pairs are made of.
    """

    number: int
    starts: dict[str, str]
    ends: dict[str, str]
    found: set[Path] = attrs.field(factory=set)
    walks: bool = False
    split: Split = (0, 0)
    pairs: int = 0
    around: int = 0

    @property
    def named(self) -> int:
        """Count the nodes that a query names."""
        return len(self.starts) + len(self.ends)


def paths(
    graph: KnowledgeGraph,
    reader: StepReader,
    starts: Sequence[Sequence[str]],
    ends: Sequence[Sequence[str]],
    hops: int,
    budget: Budget,
    shortest: bool,
    inverse: bool,
) -> list[FoundPaths]:
    """Find the paths that ``find_paths`` finds without limits, most of them by queries that name relations alone.

    For a path of three steps, the server joins the nodes one step around both ends by a relation. The pairs of these
    nodes are its cost. Where they are too many, and where the server refuses or is too late, the search is walked
    within the budget.
    """
    if len(starts) != len(ends) or hops < 1 or not reader.walks_relations():
        return find_paths(graph, starts, ends, hops, budget, shortest, inverse)
    known = [reader.iris(frontier.ids()) for frontier in graph.frontiers([*starts, *ends])]
    searches = [_Search(number, known[number], known[len(starts) + number]) for number in range(len(starts))]
    searcher = _Searcher(reader, inverse)
    open_ = [search for search in searches if search.starts and search.ends]
    for length in range(1, min(hops, LONGEST) + 1):
        going = [search for search in open_ if not search.walks and not (shortest and search.found)]
        searcher.find(going, length)
    walked = [s for s in open_ if (s.walks or hops > LONGEST) and not (shortest and s.found)]
    rest = find_paths(
        graph, [starts[s.number] for s in walked], [ends[s.number] for s in walked], hops, budget, shortest, inverse
    )
    more = {search.number: found for search, found in zip(walked, rest, strict=True)}
    answers = []
    for search in searches:
        also = more.get(search.number, FoundPaths())
        answers.append(FoundPaths(tuple(sorted(search.found.union(also), key=path_sort_key)), also.cut))
    return answers


class _Searcher:
    """Asks for paths, length by length."""

    def __init__(self, reader: StepReader, inverse: bool) -> None:
        self._reader = reader
        self._inverse = inverse
        self._refused = False
        self._late = math.inf
        self._seen: list[tuple[Sequence[_Search], RequestError]] = []

    def find(self, searches: Sequence[_Search], length: int) -> None:
        """Find the paths of one length; searches that cannot be left to the server are marked."""
        self._plan(searches, length)
        for search in searches:
            search.walks = self._refused or search.pairs > min(MOST_PAIRS, PAIRS_FOR_A_NODE * search.around)
        asked = [search for search in searches if search.pairs and not search.walks]
        answers = self._reader.in_rounds(self._chunks(asked), lambda chunk: self._ask(chunk, length), self._learn)
        short, is_hidden = self._reader.ids.short, self._reader.ids.is_hidden
        by_number = {search.number: search for search in asked}
        for row in (row for rows in answers for row in rows):
            relations = [short(row[f"p{n}"].value) for n in range(1, length + 1)]
            if not any(map(is_hidden, relations)):
                back = (row[f"d{n}"].value == "1" for n in range(1, length + 1))
                owner = by_number.get(row.number("i"))
                if owner is None:
                    raise row.malformed("a row of the answer is about a search that the query does not name")
                owner.found.add(tuple(map(Step, relations, back)))

    def _plan(self, searches: Sequence[_Search], length: int) -> None:
        """Choose from which side the paths of each search are walked, and count the cost."""
        if length > 1:
            self._reader.load((id_ for search in searches for id_ in search.starts), self._inverse)
            self._reader.load((id_ for search in searches for id_ in search.ends), True)
        for search in searches:
            ways = [(1, 1)] if length == 3 else [(1, 0), (0, 1)] if length == 2 else [(0, 0)]
            sides = [
                (
                    self._reached(search.starts, False) if way[0] else len(search.starts),
                    self._reached(search.ends, True) if way[1] else len(search.ends),
                )
                for way in ways
            ]
            here, there = min(sides, key=lambda side: side[0] * side[1])
            search.split = ways[sides.index((here, there))]
            search.pairs, search.around = here * there, here + there

    def _reached(self, nodes: Iterable[str], backward: bool) -> int:
        """Count the nodes one step around some."""
        directions = (False, True) if self._inverse else (backward,)
        return sum(sum(self._reader.counts(id_, back).values()) for id_ in nodes for back in directions)

    def _chunks(self, searches: Sequence[_Search]) -> list[list[_Search]]:
        """Put searches of equal form into queries of a moderate size."""
        chunks: list[list[_Search]] = []
        for split in sorted({search.split for search in searches}):
            pairs = named = math.inf
            for search in (search for search in searches if search.split == split):
                pairs, named = pairs + search.pairs, named + search.named
                if pairs > PAIRS_AT_ONCE or named > self._reader.most_named:
                    chunks.append([])
                    pairs, named = search.pairs, search.named
                chunks[-1].append(search)
        return chunks

    def _ask(self, chunk: Sequence[_Search], length: int) -> Rows:
        """Ask for the paths of some searches, unless less was too much before."""
        if self._refused or sum(search.pairs for search in chunk) >= self._late:
            if len(chunk) > 1:
                half = len(chunk) // 2
                return self._ask(chunk[:half], length) + self._ask(chunk[half:], length)
            chunk[0].walks = True
            return []
        order = f"?i {path_queries.columns(length)}"
        return self._reader.ask(chunk, self._write, order, self._note)

    def _write(self, chunk: Sequence[_Search]) -> str:
        searches = [Ends(s.number, sorted(s.starts.values()), sorted(s.ends.values())) for s in chunk]
        return path_queries.joined(self._reader.queries, searches, chunk[0].split, self._inverse)

    def _note(self, chunk: Sequence[_Search], error: RequestError) -> bool:
        """Give up a search that the server does not answer alone; it is walked."""
        self._seen.append((chunk, error))
        if len(chunk) == 1:
            chunk[0].walks = True
        return len(chunk) == 1

    def _learn(self) -> None:
        """Learn from the queries without an answer."""
        for chunk, error in self._seen:
            if isinstance(error, DeadlineError):
                self._late = min(self._late, sum(search.pairs for search in chunk))
            # A query of a usual length that is not taken is one that is not understood.
            if isinstance(error, TooLargeError) and len(chunk) == 1 and chunk[0].named <= self._reader.most_named:
                self._refused = True
        self._seen.clear()
