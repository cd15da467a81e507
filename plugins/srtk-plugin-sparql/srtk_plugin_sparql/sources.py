"""Sources of answers to SELECT queries: the protocol, a cache on disk, and a cache in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from srtk_plugin_web import Cache

from srtk_plugin_sparql.terms import Rows, rows_of

_ENGINE = "engine"  # Stands in the cache where queries do


class Source(Protocol):
    """Whatever answers SELECT queries."""

    @property
    def endpoint(self) -> str:
        """Name of the source, for errors and provenance."""

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Answer a SELECT query; with ``fresh`` no cached answer is used."""

    def close(self) -> None:
        """Close connections and files."""


class CachedSource:
    """SQLite cache in front of a source.

    Answers of another version of the graph are not used, and answers of ``days`` of age are asked for again.
    """

    def __init__(self, source: Source, path: Path, version: str, days: float) -> None:
        self._source = source
        self._cache = Cache(path, f"rows of {source.endpoint}", version, days, remember=0)

    def engine(self, ask: Callable[[], str]) -> str:
        """Return the engine of the source, from ``ask`` in the first run, so that later runs send the same queries."""
        known = self._cache.get(_ENGINE)
        if not isinstance(known, str):
            known = ask()
            self._cache.put(_ENGINE, known)
        return known

    @property
    def endpoint(self) -> str:
        """Name of the source behind the cache."""
        return self._source.endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Answer from the cache, or ask the source and keep its answer."""
        kept = None if fresh else self._cache.get(query)
        if kept is not None:
            return rows_of(kept, self.endpoint, query)
        rows = self._source.select(query, divisible, fresh)
        self._cache.put(query, rows)
        return rows

    def close(self) -> None:
        """Close the file and the source."""
        self._cache.close()
        self._source.close()


class RememberedSource:
    """Answers of this run in memory in front of a source, so that nothing is asked twice; the oldest go first.

    Who keeps what it reads asks the source ``behind``.
    """

    def __init__(self, source: Source, rows: int = 100_000) -> None:
        self.behind = source
        self._most = rows
        self._rows = 0
        self._known: dict[str, Rows] = {}
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Name of the source behind the memory."""
        return self.behind.endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Answer from memory, or ask the source and keep its answer."""
        known = None if fresh else self._known.get(query)
        if known is not None:
            return known
        rows = self.behind.select(query, divisible, fresh)
        with self._lock:
            self._rows += len(rows) + 1 - (len(self._known.pop(query)) + 1 if query in self._known else 0)
            self._known[query] = rows
            while self._rows > self._most:
                self._rows -= len(self._known.pop(next(iter(self._known)))) + 1
        return rows

    def close(self) -> None:
        """Forget all, and close the source."""
        self._known.clear()
        self.behind.close()
