"""A server on loopback that speaks the OpenAI chat protocol and misbehaves as planned, and generators on it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_openai.generator import OpenAIGenerator
from srtk_plugin_openai.limits import ServerLimits

from srtk_framework.values import Message, Prompt

SERVER = Path(__file__).parents[3] / "benchmarks/loopback/openai_server.py"
QUICK = ServerLimits(wait=0.01, wait_most=0.05, deadline=2.0, patience=20.0, attempts=6, failures=12, pause=0.1)


@pytest.fixture(scope="session")
def servers() -> Any:
    """Return the module of the server."""
    if not SERVER.is_file():
        pytest.skip("benchmarks/loopback/openai_server.py, the server of these tests, is not here")
    return importlib.import_module("benchmarks.loopback.openai_server")


@pytest.fixture
def serve(servers: Any) -> Iterator[Callable[..., Any]]:
    """Return what starts a server; the arguments are those of its class."""
    with ExitStack() as stack:
        yield lambda *rule, **settings: stack.enter_context(servers.serve(*rule, **settings))


@pytest.fixture
def generator() -> Iterator[Callable[..., OpenAIGenerator]]:
    """Return what opens a generator on a server."""
    opened: list[OpenAIGenerator] = []

    def make(server: Any, **settings: Any) -> OpenAIGenerator:
        made = OpenAIGenerator(**{"model": "tiny", "base_url": server.url, "limits": QUICK, **settings})
        opened.append(made)
        made.open()
        return made

    yield make
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def quick() -> ServerLimits:
    """Return limits for a server on loopback."""
    return QUICK


@pytest.fixture(scope="session")
def prompt() -> Callable[..., Prompt]:
    """Return what makes a prompt of a text and options."""

    def make(text: str, *options: str, **more: Any) -> Prompt:
        return Prompt((Message("system", "Be brief."), Message("user", text)), tuple(options), **more)

    return make
