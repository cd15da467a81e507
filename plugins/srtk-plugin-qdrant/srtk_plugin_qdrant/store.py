"""Where an index stands: a Qdrant server, or a folder of Qdrant's local mode."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs

from srtk_framework.values import MASK, DriverError, note_secrets, shortened, without_logins

# The file in a folder of the local mode that lists its collections and aliases.
HEAD = "meta.json"
# Seconds above which a server's wish to be left alone ends the request.
_LONGEST_WAIT = 60.0
_OVERLOADED = (429, 500, 502, 503, 504)
_log = logging.getLogger(__name__)


class MissingError(DriverError):
    """There is no collection of this name."""


@attrs.frozen
class Store:
    """A place with collections; ``ask`` calls it, and turns every fault into a sentence.

    Attributes:
        name: Its name in errors.
        local: Whether it is a folder of the local mode.
    """

    name: str
    local: bool
    _client: Any
    _ask: Callable[[Callable[[], Any]], Any]
    _close: Callable[[], None]

    def ask(self, method: str, **arguments: Any) -> Any:
        """Call a method of ``QdrantClient``.

        Raises:
            MissingError: If the collection is not there.
            DriverError: For any other fault.
        """
        return self._ask(lambda: getattr(self._client, method)(**arguments))

    def hasten(self, collection: str) -> None:
        """Have a collection of the local mode written through SQLite's log, which syncs the disk now and then.

        The local mode commits each point by itself, and by default each commit waits for the disk. A kill or a power
        cut leaves whole points either way.
        """
        if (connection := self._connection(collection)) is not None:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")

    def sync(self, collection: str) -> None:
        """Have all points of a collection of the local mode on the disk."""
        if (connection := self._connection(collection)) is not None:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _connection(self, collection: str) -> sqlite3.Connection | None:
        """Return the database of a collection; None on a server, and where a client keeps it elsewhere."""
        # No public way leads there; without it, all is slower and nothing else.
        kept = getattr(getattr(self._client, "_client", None), "collections", {}).get(collection)
        found = getattr(getattr(kept, "storage", None), "storage", None)
        return found if isinstance(found, sqlite3.Connection) else None

    def close(self) -> None:
        """Let go of the connection, or of the folder when nobody else in this process uses it."""
        self._close()


# ---------------------------------------------------------------- local mode


@attrs.define
class _Folder:
    client: Any
    lock: threading.RLock
    users: int = 0


_folders: dict[Path, _Folder] = {}
"""Qdrant locks a folder for one client, so the drivers of a process share it."""
_folders_lock = threading.Lock()


def folder(path: str) -> Store:
    """Open a folder of the local mode; it is made if it is missing.

    Raises:
        DriverError: If another process has it open, or it cannot be read.
    """
    place = Path(path).resolve()
    with _folders_lock:
        if place not in _folders:
            _folders[place] = _Folder(_local_client(place, path), threading.RLock())
        shared = _folders[place]
        shared.users += 1
    left = [shared]

    def ask(call: Callable[[], Any]) -> Any:
        with shared.lock:
            try:
                return call()
            # The local mode raises whatever its Python and SQLite do.
            except Exception as error:
                if isinstance(error, ValueError) and "not found" in str(error):
                    raise MissingError(f"a collection of {path} is gone ({error}); open the index again") from error
                raise DriverError(f"Qdrant's local mode failed on {path}: {_line(error)}") from error

    def close() -> None:
        with _folders_lock:
            if left:
                left.pop().users -= 1
                if not shared.users:
                    del _folders[place]
                    shared.client.close()

    return Store(path, True, shared.client, ask, close)


def _local_client(place: Path, path: str) -> Any:
    from qdrant_client import QdrantClient

    if place.is_file() or (place.is_dir() and any(place.iterdir()) and not (place / HEAD).is_file()):
        raise DriverError(f"{path} holds something that is no folder of Qdrant's; choose another `path:`, or remove it")
    try:
        return QdrantClient(path=str(place), force_disable_check_same_thread=True)
    # What a damaged folder raises depends on what is damaged: JSON, SQLite, pickle.
    except Exception as error:
        if "already accessed" in str(error):
            raise DriverError(
                f"another process uses {path}, and Qdrant's local mode serves one at a time; wait for it, or give the"
                " `url:` of a Qdrant server"
            ) from error
        raise DriverError(
            f"{path} cannot be opened by Qdrant's local mode ({_line(error)}); remove it and build the index again"
        ) from error


# ---------------------------------------------------------------- server


def server(url: str, key: str | None, timeout: float, attempts: int) -> Store:
    """Name a server; nothing is sent yet.

    Args:
        url: Its address; port 6333 where it has none.
        key: Its API key, or a token; none for a server that is open.
        timeout: Seconds until a request is given up.
        attempts: Requests sent before a fault is final, where another may succeed.

    Raises:
        DriverError: If the client refuses the address.
    """
    from qdrant_client import QdrantClient

    if key:
        note_secrets([key])
        if urlsplit(url).scheme == "http" and urlsplit(url).hostname not in ("127.0.0.1", "::1", "localhost"):
            _log.warning("the key of the Qdrant server %s is sent without encryption; use https", without_logins(url))
    name = without_logins(url)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said above, of servers elsewhere alone
        try:
            client = QdrantClient(url=url, api_key=key, timeout=max(1, round(timeout)), check_compatibility=False)
        except ValueError as error:
            raise DriverError(f"{name} is no address of a Qdrant server ({error}); correct `url`") from error

    def said(text: str) -> str:
        return text.replace(key, MASK) if key else text

    def ask(call: Callable[[], Any]) -> Any:
        for attempt in range(1, attempts + 1):
            fault = _fault(call, name, said)
            if not isinstance(fault, _Failed):
                return fault
            wait = fault.wait if fault.wait is not None else 0.5 * 2 ** (attempt - 1)
            if not fault.transient or attempt == attempts or wait > _LONGEST_WAIT:
                raise fault.error from fault.cause
            time.sleep(wait)
        raise AssertionError("no attempt was made")

    return Store(name, False, client, ask, client.close)


@attrs.frozen
class _Failed:
    error: DriverError
    cause: Exception
    transient: bool = False
    wait: float | None = None


def _fault(call: Callable[[], Any], name: str, said: Callable[[str], str]) -> Any:
    """Return the result of a call, or its failure."""
    from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        return call()
    except ResourceExhaustedResponse as error:
        text = f"the Qdrant server {name} asks to be left alone for {error.retry_after_s} s; try again later"
        return _Failed(DriverError(text), error, True, float(error.retry_after_s))
    except QdrantException as error:
        return _Failed(DriverError(f"the Qdrant server {name} is overloaded; try again later"), error, True)
    except UnexpectedResponse as error:
        return _refused(error, name, said)
    except ValueError as error:
        return _strange(error, name)
    except ResponseHandlingException as error:
        if isinstance(error.source, ValueError):
            return _strange(error, name)
        cause = said(_line(error.source))
        text = f"no Qdrant server answers at {name} ({cause}); start it, or correct `url` or `timeout`"
        return _Failed(DriverError(text), error, True)


def _strange(error: Exception, name: str) -> _Failed:
    """Return the fault behind an answer that cannot be read: no JSON, or no answer of Qdrant."""
    text = f"{name} does not answer as a Qdrant server does; correct `url`, or the version of the server"
    return _Failed(DriverError(text), error)


def _refused(error: Any, name: str, said: Callable[[str], str]) -> _Failed:
    """Return the fault behind an answer with the status of a fault."""
    status = error.status_code
    try:
        says = error.structured()["status"]["error"]
    except (ValueError, KeyError, TypeError):
        says = error.content.decode("utf-8", "replace")
    says = said(shortened(" ".join(str(says).split())))
    if status in (401, 403):
        text = f"the Qdrant server {name} refuses the key ({status}: {says}); set `key` to a valid one by {{env: NAME}}"
        return _Failed(DriverError(text), error)
    if status == 404:
        text = f"a collection of the Qdrant server {name} is gone ({says}); open the index again, or correct `url`"
        return _Failed(MissingError(text), error)
    text = f"the Qdrant server {name} refused a request ({status}: {says}); see its log"
    return _Failed(DriverError(text), error, status in _OVERLOADED)


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
