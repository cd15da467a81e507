"""Questions of Wiki27K over servers that cut answers, and over records of answers: the bytes stay the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loopback import graphs_in_rdf as rdf
from benchmarks.loopback import misbehaving, servers
from benchmarks.reliability import same_subgraphs as bench
from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner

ROOT = Path(__file__).parents[1]


pytestmark = [
    pytest.mark.timeout(3000),
    pytest.mark.skipif(bench.lacking("wiki27k/train.txt") is not None, reason=str(bench.lacking("wiki27k/train.txt"))),
    pytest.mark.skipif(
        servers.oxigraph_binary() is None, reason="the oxigraph server is not installed (pip install oxigraph)"
    ),
]
METHODS = ("beam", "bfs")
FEW = 6
"""Questions of the quick test."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="module")
def case(out: Path) -> Any:
    return rdf.wiki27k(bench.DATA, out)


@pytest.fixture(scope="module")
def graph(case: Any, out: Path) -> Iterator[dict[str, Any]]:
    """Return the settings of the graph behind a server, with no engine named."""
    with ExitStack() as stack:
        settings = bench.Stores(case, out, stack).server()
        del settings["engine"]
        yield settings


@pytest.fixture(scope="module")
def recorded(case: Any, graph: dict[str, Any], out: Path) -> Any:
    """Return the run of all questions that was recorded with the usual limits."""
    run = bench.run(case, "recorded", {**graph, "record": str(out / "record")}, out, METHODS)
    assert run.counts()["questions"] == 126
    assert run.counts()["failed"] == 0
    return run


@pytest.mark.slow
@pytest.mark.parametrize("number", [None, 1, 4, 16])
def test_a_record_is_replayed_at_any_number_of_requests_at_once(
    case: Any, graph: dict[str, Any], recorded: Any, out: Path, number: int | None
) -> None:
    settings = {**graph, "endpoint": "http://127.0.0.1:9/query", "replay": str(out / "record")}
    run = bench.run(case, f"replayed-{number}", {**settings, "limits": {"at_once": number}}, out, METHODS)
    assert run.differences(recorded) == {}


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 16])
def test_the_same_is_asked_at_any_number_of_requests_at_once(
    case: Any, graph: dict[str, Any], recorded: Any, out: Path, number: int
) -> None:
    settings = {**graph, "record": str(out / f"record-{number}"), "limits": {"at_once": number}}
    run = bench.run(case, f"recorded-{number}", settings, out, METHODS)
    assert run.differences(recorded) == {}
    first, second = (
        sorted((out / name / "answers.jsonl").read_text().splitlines()[1:-1]) for name in ("record", f"record-{number}")
    )
    assert [line.partition('","rows"')[0] for line in first] == [line.partition('","rows"')[0] for line in second]


@pytest.mark.slow
@pytest.mark.parametrize("cap", [999, 777, 50])
def test_a_proxy_that_cuts_answers_changes_no_subgraph(
    case: Any, graph: dict[str, Any], recorded: Any, out: Path, cap: int
) -> None:
    with misbehaving.proxy(graph["endpoint"], 0.0, cap=cap) as proxy:
        run = bench.run(case, f"cap-{cap}", {**graph, "endpoint": proxy.url}, out, METHODS)
    assert run.differences(recorded) == {}


@pytest.mark.slow
def test_a_proxy_that_lets_one_row_through_is_named_in_each_error(
    case: Any, graph: dict[str, Any], recorded: Any, out: Path
) -> None:
    with misbehaving.proxy(graph["endpoint"], 0.0, cap=1) as proxy:
        run = bench.run(case, "cap-1", {**graph, "endpoint": proxy.url}, out, ("bfs",))
    assert run.counts()["failed"] == 126
    assert all("returns 1 rows at most" in line for line in run.results["bfs"])


def searched(case: Any, name: str, settings: dict[str, Any], out: Path) -> list[str]:
    """Run a search that needs no model, and return its lines."""
    recipe = bench.written_recipe(case, settings, out / name, ("bfs",))
    del recipe["encoder"], recipe["path_scorer"]
    outcome = Runner(from_data(recipe)).run()
    assert (outcome.questions, outcome.failed) == (FEW, 0)
    return (out / name / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()


def test_a_few_questions_are_asked_and_replayed_alike_at_any_number_of_requests_at_once(tmp_path: Path) -> None:
    few = rdf.wiki27k(bench.DATA, tmp_path, FEW)
    found, asked = [], []
    with ExitStack() as stack:
        server = bench.Stores(few, tmp_path, stack).server()
        del server["engine"]
        for number in (None, 1):
            settings = {**server, "record": str(tmp_path / f"record-{number}"), "limits": {"at_once": number}}
            found.append(searched(few, f"recorded-{number}", settings, tmp_path))
            lines = (tmp_path / f"record-{number}" / "answers.jsonl").read_text().splitlines()[1:-1]
            asked.append(sorted(line.partition('","rows"')[0] for line in lines))
    assert sum(len(json.loads(line)["triplets"]) for line in found[0]) > 100
    nobody = {**server, "endpoint": "http://127.0.0.1:9/query", "replay": str(tmp_path / "record-None")}
    found.append(searched(few, "replayed", {**nobody, "limits": {"at_once": 16}}, tmp_path))
    assert found[0] == found[1] == found[2]
    assert asked[0] == asked[1]
