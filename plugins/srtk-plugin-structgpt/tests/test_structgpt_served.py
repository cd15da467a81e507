"""A walk told by a model behind a server that fails at random, and as a recipe."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_structgpt.reader import LlmReader
from srtk_plugin_structgpt.structgpt import StructGptExpander

import srtk_framework
from srtk_framework.cli import main
from srtk_framework.types import Link, Question

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
COUNT = 10


@pytest.fixture(scope="module")
def servers() -> Any:
    pytest.importorskip("srtk_plugin_openai")
    if not (BENCHMARKS / "openai_server.py").exists():
        pytest.skip("benchmarks/openai_server.py is not here")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module("openai_server")
    finally:
        sys.path.pop(0)


def rows():
    return [
        triple
        for i in range(COUNT)
        for triple in (
            (f"film {i}", "directed by", f"woman {i}"),
            (f"film {i}", "year", f"{1990 + i}"),
            (f"woman {i}", "born in", f"town {i}"),
            (f"town {i}", "country", f"land {i}"),
        )
    ]


def questions():
    return [Question(f"q{i}", f"Where was the director of film {i} born?", (Link(f"film {i}"),)) for i in range(COUNT)]


def clerk(body):
    """Follow the relations to the country, and answer once it is among the facts."""
    asked = body["messages"][-1]["content"]
    lines = [line for line in asked.splitlines() if line[:1].isdigit()]
    if "contain the answer" not in asked:
        wanted = ("directed by", "born in", "country")
        return next(f"[{line.partition('.')[0]}]" for w in wanted for line in lines if line.endswith(f". {w}"))
    line = next((line for line in lines if "| country |" in line), None)
    if line is None:
        return '{"enough": false, "answer": [], "triples": []}'
    number, _, land = line.partition(".")[0], *line.rpartition("| ")[1:]
    return json.dumps({"enough": True, "answer": [land], "triples": [int(number)]})


def walked(url, workers):
    from srtk_plugin_openai.generator import OpenAIGenerator
    from srtk_plugin_openai.limits import Limits

    limits = Limits(wait=0.01, wait_most=0.05, deadline=0.5, patience=20.0, attempts=8, failures=100, pause=0.1)
    graph = MemoryGraph(triples=rows())
    generator = OpenAIGenerator(model="tiny", base_url=url, workers=workers, limits=limits, price_in=1.0, price_out=2.0)
    reader = LlmReader(graph, generator)
    expander = StructGptExpander(graph, generator, reader=reader)
    for driver in (generator, reader, expander):
        driver.open()
    try:
        return expander.expand(questions())
    finally:
        generator.close()


def test_a_server_that_fails_at_random_loses_and_doubles_nothing(servers):
    with servers.serve(clerk) as server:
        quiet = walked(server.url, 1)
    with servers.serve(clerk, share=0.2, seed=3, stall=1.0) as server:
        faulty = walked(server.url, 8)
        assert sum(server.served.values()) > COUNT
    assert faulty == quiet
    for i, found in enumerate(quiet):
        assert found.answer.entities == (f"land {i}",)
        assert len(found.triples) == 3
        # Three hops with one option less each time; the last needs no choice, each is read.
        calls = [*found.trace["calls"], *found.trace["reader"]["calls"]]
        asked = sum(len(call["replies"]) for call in calls)
        told = [found.trace["generator"], found.trace["reader"]["generator"]]
        assert sum(part["calls"] for part in told) == asked
        assert sum(part["cost"] for part in told) > 0


def test_a_recipe_runs_it_and_a_second_run_gives_the_same_bytes(servers, tmp_path):
    (tmp_path / "questions.jsonl").write_text(
        "".join(json.dumps({"id": q.id, "question": q.text}) + "\n" for q in questions()), encoding="utf-8"
    )

    def recipe(url, out):
        text = {
            "srtk": 1,
            "output": str(tmp_path / out),
            "questions": str(tmp_path / "questions.jsonl"),
            "knowledge_graph": {"use": "memory", "triples": [list(row) for row in rows()]},
            "entity_linker": {"use": "dictionary"},
            "generator": {"use": "openai", "model": "tiny", "base_url": url, "cache": str(tmp_path / "replies.db")},
            "expander": {"use": "structgpt", "reader": {"use": "llm"}},
            "exporters": [{"use": "jsonl", "path": str(tmp_path / out / "out.jsonl")}],
        }
        path = tmp_path / f"{out}.yaml"
        path.write_text(json.dumps(text), encoding="utf-8")
        return str(path)

    with servers.serve(clerk) as server:
        assert main(["run", recipe(server.url, "one")]) == 0
        asked = len(server.seen)
        assert main(["run", recipe(server.url, "two")]) == 0
        assert len(server.seen) == asked  # all replies were kept
        with srtk_framework.open(recipe(server.url, "three")) as session:
            answers = [one.answer for one in session.retrieve(questions())]
    one, two = ((tmp_path / out / "out.jsonl").read_bytes() for out in ("one", "two"))
    assert one == two
    record = json.loads(one.splitlines()[0])
    assert record["answer"]["entities"] == ["land 0"]
    assert record["trace"]["stop"] == "answered"
    assert len(record["triplets"]) == 3
    assert answers[0].entities == ("land 0",)
