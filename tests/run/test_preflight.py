from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from srtk_framework.cli import main

GOOD = {"id": "a", "question": "where is riga?", "question_entities": ["riga"]}
Check = Callable[..., list[str]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Return a function that checks a recipe with changed keys, and returns the mistakes that it shows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").write_text(json.dumps(GOOD) + "\n")

    def run(*arguments: str, **changes: Any) -> list[str]:
        data: dict[str, Any] = {
            "srtk": 1,
            "questions": "questions.jsonl",
            "output": "out",
            "knowledge_graph": {"use": "memory", "triples": [["riga", "in", "latvia"]]},
            "expander": {"use": "bfs"},
            **changes,
        }
        (tmp_path / "recipe.yaml").write_text(json.dumps({k: v for k, v in data.items() if v is not None}, indent=1))
        code = main(["check", "recipe.yaml", *arguments])
        shown = capsys.readouterr()
        assert (code == 0) == (not shown.err)
        assert (code == 0) == ("is fine" in shown.out)
        return shown.err.splitlines()

    return run


def test_a_recipe_whose_files_are_there_is_fine(check: Check) -> None:
    assert check() == []
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"questions": "none.jsonl"}, "none.jsonl"),
        ({"questions": "broken.jsonl"}, "broken.jsonl:2"),
        ({"questions": "empty.jsonl"}, "there is no question in it"),
        ({"questions": {"use": "metaqa", "path": "nowhere"}}, "nowhere"),
        ({"knowledge_graph": {"use": "local", "path": "no/graph"}}, "no/graph"),
        ({"knowledge_graph": {"use": "local", "path": "g", "build": {"files": ["no.tsv"]}}}, "no.tsv does not exist"),
        ({"knowledge_graph": {"use": "sparql", "endpoint": "file:///etc"}}, "file:///etc is no http or https URL"),
        ({"knowledge_graph": {"use": "sparql", "endpoint": "http://"}}, "is not an http or https URL"),
        ({"knowledge_graph": {"use": "sparql", "endpoint": "http://h:x/"}}, "is not an http or https URL"),
        ({"knowledge_graph": {"use": "wikidata", "replay": "no/record"}}, "no/record does not exist"),
        ({"entity_linker": {"use": "dictionary", "model": "no/model"}}, "no/model does not exist"),
        ({"entity_linker": {"use": "rel", "endpoint": "rel.example.org"}}, "is not an http or https URL"),
        ({"entity_linker": {"use": "rel", "ids": "no/titles.db"}}, "no/titles.db does not exist"),
        ({"encoder": {"use": "transformers", "model": "./no-model"}}, "no-model does not exist"),
        (
            {"generator": {"use": "openai", "model": "m", "base_url": "localhost:8000"}, "reader": {"use": "llm"}},
            "'localhost:8000' is not an http or https URL",
        ),
        ({"output": "questions.jsonl"}, "is a file, not a folder"),
        ({"output": "questions.jsonl/below"}, "is a file"),
        ({"exporters": [{"use": "jsonl", "path": "folder"}]}, "folder is a folder, not a file"),
    ],
)
def test_what_a_recipe_names_is_opened_and_its_place_is_shown(check: Check, changes: dict[str, Any], said: str) -> None:
    Path("broken.jsonl").write_text(json.dumps(GOOD) + "\n{nothing\n")
    Path("empty.jsonl").write_text("")
    Path("folder").mkdir()
    errors = check(**changes)
    assert len(errors) == 1
    assert "recipe.yaml:" in errors[0]
    assert said in errors[0]


def test_all_mistakes_are_shown_at_once_those_of_the_recipe_too(check: Check) -> None:
    errors = check(
        questions="none.jsonl",
        knowledge_graph={"use": "local", "path": "no/graph"},
        entity_linker={"use": "dictionary", "model": "no/model", "n_bset": 3},
        expander={"use": "bfs", "depth": "two"},
        exporters=[{"use": "jsonl", "path": "questions.jsonl/x"}],
        output="questions.jsonl",
    )
    for said in ("none.jsonl", "no/graph", "n_bset", "two", "questions.jsonl/x", "is a file, not a folder"):
        assert sum(said in error for error in errors) == 1, (said, errors)


def test_a_search_that_a_reader_ends_needs_one(check: Check) -> None:
    generator = {"use": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    [error] = check(generator=generator, expander={"use": "structgpt"})
    assert "needs a reader" in error


def test_nothing_is_asked_over_the_network_unless_drivers_are_opened(check: Check) -> None:
    graph = {"use": "sparql", "endpoint": "http://127.0.0.1:9/sparql", "limits": {"attempts": 1, "deadline": 5.0}}
    assert check(knowledge_graph=graph) == []


def test_drivers_are_opened_on_request(check: Check) -> None:
    [error] = check("--open", entity_linker={"use": "dictionary", "model": "."})
    assert "dictionary" in error


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(check: Check) -> None:
    Path("locked").mkdir(mode=0o500)
    [error] = check(output="locked/out")
    assert "not writable" in error


def test_a_good_recipe_is_said_in_words(check, capsys, tmp_path):
    (tmp_path / "again.yaml").write_text(
        "{srtk: 1, questions: questions.jsonl, output: out, evaluate: {against: [random]}, expander: bfs,"
        " knowledge_graph: {use: memory, triples: [[riga, in, latvia]]}, entity_linker: dictionary,"
        " exporters: [{use: jsonl, path: out/found.jsonl}]}"
    )
    assert main(["check", "again.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[:8] == [
        "again.yaml is fine. A run would",
        "- read the questions of questions.jsonl",
        "- find their entities by dictionary, where a question does not bring them",
        "- search the graph memory with bfs",
        "- write out/found.jsonl",
        "- score the results, beside the results of random",
        "- keep its journal and manifest in out",
        "with these drivers:",
    ]


def test_a_dataset_that_needs_a_graph_is_not_read_before_the_run(check: Check) -> None:
    train = {"questions": {"use": "made", "count": 5}, "supervision": {"use": "gold-path"}}
    drivers = {
        "encoder": {"use": "transformers", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "expander": {"use": "beam"},
    }
    assert check(train=train, **drivers) == []
