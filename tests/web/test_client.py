"""The client against servers that misbehave: every fault ends in time, in a typed error, or in the whole answer."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from srtk_framework.values import DriverError
from srtk_framework.web import (
    CircuitOpenError,
    Client,
    ClosedError,
    CredentialError,
    DeadlineError,
    DeniedError,
    EmptyError,
    Limits,
    MalformedError,
    OversizeError,
    PartialError,
    Request,
    RequestError,
    Response,
    ThrottledError,
    UnavailableError,
    UnreachableError,
    checked,
)

Make = Callable[..., Client]


def said(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """Write a response."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def data(client: Client, **request: Any) -> Any:
    return client.ask(Request(client.url, **request), lambda response: checked(response).json())


def drip(start: bytes, part: bytes) -> Callable[[socket.socket], None]:
    """Send a part of a response every 50 ms, for ten seconds."""

    def write(sock: socket.socket) -> None:
        sock.sendall(start)
        for _ in range(200):
            sock.sendall(part)
            time.sleep(0.05)

    return write


def flood(server: Any, start: bytes, block: bytes, most: int) -> Callable[[socket.socket], None]:
    """Send blocks as fast as they are taken, and count them."""

    def write(sock: socket.socket) -> None:
        sock.sendall(start)
        while server.written < most:
            sock.sendall(block)
            server.written += len(block)

    return write


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


def test_all_attempts_together_end_with_the_patience(server: Any, client: Make, quick: Limits) -> None:
    server.plan = [drip(b"", b"H")]
    began = time.monotonic()
    with pytest.raises(DeadlineError):
        data(client(server.url, limits=attrs.evolve(quick, deadline=0.4, patience=1.0, attempts=100)))
    assert time.monotonic() - began < 5.0
    assert len(server.seen) > 1


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


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1, 2", PartialError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1, 2\r\n", PartialError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", PartialError),
        (said(b"not gzip", "200 OK", "Content-Encoding: gzip"), PartialError),
        (b"HTTP/1.1 200 OK\r\nContent-", RequestError),
        (b"", UnreachableError),
        (b"SSH-2.0-OpenSSH_9.2\r\n", UnreachableError),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1000 + b"\r\n", UnreachableError),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000 + b"\r\n\r\n", UnreachableError),
        (said(b""), EmptyError),
        (said(b"<html>"), MalformedError),
        (said(b'{"a": '), PartialError),
        (said(b"\xff\xfe"), MalformedError),
        (said(b"[" * 200_000), MalformedError),
        (said(b'{"a":' * 200_000), MalformedError),
        (said(b"1" * 100_000), MalformedError),
    ],
)
def test_what_is_no_whole_answer_is_a_typed_error(
    server: Any, client: Make, answer: bytes, kind: type[RequestError]
) -> None:
    server.plan = [lambda sock: sock.sendall(answer)]
    with pytest.raises(kind) as caught:
        data(client(server.url, name="Oracle"), subject="who?")
    assert str(caught.value).startswith(f"Oracle at {server.url}: ")
    assert str(caught.value).endswith("; the request was: who?")


def test_null_is_an_answer_that_the_reader_judges(server: Any, client: Make) -> None:
    server.plan = [said(b"null")]
    assert data(client(server.url)) is None


@pytest.mark.parametrize(
    ("status", "kind", "sent"),
    [
        ("400 No", RequestError, 1),
        ("401 No", DeniedError, 1),
        ("404 No", DeniedError, 1),
        ("408 No", DeadlineError, 3),
        ("425 No", UnavailableError, 3),
        ("429 No", ThrottledError, 3),
        ("500 No", UnavailableError, 3),
        ("503 No", UnavailableError, 3),
        ("504 No", DeadlineError, 3),
        ("599 No", UnavailableError, 3),
    ],
)
def test_a_status_has_its_error_and_is_sent_again_where_that_may_help(
    server: Any, client: Make, quick: Limits, status: str, kind: type[RequestError], sent: int
) -> None:
    server.plan = [said(b"because", status)]
    with pytest.raises(kind, match="because" if "429" not in status else "429"):
        data(client(server.url, limits=attrs.evolve(quick, attempts=3)))
    assert len(server.seen) == sent


@pytest.mark.parametrize("rest", ["²", "1²", "", "-1", "soon", "1e400", "Mon, 99 Foo 9999999 99:99:99 GMT", "\u0661"])
def test_a_rest_that_cannot_be_read_is_none(server: Any, client: Make, rest: str) -> None:
    header = f"Retry-After: {rest}".encode().decode("latin-1")
    server.plan = [b"HTTP/1.1 429 No\r\n" + header.encode("latin-1") + b"\r\nContent-Length: 0\r\n\r\n"]
    with pytest.raises(ThrottledError) as caught:
        data(client(server.url))
    assert caught.value.retry_after is None


def test_a_rest_that_is_asked_for_is_kept(server: Any, client: Make, quick: Limits) -> None:
    server.plan = [said(b"", "429 No", "Retry-After: 0.4"), said(b"1")]
    began = time.monotonic()
    assert data(client(server.url, limits=attrs.evolve(quick, attempts=2))) == 1
    assert time.monotonic() - began >= 0.4


