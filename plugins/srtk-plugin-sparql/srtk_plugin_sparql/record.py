"""Records of queries and their answers, from which a run without the server reads again."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srtk_framework.values import InputError, without_logins
from srtk_plugin_sparql.errors import NotRecordedError
from srtk_plugin_sparql.read_log import cut_unfinished_line, now
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.terms import Rows, rows_of

RECORD = "answers.jsonl"


class Recorder:
    """Record of the answers of a source; each answer is written once.

    Args:
        source: Answers the queries.
        folder: Folder of the record; an existing record is kept and added to.
        name: Name of the graph's source, so that a run from the record shows the same.
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
            self._write(
                {"source": without_logins(name), "at": now(), **({} if graph is None else {"graph": dict(graph)})}
            )

    @property
    def endpoint(self) -> str:
        """Name of the recorded source."""
        return self._source.endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Ask the source, and write its answer to the record."""
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
    """Answers from a record alone; nothing is sent.

    Args:
        folder: Folder of the record.
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
            raise NotRecordedError(cause).about(self.endpoint, query, "query")
        return rows

    def close(self) -> None:
        """Do nothing: all is in memory."""


def read_record(folder: Path) -> tuple[dict[str, Any], dict[str, Rows]]:
    """Read the header of a record, and its answers by their queries.

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
                raise InputError(f"{path}:{number}: is not a line of a record; record the run again")
            if "source" in data:
                header = data
            else:
                known[data["query"]] = rows_of(data["rows"])
    return header, known
