"""Runs a server of this process in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import TypeVar

S = TypeVar("S", bound=BaseServer)

_POLL = 0.02
"""Seconds between checks of a server for its shutdown request."""


@contextmanager
def running(server: S) -> Iterator[S]:
    """Run a server until the block ends, then close it."""
    thread = threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
