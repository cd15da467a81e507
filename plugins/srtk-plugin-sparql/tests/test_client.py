"""What the client of one endpoint asks, how often, and how much at once; the servers are small and on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest
from SPARQLWrapper import JSON, POST, SPARQLWrapper
from srtk_plugin_sparql import queries
from srtk_plugin_sparql.client import SparqlClient
from srtk_plugin_sparql.errors import CappedError
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.row_cap import SIDES
from srtk_plugin_web import DeadlineError, UnavailableError
from srtk_plugin_web import client as web_client
from srtk_plugin_web.rate_limit import Gate, TokenBucket

from srtk_framework.values import DriverError

QUICK: dict[str, Any] = {"wait": 0.01, "wait_most": 0.02, "attempts": 3, "deadline": 5.0}
ONE = "SELECT ?s WHERE { ?s ?p ?o } ORDER BY ?s LIMIT 1"
SMALL, LARGE = (queries.table(side) for side in SIDES)
"""Questions about a server's cap: for 1,024 and for 16,384 rows."""


@contextmanager
def client(
    url: str, engine: str = "oxigraph", headers: Mapping[str, str] | None = None, **limits: Any
) -> Iterator[SparqlClient]:
    allowed = SparqlLimits(**{**QUICK, **limits})
    with closing(SparqlClient(url, engine, allowed, "srtk-test/1 (test)", headers)) as made:
        yield made


def body_of(rows: int, columns: str = "a") -> bytes:
    bindings = [{name: {"type": "literal", "value": str(number)} for name in columns} for number in range(rows)]
    return json.dumps({"head": {"vars": list(columns)}, "results": {"bindings": bindings}}).encode()


