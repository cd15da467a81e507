"""The kit's sample as a store on disk and behind a server, and a proxy that misbehaves: all on loopback."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.store import DATA
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

from srtk_framework.testing import SAMPLE, served, to_ntriples

SPACE = "http://example.org/kit/"
VOCABULARY = Vocabulary(prefixes={"": SPACE}, decode=True, noise=("code",))


@pytest.fixture(scope="session")
def kit_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a loaded store of the kit's sample."""
    folder = tmp_path_factory.mktemp("kit")
    (folder / "kit.nt").write_text(to_ntriples(SAMPLE, Ids(VOCABULARY).iri), encoding="utf-8")
    load([folder / "kit.nt"], folder / "store")
    return folder / "store"


@pytest.fixture(scope="session")
def kit_server(kit_store: Path) -> Iterator[str]:
    """Return the URL of an Oxigraph server over the kit's sample."""
    with served(kit_store / DATA) as url:
        yield url


class Proxy:
    """Passes queries on to a server, but misbehaves as planned.

    Attributes:
        plan: Faults of the next requests, in order; None for none.
        always: Fault of every request that the plan says nothing about.
        cap: Rows that it lets through; with a header that says so if ``tells``.
        times: How often it sends each row.
        rows: Makes the rows that it sends of those that came.
        refuses: A text whose queries it does not take.
        held: Whether no request is passed on now.
        seen: (moment, query) of each request.
        most: Most requests that were in flight at once.
        body: Body of the fault ``given``.
        headers: Headers added to each answer of the server.
    """

    def __init__(self, server: str) -> None:
        self.server = server
        self.plan: list[str | None] = []
        self.always: str | None = None
        self.cap: int | None = None
        self.tells = False
        self.times = 1
        self.rows: Callable[[list[Any]], list[Any]] = lambda rows: rows
        self.refuses = ""
        self.wait = "1"
        self.slow = 0.0
        self.held: Callable[[], bool] = lambda: False
        self.stall = 1.5
        self.body = b""
        self.headers: dict[str, str] = {}
        self.seen: list[tuple[float, str]] = []
        self.agents: set[str] = set()
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                proxy.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/query"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, handler: Any) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            self.seen.append((time.monotonic(), urllib.parse.parse_qs(body.decode())["query"][0]))
            self.agents.add(handler.headers["User-Agent"])
            fault = self.plan.pop(0) if self.plan else self.always
        time.sleep(self.slow)
        while self.held():
            time.sleep(0.01)
        # A client may have given up meanwhile.
        try:
            self._reply(handler, body, fault)
        except OSError:
            handler.close_connection = True
        finally:
            with self._lock:
                self._now -= 1

    def _reply(self, handler: Any, body: bytes, fault: str | None) -> None:
        kind = "application/sparql-results+json"
        if self.refuses and self.refuses in urllib.parse.parse_qs(body.decode())["query"][0]:
            fault = "400"
        if fault == "stall":
            time.sleep(self.stall)
        if fault == "reset":
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.close_connection = True
            handler.connection.close()
            return
        if fault in ("429 later", "503 later"):
            _send(handler, int(fault[:3]), "text/plain", b"slow down", {"Retry-After": self.wait})
        elif fault == "uncompiled":
            _send(handler, 500, "text/plain", b"Virtuoso 37000 Error SQ156: Internal Optimized compiler error")
        elif fault is not None and fault.isdigit():
            _send(handler, int(fault), "text/plain", b"java.lang.Error: no")
        elif fault == "html":
            _send(handler, 200, "text/html; charset=utf-8", b"<html><body>Please wait</body></html>")
        elif fault == "text":
            _send(handler, 200, kind, b"Please set a user agent")
        elif fault == "empty":
            _send(handler, 200, kind, b"")
        elif fault == "given":
            _send(handler, 200, kind, self.body)
        elif fault == "other":
            _send(handler, 200, kind, b'{"boolean": true}')
        else:
            status, answer = self._ask(body)
            if fault == "cut":
                answer = answer[: len(answer) * 2 // 3]
            if fault == "broken off":
                _send(handler, 200, kind, answer[: len(answer) // 2], {"Content-Length": str(len(answer))})
                handler.close_connection = True
                return
            more = dict(self.headers)
            if fault == "anytime":
                more = {"X-SQL-State": "S1TAT", "X-SQL-Message": "RC...: Returning incomplete results"}
            if status == 200 and fault != "cut":
                data = json.loads(answer)
                rows = self.rows([row for row in data["results"]["bindings"] for _ in range(self.times)])
                data["results"]["bindings"] = rows[: self.cap]
                answer = json.dumps(data).encode()
                if self.tells:
                    more["X-SPARQL-MaxRows"] = str(self.cap)
            _send(handler, status, kind, answer, more)

    def _ask(self, body: bytes) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/sparql-results+json"}
        request = urllib.request.Request(self.server, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()


def _send(handler: Any, status: int, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def front() -> Iterator[Callable[[str], Proxy]]:
    """Return what puts a proxy before a server."""
    made: list[Proxy] = []

    def make(server: str) -> Proxy:
        made.append(Proxy(server))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def proxy(kit_server: str) -> Iterator[Proxy]:
    """Return a proxy before the server over the kit's sample."""
    made = Proxy(kit_server)
    yield made
    made.close()
