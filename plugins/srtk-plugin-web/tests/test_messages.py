"""What bodies, statuses and headers mean: the whole answer, or a typed error."""

from __future__ import annotations

import time
from typing import Any

import attrs
import pytest
from kit.web_replies import Make, data, said
from srtk_plugin_web import (
    DeadlineError,
    DeniedError,
    EmptyError,
    Limits,
    MalformedError,
    PartialError,
    RequestError,
    ThrottledError,
    UnavailableError,
    UnreachableError,
)


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
