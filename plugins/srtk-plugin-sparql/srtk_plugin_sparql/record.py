"""Records of queries and their answers, from which a run without the server reads again."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_views.read_log import cut_unfinished_line, now, write_line
from srtk_plugin_web import DeadlineError, OversizeError, PartialError, RequestError

from srtk_framework.records import checked_lines, with_checksum
from srtk_framework.values import InputError, without_logins
from srtk_plugin_sparql.errors import CappedError, NotRecordedError, TooLargeError
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.terms import Rows, rows_of

RECORD = "answers.jsonl"
_AGAIN = "record the run again"
# Half a pair, which a server may send in escaped form, and which is no text in UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")
# Errors after which a graph asks for less, so that a replay must meet them too.
_DIVIDED = (CappedError, TooLargeError, DeadlineError, OversizeError, PartialError)


@attrs.define
class Record:
    """Content of a record.

    Attributes:
        header: Facts of the graph.
        rows: By query.
        errors: Errors after which less was asked for, by query.
        closed: Whether nothing was recorded after the record was closed.
        checksum: Of the last line.
    """

    header: dict[str, Any] = attrs.field(factory=dict)
    rows: dict[str, Rows] = attrs.field(factory=dict)
    errors: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    closed: bool = True
    checksum: int = 0

    def add(self, line: Mapping[str, Any]) -> None:
        """Take in one line; the last word on a query counts."""
        self.closed = "closed" in line
        if self.closed:
            return
        if "source" in line:
            self.header = dict(line)
            return
        query = str(line["query"])
        if "rows" in line:
            self.rows[query] = rows_of(line["rows"], str(self.header.get("source", "")), query)
            self.errors.pop(query, None)
        else:
            _error(line["error"])
            self.errors[query] = line["error"]
            self.rows.pop(query, None)


class Recorder:
    """Record of the answers of a source; each answer is written once.

    An existing record is kept and added to. ``name`` is the name of the graph's source, so that a run from the
    record shows the same; ``graph`` has further facts for readers without the graph.
    """

    def __init__(self, source: Source, folder: Path, name: str, graph: Mapping[str, Any] | None = None) -> None:
        self._source = source
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / RECORD).is_file():
                cut_unfinished_line(folder / RECORD)
            self._known = read_record(folder) if (folder / RECORD).is_file() else Record()
            fresh = not (folder / RECORD).is_file() or not (folder / RECORD).stat().st_size
            self._file = (folder / RECORD).open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{folder}: cannot be written ({error.strerror}); correct `record`") from error
        if fresh:
            header = {"source": without_logins(name), "at": now(), **({} if graph is None else {"graph": dict(graph)})}
            self._write(header)
            self._known.add(header)

    @property
    def header(self) -> Mapping[str, Any]:
        """First line of the record."""
        return self._known.header

    @property
    def endpoint(self) -> str:
        """Name of the recorded source."""
        return self._source.endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Ask the source, and record its answer, or the error after which less is asked for."""
        try:
            rows = self._source.select(query, divisible, fresh)
        except _DIVIDED as error:
            self._keep(query, {"query": query, "error": _written(error)}, query in self._known.errors)
            raise
        self._keep(query, {"query": query, "rows": rows}, query in self._known.rows and not fresh)
        return rows

    def _keep(self, query: str, line: dict[str, Any], known: bool) -> None:
        with self._lock:
            if not known:
                self._write(line)
                self._known.add(line)

    def _write(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        text = _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
        text, self._known.checksum = with_checksum(text, self._known.checksum)
        write_line(self._file, text)

    def close(self) -> None:
        """Close the record and the source."""
        if not self._known.closed:
            self._write({"closed": now()})
            self._known.closed = True
        self._file.close()
        self._source.close()


class Replay:
    """Answers from a record alone; nothing is sent."""

    def __init__(self, folder: Path) -> None:
        if not (folder / RECORD).is_file():
            raise InputError(f"{folder}: holds no {RECORD}; make it by a run with `record: {folder}`")
        self._folder = folder
        self._known = read_record(folder)
        self.header: Mapping[str, Any] = self._known.header
        self.endpoint = str(self.header.get("source", ""))

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Look the answer up.

        Raises:
            NotRecordedError: If the recorded run did not ask this.
        """
        rows = self._known.rows.get(query)
        if rows is not None:
            return rows
        if query in self._known.errors:
            raise _error(self._known.errors[query]).about(self.endpoint, query, "query")
        cause = f"{self._folder / RECORD} has no answer to this query; record the run again"
        raise NotRecordedError(cause).about(self.endpoint, query, "query")

    def close(self) -> None:
        """Do nothing: all is in memory."""


def read_record(folder: Path) -> Record:
    """Read a record."""
    path = folder / RECORD
    record = Record()
    for number, line, record.checksum in checked_lines(path, _AGAIN, kind=InputError):
        try:
            record.add(line)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = f"is no line of a record ({type(error).__name__}: {error})"
            raise InputError(f"{path}:{number}: {what}; {_AGAIN}") from error
    return record


def _written(error: RequestError) -> dict[str, Any]:
    kind = next(kind.__name__ for kind in _DIVIDED if isinstance(error, kind))
    return {"kind": kind, "cause": error.cause, "most": getattr(error, "most", None)}


def _error(data: Mapping[str, Any]) -> RequestError:
    kind = {kind.__name__: kind for kind in _DIVIDED}[data["kind"]]
    return CappedError(data["cause"], data["most"]) if kind is CappedError else kind(data["cause"])