def test_a_rest_without_end_holds_the_client_for_a_day_at_most(server: Any, client: Make, quick: Limits) -> None:
    server.plan = [said(b"", "503 No", "Retry-After: " + "9" * 300)]
    one = client(server.url, limits=attrs.evolve(quick, attempts=2))
    with pytest.raises(ThrottledError) as caught:
        data(one)
    assert caught.value.retry_after == 86400
    with pytest.raises(ThrottledError, match="left alone"):
        data(one)
    assert len(server.seen) == 1


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


def test_a_server_that_failed_too_often_is_left_alone_and_the_reason_is_told(
    server: Any, client: Make, quick: Limits
) -> None:
    server.plan = [said(b"out of coffee", "500 No")]
    one = client(server.url, limits=attrs.evolve(quick, failures=2, pause=60.0))
    for _ in range(2):
        with pytest.raises(UnavailableError):
            data(one)
    with pytest.raises(CircuitOpenError, match=r"failed 2 times in a row.*left alone for 60 s.*says: out of coffee"):
        data(one)
    assert len(server.seen) == 2


def test_a_patient_client_waits_for_the_breaker_and_counts_no_throttling(
    server: Any, client: Make, quick: Limits
) -> None:
    throttled = [said(b"", "429 No")] * 5
    server.plan = [*throttled, said(b"", "500 No"), said(b"", "500 No"), said(b"1")]
    limits = attrs.evolve(quick, attempts=3, failures=2, pause=0.2)
    assert data(client(server.url, limits=limits, patient=True)) == 1
    assert len(server.seen) == 8


def test_after_a_credential_is_refused_nothing_more_is_sent(server: Any, client: Make) -> None:
    def read(response: Response) -> None:
        raise CredentialError(f"it refuses the token: {response.start()}")

    server.plan = [said(b"no", "401 No")]
    one = client(server.url)
    for _ in range(2):
        with pytest.raises(CredentialError, match="refuses the token"):
            one.ask(Request(one.url), read)
    assert len(server.seen) == 1


def test_what_is_secret_is_in_no_message(server: Any, client: Make) -> None:
    server.plan = [said(b"I got pa/ss and pa%2Fss and Bearer sk-0123456789 and other/secret", "500 No")]
    address = server.url.replace("http://", "http://me:pa%2Fss@")
    one = client(address, headers={"X-Api-Key": "Bearer sk-0123456789"}, secrets=["other/secret"])
    with pytest.raises(UnavailableError) as caught:
        data(one)
    shown: BaseException | None = caught.value
    while shown is not None:
        assert not any(text in str(shown) for text in ("pa/ss", "pa%2Fss", "sk-0123456789", "other/secret"))
        shown = shown.__context__
    assert server.seen[0].headers["authorization"] == "Basic bWU6cGEvc3M="


def test_a_header_of_the_caller_replaces_that_of_the_client_whatever_its_case(server: Any, client: Make) -> None:
    server.plan = [said(b"1")]
    data(client(server.url, headers={"user-agent": "mine/2"}))
    assert server.seen[0].headers["user-agent"] == "mine/2"


@pytest.mark.parametrize("address", ["localhost:80", "ftp://localhost/", "http://", "file:///etc/passwd"])
def test_an_address_that_is_no_url_is_refused(client: Make, address: str) -> None:
    with pytest.raises(DriverError, match="is not an http or https URL"):
        client(address)


@pytest.mark.parametrize("value", ["a\nb", "a\x00b", "ключ"])
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(client: Make, value: str) -> None:
    with pytest.raises(DriverError, match="'X-Key'") as caught:
        client("http://127.0.0.1:9/", headers={"X-Key": value})
    assert value not in str(caught.value)


def test_a_server_that_is_not_there_is_named(client: Make) -> None:
    with pytest.raises(UnreachableError, match=r"Oracle at http://127.0.0.1:9/ask: no connection"):
        data(client("http://me:word@127.0.0.1:9/ask?key=secret", name="Oracle"))


def test_closing_ends_the_waits_of_other_threads(server: Any, client: Make, quick: Limits) -> None:
    server.plan = [said(b"", "429 No", "Retry-After: 3")]
    one = client(server.url, limits=attrs.evolve(quick, attempts=5))
    ended: list[RequestError] = []

    def work() -> None:
        with pytest.raises(RequestError) as caught:
            data(one)
        ended.append(caught.value)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    one.close()
    for thread in threads:
        thread.join(1.5)
    assert len(ended) == 8
    assert any(isinstance(error, ClosedError) for error in ended)


def test_no_more_requests_are_in_flight_than_allowed(server: Any, client: Make, quick: Limits) -> None:
    lock, now, most = threading.Lock(), [0], [0]

    def slow(sock: socket.socket) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)
        with lock:
            now[0] -= 1
        sock.sendall(said(b"1", "200 OK", "Connection: close"))

    server.plan = [slow]
    one = client(server.url, limits=attrs.evolve(quick, at_once=3, deadline=10.0))
    threads = [threading.Thread(target=data, args=(one,)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.seen) == 12
    assert most[0] == 3


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
        "import sys, json, srtk_framework, srtk_framework.web\n"
        "print(json.dumps([m for m in ('urllib3', 'httpx', 'httpx2', 'requests', 'http.client') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
