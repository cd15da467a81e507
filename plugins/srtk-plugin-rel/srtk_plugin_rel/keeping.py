"""Keeps the answers of a service: in memory for a run, and in an SQLite file over runs."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from pathlib import Path
from typing import Any

from srtk_framework.values import InputError

_DAY = 86400.0
_MOST = 10_000


class Kept:
    """Answers by the key of their request.

    Args:
        path: An SQLite file, made with its folder; None keeps in memory alone.
        days: After so many days an answer in the file counts no more; None for never.
    """

    def __init__(self, path: Path | None, days: float | None) -> None:
        self._memory: dict[str, Any] = {}
        self._age = None if days is None else days * _DAY
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60.0)
            self._db.execute("CREATE TABLE IF NOT EXISTS answer (key TEXT PRIMARY KEY, at REAL, body BLOB)")
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path}: cannot keep answers ({error}); give another file to `cache`") from error

    def get(self, key: str) -> tuple[Any] | None:
        """Return the answer in a tuple of one, or None where there is none."""
        with self._lock:
            if key in self._memory:
                return (self._memory[key],)
            if self._db is None:
                return None
            found = self._db.execute("SELECT at, body FROM answer WHERE key = ?", [key]).fetchone()
            if found is None or (self._age is not None and found[0] < time.time() - self._age):
                return None
            answer = json.loads(zlib.decompress(found[1]))
            self._remember(key, answer)
            return (answer,)

    def put(self, key: str, answer: Any) -> None:
        """Keep an answer."""
        with self._lock:
            self._remember(key, answer)
            if self._db is not None:
                body = zlib.compress(json.dumps(answer, separators=(",", ":")).encode())
                self._db.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", [key, time.time(), body])

    def _remember(self, key: str, answer: Any) -> None:
        """Keep in memory; the oldest go first."""
        self._memory[key] = answer
        if len(self._memory) > _MOST:
            del self._memory[next(iter(self._memory))]

    def close(self) -> None:
        """Close the file, and forget all."""
        self._memory.clear()
        if self._db is not None:
            self._db.close()
