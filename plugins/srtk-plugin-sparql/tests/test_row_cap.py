"""Servers that return some rows of an answer and say nothing about the others: read in parts, or refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.errors import CappedError
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.store import DATA
from srtk_plugin_sparql.vocabulary import Vocabulary
from srtk_plugin_web import MalformedError, PartialError, RequestError

from srtk_framework.testing import served
from srtk_framework.values import Budget, Literal, Pattern, Step

SPACE = "http://example.org/wide/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
MEANING = Vocabulary(prefixes={"": SPACE})
SLOW = pytest.mark.slow
QUICK: dict[str, Any] = {"wait": 0.01, "wait_most": 0.05, "deadline": 20.0}


def lines() -> Iterator[str]:
    """Yield a node with 260 relations, one with 300 neighbours, and 120 nodes between them with two names each."""
    for number in range(260):
        yield f"<{SPACE}wide> <{SPACE}r{number:03d}> <{SPACE}end{number % 7}> ."
    for number in range(180):
        yield f"<{SPACE}member{number:03d}> <{SPACE}of> <{SPACE}hub> ."
    for number in range(120):
        node = f"<{SPACE}node{number:03d}>"
        yield f"{node} <{SPACE}near> <{SPACE}hub> ."
        yield f"<{SPACE}wide> <{SPACE}holds> {node} ."
        yield f'{node} <{SPACE}code> "7" .'
        yield f'{node} <{LABEL}> "Node {number}"@en .'
        yield f'{node} <{LABEL}> "Knoten {number}"@de .'


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of an Oxigraph server over a graph with long answers."""
    folder = tmp_path_factory.mktemp("wide")
    (folder / "wide.nt").write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
    load([folder / "wide.nt"], folder / "store")
    with served(folder / "store" / DATA) as url:
        yield url


def graph(url: str, **limits: Any) -> SparqlGraph:
    made = SparqlGraph(url, vocabulary=MEANING, limits=SparqlLimits(**{**QUICK, **limits}), engine="oxigraph")
    made.open()
    return made


NODES = [f"node{number:03d}" for number in range(120)]
ASKED: dict[str, Callable[[SparqlGraph], Any]] = {
    "steps": lambda driver: driver.steps(driver.frontiers([["wide"], NODES]), True),
    "triples": lambda driver: around(driver, ["wide", "hub"], None),
    "firsts": lambda driver: around(driver, ["wide", "hub"], 60),
    "labels": lambda driver: driver.labels(NODES),
    "find": lambda driver: driver.find([f"node {number}" for number in range(120)]),
    "degrees": lambda driver: driver.degrees(["wide", "hub", *NODES]),
    "between": lambda driver: driver.match([Pattern("wide", None, "end3"), Pattern("wide", None, "node007")]),
    "literal": lambda driver: driver.match([Pattern(object=Literal('"7"'))]),
    "paths": lambda driver: driver.paths([["wide"]], [["hub"]], 2, Budget(), False, True),
    "joins": lambda driver: driver.paths([["wide"]], [["end1", "end2"]], 3, Budget(), False, False),
    "around": lambda driver: driver.neighbourhood(driver.frontiers([["node005"]]), 2, Budget(triples=4000)),
}


def around(driver: SparqlGraph, nodes: list[str], limit: int | None) -> Any:
    frontiers = driver.frontiers([[node] for node in nodes])
    pairs = [(at, step) for at, row in zip(frontiers, driver.steps(frontiers, True), strict=True) for step in row]
    return driver.triples([at for at, _ in pairs], [step for _, step in pairs], limit)


@pytest.fixture(scope="module")
def whole(wide: str) -> dict[str, Any]:
    found = {}
    for name, ask in ASKED.items():
        with closing(graph(wide)) as driver:
            found[name] = ask(driver)
    return found


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(
    "cap", [211, 97, pytest.param(50, marks=pytest.mark.slow), pytest.param(7, marks=pytest.mark.slow)]
)
def test_answers_that_a_server_cuts_without_a_word_are_read_in_parts(
    front: Any, wide: str, whole: dict[str, Any], cap: int, name: str
) -> None:
    proxy = front(wide)
    proxy.cap = cap
    with closing(graph(proxy.url)) as driver:
        assert ASKED[name](driver) == whole[name]


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("cap", [1, 0])
def test_a_server_that_returns_no_more_than_a_row_is_refused_with_its_cap(
    front: Any, wide: str, cap: int, name: str
) -> None:
    proxy = front(wide)
    proxy.cap = cap
    with (
        closing(graph(proxy.url)) as driver,
        pytest.raises(CappedError, match=rf"returns {cap} rows at most") as caught,
    ):
        ASKED[name](driver)
    assert caught.value.service == proxy.url
    assert "SELECT" in caught.value.asked


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(("times", "cap"), [(2, None), pytest.param(3, 97, marks=SLOW)])
def test_a_row_that_comes_twice_is_one_row(
    front: Any, wide: str, whole: dict[str, Any], times: int, cap: int | None, name: str
) -> None:
    proxy = front(wide)
    proxy.times, proxy.cap = times, cap
    with closing(graph(proxy.url)) as driver:
        assert ASKED[name](driver) == whole[name]


