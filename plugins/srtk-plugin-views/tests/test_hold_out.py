"""``srtk graph hold-out``: its files, and a run on the graph that lacks them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_views.masked import read_triples

from srtk_framework.cli import main
from srtk_framework.records import read_jsonl, read_questions

PEOPLE = [f"person{i}" for i in range(12)]
TOWNS = {f"town{i}": f"land{i % 2}" for i in range(4)}
TRIPLES = [
    *((person, "born_in", f"town{i % 4}") for i, person in enumerate(PEOPLE)),
    *((person, "lives_in", f"town{i % 3}") for i, person in enumerate(PEOPLE)),
    *((town, "in", land) for town, land in TOWNS.items()),
]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    file = tmp_path / "world.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), encoding="utf-8")
    folder = tmp_path / "world"
    assert main(["graph", "build", "--format", "tsv", "--out", str(folder), str(file)]) == 0
    return folder


def held(graph: Path, *more: str) -> Path:
    out = graph.parent / "held"
    assert main(["graph", "hold-out", str(graph), "--out", str(out), *more]) == 0
    return out


def test_the_files_are_read_by_the_masked_graph_and_as_questions(graph: Path, capsys: Any) -> None:
    out = held(graph, "--relation", "born_in", "--queries", "3")
    hidden = read_triples(str(out / "hidden.tsv"))
    assert hidden == sorted(hidden)
    assert set(hidden) <= set(TRIPLES)
    assert {triple.relation for triple in hidden} == {"born_in"}
    questions = list(read_questions(str(out / "patterns.jsonl")))
    assert {question.pattern and question.pattern.relation for question in questions} == {"born_in"}
    assert f"{len(hidden)} of {len(TRIPLES)} triples to hide, {len(questions)} patterns" in capsys.readouterr().out


def test_the_same_command_writes_the_same_bytes(graph: Path) -> None:
    first = {file.name: file.read_bytes() for file in held(graph).iterdir()}
    again = {file.name: file.read_bytes() for file in held(graph, "--force").iterdir()}
    assert first == again
    assert set(first) == {"hidden.tsv", "patterns.jsonl"}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--relation", "born"], "--relation born: "),
        (["--relation", "born-in"], "Did you mean 'born_in'?"),
        (["--share", "0.5", "--count", "2"], "--share and --count exclude each other"),
        (["--share", "1.5"], "--share 1.5: give a share above 0, at most 1"),
        (["--count", "0"], "--count 0: give a number of at least 1"),
        (["--relation", "in", "--ends", "object"], "nothing can be hidden of 1 relations"),
    ],
)
def test_mistakes_are_told_and_write_nothing(graph: Path, capsys: Any, flags: list[str], said: str) -> None:
    out = graph.parent / "held"
    if "nothing" in said:
        (graph.parent / "pair.tsv").write_text("a\tin\tb\nc\tin\td\n", encoding="utf-8")
        graph = graph.parent / "pair"
        assert main(["graph", "build", "--format", "tsv", "--out", str(graph), f"{graph}.tsv"]) == 0
    assert main(["graph", "hold-out", str(graph), "--out", str(out), *flags]) != 0
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_a_folder_that_is_there_is_replaced_only_if_asked_and_its_own(graph: Path, capsys: Any) -> None:
    out = held(graph)
    assert main(["graph", "hold-out", str(graph), "--out", str(out)]) != 0
    assert "exists already" in capsys.readouterr().err
    (out / "mine.txt").write_text("kept")
    assert main(["graph", "hold-out", str(graph), "--out", str(out), "--force"]) != 0
    assert "mine.txt, which this command did not write" in capsys.readouterr().err
    assert (out / "mine.txt").read_text() == "kept"


def test_what_is_no_snapshot_is_told(tmp_path: Path, capsys: Any) -> None:
    assert main(["graph", "hold-out", str(tmp_path / "none"), "--out", str(tmp_path / "held")]) != 0
    assert "there is no such folder; give a snapshot" in capsys.readouterr().err


def test_a_run_on_the_masked_graph_finds_none_of_the_answers_and_one_on_the_whole_graph_has_none_to_find(
    graph: Path,
) -> None:
    out = held(graph, "--queries", "4", "--share", "0.5")
    asked = len(list(read_jsonl(out / "patterns.jsonl")))

    def run(name: str, knowledge_graph: dict[str, Any]) -> dict[str, Any]:
        recipe = {
            "srtk": 1,
            "questions": str(out / "patterns.jsonl"),
            "knowledge_graph": knowledge_graph,
            "expander": "pattern",
            "evaluate": True,
            "output": str(graph.parent / name),
        }
        file = graph.parent / f"{name}.yaml"
        file.write_text(json.dumps(recipe), encoding="utf-8")
        assert main(["run", str(file)]) == 0
        found: dict[str, Any] = json.loads((graph.parent / name / "evaluation.json").read_text("utf-8"))["completion"]
        return found

    local = {"use": "local", "path": str(graph)}
    masked = run("masked", {"use": "masked", "graph": local, "hide": str(out / "hidden.tsv")})
    [metrics] = masked["methods"].values()
    assert masked["questions"] == asked
    assert (metrics["new_recall"]["mean"], metrics["set_size"]["mean"]) == (0, 0)
    assert metrics["new_recall"]["n"] == asked
    assert set(masked["slices"]) >= {"end", "relation", "cardinality", "gold answers"}
    [whole] = run("whole", local)["methods"].values()
    assert set(whole) == {"set_size"}
