"""A search with a model behind a server that fails at random, in Python and as a recipe."""

from __future__ import annotations

import json
from typing import Any

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_structgpt.reader import LlmReader
from srtk_plugin_structgpt.structgpt import StructGptExpander

import srtk_framework
from srtk_framework.cli import main
from srtk_framework.values import Link, Question

COUNT = 10
IN, OUT = 1.0, 2.0
"""Price of a million tokens."""


@pytest.fixture(scope="module")
def servers(bench: Any) -> Any:
    pytest.importorskip("srtk_plugin_openai")
    return bench("openai_server")


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
    """Choose the relations that lead to the country; answer once it is among the triples."""
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


def walked(url, workers, **settings):
    from srtk_plugin_openai.generator import OpenAIGenerator
    from srtk_plugin_openai.limits import ServerLimits

    limits = ServerLimits(wait=0.01, wait_most=0.05, deadline=0.5, patience=20.0, attempts=8, failures=100, pause=0.1)
    graph = MemoryGraph(triples=rows())
    settings = {"price_in": IN, "price_out": OUT, "limits": limits, "workers": workers, **settings}
    generator = OpenAIGenerator(model="tiny", base_url=url, **settings)
    reader = LlmReader(graph, generator)
    expander = StructGptExpander(graph, generator, reader=reader)
    for driver in (generator, reader, expander):
        driver.open()
    try:
        return expander.expand(questions())
    finally:
        generator.close()


def told(found):
    """Return the usage of the expander and of its reader from the trace."""
    return [found.trace["generator"], found.trace["reader"]["generator"]]


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_fails_at_random_loses_and_doubles_nothing(servers, stream):
    with servers.serve(clerk) as server:
        quiet = walked(server.url, 1, stream=stream)
        billed = server.billed
    with servers.serve(clerk, share=0.2, seed=3, stall=1.0) as server:
        faulty = walked(server.url, 8, stream=stream)
        assert sum(server.served.values()) > COUNT
        assert set(server.answered.values()) == {1}
    assert faulty == quiet
    for i, found in enumerate(quiet):
        assert found.answer.entities == (f"land {i}",)
        assert len(found.triples) == 3
        # Three hops with one option less each time; the last needs no choice, each is read.
        calls = [*found.trace["calls"], *found.trace["reader"]["calls"]]
        asked = sum(len(call["replies"]) for call in calls)
        assert sum(part["calls"] for part in told(found)) == asked
    cost = sum(part["cost"] for found in faulty for part in told(found))
    assert cost == pytest.approx((billed[0] * IN + billed[1] * OUT) / 1e6)
    tokens = [sum(part[name] for found in faulty for part in told(found)) for name in ("tokens_in", "tokens_out")]
    assert tokens == list(billed)


@pytest.mark.parametrize("fault", ["context", "500"])
def test_a_question_whose_calls_fail_for_good_says_so_and_the_others_are_answered(servers, fault):
    with servers.serve(clerk, bad={"film 3 ": fault}) as server:
        found = walked(server.url, 8)
    lost, others = found[3], found[:3] + found[4:]
    assert not lost.triples
    assert lost.trace["stop"] == lost.trace["reason"] == "a call failed"
    assert lost.trace["errors"]
    assert all(one.trace["stop"] == "answered" and len(one.triples) == 3 for one in others)


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


def test_a_reader_in_a_recipe_has_another_reader_as_its_hint(servers, tmp_path):
    def torn(body):
        return "who knows?" if "suggests this answer" in body["messages"][1]["content"] else clerk(body)

    recipe = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": [list(row) for row in rows()]},
        "entity_linker": {"use": "dictionary"},
        "expander": {"use": "structgpt", "stop": "depth"},
        "reader": {"use": "llm", "hint": {"use": "llm", "named": True}},
    }
    with servers.serve(torn) as server:
        recipe["generator"] = {"use": "openai", "model": "tiny", "base_url": server.url}
        (tmp_path / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
        with srtk_framework.open(str(tmp_path / "recipe.yaml")) as session:
            found = session.retrieve(questions())
    for i, one in enumerate(found):
        assert one.answer.entities == (f"land {i}",)
        told = one.subgraph.trace["reader"]["hint"]
        assert (told["outcome"], told["because"]) == ("kept", "unreadable")
        assert told["generator"]["calls"] == 1