def test_rows_that_come_twice_do_not_stand_for_rows_that_are_missing(front: Any, wide: str) -> None:
    proxy = front(wide)
    with closing(graph(proxy.url)) as driver:
        frontiers = driver.frontiers([["hub"]])
        (step,) = [step for step in driver.steps(frontiers, True)[0] if step.relation == "near"]
        # Half of the rows, each twice, are as many rows as were counted.
        proxy.rows = lambda rows: rows if len(rows) != 120 else [row for row in rows[::2] for _ in (0, 1)]
        with pytest.raises(PartialError, match="overlap"):
            driver.triples(frontiers, [step], None)


def test_the_cap_is_found_out_once_and_no_small_answer_costs_a_request(front: Any, wide: str) -> None:
    proxy = front(wide)
    with closing(graph(proxy.url)) as driver:
        for number in range(40):
            driver.steps(driver.frontiers([[f"node{number:03d}"]]), True)
        asked = [query for _, query in proxy.seen]
        assert len(asked) == 41
        assert sum("?a ?b" in query for query in asked) == 1
        driver.steps(driver.frontiers([["wide"]]), False)
        assert len(proxy.seen) == 42


def test_a_server_that_does_not_take_the_question_about_its_cap_is_asked_for_counts(
    front: Any, wide: str, whole: dict[str, Any]
) -> None:
    for cap in (None, 97):
        proxy = front(wide)
        proxy.cap = cap
        proxy.refuses = "?a ?b"
        with closing(graph(proxy.url)) as driver:
            assert ASKED["steps"](driver) == whole["steps"]
            assert ASKED["labels"](driver) == whole["labels"]
        assert any("COUNT(*)" in query for _, query in proxy.seen)


def test_a_cap_that_a_setting_overstates_is_found_out(front: Any, wide: str, whole: dict[str, Any]) -> None:
    proxy = front(wide)
    proxy.cap = 97
    with closing(graph(proxy.url, rows=150)) as driver:
        assert ASKED["triples"](driver) == whole["triples"]


def test_a_server_that_answers_another_query_is_malformed(front: Any, wide: str) -> None:
    proxy = front(wide)
    with closing(graph(proxy.url, attempts=1)) as driver:
        proxy.body = json.dumps({"results": {"bindings": [{"x": {"type": "literal", "value": "1"}}]}}).encode()
        proxy.plan = [None, "given"]
        with pytest.raises(MalformedError) as caught:
            driver.frontiers([["wide"]])
        assert caught.value.service == proxy.url


def test_a_failure_while_the_cap_is_found_out_is_an_error_and_it_is_asked_again(
    front: Any, wide: str, whole: dict[str, Any]
) -> None:
    proxy = front(wide)
    proxy.cap = 97
    with closing(graph(proxy.url, attempts=1)) as driver:
        proxy.plan = [None, "500"]
        with pytest.raises(RequestError):
            driver.frontiers([["wide"]])
        proxy.plan = [None, "403"]
        with pytest.raises(RequestError):
            driver.frontiers([["wide"]])
        assert ASKED["steps"](driver) == whole["steps"]


def test_more_rows_than_a_cap_are_read_in_parts_just_below_it(wide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, bool]] = []

    def select(query: Any, divisible: bool, fresh: bool = False) -> Any:
        asked.append((len(query), divisible))
        if len(query) >= 10:
            raise CappedError("the answer is cut", 10)
        return list(query)

    with closing(graph(wide)) as driver:
        reader = driver._open
        monkeypatch.setattr(reader, "_write", list)
        monkeypatch.setattr(reader._unremembered, "select", select)
        pairs = [(f"node{number:03d}", Step("code")) for number in range(40)]
        rows: Any = reader._read(pairs, dict.fromkeys(pairs, 1))
        assert rows == pairs
        # In halves these would be 15 queries.
        assert asked == [(40, True), *[(9, True)] * 4, (4, True)]
