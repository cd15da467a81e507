"""Queries about many items: in batches of a fitting size, halved where too large, paged where one item is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from srtk_plugin_web import PartialError, RequestError

from srtk_plugin_sparql import queries
from srtk_plugin_sparql.errors import CappedError
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.terms import Rows, counted

T = TypeVar("T")


class QueryBatches:
    """Queries to a source in batches; every answer is whole, and the queries are the same for any number of workers.

    An answer should have at most ``page`` rows, and a query names at most ``nodes`` items.
    """

    def __init__(self, source: Source, page: int, nodes: int, workers: int) -> None:
        self._source = source
        self.most_rows = page
        self.most_named = nodes
        self._workers = workers

    def single(self, query: str) -> Rows:
        """Read a query whose answer is small."""
        return self._source.select(query, False)

    def whole(self, query: str, order: str) -> Rows:
        """Read a query whose number of rows is unknown and may be large: counted, then read and compared."""
        return self._pages(query, order, self._count(query))

    def _count(self, query: str, fresh: bool = False) -> int:
        asked = queries.count(query)
        return counted(self._source.select(asked, False, fresh), self._source.endpoint, asked)

    def _pages(self, query: str, order: str, wanted: int, fresh: bool = False) -> Rows:
        """Read a query whose number of rows is known."""
        most = None
        if wanted <= self.most_rows:
            try:
                rows = self._source.select(query, False, fresh)
            except CappedError as error:
                most = error.most
            else:
                if len(rows) >= wanted:
                    return rows
        return self._in_order(query, order, wanted, most, fresh)

    def _in_order(self, query: str, order: str, wanted: int, most: int | None = None, fresh: bool = False) -> Rows:
        """Read page after page; a server that returns at most so many rows is asked for less."""
        rows = self._first(query, order, wanted, most, fresh)
        if len(rows) < wanted:
            cause = f"the answer has {len(rows):,} rows where {wanted:,} were counted"
            raise PartialError(cause).about(self._source.endpoint, query, "query")
        if len({tuple(sorted(row.items())) for row in rows}) < len(rows):
            raise PartialError("the pages of the answer overlap").about(self._source.endpoint, query, "query")
        return rows

    def _first(self, query: str, order: str, wanted: int, most: int | None = None, fresh: bool = False) -> Rows:
        """Read pages until there are so many rows, or no more."""
        rows: Rows = []
        size = _below(most, self.most_rows)
        while len(rows) < wanted:
            try:
                part = self._source.select(queries.page(query, order, size, len(rows)), False, fresh)
            except CappedError as error:
                if size == 1:
                    raise
                size = _below(error.most, size // 2)
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

        Where ``refused``, called with items that were too many, returns True, they are given up and have no rows. The
        variables in ``order`` order the rows of pages.
        """
        query = write(items)
        most = None
        try:
            return self._source.select(query, len(items) > 1 or refused is not None)
        except RequestError as error:
            if not error.divisible:
                raise
            if refused is not None and refused(items, error):
                return []
            if len(items) == 1 and not isinstance(error, PartialError):
                raise
            if isinstance(error, CappedError):
                most = error.most
        if len(items) == 1:
            return self._in_order(query, order, self._count(query), most)
        half = len(items) // 2
        return self.ask(items[:half], write, order, refused) + self.ask(items[half:], write, order, refused)

    def ask_all(self, items: Iterable[T], write: Callable[[Sequence[T]], str], order: str) -> Rows:
        """Ask about any number of items; the more items a query has, the smaller the answers were before."""
        left = list(dict.fromkeys(items))
        rows: Rows = []
        size = max(1, min(self.most_named // 2, self.most_rows // 20))
        for count in _rounds():
            if not left:
                break
            some = left[: size * count]
            left = left[size * count :]
            chunks = [some[start : start + size] for start in range(0, len(some), size)]
            answers = self.together(chunks, lambda chunk: self.ask(chunk, write, order))
            rows += [row for answer in answers for row in answer]
            most = max(map(len, answers))
            if most < self.most_rows // 4:
                size = min(self.most_named, size * 2)
            elif most > self.most_rows:
                size = max(1, size // 2)
        return rows

    def together(self, chunks: Sequence[T], work: Callable[[T], Rows]) -> list[Rows]:
        """Ask several queries at the same time."""
        if self._workers == 1 or len(chunks) <= 1:
            return [work(chunk) for chunk in chunks]
        with ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(work, chunks))

    def in_rounds(self, chunks: Sequence[T], work: Callable[[T], Rows], learn: Callable[[], None]) -> list[Rows]:
        """Ask several queries at the same time, round by round; after each, ``learn`` may shape the next."""
        answers: list[Rows] = []
        for count in _rounds():
            if len(answers) == len(chunks):
                break
            answers += self.together(chunks[len(answers) : len(answers) + count], work)
            learn()
        return answers


def _rounds() -> Iterator[int]:
    """Yield how many queries are asked before the answers shape the next queries.

    The numbers are the same for any number of workers, since a replay must ask the queries of its record.
    """
    yield from (4, 8)
    while True:
        yield 16


def _below(most: int | None, size: int) -> int:
    """Return the size of a page that a server which returns at most so many rows gives whole."""
    return max(1, size if most is None else min(size, most - 1))
