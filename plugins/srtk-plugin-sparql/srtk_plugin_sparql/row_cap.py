"""How many rows a server returns at most, found out by queries whose number of rows is known beforehand."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from srtk_plugin_web import DeniedError, MalformedError, PartialError, RefusedError

from srtk_plugin_sparql import queries
from srtk_plugin_sparql.answers import Table
from srtk_plugin_sparql.errors import CappedError
from srtk_plugin_sparql.terms import Rows, counted

SIDES = (32, 128)  # Roots of the numbers of rows that are tried: 1,024, then 16,384

_log = logging.getLogger(__name__)


class RowCap:
    """Finds answers that a server cut in silence.

    A server that cuts answers does so at a fixed number of rows. It is found out once, by a query that needs no data
    and whose number of rows is known: `SIDES` squared. An answer with fewer rows than came then is whole. Larger
    answers are counted, and so is every answer of a server that refuses such a query. So a server gets one or two
    queries more in all, and no more for a small answer.
    """

    def __init__(self, endpoint: str, ask: Callable[[str], Table], known: int | None) -> None:
        self._endpoint = endpoint
        self._ask = ask
        self._cap = known
        self._given = 0
        self._sides = list(SIDES)
        self._counts = False
        self._lock = threading.Lock()

    def lower(self, most: int | None) -> None:
        """Note a cap that the server reports or is known to have."""
        if most is not None and (self._cap is None or most < self._cap):
            self._cap = most

    def whole(self, query: str, table: Table) -> Rows:
        """Return the rows of an answer that is whole."""
        if queries.is_count(query) and table.rows:
            return table.rows
        if table.sent >= self._given:
            with self._lock:
                self._measure(table.sent)
        if self._cap is not None and table.sent >= self._cap:
            raise self._capped(query, table.sent, self._cap)
        if self._counts or table.sent >= self._given:
            wanted = self._counted(query)
            if len(table.rows) < wanted:
                raise self._capped(query, table.sent, table.sent, f", where {wanted:,} were counted")
        return table.rows

    def _measure(self, rows: int) -> None:
        """Find out whether the server returns more than some rows; it is not asked twice."""
        while rows >= self._given and self._sides and not self._is_reached(rows):
            side = self._sides[0]
            try:
                found = self._ask(queries.table(side))
            except DeniedError:
                raise
            except RefusedError as error:
                _log.info("%s does not tell its cap of rows (%s); answers are counted", self._endpoint, error.cause)
                self._sides.clear()
                self._counts = True
                return
            self.learn(side, found)

    def learn(self, side: int, found: Table) -> None:
        """Take note of the answer to a question about ``side * side`` rows."""
        if any(len(row) != 2 for row in found.rows):
            error = MalformedError("the answer is to another query")
            raise error.about(self._endpoint, queries.table(side), "query")
        self._sides = [other for other in self._sides if other > side]
        self._given = found.sent
        if len(found.rows) < side * side:
            self.lower(found.sent)
            self._sides.clear()
            _log.info("%s returns %d rows at most; set `limits.rows` to that", self._endpoint, found.sent)

    def _is_reached(self, rows: int) -> bool:
        return self._cap is not None and rows >= self._cap

    def _counted(self, query: str) -> int:
        asked = queries.count(query)
        return counted(self._ask(asked).rows, self._endpoint, asked)

    def _capped(self, query: str, rows: int, most: int, more: str = "") -> PartialError:
        cause = f"the answer has {rows:,} rows{more}; the server returns {most:,} rows at most"
        return CappedError(cause, most).about(self._endpoint, query, "query")
