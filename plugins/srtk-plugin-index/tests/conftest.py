"""A search engine on loopback with the JSON interface of SearXNG, which misbehaves as planned."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import pytest

from srtk_framework.text import fold, words

Fault = Callable[[BaseHTTPRequestHandler], None]


def bag(text: str) -> set[str]:
    folded = fold(text)
    return {folded[start:end] for start, end in words(folded)}


def fault(status: int, body: str, kind: str = "application/json", more: tuple[str, str] | None = None) -> Fault:
    """Answer with a status and a body in the place of the engine."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        data = body.encode()
        handler.send_response(status)
        for name, value in [("Content-Type", kind), ("Content-Length", str(len(data))), *([more] if more else [])]:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


class SearchEngine:
    """Ranks pages by the share of their words that a search has.

    Args:
        pages: Title and description by address.
        per_page: Results of a page.

    Attributes:
        seen: (method, path, fields) of each request.
        plan: Faults of the next requests, in order; None for an answer.
    """

    def __init__(self, pages: Mapping[str, tuple[str, str]], per_page: int = 1000) -> None:
        self.pages, self.per_page = pages, per_page
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.plan: list[Fault | None] = []
        lock, engine = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(urlsplit(self.path).query)

            def do_POST(self) -> None:
                self.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def answer(self, form: str) -> None:
                fields = dict(parse_qsl(form))
                with lock:
                    engine.seen.append((self.command, urlsplit(self.path).path, fields))
                    planned = engine.plan.pop(0) if engine.plan else None
                (planned or fault(200, json.dumps(engine.found(fields))))(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def found(self, fields: Mapping[str, str]) -> dict[str, Any]:
        asked = bag(fields["q"])
        shares = {
            url: len(asked & bag(" ".join(page))) / (1 + len(bag(" ".join(page)))) for url, page in self.pages.items()
        }
        order = sorted((url for url in shares if shares[url]), key=lambda url: (-shares[url], url))
        first = (int(fields["pageno"]) - 1) * self.per_page
        rows = [
            {"url": url, "title": self.pages[url][0], "content": self.pages[url][1], "engine": "toy", "score": 1.0}
            for url in order[first : first + self.per_page]
        ]
        return {"query": fields["q"], "number_of_results": 0, "results": rows, "unresponsive_engines": []}

    def fail(self, *faults: tuple[Any, ...] | None) -> None:
        """Plan the next answers: the arguments of ``fault``, or None for an answer of the engine."""
        self.plan = [None if one is None else fault(*one) for one in faults]

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def engine_of() -> Iterator[Callable[..., SearchEngine]]:
    """Start search engines; all are stopped after the test."""
    with ExitStack() as stack:
        yield lambda *args, **settings: stack.enter_context(SearchEngine(*args, **settings))
