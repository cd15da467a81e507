"""A server on loopback that speaks HTTP byte by byte, as each test wants it."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from srtk_plugin_web import Client, Limits


class Seen(NamedTuple):
    """One request: method, path, headers in small letters, body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Loopback:
    """Answers the n-th request by the n-th part of its plan, the last part again and again.

    Attributes:
        plan: What each request gets: bytes to send as they are, or a function that writes to the socket.
        seen: The requests.
        written: Bytes that functions of the plan counted here.
    """

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.plan: list[bytes | Callable[[socket.socket], None]] = []
        self.seen: list[Seen] = []
        self.written = 0
        self._context = context
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}/ask"
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._open:
            sock.close()
        for thread in self._threads:
            thread.join(5)

    def _listen(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
                if self._context is not None:
                    sock = self._context.wrap_socket(sock, server_side=True)
            except OSError:
                return
            self._open.append(sock)
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        with sock, sock.makefile("rb") as file:
            try:
                while self._answer(sock, file):
                    pass
            except (OSError, ValueError):
                return

    def _answer(self, sock: socket.socket, file: object) -> bool:
        start = file.readline().decode()  # type: ignore[attr-defined]
        if not start.strip():
            return False
        headers = {}
        while line := file.readline().decode().strip():  # type: ignore[attr-defined]
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = file.read(int(headers.get("content-length", 0)))  # type: ignore[attr-defined]
        method, path, _ = start.split()
        with self._lock:
            self.seen.append(Seen(method, path, headers, body))
            answer = self.plan[min(len(self.seen), len(self.plan)) - 1]
        if isinstance(answer, bytes):
            sock.sendall(answer)
            return True
        answer(sock)
        return False


@pytest.fixture
def server() -> Iterator[Loopback]:
    """Return a server."""
    made = Loopback()
    yield made
    made.close()


@pytest.fixture
def other() -> Iterator[Loopback]:
    """Return a second server, on another port."""
    made = Loopback()
    yield made
    made.close()


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """Return a server over TLS whose certificate is trusted."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout {key} -out {certificate}"
    subprocess.run(
        ["openssl", *words.split(), "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    made = Loopback(context)
    yield made
    made.close()


QUICK = Limits(
    per_second=None, wait=0.01, wait_most=0.02, deadline=2.0, attempts=1, patience=10.0, answer_bytes=1 << 20
)


@pytest.fixture
def quick() -> Limits:
    """Return limits for a server on loopback."""
    return QUICK


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    """Return what makes a client of an address."""
    made: list[Client] = []

    def make(address: str, **settings: object) -> Client:
        limits = settings.pop("limits", QUICK)
        made.append(Client(address, limits, "tests/1.0", **settings))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()
