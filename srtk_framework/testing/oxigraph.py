"""Starts an Oxigraph server over a store on disk, for tests of graphs that ask over SPARQL."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_WAIT = 60.0  # Seconds; a loaded machine starts a server slowly
_PAUSE = 0.05


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a store read-only, on a free port of the loopback interface, until the block ends.

    The test is skipped where the server is not installed (``pip install oxigraph``), and fails with the server's
    own words where it does not come up.

    ``folder`` is Oxigraph's own data, as ``pyoxigraph.Store`` or ``oxigraph load`` writes it.

    Yields:
        The URL that answers queries.
    """
    beside = Path(sys.executable).parent / "oxigraph"
    binary = str(beside) if beside.is_file() else shutil.which("oxigraph")
    if binary is None:
        pytest.skip("the oxigraph server is not installed (pip install oxigraph)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    url = f"http://{address}/query"
    command = [binary, "serve-read-only", "-l", str(folder), "-b", address]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        try:
            until = time.monotonic() + _WAIT
            while not _answers(url):
                if time.monotonic() > until or process.poll() is not None:
                    said.seek(0)
                    words = said.read().decode(errors="replace").partition("\n\n")[0].strip()
                    pytest.fail(f"the oxigraph server over {folder} did not come up: {words or 'it says nothing'}")
                time.sleep(_PAUSE)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}?query=ASK%7B%7D", timeout=5).close()
    except (urllib.error.URLError, ConnectionError):
        return False
    return True
