"""What a misbehaving server does to a run: nothing, or a typed error; never a silently smaller result."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from contextlib import closing
from typing import Any

import pytest
from srtk_plugin_sparql import step_reader
from srtk_plugin_sparql.errors import TooLargeError
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.step_reader import _unpacked
from srtk_plugin_sparql.terms import Row, Term
from srtk_plugin_sparql.vocabulary import Vocabulary
from srtk_plugin_web import (
    CircuitOpenError,
    DeadlineError,
    MalformedError,
    PartialError,
    RefusedError,
    RequestError,
    ThrottledError,
    UnavailableError,
)

from srtk_framework.testing.sample import SAMPLE
from srtk_framework.values import Budget, Pattern

MEANING = Vocabulary(prefixes={"": "http://example.org/kit/"}, decode=True)
QUICK: dict[str, Any] = {"wait": 0.01, "wait_most": 0.05, "deadline": 0.7}
TRANSIENT = [
    "429",
    "500",
    "502",
    "503",
    "html",
    "text",
    "empty",
    "other",
    "cut",
    "broken off",
    "anytime",
    "reset",
    "stall",
]


def graph(url: str, engine: str = "oxigraph", **limits: Any) -> SparqlGraph:
    made = SparqlGraph(url, vocabulary=MEANING, engine=engine, limits=SparqlLimits(**{**QUICK, **limits}), names="scan")
    made.open()
    return made


def everything(driver: SparqlGraph) -> list[Any]:
    """Read all that a run may read."""
    names = ["Latvia", "Europe", "Catalogue", "Museum", "Riga", "Tbilisi"]
    frontiers = driver.frontiers([names, SAMPLE.entities])
    rows = driver.steps(frontiers, True)
    pairs = [(frontier, step) for frontier, row in zip(frontiers, rows, strict=True) for step in row]
    reached = driver.follow([pair[0] for pair in pairs], [pair[1] for pair in pairs], 7)
    return [
        [frontier.ids() for frontier in frontiers],
        rows,
        [(frontier.ids(), frontier.cut) for frontier in reached],
        driver.triples([pair[0] for pair in pairs], [pair[1] for pair in pairs], None),
        driver.labels(SAMPLE.entities + SAMPLE.relations),
        driver.find(["latvia", "ivory coast", "GEORGIA", "item 07"]),
        driver.degrees(SAMPLE.entities),
        driver.match([Pattern(subject="Latvia"), Pattern("Latvia", None, "Riga"), Pattern(object="Museum")]),
        driver.neighbourhood(driver.frontiers([["Riga"]]), 2, Budget()),
    ]


@pytest.fixture(scope="module")
def whole(kit_server: str) -> list[Any]:
    with closing(graph(kit_server)) as driver:
        return everything(driver)


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_fault_that_passes_leaves_no_trace(proxy: Any, whole: list[Any], fault: str) -> None:
    proxy.plan = [fault, None, fault, fault, None, None, fault]
    with closing(graph(proxy.url)) as driver:
        assert everything(driver) == whole
    assert not proxy.plan


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("429", ThrottledError),
        ("403", RefusedError),
        ("500", UnavailableError),
        ("503", UnavailableError),
        ("html", MalformedError),
        ("text", PartialError),
        ("empty", MalformedError),
        ("cut", PartialError),
        ("broken off", PartialError),
        ("anytime", DeadlineError),
        ("reset", UnavailableError),
        ("stall", DeadlineError),
        ("302", RefusedError),
    ],
)
def test_a_fault_that_stays_is_an_error_with_endpoint_query_and_cause(
    proxy: Any, fault: str, kind: type[RequestError]
) -> None:
    proxy.always = fault
    with closing(graph(proxy.url, attempts=2, deadline=0.2)) as driver, pytest.raises(kind) as caught:
        driver.frontiers([["Latvia"]])
    message = str(caught.value)
    assert message.startswith(proxy.url)
    assert caught.value.cause in message
    assert "SELECT ?d ?p" in message


def test_a_server_that_is_not_there_is_an_error(kit_server: str) -> None:
    with closing(graph("http://127.0.0.1:9/query", attempts=2)) as driver, pytest.raises(UnavailableError):
        driver.frontiers([["Latvia"]])


def test_403_is_not_asked_again(proxy: Any) -> None:
    proxy.always = "403"
    with closing(graph(proxy.url)) as driver, pytest.raises(RefusedError, match="user_agent"):
        driver.frontiers([["Latvia"]])
    assert len(proxy.seen) == 1


@pytest.mark.parametrize("fault", ["429 later", "503 later"])
def test_nothing_is_asked_before_retry_after_is_over(proxy: Any, whole: list[Any], fault: str) -> None:
    proxy.plan = [None, fault]
    with closing(graph(proxy.url)) as driver:
        assert everything(driver) == whole
    moments = [moment for moment, _ in proxy.seen]
    assert moments[2] - moments[1] >= 1.0


def test_a_retry_after_beyond_the_patience_is_an_error_at_once(proxy: Any) -> None:
    proxy.always, proxy.wait = "429 later", "3600"
    with closing(graph(proxy.url, patience=5)) as driver:
        with pytest.raises(ThrottledError, match="3600 s"):
            driver.frontiers([["Latvia"]])
        with pytest.raises(ThrottledError, match="left alone"):
            driver.frontiers([["Riga"]])
    assert len(proxy.seen) == 1


@pytest.mark.parametrize(("cap", "tells"), [(9, False), (17, True)])
def test_answers_cut_at_a_known_cap_are_read_in_parts(proxy: Any, whole: list[Any], cap: int, tells: bool) -> None:
    proxy.cap, proxy.tells = cap, tells
    limits = {} if tells else {"rows": cap}
    with closing(graph(proxy.url, **limits)) as driver:
        assert everything(driver) == whole


def test_neighbours_that_were_counted_and_are_not_given_are_an_error_or_paged(proxy: Any, whole: list[Any]) -> None:
    with closing(graph(proxy.url)) as driver:
        frontiers = driver.frontiers([["Catalogue"], ["Museum"]])
        steps = [row[0] for row in driver.steps(frontiers, True)]
        proxy.cap = 7
        assert len(driver.triples(frontiers[:1], steps[:1], None)[0]) == 40
        proxy.cap = 0
        with pytest.raises(RequestError, match="count"):
            driver.triples(frontiers[1:], steps[1:], None)


def test_many_random_faults_lose_nothing(proxy: Any, whole: list[Any]) -> None:
    chance = random.Random(7)
    faults = [fault for fault in TRANSIENT if fault not in ("stall", "anytime")]
    proxy.plan = [chance.choice(faults) if chance.random() < 0.2 else None for _ in range(600)]
    with closing(graph(proxy.url, page=9, attempts=8)) as driver:
        assert everything(driver) == whole
    assert len(proxy.seen) > 50


def test_a_query_that_virtuoso_cannot_compile_is_made_smaller_and_not_asked_again(proxy: Any) -> None:
    proxy.always = "uncompiled"
    with closing(graph(proxy.url, attempts=5)) as driver, pytest.raises(TooLargeError, match="SQ156"):
        driver.frontiers([["Latvia", "Riga"]])
    queries = [query for _, query in proxy.seen]
    assert len(queries) == len(set(queries)) == 2


def test_retries_print_nothing_where_no_logging_is_set_up(proxy: Any) -> None:
    code = (
        "import sys\nfrom srtk_plugin_sparql.client import SparqlClient\n"
        "from srtk_plugin_sparql.limits import SparqlLimits\n"
        "client = SparqlClient(sys.argv[1], 'oxigraph', SparqlLimits(wait=0.01), 'test')\n"
        "client.select('SELECT * WHERE { ?s ?p ?o } LIMIT 1', False)"
    )
    proxy.plan = ["500", "429"]
    done = subprocess.run([sys.executable, "-c", code, proxy.url], capture_output=True, text=True, check=True)
    assert len(proxy.seen) == 4
    assert done.stderr == ""


def test_a_server_that_fails_again_and_again_is_left_alone(proxy: Any) -> None:
    proxy.always = "500"
    with closing(graph(proxy.url, attempts=5, failures=3, pause=60)) as driver:
        with pytest.raises(CircuitOpenError):
            driver.frontiers([["Latvia"]])
        with pytest.raises(CircuitOpenError, match="left alone"):
            driver.frontiers([["Riga"]])
    assert len(proxy.seen) == 3


def test_a_client_that_is_refused_again_and_again_stops_asking(proxy: Any) -> None:
    proxy.always = "403"
    with closing(graph(proxy.url, failures=3, pause=60)) as driver:
        for name in ("Latvia", "Riga", "Estonia"):
            with pytest.raises(RefusedError):
                driver.frontiers([[name]])
        with pytest.raises(CircuitOpenError):
            driver.frontiers([["Tallinn"]])
    assert len(proxy.seen) == 3


def test_the_endpoint_is_tried_again_after_the_pause(proxy: Any) -> None:
    proxy.plan = ["500", "500"]
    with closing(graph(proxy.url, attempts=1, failures=2, pause=0.05)) as driver:
        for _ in range(2):
            with pytest.raises(RequestError):
                driver.frontiers([["Latvia"]])
        time.sleep(0.1)
        assert driver.frontiers([["Latvia"]])[0].size == 1


def test_no_more_requests_are_in_flight_than_allowed(proxy: Any, whole: list[Any]) -> None:
    proxy.slow = 0.02
    with closing(graph(proxy.url, at_once=2, page=9)) as driver:
        assert everything(driver) == whole
    assert proxy.most == 2


def test_no_more_requests_are_begun_in_a_second_than_allowed(proxy: Any) -> None:
    with closing(graph(proxy.url, per_second=20.0, burst=2, page=5, at_once=4)) as driver:
        frontiers = driver.frontiers([SAMPLE.entities])
        driver.follow(frontiers, [driver.steps(frontiers, True)[0][0]], None)
    moments = [moment for moment, _ in proxy.seen]
    assert len(moments) > 10
    assert moments[-1] - moments[0] >= (len(moments) - 2) / 20.0 - 0.05


def test_no_query_is_asked_twice_in_a_run(proxy: Any) -> None:
    with closing(graph(proxy.url)) as driver:
        first = everything(driver)
        asked = len(proxy.seen)
        assert everything(driver) == first
    queries = [query for _, query in proxy.seen]
    assert len(set(queries)) == len(queries) == asked


def test_the_client_names_itself(proxy: Any) -> None:
    with closing(graph(proxy.url)) as driver:
        driver.frontiers([["Latvia"]])
    assert all("srtk" in agent for agent in proxy.agents)


def test_a_password_is_sent_and_not_shown(proxy: Any) -> None:
    proxy.always = "403"
    url = proxy.url.replace("http://", "http://me:secret@")
    with closing(graph(url)) as driver:
        assert "secret" not in driver.source()
        with pytest.raises(RefusedError) as caught:
            driver.frontiers([["Latvia"]])
        assert "secret" not in str(caught.value)


ASKED = {"d": {"type": "literal", "value": "0"}}
RELATION = {"p": {"type": "uri", "value": "http://example.org/kit/in"}}


def table(row: Any) -> bytes:
    return json.dumps({"results": {"bindings": [row]}}).encode()


def listed(text: str, nodes: int) -> dict[str, Any]:
    return {name: {"type": "literal", "value": str(value)} for name, value in (("c", text), ("m", nodes))}


BROKEN = {
    "null": b"null",
    "deep": b'{"results": ' * 200_000,
    "no number": table({**ASKED, **RELATION, **listed("0:\u00b2", 1)}),
    "no count": table({**ASKED, **RELATION, **listed("0", 1)}),
    "no text": table({**ASKED, **RELATION}),
    "short text": table({**ASKED, **RELATION, **listed("0:1", 2)}),
    "another node": table({**ASKED, **RELATION, **listed("1:1", 1)}),
    "unasked": table({**RELATION, "x": RELATION["p"]}),
}


@pytest.mark.parametrize("body", BROKEN)
def test_an_answer_that_lacks_what_was_asked_is_malformed(proxy: Any, body: str) -> None:
    proxy.body = BROKEN[body]
    proxy.always = "given"
    with closing(graph(proxy.url, attempts=1)) as driver, pytest.raises(MalformedError):
        driver.frontiers([["Latvia"]])


@pytest.mark.parametrize(("text", "nodes"), [("0:\u00b2", 1), ("0", 1), ("0:1", 2), ("1:1", 1), ("-1:1", 1)])
def test_counts_that_are_not_whole_or_of_other_nodes_are_malformed(text: str, nodes: int) -> None:
    assert _unpacked(Row(c=Term("literal", "0:7"), m=Term("literal", "1")), 1) == [(0, 7)]
    with pytest.raises(MalformedError):
        _unpacked(Row(c=Term("literal", text), m=Term("literal", str(nodes))), 1)


def test_nodes_whose_counts_came_cut_are_asked_for_in_halves_and_never_taken_for_bare(
    kit_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(graph(kit_server)) as driver:
        known = ("Latvia", "Riga", "Echo")
        steps = driver.steps(driver.frontiers([known]), True)
    whole = step_reader._unpacked
    with closing(graph(kit_server)) as driver:
        asked: list[int] = []

        def cut(row: Row, nodes: int) -> list[tuple[int, int]]:
            asked.append(nodes)
            if nodes > most:
                row = Row(row, c=Term("literal", row["c"].value[:-1] + ":"))
            return whole(row, nodes)

        monkeypatch.setattr(step_reader, "_unpacked", cut)
        most = 0
        for _ in range(2):
            with pytest.raises(PartialError, match="nodes and counts were asked for"):
                driver.frontiers([known])
        most = 1
        assert driver.steps(driver.frontiers([known]), True) == steps
        assert {1, 3} <= set(asked)


def test_a_number_of_rows_that_is_none_means_no_cap(proxy: Any, whole: list[Any]) -> None:
    proxy.headers = {"X-SPARQL-MaxRows": "\u00b2"}
    with closing(graph(proxy.url)) as driver:
        assert everything(driver) == whole
