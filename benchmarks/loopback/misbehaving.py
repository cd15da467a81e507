"""A proxy on the loopback interface that forwards queries to a SPARQL server, with random faults."""

from __future__ import annotations

import http.client
import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from benchmarks.loopback.serving import running

JSON = "application/sparql-results+json"
FAULTS: Mapping[str, int] = {
    "429": 6,
    "429, Retry-After": 2,
    "500": 6,
    "503": 6,
    "503, Retry-After": 2,
    "HTML under 200": 6,
    "empty 200": 6,
    "JSON cut midway": 6,
    "connection ends midway": 6,
    "reset": 6,
    "stall": 1,
}
"""Faults, and how often each comes relative to the others."""


class Proxy(ThreadingHTTPServer):
    """Forwards requests to the server, but answers a share of them with a fault.

    Args:
        server: URL of the server.
        share: Share of requests that get a fault.
        seed: Random seed of requests and faults.
        stall: Seconds that a stalled answer takes.
        cap: Rows of an answer that it lets through without a word; None for all.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, server: str, share: float, seed: int, stall: float, cap: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(server)
        self.stall = stall
        self.cap = cap
        self.requests = 0
        self.served: Counter[str] = Counter()
        self.lock = threading.Lock()
        self._share = share
        self._chance = random.Random(seed)

    @property
    def url(self) -> str:
        """URL of the proxy."""
        return f"http://127.0.0.1:{self.server_port}{self.upstream.path}"

    def draw(self) -> str | None:
        """Choose the fault of the next request, or None."""
        with self.lock:
            self.requests += 1
            if self._chance.random() >= self._share:
                return None
            fault = self._chance.choices(list(FAULTS), list(FAULTS.values()))[0]
            self.served[fault] += 1
            return fault

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error: clients disconnect when a response stalls."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Proxy

    def setup(self) -> None:
        super().setup()
        self._onward = http.client.HTTPConnection(str(self.server.upstream.netloc), timeout=60)

    def finish(self) -> None:
        super().finish()
        self._onward.close()

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = self.server.draw()
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif fault in ("429", "500", "503"):
            self._send(int(fault), "text/plain", b"java.lang.Error: try again")
        elif fault in ("429, Retry-After", "503, Retry-After"):
            self._send(int(fault[:3]), "text/plain", b"slow down", {"Retry-After": "1"})
        elif fault == "HTML under 200":
            self._send(200, "text/html; charset=utf-8", b"<html><body>Please wait</body></html>")
        elif fault == "empty 200":
            self._send(200, JSON, b"")
        else:
            self._pass_on(body, fault)

    def _pass_on(self, body: bytes, fault: str | None) -> None:
        if fault == "stall":
            time.sleep(self.server.stall)
        kept = {name: self.headers[name] for name in ("Content-Type", "Accept") if name in self.headers}
        self._onward.request("POST", self.path, body, kept)
        answer = self._onward.getresponse()
        data = answer.read()
        if self.server.cap is not None and answer.status == 200:
            table = json.loads(data)
            table["results"]["bindings"] = table["results"]["bindings"][: self.server.cap]
            data = json.dumps(table).encode()
        if fault == "JSON cut midway":
            data = data[: len(data) * 2 // 3]
        if fault == "connection ends midway":
            self._send(answer.status, JSON, data[: len(data) // 2], {"Content-Length": str(len(data))})
            self.close_connection = True
        else:
            self._send(answer.status, answer.headers.get("Content-Type", JSON), data)

    def _send(self, status: int, kind: str, body: bytes, more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def proxy(server: str, share: float, seed: int = 0, stall: float = 3.0, cap: int | None = None) -> Iterator[Proxy]:
    """Run a proxy in front of a server."""
    with running(Proxy(server, share, seed, stall, cap)) as made:
        yield made
