"""Who may ask, and how a full or failing service answers."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest
from litestar.exceptions import ClientException
from srtk_plugin_serve.gone import STOPPED, while_here

from srtk_framework.roles import EntityLinker
from srtk_framework.run import Session
from srtk_framework.values import Link

TEXT = "Who directed Alien?"


@attrs.define(eq=False)
class Gate(EntityLinker):
    """Links once it is opened; fails on a certain text."""

    go: threading.Event = attrs.field(factory=threading.Event, repr=False)
    asked: list[str] = attrs.field(factory=list, repr=False)

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        self.asked += texts
        assert self.go.wait(20)
        return [[Link("Alien")] for _ in texts]


def test_without_the_token_nothing_but_the_health_is_told(start: Any) -> None:
    client = start(token="s3cret")
    assert client.get("/health").status_code == 200
    assert client.get("/metrics").status_code == 401
    refused = client.post("/ask", json={"question": TEXT}, headers={"Authorization": "Bearer s3cre"})
    assert refused.status_code == 401
    assert "token" in refused.json()["error"]
    assert client.post("/ask", json={"question": TEXT}, headers={"Authorization": "Bearer s3cret"}).status_code == 200


def test_a_stranger_s_name_for_this_computer_is_refused_and_any_port_of_its_own_names_is_taken(start: Any) -> None:
    client = start(hosts=["localhost", "::1"])
    for host in ("localhost:8123", "LOCALHOST", "localhost:9000", "[::1]:8123"):
        assert client.get("/health", headers={"Host": host}).status_code == 200, host
    for path, host in (("/health", "evil.example:8123"), ("/schema/openapi.json", "evil.example"), ("/health", "[::1")):
        refused = client.get(path, headers={"Host": host})
        assert refused.status_code == 403
        assert f"the service is called localhost or ::1, and not {host!r}" in refused.json()["error"]


def test_head_is_answered_as_get_without_a_body(start: Any) -> None:
    client = start(token="s3cret")
    for path, status in (
        ("/", 200),
        ("/page.js", 200),
        ("/health", 200),
        ("/metrics", 401),
        ("/ask", 405),
        ("/x", 404),
    ):
        head, get = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (status, b""), path
        assert head.headers["content-type"] == get.headers["content-type"]
    assert head.headers["content-length"] == get.headers["content-length"] != "0"


def test_a_full_service_says_when_to_come_back(start: Any) -> None:
    gate = Gate()
    client = start({"entity_linker": gate}, waiting=1)

    def ask() -> tuple[int, str | None]:
        response = client.post("/ask", json={"question": TEXT})
        return response.status_code, response.headers.get("Retry-After")

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(ask)
        while not gate.asked:
            time.sleep(0.01)
        second = pool.submit(ask)
        while client.get("/health").json()["waiting"] < 1:
            time.sleep(0.01)
        assert ask() == (503, "1")
        gate.go.set()
        assert [first.result(), second.result()] == [(200, None), (200, None)]


def test_an_unforeseen_fault_stays_in_the_log(start: Any, caplog: pytest.LogCaptureFixture) -> None:
    def broken(session: Session) -> None:
        session.neighbours = lambda *args: 1 / 0  # type: ignore[assignment,method-assign]

    response = start(changed=broken).post("/expand", json={"entities": ["Rome"]})
    assert response.status_code == 500
    assert response.json() == {"error": "the service failed with ZeroDivisionError; its log has more"}
    assert "division by zero" in caplog.text


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://testserver.local:81", "null", "file://", "chrome-extension://abc", "http://["],
)
def test_a_page_of_another_site_or_of_none_may_not_ask(start: Any, origin: str) -> None:
    client = start(hosts=["testserver.local"])
    own = {"Host": "testserver.local:80", "Origin": "http://testserver.local:80"}
    assert client.post("/ask", json={"question": TEXT}, headers=own).status_code == 200
    refused = client.post("/ask", json={"question": TEXT}, headers={**own, "Origin": origin})
    assert refused.status_code == 403
    assert refused.json()["error"] == f"pages of {origin} may not ask"


def test_a_body_without_an_end_is_not_waited_for_and_a_stopped_service_says_so(start: Any) -> None:
    app = start().app
    headers = [(b"host", b"testserver.local"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/ask", "raw_path": b"/ask", "query_string": b"", "app": app}
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    async def late(seconds: float) -> None:
        call = asyncio.create_task(app({**scope, "headers": headers}, receive, send))
        await asyncio.sleep(seconds)
        call.cancel()
        await call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("srtk_plugin_serve.gone.BODY_SECONDS", 0.1)
        asyncio.run(late(0.5))
    asyncio.run(late(0.5))
    assert [one["status"] for one in sent if "status" in one] == [408, 503]
    assert b"the body did not come within 0.1 seconds" in sent[1]["body"]
    assert b"the service was stopped before it answered" in sent[3]["body"]


@attrs.define(eq=False)
class OneThenGate(Gate):
    """Links one text at once, and others once it is opened."""

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        if not self.asked:
            self.asked += texts
            return [[Link("Alien")] for _ in texts]
        return super().link(texts)


def test_a_stream_of_a_stopped_service_ends_with_the_reason_and_without_a_traceback(
    start: Any, caplog: pytest.LogCaptureFixture
) -> None:
    gate = OneThenGate()
    app = start({"entity_linker": gate, "batch": 1}).app
    headers = [(b"host", b"testserver.local"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/ask-many", "raw_path": b"/ask-many", "query_string": b""}
    come = [{"type": "http.request", "body": json.dumps({"questions": ["first", "second"]}).encode()}]
    sent: list[Any] = []

    async def receive() -> Any:
        if come:
            return come.pop()
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    async def stopped() -> None:
        call = asyncio.create_task(app({**scope, "headers": headers, "app": app}, receive, send))
        while len(gate.asked) < 2:
            await asyncio.sleep(0.01)
        call.cancel()
        await call

    try:
        asyncio.run(stopped())
    finally:
        gate.go.set()
    lines = b"".join(one.get("body", b"") for one in sent).splitlines()
    assert [*map(json.loads, lines)][-1] == {"error": STOPPED}
    assert sent[-1]["more_body"] is False
    assert "POST /ask-many was stopped before its end" in caplog.text


def test_the_calls_of_a_stopped_service_are_answered_and_leave_the_queue(start: Any) -> None:
    gate = Gate()
    session = start({"entity_linker": gate}).app.state.session

    class Here:
        async def receive(self) -> None:
            await asyncio.sleep(60)

    async def stopped() -> list[Any]:
        here: Any = Here()
        calls = [asyncio.create_task(while_here(here, session.aretrieve(TEXT, timeout=30))) for _ in range(3)]
        await asyncio.sleep(0.2)
        for call in calls:
            call.cancel()
        return await asyncio.gather(*calls, return_exceptions=True)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(session.retrieve, "first")
        while not gate.asked:
            time.sleep(0.01)
        assert [str(one) for one in asyncio.run(stopped())] == [f"503: {STOPPED}"] * 3
        assert session.load.waiting == 0
        gate.go.set()
        assert first.result()
    assert gate.asked == ["first"]


class Gone:
    """A request whose client leaves at once."""

    async def receive(self) -> dict[str, str]:
        await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}


def test_the_work_of_clients_that_left_is_not_done(start: Any) -> None:
    gate = Gate()
    session = start({"entity_linker": gate}).app.state.session

    async def leaves() -> None:
        gone: Any = Gone()
        calls = [asyncio.create_task(while_here(gone, session.aretrieve(TEXT, timeout=30))) for _ in range(5)]
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(one, ClientException) for one in done)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(session.retrieve, "first")
        while not gate.asked:
            time.sleep(0.01)
        asyncio.run(leaves())
        assert session.load.waiting == 0
        gate.go.set()
        assert first.result()
    assert gate.asked == ["first"]
