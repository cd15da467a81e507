"""Starts SPARQL servers on the loopback interface: Oxigraph from its wheel, Virtuoso from its Debian package."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

GRAPH = "urn:srtk:graph"
VIRTUOSO = "virtuoso-opensource-7-bin"
"""Debian's package of the server and of its client `isql-vt`."""

_WAIT = 120.0
_INI = """\
[Database]
DatabaseFile = {folder}/virtuoso.db
ErrorLogFile = {folder}/virtuoso.log
LockFile = {folder}/virtuoso.lck
TransactionFile = {folder}/virtuoso.trx
xa_persistent_file = {folder}/virtuoso.pxa
FileExtend = 200
[TempDatabase]
DatabaseFile = {folder}/temporary.db
TransactionFile = {folder}/temporary.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
DisableUnixSocket = 1
NumberOfBuffers = 16000
MaxDirtyBuffers = 10000
DirsAllowed = {folder}
ThreadsPerQuery = 1
CheckpointInterval = 0
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerRoot = {folder}
ServerThreads = 8
[SPARQL]
ResultSetMaxRows = {rows}
"""


class ServerError(RuntimeError):
    """A server did not start, or did not take its data."""


def oxigraph_binary() -> str | None:
    """Find the server of the wheel `oxigraph`; None where it is not installed."""
    beside = Path(sys.executable).parent / "oxigraph"
    return str(beside) if beside.is_file() else shutil.which("oxigraph")


def virtuoso_lacks() -> str | None:
    """Name the missing requirements of Virtuoso; None if all are present."""
    missing = [name for name in ("virtuoso-t", "isql-vt") if shutil.which(name) is None]
    if not missing:
        return None
    return f"no {' and no '.join(missing)}; install Debian's package {VIRTUOSO}"


@contextmanager
def oxigraph(store: Path) -> Iterator[str]:
    """Serve a store that `srtk graph load` made; yield the URL for queries."""
    binary = oxigraph_binary()
    if binary is None:
        raise ServerError("the oxigraph server is not installed; run `pip install oxigraph`")
    (port,) = _free_ports(1)
    url = f"http://127.0.0.1:{port}/query"
    command = [binary, "serve-read-only", "-l", str(store / "store"), "-b", f"127.0.0.1:{port}"]
    with _running(command, url):
        yield url


@contextmanager
def virtuoso(files: Sequence[Path], folder: Path, rows: int = 10000) -> Iterator[str]:
    """Serve N-Triples files by Virtuoso with a database of its own; yield the URL for queries.

    Args:
        files: Files to load into one graph.
        folder: An empty folder for the database.
        rows: Maximum number of rows of a result (`ResultSetMaxRows`).
    """
    lacks = virtuoso_lacks()
    if lacks:
        raise ServerError(lacks)
    folder = folder.resolve()
    data = folder / "data"
    data.mkdir(parents=True)
    for number, file in enumerate(files):
        shutil.copyfile(file, data / f"{number:03d}.nt")
    sql, http = _free_ports(2)
    (folder / "virtuoso.ini").write_text(_INI.format(folder=folder, sql=sql, http=http, rows=rows), encoding="utf-8")
    url = f"http://127.0.0.1:{http}/sparql"
    with _running(["virtuoso-t", "-f", "-c", str(folder / "virtuoso.ini")], url, folder):
        _load(sql, data)
        yield f"{url}?{urllib.parse.urlencode({'default-graph-uri': GRAPH})}"


def _load(port: int, data: Path) -> None:
    """Load a folder by the bulk loader; it logs errors in a table."""
    statements = (
        f"ld_dir('{data}', '*.nt', '{GRAPH}');",
        "rdf_loader_run();",
        "SELECT 'failed: ' || ll_file || ' ' || ll_error FROM DB.DBA.load_list WHERE ll_error IS NOT NULL;",
    )
    command = ["isql-vt", f"127.0.0.1:{port}", "dba", "dba", "VERBOSE=OFF", *(f"exec={text}" for text in statements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or "failed: " in done.stdout or "*** Error" in done.stdout + done.stderr:
        raise ServerError(f"Virtuoso did not load {data}: {' '.join((done.stdout + done.stderr).split())[-400:]}")


@contextmanager
def _running(command: Sequence[str], url: str, folder: Path | None = None) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        _await(process, url)
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await(process: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + _WAIT
    question = f"{url}?{urllib.parse.urlencode({'query': 'ASK {}'})}"
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(question, timeout=5).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return
    raise ServerError(f"{os.path.basename(str(process.args[0]))} did not come up within {_WAIT:.0f} s")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports
