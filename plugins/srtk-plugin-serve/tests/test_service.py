"""Who may ask, and how a full or failing service answers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest
from litestar.exceptions import ClientException
from srtk_plugin_serve.gone import while_here

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


def test_a_stranger_s_name_for_this_computer_is_refused(start: Any) -> None:
    client = start(hosts=["localhost:8123"])
    assert client.get("/health", headers={"Host": "localhost:8123"}).status_code == 200
    assert client.get("/health", headers={"Host": "evil.example"}).status_code == 400


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


def test_a_page_of_another_site_may_not_ask(start: Any) -> None:
    client = start(hosts=["testserver.local"])
    own = {"Host": "testserver.local", "Origin": "http://testserver.local"}
    assert client.post("/ask", json={"question": TEXT}, headers=own).status_code == 200
    refused = client.post("/ask", json={"question": TEXT}, headers={**own, "Origin": "http://evil.example"})
    assert refused.status_code == 403


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
