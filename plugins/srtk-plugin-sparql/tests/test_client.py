"""What the client of one endpoint asks, how often, and how much at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from srtk_plugin_sparql.client import SparqlClient
from srtk_plugin_sparql.errors import CappedError
from srtk_plugin_sparql.limits import SparqlLimits

from srtk_framework.values import DriverError
from srtk_framework.web import DeadlineError, UnavailableError

QUICK: dict[str, Any] = {"wait": 0.01, "wait_most": 0.02, "attempts": 3, "deadline": 5.0}
ONE = "SELECT ?s WHERE { ?s ?p ?o } ORDER BY ?s LIMIT 1"


@contextmanager
def client(url: str, engine: str = "oxigraph", **limits: Any) -> Iterator[SparqlClient]:
    with closing(SparqlClient(url, engine, SparqlLimits(**{**QUICK, **limits}), "srtk-test/1 (test)")) as made:
        yield made


def test_a_query_that_can_be_divided_is_not_asked_again_when_it_takes_too_long(proxy: Any) -> None:
    proxy.always = "504"
    with client(proxy.url) as made:
        for divisible, asked in ((True, 1), (False, 3)):
            proxy.seen.clear()
            with pytest.raises(DeadlineError):
                made.select(ONE, divisible=divisible)
            assert len(proxy.seen) == asked


def test_a_query_that_can_be_divided_is_asked_again_after_other_faults(proxy: Any) -> None:
    proxy.always = "502"
    with client(proxy.url) as made:
        with pytest.raises(UnavailableError):
            made.select(ONE, divisible=True)
        assert len(proxy.seen) == 3
        proxy.always = None
        assert len(made.select(ONE, divisible=True)) == 1


@pytest.mark.parametrize(
    ("engine", "limits", "most"), [("blazegraph", {}, 1), ("oxigraph", {}, 4), ("oxigraph", {"at_once": 2}, 2)]
)
def test_as_many_queries_are_in_flight_as_the_limits_or_else_the_engine_allow(
    proxy: Any, engine: str, limits: dict[str, int], most: int
) -> None:
    proxy.slow = 0.2
    with client(proxy.url, engine, **limits) as made:
        threads = [threading.Thread(target=made.select, args=(ONE, False)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert proxy.most == most
    assert [query for _, query in proxy.seen].count(ONE) == 6


@contextmanager
def answering(server: str, rows: int) -> Iterator[str]:
    """Serve a fixed number of rows to every query, under the name of a server."""
    bindings = [{"a": {"type": "literal", "value": str(number)}} for number in range(rows)]
    body = json.dumps({"head": {"vars": ["a"]}, "results": {"bindings": bindings}}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/sparql-results+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def version_string(self) -> str:
            return server

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}/query"
        http.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("server", "engine", "limits", "most"),
    [
        ("Virtuoso/07.20", "auto", {}, "10,000"),
        ("any", "virtuoso", {}, "10,000"),
        ("Virtuoso/07.20", "auto", {"rows": 9000}, "9,000"),
        ("any", "virtuoso", {"rows": 9000}, "9,000"),
    ],
)
def test_the_cap_is_the_given_one_or_that_of_the_engine_told_or_seen(
    server: str, engine: str, limits: dict[str, int], most: str
) -> None:
    with (
        answering(server, 10_000) as url,
        client(url, engine, **limits) as made,
        pytest.raises(CappedError, match=f"returns {most} rows at most"),
    ):
        made.select(ONE, divisible=False)


def test_the_address_is_shown_without_login_and_the_client_names_itself(proxy: Any) -> None:
    with client(proxy.url.replace("http://", "http://me:secret@")) as made:
        assert made.endpoint == proxy.url
        made.select(ONE, divisible=False)
    assert proxy.agents == {"srtk-test/1 (test)"}
    assert [query for _, query in proxy.seen].count(ONE) == 1


def test_an_engine_that_is_not_known_is_refused(proxy: Any) -> None:
    with pytest.raises(DriverError, match=r"engine 'oxygraph' is not known; .*oxigraph"), client(proxy.url, "oxygraph"):
        pass
