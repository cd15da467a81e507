"""The client: attempts, waits, secrets, and what it does not send."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import attrs
import pytest
from kit.web_replies import Make, data, drip, said
from srtk_plugin_web import (
    CircuitOpenError,
    ClosedError,
    CredentialError,
    DeadlineError,
    Limits,
    Request,
    RequestError,
    Response,
    UnavailableError,
    UnreachableError,
)

from srtk_framework.values import DriverError, redacted


def test_all_attempts_together_end_with_the_patience(server: Any, client: Make, quick: Limits) -> None:
    server.plan = [drip(b"", b"H")]
    began = time.monotonic()
    with pytest.raises(DeadlineError):
        data(client(server.url, limits=attrs.evolve(quick, deadline=0.4, patience=1.0, attempts=100)))
    assert time.monotonic() - began < 5.0
    assert len(server.seen) > 1


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


def test_a_header_that_is_no_secret_stays_in_messages_of_the_whole_process(server: Any, client: Make) -> None:
    server.plan = [said(b"I have no application/json; ask with token-0123; none", "406 No")]
    headers = {"Accept": "application/json", "X-Caller": "token-0123", "X-Form": "json", "Authorization": "Bearer none"}
    with pytest.raises(DriverError, match=r"no application/json; ask with \*\*\*; none"):
        data(client(server.url, headers=headers))
    assert redacted("an applicator") == "an applicator"


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


def test_each_of_four_processes_keeps_to_a_quarter_of_the_limits(
    server: Any, client: Make, quick: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SRTK_WORKERS", "4")
    made = client(server.url, limits=attrs.evolve(quick, per_second=40.0, burst=8, at_once=8))
    assert made._gate._bucket._rate == 10.0
    assert made._gate._bucket._burst == 2
    assert made._gate._places._initial_value == 2
