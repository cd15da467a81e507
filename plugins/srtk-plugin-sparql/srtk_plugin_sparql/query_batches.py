"""Queries about many items: in batches of a fitting size, halved where too large, paged where one item is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from srtk_framework.web import MalformedError, PartialError, RequestError
from srtk_plugin_sparql import queries
from srtk_plugin_sparql.errors import CappedError
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.terms import Rows

T = TypeVar("T")


class QueryBatches:
    """Queries to a source in batches; every answer is whole.

    Args:
        source: Answers the queries.
        page: Most rows that an answer should have.
        nodes: Most items named in one query.
        workers: Queries in flight.
    """

    def __init__(self, source: Source, page: int, nodes: int, workers: int) -> None:
        self._source = source
        self._page = page
        self._nodes = nodes
        self._workers = workers

    @property
    def most_named(self) -> int:
        """Return how many nodes a query names at most."""
        return self._nodes

    @property
    def most_rows(self) -> int:
        """Return how many rows an answer shall have at most."""
        return self._page

    def whole(self, query: str, order: str) -> Rows:
        """Read a query whose number of rows is unknown and may be large: counted, then read and compared."""
        return self._pages(query, order, self._count(query))

    def _count(self, query: str, fresh: bool = False) -> int:
        rows = self._source.select(queries.count(query), False, fresh)
        if len(rows) != 1 or "c" not in rows[0]:
            raise MalformedError("a count has no number").about(self._source.endpoint, query, "query")
        return rows[0]["c"].number()

    def _pages(self, query: str, order: str, wanted: int, fresh: bool = False) -> Rows:
        """Read a query whose number of rows is known."""
        if wanted <= self._page:
            try:
                rows = self._source.select(query, False, fresh)
            except CappedError:
                rows = []
            if len(rows) >= wanted:
                return rows
        rows = self._in_order(query, order, wanted, fresh)
        if len(rows) < wanted:
            cause = f"the answer has {len(rows)} rows where {wanted} were counted"
            raise PartialError(cause).about(self._source.endpoint, query, "query")
        if len({tuple(sorted(row.items())) for row in rows}) < len(rows):
            raise PartialError("the pages of the answer overlap").about(self._source.endpoint, query, "query")
        return rows

    def _in_order(self, query: str, order: str, wanted: int, fresh: bool) -> Rows:
        """Read page after page; a server that gives less at a time is asked for less."""
        rows: Rows = []
        size = self._page
        while len(rows) < wanted:
            try:
                part = self._source.select(queries.page(query, order, size, len(rows)), False, fresh)
            except CappedError as error:
                if size == 1:
                    raise
                size = max(1, min(size // 2, error.most - 1))
                continue
            if not part:
                break
            rows += part
        return rows

    def ask(
        self,
        items: Sequence[T],
        write: Callable[[Sequence[T]], str],
        order: str,
        refused: Callable[[Sequence[T], RequestError], bool] | None = None,
    ) -> Rows:
        """Ask about items in one query, in halves where that is too much, in pages where one item is too much.

        Args:
            items: Items to ask about.
            write: Writes the query about some items.
            order: Variables that order its rows.
            refused: Called with items that were too many; where it returns True they are given up, and have no rows.
        """
        query = write(items)
        try:
            return self._complete(query, divisible=len(items) > 1 or refused is not None)
        except RequestError as error:
            if not error.divisible:
                raise
            if refused is not None and refused(items, error):
                return []
            if len(items) == 1 and not isinstance(error, PartialError):
                raise
        if len(items) == 1:
            return self.whole(query, order)
        half = len(items) // 2
        return self.ask(items[:half], write, order, refused) + self.ask(items[half:], write, order, refused)

    def _complete(self, query: str, divisible: bool) -> Rows:
        """Answer a query; where the number of rows looks like a cap of the server, it is asked for their count."""
        rows = self._source.select(query, divisible)
        if _is_suspect(len(rows)) and len(rows) < (wanted := self._count(query)):
            cause = f"the answer has {len(rows)} rows where {wanted} were counted"
            raise PartialError(cause).about(self._source.endpoint, query, "query")
        return rows

    def ask_all(self, items: Iterable[T], write: Callable[[Sequence[T]], str], order: str) -> Rows:
        """Ask about any number of items; the more items a query has, the smaller the answers were before."""
        left = list(dict.fromkeys(items))
        rows: Rows = []
        size = max(1, min(self._nodes // 2, self._page // 20))
        while left:
            chunks = [left[start : start + size] for start in range(0, min(len(left), size * self._workers), size)]
            left = left[size * self._workers :]
            answers = self.together(chunks, lambda chunk: self.ask(chunk, write, order))
            rows += [row for answer in answers for row in answer]
            most = max(map(len, answers))
            size = max(
                1, min(self._nodes, size * 2 if most < self._page // 4 else size // 2 if most > self._page else size)
            )
        return rows

    def together(self, chunks: Sequence[T], work: Callable[[T], Rows]) -> list[Rows]:
        """Ask several queries at the same time."""
        if self._workers == 1 or len(chunks) <= 1:
            return [work(chunk) for chunk in chunks]
        with ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(work, chunks))


def _is_suspect(rows: int) -> bool:
    """Tell whether a server may have cut an answer at this number of rows: caps are round numbers."""
    return rows >= 100 and (rows % 100 == 0 or rows & (rows - 1) == 0)
