"""What is kept of answers: the cache over runs, records and their replay."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_sparql.errors import NotRecordedError, TooLargeError
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.record import Recorder, Replay
from srtk_plugin_sparql.terms import Rows, Term
from srtk_plugin_sparql.vocabulary import Vocabulary

from srtk_framework.records import with_checksum
from srtk_framework.values import Budget, InputError

MEANING = Vocabulary(prefixes={"": "http://example.org/kit/"}, decode=True)


def answers(url: str, start: str = "Latvia", **settings: Any) -> list[Any]:
    graph = SparqlGraph(url, vocabulary=MEANING, engine="oxigraph", **settings)
    graph.open()
    with closing(graph):
        around = graph.neighbourhood(graph.frontiers([[start]]), 2, Budget())
        return [graph.source(), around, graph.labels(sorted({t.subject for t in around[0]})), graph.find(["riga"])]


def test_a_second_run_asks_nothing_of_what_the_cache_holds(proxy: Any, tmp_path: Path) -> None:
    first = answers(proxy.url, cache=str(tmp_path / "deep" / "cache.db"))
    asked = len(proxy.seen)
    assert answers(proxy.url, cache=str(tmp_path / "deep" / "cache.db")) == first
    assert asked > 0
    assert len(proxy.seen) == asked


def test_another_version_of_the_graph_is_asked_anew(proxy: Any, tmp_path: Path) -> None:
    answers(proxy.url, cache=str(tmp_path / "cache.db"), version="2026-01")
    asked = len(proxy.seen)
    answers(proxy.url, cache=str(tmp_path / "cache.db"), version="2026-02")
    assert len(proxy.seen) == 2 * asked


def test_an_expired_answer_is_asked_for_again(proxy: Any, tmp_path: Path) -> None:
    answers(proxy.url, cache=str(tmp_path / "cache.db"))
    asked = len(proxy.seen)
    answers(proxy.url, cache=str(tmp_path / "cache.db"), cache_days=1e-9)
    assert len(proxy.seen) == 2 * asked


def test_errors_are_not_kept(proxy: Any, tmp_path: Path) -> None:
    proxy.plan = ["403"]
    with pytest.raises(Exception, match="403"):
        answers(proxy.url, cache=str(tmp_path / "cache.db"))
    assert answers(proxy.url, cache=str(tmp_path / "cache.db"))[1][0]


def test_a_cache_that_is_no_database_is_refused_with_its_path(proxy: Any, tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_text("this is no database, and long enough to be one" * 40)
    with pytest.raises(InputError, match=r"cache\.db"):
        answers(proxy.url, cache=str(tmp_path / "cache.db"))


def test_a_recorded_run_runs_again_without_the_server(proxy: Any, tmp_path: Path) -> None:
    first = answers(proxy.url, record=str(tmp_path / "record"))
    asked = len(proxy.seen)
    proxy.always = "500"
    assert answers(proxy.url, replay=str(tmp_path / "record")) == first
    assert answers("http://no-such-host.invalid/sparql", replay=str(tmp_path / "record")) == first
    assert len(proxy.seen) == asked


def test_the_record_of_a_store_is_replayed_where_the_recipe_names_a_server(kit_store: Path, tmp_path: Path) -> None:
    first = answers(str(kit_store), record=str(tmp_path / "record"))
    assert answers("http://no-such-host.invalid/sparql", replay=str(tmp_path / "record")) == first


def test_a_record_answers_steps_whether_or_not_names_were_read_before(proxy: Any, tmp_path: Path) -> None:
    def asked(names: bool, **settings: Any) -> list[Any]:
        graph = SparqlGraph(proxy.url, vocabulary=MEANING, engine="oxigraph", names="exact", **settings)
        graph.open()
        with closing(graph):
            if names:
                graph.find(["riga"])
            return list(graph.steps(graph.frontiers([["Latvia"]]), True))

    first = asked(True, record=str(tmp_path / "record"))
    assert asked(False, replay=str(tmp_path / "record")) == first


def test_what_was_not_recorded_is_an_error(proxy: Any, tmp_path: Path) -> None:
    answers(proxy.url, record=str(tmp_path / "record"))
    with pytest.raises(NotRecordedError, match="record the run again"):
        answers(proxy.url, start="Echo", replay=str(tmp_path / "record"))


def test_a_record_may_be_added_to(proxy: Any, tmp_path: Path) -> None:
    first = answers(proxy.url, record=str(tmp_path / "record"))
    second = answers(proxy.url, start="Echo", record=str(tmp_path / "record"))
    assert answers(proxy.url, replay=str(tmp_path / "record")) == first
    assert answers(proxy.url, start="Echo", replay=str(tmp_path / "record")) == second


@pytest.mark.parametrize(
    "line",
    [
        '{"query":',
        '{"query": 1e999}',
        '{"query": ' + "1" * 5000 + "}",
        '{"query": ' + "[" * 200 + "]" * 200 + "}",
        '{"query": ' + "[" * 100_000,
        '{"query": "q", "rows": [1]}',
        "[]",
    ],
    ids=["half", "a huge float", "a huge number", "deep", "deeper", "no rows", "no object"],
)
def test_a_broken_record_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    first, checksum = with_checksum('{"source":"x"}')
    (tmp_path / "answers.jsonl").write_text(first + with_checksum(line, checksum)[0])
    with pytest.raises(InputError, match=r"answers\.jsonl:2"):
        answers("http://127.0.0.1:9/query", replay=str(tmp_path))


class Halves:
    """Answers with half of a surrogate pair, as a server may that escapes what it cuts."""

    endpoint = "halves"

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        return [{"name": Term("literal", "Rig\ud83d")}]

    def close(self) -> None: ...


def test_half_a_surrogate_pair_is_recorded_and_replayed(tmp_path: Path) -> None:
    with closing(Recorder(Halves(), tmp_path, "halves")) as recorder:
        first = recorder.select("SELECT ?name {}", False)
    assert Replay(tmp_path).select("SELECT ?name {}", False) == first


def test_a_replay_without_a_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="record"):
        answers("http://127.0.0.1:9/query", replay=str(tmp_path))


def asked_of(proxy: Any) -> list[str]:
    return sorted(query for _, query in proxy.seen)


@pytest.mark.parametrize("cap", [None, 17])
def test_what_is_asked_does_not_depend_on_the_number_of_requests_at_once(
    front: Any, kit_server: str, tmp_path: Path, cap: int | None
) -> None:
    found, asked = [], []
    for number in (None, 1, 4, 16):
        proxy = front(kit_server)
        proxy.cap = cap
        limits = SparqlLimits(at_once=number, page=40)
        found.append(answers(proxy.url, record=str(tmp_path / str(number)), limits=limits)[1:])
        asked.append(asked_of(proxy))
        if number:
            replayed = answers("http://127.0.0.1:9/query", replay=str(tmp_path / "None"), limits=limits)
            found.append(replayed[1:])
    assert all(one == found[0] for one in found)
    assert all(queries == asked[0] for queries in asked)


def test_an_answer_takes_the_place_of_a_recorded_error(proxy: Any, tmp_path: Path) -> None:
    record = tmp_path / "record"
    proxy.plan = ["400"]
    with pytest.raises(TooLargeError, match="400"):
        answers(proxy.url, record=str(record))
    with pytest.raises(TooLargeError, match="400"):
        answers("http://127.0.0.1:9/query", replay=str(record))
    first = answers(proxy.url, record=str(record))
    assert answers("http://127.0.0.1:9/query", replay=str(record))[1:] == first[1:]


NO_LINES = ["[]", "1", '{"query": "x"}', '{"query": "x", "rows": [1]}', '{"query": "x", "error": {"kind": "Odd"}}']


@pytest.mark.parametrize("line", [*NO_LINES, "[" * 9**6])
def test_a_line_that_is_none_of_a_record_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    first, checksum = with_checksum('{"source":"x"}')
    (tmp_path / "answers.jsonl").write_text(first + with_checksum(line, checksum)[0])
    with pytest.raises(InputError, match=r"answers\.jsonl:2"):
        answers("http://127.0.0.1:9/query", replay=str(tmp_path))
