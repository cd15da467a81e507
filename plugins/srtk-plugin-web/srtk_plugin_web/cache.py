"""An SQLite cache of answers, shared by every plugin that asks a web service."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
import zlib
from pathlib import Path
from typing import Any

from srtk_framework.records import answer_checksum
from srtk_framework.values import InputError

_DAY = 86400.0
_SCHEMA = 2


class Cache:
    """Answers by question, in memory and in an SQLite file, which several processes may use.

    Answers are JSON; None is never kept, and stands for a miss. Memory has at most ``remember`` answers, and the oldest
    go first; without a path there are no more. Questions in different namespaces are different.
    Answers of another version of the data, or older than ``days``, are not used.

    Raises:
        InputError: If the file cannot be opened or made.
    """

    def __init__(
        self,
        path: Path | None,
        namespace: str,
        version: str = "",
        days: float | None = None,
        remember: int | None = 10_000,
    ) -> None:
        self._path = path
        self._start = hashlib.sha256(json.dumps([namespace, version]).encode())
        self._age = None if days is None else days * _DAY
        self._most = remember
        self._memory: dict[bytes, Any] = {}
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: cannot keep answers ({error.strerror}); give another file to `cache`") from error
        try:
            self._db = self._opened(path)
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _opened(self, path: Path) -> sqlite3.Connection:
        db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60.0)
        try:
            # One process at a time makes the table.
            db.execute("BEGIN IMMEDIATE")
            (schema,) = db.execute("PRAGMA user_version").fetchone()
            (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if schema != _SCHEMA and (schema or tables):
                raise self._broken("it is no cache of this version")
            columns = "key BLOB PRIMARY KEY, at REAL, body BLOB, checksum INTEGER"
            db.execute(f"CREATE TABLE IF NOT EXISTS answer ({columns}) WITHOUT ROWID")
            db.execute(f"PRAGMA user_version = {_SCHEMA}")
            db.execute("COMMIT")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            db.close()
            raise
        return db

    def get(self, asked: str) -> Any:
        """Return the answer to a question, or None."""
        key = self._key(asked)
        with self._lock:
            if key in self._memory or self._db is None:
                return self._memory.get(key)
            try:
                found = self._db.execute("SELECT at, body, checksum FROM answer WHERE key = ?", [key]).fetchone()
                if found is None or (self._age is not None and found[0] < time.time() - self._age):
                    return None
                body = zlib.decompress(found[1])
                if answer_checksum(key, found[0], body) != found[2]:
                    raise ValueError("an answer in it is not the one that was kept")
                answer = json.loads(body)
            except (sqlite3.Error, zlib.error, ValueError, TypeError) as error:
                raise self._broken(error) from error
            self._remember(key, answer)
            return answer

    def put(self, asked: str, answer: Any) -> None:
        """Keep an answer."""
        key = self._key(asked)
        body = b"" if self._db is None else json.dumps(answer, separators=(",", ":")).encode()
        with self._lock:
            self._remember(key, answer)
            if self._db is None:
                return
            try:
                now = time.time()
                row = [key, now, zlib.compress(body), answer_checksum(key, now, body)]
                self._db.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?)", row)
            except sqlite3.Error as error:
                raise self._broken(error) from error

    def close(self) -> None:
        """Close the file, and forget all."""
        with self._lock:
            self._memory.clear()
            if self._db is not None:
                self._db.close()

    def _key(self, asked: str) -> bytes:
        whole = self._start.copy()
        whole.update(asked.encode("utf-8", "surrogatepass"))
        return whole.digest()

    def _remember(self, key: bytes, answer: Any) -> None:
        if self._most == 0:
            return
        self._memory[key] = answer
        if self._most is not None and len(self._memory) > self._most:
            del self._memory[next(iter(self._memory))]

    def _broken(self, error: object) -> InputError:
        return InputError(f"{self._path}: cannot keep answers ({error}); delete it, or give another file to `cache`")
