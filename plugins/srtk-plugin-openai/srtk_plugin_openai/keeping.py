"""Keeps replies by their whole request: in memory for a run, and in an SQLite file over runs."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srtk_framework.values import InputError

_UNSAID = ("stream", "stream_options")
"""Fields of a request that do not change what is answered."""
_MOST = 10_000


class Kept:
    """Replies by the key of their request; what is kept is plain data.

    Args:
        path: An SQLite file, made with its folder; None keeps in memory alone.
    """

    def __init__(self, path: Path | None) -> None:
        self._memory: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._path = path
        self._db: sqlite3.Connection | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=60.0)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID")
        except OSError as error:
            raise InputError(f"{path}: cannot keep replies ({error.strerror}); give another file to `cache`") from error
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def get(self, key: str) -> Any:
        """Return what is kept, or None.

        Raises:
            InputError: If the file cannot be read.
        """
        with self._lock:
            if key in self._memory or self._db is None:
                return self._memory.get(key)
            try:
                found = self._db.execute("SELECT body FROM reply WHERE key = ?", [key]).fetchone()
            except sqlite3.Error as error:
                raise self._broken(error) from error
            if found is None:
                return None
            self._remember(key, json.loads(zlib.decompress(found[0])))
            return self._memory[key]

    def put(self, key: str, kept: Any) -> None:
        """Keep plain data.

        Raises:
            InputError: If the file cannot be written.
        """
        with self._lock:
            self._remember(key, kept)
            if self._db is None:
                return
            body = zlib.compress(json.dumps(kept, separators=(",", ":")).encode())
            try:
                self._db.execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", [key, body])
            except sqlite3.Error as error:
                raise self._broken(error) from error

    def _remember(self, key: str, kept: Any) -> None:
        """Keep in memory; where there is a file, the oldest go first."""
        self._memory[key] = kept
        if self._db is not None and len(self._memory) > _MOST:
            del self._memory[next(iter(self._memory))]

    def _broken(self, error: sqlite3.Error) -> InputError:
        return InputError(f"{self._path}: cannot keep replies ({error}); give another file to `cache`")

    def close(self) -> None:
        """Close the file, and forget all."""
        with self._lock:
            self._memory.clear()
            if self._db is not None:
                self._db.close()


def key_of(base_url: str, body: Mapping[str, Any]) -> str:
    """Name what is asked, whoever asks: address and request, without how the reply travels."""
    asked = {name: value for name, value in body.items() if name not in _UNSAID}
    text = json.dumps([base_url, asked], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
