"""HTTP before servers that misbehave: in time, within sizes, on one host, and no connection left behind."""

from __future__ import annotations

import gzip
import json
import queue
import socket
import subprocess
import sys
import time
from typing import Any

import attrs
import pytest
from kit.web_replies import Make, data, drip, flood, said
from srtk_plugin_web import (
    DeadlineError,
    DeniedError,
    Limits,
    OversizeError,
    RequestError,
    UnavailableError,
    UnreachableError,
)


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["status", "headers", "one header", "length", "no length", "chunks", "size of a chunk", "100 continue"],
)
def test_a_server_that_drips_is_stopped_by_the_deadline(
    server: Any, client: Make, quick: Limits, start: bytes, part: bytes
) -> None:
    server.plan = [drip(start, part)]
    began = time.monotonic()
    with pytest.raises(DeadlineError, match=r"no whole answer within 0\.4 s"):
        data(client(server.url, limits=attrs.evolve(quick, deadline=0.4)))
    assert time.monotonic() - began < 5.0


def test_a_server_that_never_answers_a_tls_handshake_is_stopped_by_the_deadline(client: Make, quick: Limits) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        began = time.monotonic()
        with pytest.raises((DeadlineError, UnreachableError)):
            data(client(address, limits=attrs.evolve(quick, deadline=0.4)))
        assert time.monotonic() - began < 5.0


def test_a_connection_is_used_again_with_a_deadline_of_its_own(server: Any, client: Make, quick: Limits) -> None:
    server.plan = [said(b"1"), drip(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" ")]
    one = client(server.url, limits=attrs.evolve(quick, deadline=0.4))
    assert data(one) == 1
    time.sleep(0.3)
    began = time.monotonic()
    with pytest.raises(DeadlineError):
        data(one)
    assert time.monotonic() - began >= 0.35


