"""`srtk run` and `srtk evaluate` on several methods."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from srtk_framework.cli import main

pytestmark = pytest.mark.usefixtures("toys")


def recipe(folder: Path, name: str, questions: str = "q.jsonl", evaluate: str = "true", width: int = 9) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(
        f"srtk: 1\nquestions: {folder}/{questions}\noutput: {folder}/out/{name}\nknowledge_graph: toy\n"
        f"entity_linker: words\nexpander: {{use: onehop, width: {width}}}\nevaluate: {evaluate}\n"
    )
    return str(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [("paris", "france"), ("rome", "italy"), ("lima", "peru")]
    for file, texts in (("q.jsonl", rows), ("other.jsonl", rows[:2])):
        records = [
            {"id": str(i), "question": f"what about {city}?", "answer_entities": [land], "gold_paths": [["capital_of"]]}
            for i, (city, land) in enumerate(texts)
        ]
        (tmp_path / file).write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def test_several_recipes_give_one_comparison(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    against = "{against: [{use: onehop, name: other}]}"
    assert main(["run", recipe(folder, "a", evaluate=against), recipe(folder, "b", evaluate=against)]) == 0
    report = json.loads((folder / "out" / "comparison" / "comparison.json").read_text())
    assert list(report["methods"]) == ["a", "b", "other"]
    assert report["at"]["methods"]["a"]["triple_recall"]["5"]["mean"] == 1.0
    assert (folder / "out" / "comparison" / "report.html").exists()
    assert "differences" in capsys.readouterr().out


def test_one_recipe_or_one_that_is_not_evaluated_gives_none(folder: Path) -> None:
    assert main(["run", recipe(folder, "a"), recipe(folder, "b", evaluate="false"), "--quiet"]) == 0
    assert not (folder / "out" / "comparison").exists()
    assert main(["evaluate", str(folder / "out" / "a"), "--report", str(folder / "report")]) == 0
    assert (folder / "report" / "report.html").exists()


def test_recipes_on_other_questions_run_and_are_not_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", recipe(folder, "a"), recipe(folder, "b", "other.jsonl"), "--quiet"]) == 0
    assert "the runs are not compared: methods 'a' (3 questions) and 'b' (2)" in capsys.readouterr().err


def test_folders_of_runs_are_evaluated_again_without_running(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", recipe(folder, "a"), recipe(folder, "b"), "--quiet"])
    train = folder / "train.jsonl"
    train.write_text('{"question": "?", "question_entities": ["x"], "gold_paths": [["currency"]]}\n')
    out = folder / "report.json"
    folders = [str(folder / "out" / name) for name in "ba"]
    assert main(["evaluate", *folders, "--name", "new", "--name", "old", "--train", str(train), "-o", str(out)]) == 0
    assert list(json.loads(out.read_text())["methods"]) == ["new", "old"]
    assert "by relations in training" in capsys.readouterr().out


def test_a_folder_beside_a_question_file_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(folder), "--questions", str(folder / "q.jsonl")]) == 2
    assert "is a folder; give its result file" in capsys.readouterr().err


def test_a_field_is_sliced_by(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = folder / "r.jsonl"
    triples = [["paris", "capital_of", "france"]]
    records = [{"id": str(i), "question": "?", "triplets": triples} for i in range(3)]
    results.write_text("".join(json.dumps(record) + "\n" for record in records))
    questions = folder / "kinds.jsonl"
    known = {"question": "?", "answer_entities": ["france"]}
    questions.write_text("".join(json.dumps({"id": str(i), "kind": "ab"[i % 2], **known}) + "\n" for i in range(3)))
    assert main(["evaluate", str(results), "--questions", str(questions), "--slice", "kind"]) == 0
    assert "by kind" in capsys.readouterr().out
    assert main(["evaluate", str(results), "--questions", str(questions), "--slice", "king"]) == 2
    assert "Did you mean 'kind'" in capsys.readouterr().err


def test_a_training_says_nothing_of_questions_without_gold_relations(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, train = folder / "r.jsonl", folder / "train.jsonl"
    results.write_text('{"question": "?", "answer_entities": ["x"], "triplets": []}\n')
    train.write_text('{"question": "?", "question_entities": ["x"], "gold_paths": [["currency"]]}\n')
    assert main(["evaluate", str(results), "--train", str(train)]) == 2
    assert "no question has gold_paths or gold_triples" in capsys.readouterr().err


def test_a_run_ends_with_the_first_result_and_what_to_open(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(recipe(folder, "a", evaluate="false"))
    file.write_text(file.read_text() + f"exporters: [{{use: html, path: {folder}/page.html}}]\n")
    assert main(["run", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "the first result:\nwhat about paris?\nabout: Paris\n" in shown
    assert f"open {folder}/page.html" in shown


def test_a_comparison_is_named_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", recipe(folder, "a", evaluate="{against: [{use: onehop, name: other}]}")]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("wrote")]
    assert line.endswith(f"files in {folder}/out/a/comparison; open {folder}/out/a/comparison/report.html")


@pytest.fixture
def with_table(folder: Path) -> str:
    """A recipe that builds its graph from a table with a header."""
    (folder / "t.tsv").write_text("subject\trelation\tobject\nparis\tcapital of\tfrance\n")
    file = Path(recipe(folder, "a", evaluate="false"))
    graph = f"{{use: local, path: {folder}/graph, build: {{files: [{folder}/t.tsv]}}}}"
    file.write_text(file.read_text().replace("knowledge_graph: toy", f"knowledge_graph: {graph}"))
    return str(file)


@pytest.mark.parametrize("flags", [[], ["-v"]])
def test_what_a_driver_logs_while_it_is_opened_is_shown_once(
    with_table: str, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *flags, with_table]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "t.tsv:1: taken as header" in line]
    assert len(lines) == 1
    assert lines[0].startswith("srtk: note: ")


def test_q_shows_no_logs(with_table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-q", with_table]) == 0
    shown = capsys.readouterr()
    assert not shown.out
    assert "header" not in shown.err