class Server:
    """Answers each query with a number of rows, and the questions about its cap with as many as they ask for.

    Attributes:
        url: Its address.
        faults: Statuses of the next answers, in order.
        always: Status of the answers after these.
        meet: Where so many requests wait for each other before they are answered.
        asked: Each query that came.
        bodies: The body of each request.
        headers: The headers of each request.
        most: Most requests that were in flight at once.
    """

    def __init__(self, rows: int = 1, server: str = "any") -> None:
        self.faults: list[int] = []
        self.always = 200
        self.meet: threading.Barrier | None = None
        self.asked: list[str] = []
        self.bodies: list[bytes] = []
        self.headers: list[Any] = []
        self.most = self._now = 0
        self._lock = threading.Lock()
        answers = {SMALL: body_of(SIDES[0] ** 2, "ab"), LARGE: body_of(SIDES[1] ** 2, "ab")}
        usual = body_of(rows)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                [query] = parse_qs(sent.decode())["query"]
                status = outer.note(query, sent, self.headers)
                body = answers.get(query, usual)
                self.send_response(status)
                self.send_header("Content-Type", "application/sparql-results+json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                outer.leave()
                self.wfile.write(body)

            def version_string(self) -> str:
                return server

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/query"

    def note(self, query: str, body: bytes, headers: Any) -> int:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            self.asked.append(query)
            self.bodies.append(body)
            self.headers.append(headers)
            status = self.faults.pop(0) if self.faults else self.always
        if self.meet is not None and query == ONE:
            self.meet.wait(20)
            time.sleep(0.05)
        return status

    def leave(self) -> None:
        with self._lock:
            self._now -= 1

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def answering(rows: int = 1, server: str = "any") -> Iterator[Server]:
    with closing(Server(rows, server)) as made:
        yield made


def test_a_query_that_can_be_divided_is_not_asked_again_when_it_takes_too_long() -> None:
    with answering() as server, client(server.url) as made:
        server.always = 504
        for divisible, asked in ((True, 1), (False, 3)):
            server.asked.clear()
            with pytest.raises(DeadlineError):
                made.select(ONE, divisible=divisible)
            assert len(server.asked) == asked


def test_a_query_that_can_be_divided_is_asked_again_after_other_faults() -> None:
    with answering() as server, client(server.url) as made:
        server.always = 502
        with pytest.raises(UnavailableError):
            made.select(ONE, divisible=True)
        assert len(server.asked) == 3
        server.always = 200
        assert len(made.select(ONE, divisible=True)) == 1


def test_a_question_about_the_cap_is_asked_again_when_it_takes_too_long() -> None:
    with answering() as server, client(server.url) as made:
        server.faults = [200, 504]
        assert len(made.select(ONE, divisible=True)) == 1
        assert server.asked == [ONE, SMALL, SMALL]


@pytest.mark.parametrize(
    ("engine", "limits", "most"), [("blazegraph", {}, 1), ("oxigraph", {}, 4), ("oxigraph", {"at_once": 2}, 2)]
)
def test_as_many_queries_are_in_flight_as_the_limits_or_else_the_engine_allow(
    engine: str, limits: dict[str, int], most: int
) -> None:
    with answering() as server, client(server.url, engine, **limits) as made:
        made.select(ONE, False)
        server.meet, server.most = threading.Barrier(most), 0
        threads = [threading.Thread(target=made.select, args=(ONE, False)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.most == most
        assert server.asked.count(ONE) == 9


@pytest.fixture
def gates(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float | None]]:
    """Return the list of the gates that clients make: requests in flight, and requests per second."""
    made: list[tuple[int, float | None]] = []

    class KnownBucket(TokenBucket):
        def __init__(self, per_second: float, burst: int) -> None:
            super().__init__(per_second, burst)
            self.per_second = per_second

    class KnownGate(Gate):
        def __init__(self, at_once: int, bucket: KnownBucket | None, alarm: threading.Event) -> None:
            super().__init__(at_once, bucket, alarm)
            made.append((at_once, bucket.per_second if bucket else None))

    monkeypatch.setattr(web_client, "TokenBucket", KnownBucket)
    monkeypatch.setattr(web_client, "Gate", KnownGate)
    return made


HERE, PUBLIC = "http://127.0.0.1:9/query", "http://sparql.example.org/query"


@pytest.mark.parametrize(
    ("url", "engine", "limits", "gate"),
    [
        (HERE, "auto", {}, (2, None)),
        (HERE, "auto", {"per_second": 3.0}, (2, 3.0)),
        (PUBLIC, "auto", {}, (2, 5.0)),
        (PUBLIC, "virtuoso", {}, (4, 10.0)),
        (PUBLIC, "virtuoso", {"per_second": 3.0, "at_once": 1}, (1, 3.0)),
    ],
)
def test_requests_per_second_are_the_given_ones_or_the_engine_s_or_on_this_machine_without_limit(
    gates: list[Any], url: str, engine: str, limits: dict[str, Any], gate: tuple[int, float | None]
) -> None:
    with client(url, engine, **limits):
        assert gates == [gate]


def test_the_limits_of_an_engine_that_tells_its_name_hold_on_this_machine_and_not_on_a_public_host(
    gates: list[Any],
) -> None:
    with client(HERE, "auto") as made:
        made.adopt("oxigraph")
    assert gates == [(2, None), (4, None)]
    gates.clear()
    with client(PUBLIC, "auto") as made:
        made.adopt("oxigraph")
    assert gates == [(2, 5.0)]


def test_a_client_that_has_adopted_an_engine_asks_with_the_same_login_and_headers() -> None:
    with answering() as server:
        url = server.url.replace("http://", "http://me:secret@")
        with client(url, "auto", {"X-Key": "of-the-user"}) as made:
            made.select(ONE, False)
            made.adopt("oxigraph")
            made.select(ONE, False)
        sent = [(headers["Authorization"], headers["X-Key"]) for headers in server.headers]
        assert sent == [("Basic bWU6c2VjcmV0", "of-the-user")] * 3


@pytest.mark.parametrize(
    ("name", "engine"),
    [("Virtuoso/07.20 (Linux)", "virtuoso"), ("oxigraph/0.4", "oxigraph"), ("any", "auto"), ("my qlever", "auto")],
)
def test_the_engine_is_the_one_that_the_server_names_first(name: str, engine: str) -> None:
    with answering(server=name) as server, client(server.url, "auto") as made:
        assert made.engine() == engine
        assert server.asked == [SMALL]


def test_what_the_engine_s_question_tells_of_the_cap_is_not_asked_again() -> None:
    with answering(rows=1023) as server, client(server.url, "auto") as made:
        made.engine()
        assert len(made.select(ONE, False)) == 1023
        assert server.asked == [SMALL, ONE]
    with answering(rows=1024) as server, client(server.url, "auto") as made:
        made.engine()
        assert len(made.select(ONE, False)) == 1024
        assert server.asked == [SMALL, ONE, LARGE]


@pytest.mark.parametrize("status", [404, 500, 504])
def test_a_server_that_does_not_answer_tells_no_engine_and_is_asked_once(status: int) -> None:
    with answering(server="Virtuoso/07.20") as server, client(server.url, "auto") as made:
        server.always = status
        assert made.engine() == "auto"
        assert server.asked == [SMALL]


TOLD = [
    ("Virtuoso/07.20", "auto", {}, "10,000"),
    ("any", "virtuoso", {}, "10,000"),
    ("Virtuoso/07.20", "auto", {"rows": 9000}, "9,000"),
    ("any", "virtuoso", {"rows": 9000}, "9,000"),
    ("Virtuoso/07.20", "auto", {"rows": 20_000}, None),
    ("Virtuoso/07.20", "oxigraph", {}, None),
    ("any", "auto", {}, None),
]


@pytest.mark.parametrize(("name", "engine", "limits", "most"), TOLD)
def test_the_cap_is_the_given_one_or_that_of_the_engine_told_or_seen(
    name: str, engine: str, limits: dict[str, int], most: str | None
) -> None:
    with answering(10_000, name) as server, client(server.url, engine, **limits) as made:
        if most is None:
            assert len(made.select(ONE, divisible=False)) == 10_000
        else:
            with pytest.raises(CappedError, match=f"returns {most} rows at most"):
                made.select(ONE, divisible=False)


@pytest.mark.parametrize(("limits", "capped"), [({}, True), ({"rows": 20_000}, False)])
def test_an_adopted_engine_brings_its_cap_unless_one_is_given(limits: dict[str, int], capped: bool) -> None:
    with answering(10_000) as server, client(server.url, "auto", **limits) as made:
        made.adopt("virtuoso")
        if capped:
            with pytest.raises(CappedError, match="returns 10,000 rows at most"):
                made.select(ONE, divisible=False)
        else:
            assert len(made.select(ONE, divisible=False)) == 10_000


def test_the_address_is_shown_without_login() -> None:
    with client("http://me:secret@127.0.0.1:9/query") as made:
        assert made.endpoint == HERE


def test_a_request_is_a_form_with_the_query_alone_whose_headers_say_what_it_is() -> None:
    with answering() as server, client(server.url) as made:
        made.select(ONE, divisible=False)
    assert parse_qs(server.bodies[0].decode()) == {"query": [ONE]}
    [headers, *_] = server.headers
    assert headers.get_all("User-Agent") == ["srtk-test/1 (test)"]
    assert headers.get_all("Content-Type") == ["application/x-www-form-urlencoded"]
    assert "application/sparql-results+json" in headers["Accept"]


@pytest.mark.parametrize(
    "query", [ONE, 'SELECT ?s WHERE { ?s <http://e.org/ü#a%20b> "1 + 1 = 2 & \\"é\\"\n~*/" }', "ASK { ?s ?p ?o }"]
)
def test_a_request_is_the_one_that_sparqlwrapper_sends(query: str) -> None:
    with answering() as server, client(server.url) as made:
        made.select(query, False)
        wrapper = SPARQLWrapper(server.url, agent="srtk-test/1 (test)")
        wrapper.setMethod(POST)
        wrapper.setReturnFormat(JSON)
        wrapper.setOnlyConneg(True)
        wrapper.setQuery(query)
        wrapper.query().convert()
    assert server.bodies[0] == server.bodies[-1]
    names = ("Accept", "Content-Type", "Content-Length", "User-Agent")
    assert [server.headers[0][name] for name in names] == [server.headers[-1][name] for name in names]


def test_equal_cells_of_an_answer_are_one_object() -> None:
    with answering() as server, client(server.url) as made:
        rows = made.select(SMALL, False)
    assert [row["a"] is row["b"] for row in rows] == [True] * SIDES[0] ** 2


def test_an_engine_that_is_not_known_is_refused() -> None:
    with pytest.raises(DriverError, match=r"engine 'oxygraph' is not known; .*oxigraph"), client(HERE, "oxygraph"):
        pass
