"""Keeps answers: in an SQLite file with an expiry, and in records that a run without the server reads again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from srtk_framework.values import DriverError, InputError
from srtk_plugin_sparql.errors import NotRecordedError
from srtk_plugin_sparql.reads import cut_unfinished_line, now
from srtk_plugin_sparql.terms import Term

Rows = list[dict[str, Term]]

RECORD = "answers.jsonl"
_DAY = 86400.0


class Source(Protocol):
    """Whatever answers queries."""

    @property
    def endpoint(self) -> str:
        """Who answers, for errors and provenance."""

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Answer a SELECT query; ``fresh`` asks for no kept answer."""

    def close(self) -> None:
        """Let go of what is held."""


class Cached:
    """Answers from an SQLite file what it was asked before; passes on the rest.

    Args:
        source: Whom to ask.
        path: The file; its folder is made.
        version: Version of the graph; answers of another one are not used.
        days: After so many days an answer is asked for again.
    """

    def __init__(self, source: Source, path: Path, version: str, days: float) -> None:
        self._source = source
        self._version = version
        self._age = days * _DAY
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60.0)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, at REAL, body BLOB) WITHOUT ROWID"
            )
            self._db.execute("DELETE FROM answer WHERE at < ?", [time.time() - self._age])
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path}: cannot keep answers ({error}); give another file to `cache`") from error

    @property
    def endpoint(self) -> str:
        """Whom the answers come from."""
        return self._source.endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Answer from the file, or ask and keep the answer."""
        key = _key(self.endpoint, self._version, query)
        if not fresh:
            with self._lock:
                found = self._db.execute("SELECT at, body FROM answer WHERE key = ?", [key]).fetchone()
            if found is not None and found[0] >= time.time() - self._age:
                return _load(json.loads(zlib.decompress(found[1])))
        rows = self._source.select(query, divisible, fresh)
        body = zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 6)
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", [key, time.time(), body])
        return rows

    def close(self) -> None:
        """Close the file and the source."""
        self._db.close()
        self._source.close()


class Once:
    """Keeps the answers of this run in memory, so that nothing is asked twice; the oldest ones go first.

    Args:
        source: Whom to ask.
        rows: Rows kept at most.
    """

    def __init__(self, source: Source, rows: int = 100_000) -> None:
        self._source = source
        self._most = rows
        self._rows = 0
        self._known: dict[str, Rows] = {}
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Whom the answers come from."""
        return self._source.endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Answer from memory, or ask and keep the answer."""
        known = None if fresh else self._known.get(query)
        if known is not None:
            return known
        rows = self._source.select(query, divisible, fresh)
        with self._lock:
            self._rows += len(rows) + 1 - (len(self._known.pop(query)) + 1 if query in self._known else 0)
            self._known[query] = rows
            while self._rows > self._most:
                self._rows -= len(self._known.pop(next(iter(self._known)))) + 1
        return rows

    def close(self) -> None:
        """Forget all, and close the source."""
        self._known.clear()
        self._source.close()


class Recorder:
    """Passes every query on, and writes each answer down once.

    Args:
        source: Whom to ask.
        folder: Where the record is; what is there is kept and added to.
        name: What the graph calls its source, so that a run from the record shows the same.
        graph: Further facts about the graph, for those who read the record without it.
    """

    def __init__(self, source: Source, folder: Path, name: str, graph: Mapping[str, Any] | None = None) -> None:
        self._source = source
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / RECORD).is_file():
                cut_unfinished_line(folder / RECORD)
            self._known = read_record(folder)[1] if (folder / RECORD).is_file() else {}
            fresh = not (folder / RECORD).is_file() or not (folder / RECORD).stat().st_size
            self._file = (folder / RECORD).open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{folder}: cannot be written ({error.strerror}); correct `record`") from error
        if fresh:
            self._write({"source": name, "at": now(), **({} if graph is None else {"graph": dict(graph)})})

    @property
    def endpoint(self) -> str:
        """Whom the answers come from."""
        return self._source.endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Ask, and write the answer down."""
        rows = self._source.select(query, divisible, fresh)
        with self._lock:
            if query not in self._known or fresh:
                self._known[query] = rows
                self._write({"query": query, "rows": rows})
        return rows

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the record and the source."""
        self._file.close()
        self._source.close()


class Replay:
    """Answers from a record alone; nothing is sent anywhere.

    Args:
        folder: What ``record`` wrote.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / RECORD).is_file():
            raise InputError(f"{folder}: holds no {RECORD}; make it by a run with `record: {folder}`")
        self._folder = folder
        header, self._known = read_record(folder)
        self.endpoint = str(header.get("source", ""))

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Look the answer up.

        Raises:
            NotRecordedError: If the recorded run did not ask this.
        """
        rows = self._known.get(query)
        if rows is None:
            cause = f"{self._folder / RECORD} has no answer to this query; record the run again"
            raise NotRecordedError(cause, self.endpoint, query)
        return rows

    def close(self) -> None:
        """Do nothing: all is in memory."""


def _key(endpoint: str, version: str, query: str) -> bytes:
    return hashlib.sha256("\0".join((endpoint, version, query)).encode()).digest()


def _load(rows: list[dict[str, list[str]]]) -> Rows:
    return [{name: Term(*cell) for name, cell in row.items()} for row in rows]


def read_record(folder: Path) -> tuple[dict[str, Any], dict[str, Rows]]:
    """Read what a record says of its graph, and its answers by their queries.

    Raises:
        InputError: If a line is broken.
    """
    path = folder / RECORD
    header: dict[str, Any] = {}
    known: dict[str, Rows] = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                data = json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}:{number}: is not JSON ({error}); record the run again") from error
            if not isinstance(data, dict):
                raise DriverError(f"{path}:{number}: is no line of a record; record the run again")
            if "source" in data:
                header = data
            else:
                known[data["query"]] = _load(data["rows"])
    return header, known
