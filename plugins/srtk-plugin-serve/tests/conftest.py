"""A service over a small graph, in the same process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from litestar.testing import TestClient
from srtk_plugin_serve import Access, service
from srtk_plugin_serve.metrics import Metrics

from srtk_framework.recipe import from_data
from srtk_framework.run import Session


@pytest.fixture(scope="session")
def recipe() -> dict[str, Any]:
    """Return a recipe of a small graph of films."""
    rows = [
        ["Alien", "directed by", "Ridley Scott"],
        ["Blade Runner", "directed by", "Ridley Scott"],
        ["Heat", "directed by", "Michael Mann"],
        *([f"film {i}", "shown in", "Rome"] for i in range(30)),
    ]
    return {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": rows},
        "entity_linker": {"use": "dictionary"},
        "expander": {"use": "bfs", "depth": 2},
    }


@pytest.fixture
def start(recipe: dict[str, Any]) -> Iterator[Callable[..., TestClient[Any]]]:
    """Return a function that starts a service with other drivers, and gives a client of it."""
    clients: list[TestClient[Any]] = []

    def started(
        drivers: dict[str, Any] | None = None,
        waiting: int = 100,
        hosts: Sequence[str] = (),
        token: str = "",
        changed: Callable[[Session], None] = lambda session: None,
    ) -> TestClient[Any]:
        def make(metrics: Metrics) -> Session:
            session = Session(from_data({**recipe, **(drivers or {})}), [metrics], waiting)
            changed(session)
            return session

        client = TestClient(service(make, Access(tuple(hosts), token)), raise_server_exceptions=False)
        clients.append(client)
        return client.__enter__()

    yield started
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(start: Callable[..., TestClient[Any]]) -> TestClient[Any]:
    """Return a client of a service over the small graph."""
    return start()