@pytest.mark.parametrize("framing", [b"Content-Length: 100000000000", b"X-None: 1", b"Transfer-Encoding: chunked"])
def test_an_endless_answer_is_refused_at_the_largest_size(server: Any, client: Make, framing: bytes) -> None:
    block = b" " * 65536
    block = b"10000\r\n" + block + b"\r\n" if b"chunked" in framing else block
    server.plan = [flood(server, b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n\r\n", block, 1 << 28)]
    with pytest.raises(OversizeError, match=r"1,048,576 bytes"):
        data(client(server.url))
    assert server.written < 1 << 26


@pytest.mark.parametrize("framing", [b"Content-Length: 100000000000", b"Transfer-Encoding: chunked"])
def test_of_an_endless_error_the_start_is_read(server: Any, client: Make, framing: bytes) -> None:
    block = b"sorry " * 11000
    block = b"101d0\r\n" + block + b"\r\n" if b"chunked" in framing else block
    server.plan = [flood(server, b"HTTP/1.1 500 No\r\n" + framing + b"\r\n\r\n", block, 1 << 28)]
    with pytest.raises(UnavailableError, match=r"it failed \(500\) and says: sorry sorry") as caught:
        data(client(server.url))
    assert len(str(caught.value)) < 1000
    assert server.written < 1 << 26


@pytest.mark.parametrize("times", [1, 2])
def test_a_compressed_answer_is_limited_by_what_it_becomes(server: Any, client: Make, times: int) -> None:
    bomb = b" " * (1 << 28)
    for _ in range(times):
        bomb = gzip.compress(bomb, 9)
    server.plan = [said(bomb, "200 OK", "Content-Encoding: " + ", ".join(["gzip"] * times))]
    with pytest.raises(OversizeError):
        data(client(server.url))


def test_a_compressed_answer_is_read(server: Any, client: Make) -> None:
    server.plan = [said(gzip.compress(b'{"a": 1}'), "200 OK", "Content-Encoding: gzip")]
    assert data(client(server.url)) == {"a": 1}
    assert "gzip" in server.seen[0].headers["accept-encoding"]


@pytest.mark.parametrize("status", ["307 Go", "308 Go"])
def test_a_redirect_on_the_same_host_keeps_method_body_and_credentials(server: Any, client: Make, status: str) -> None:
    server.plan = [said(b"", status, "Location: /there?x=1"), said(b"1")]
    one = client(server.url, headers={"Authorization": "Bearer secret-0123"})
    assert data(one, method="POST", body=b"what?") == 1
    first, second = server.seen
    assert (second.method, second.path, second.body) == ("POST", "/there?x=1", b"what?")
    assert first.headers["authorization"] == second.headers["authorization"] == "Bearer secret-0123"


@pytest.mark.parametrize("status", ["301 Go", "302 Go", "303 Go", "307 Go", "308 Go"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_redirect_to_another_port_is_not_followed(
    server: Any, other: Any, client: Make, status: str, method: str
) -> None:
    other.plan = [said(b"1")]
    server.plan = [said(b"", status, f"Location: {other.url}")]
    with pytest.raises(DeniedError, match="it has moved"):
        data(client(server.url), method=method)
    assert not other.seen


@pytest.mark.parametrize(
    "place",
    [
        "http://localhost:{port}/ask",
        "//localhost:{port}/ask",
        "http://me:word@127.0.0.1:{port}/ask",
        "file:///etc/passwd",
        "ftp://127.0.0.1:{port}/",
        "http://[",
        "http://127.0.0.1:99999/",
    ],
)
def test_a_redirect_to_another_host_or_scheme_is_not_followed(server: Any, client: Make, place: str) -> None:
    server.plan = [said(b"", "307 Go", f"Location: {place.format(port=server.port)}"), said(b"1")]
    with pytest.raises(DeniedError, match="it has moved"):
        data(client(server.url))
    assert len(server.seen) == 1


def test_a_redirect_from_https_to_http_is_not_followed(server: Any, secure: Any, client: Make) -> None:
    server.plan = [said(b"1")]
    secure.plan = [said(b"", "307 Go", f"Location: {server.url}")]
    with pytest.raises(DeniedError, match="it has moved"):
        data(client(secure.url))
    secure.plan = [said(b"", "307 Go", f"Location: http://127.0.0.1:{secure.port}/ask")]
    with pytest.raises(DeniedError, match="it has moved"):
        data(client(secure.url))
    assert not server.seen
    assert len(secure.seen) == 2


def test_answers_come_over_tls_too_and_in_time(secure: Any, client: Make, quick: Limits) -> None:
    secure.plan = [said(b"1"), said(b"2"), drip(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n")]
    one = client(secure.url, limits=attrs.evolve(quick, deadline=0.5))
    assert [data(one), data(one)] == [1, 2]
    with pytest.raises(DeadlineError):
        data(one)


def test_a_certificate_that_nobody_vouches_for_is_an_error(
    secure: Any, client: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(DeniedError, match="no secure connection"):
        data(client(secure.url))
    assert not secure.seen


def test_redirects_in_a_circle_end(server: Any, client: Make) -> None:
    server.plan = [said(b"", "307 Go", "Location: /ask")]
    with pytest.raises(DeniedError, match="more than 5 times"):
        data(client(server.url))
    assert len(server.seen) == 5


def test_the_proxy_of_the_environment_is_used_but_not_for_loopback(
    server: Any, other: Any, client: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:word@127.0.0.1:{server.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    server.plan, other.plan = [said(b"1")], [said(b"2")]
    assert data(client("http://service.invalid/ask")) == 1
    assert data(client(other.url)) == 2
    assert server.seen[0].path == "http://service.invalid/ask"
    assert server.seen[0].headers["proxy-authorization"] == "Basic bWU6d29yZA=="
    assert "proxy-authorization" not in other.seen[0].headers


def test_importing_the_framework_and_this_room_loads_no_http_library() -> None:
    code = (
        "import sys, json, srtk_framework, srtk_plugin_web\n"
        "print(json.dumps([m for m in ('urllib3', 'httpx', 'httpx2', 'requests', 'http.client') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1, 2",
        b"",
    ],
    ids=["two lengths", "no HTTP", "half", "nothing"],
)
def test_a_broken_connection_is_closed_at_once(server: Any, client: Make, answer: bytes) -> None:
    ended: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def broken(sock: socket.socket) -> None:
        sock.sendall(answer)
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(3)
        ended.put(sock.recv(1))

    server.plan = [broken]
    with pytest.raises(RequestError) as caught:
        data(client(server.url))
    # The error is held, and all that it refers to, so that no collector closes the socket.
    assert caught.value.service
    assert ended.get(timeout=2) == b""
