"""Gold answers in the fields of public question sets: read, or named, in every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from srtk_framework.cli import main
from srtk_framework.records import retrieval_from_record
from srtk_framework.records.gold_answers import FIELDS, field_of_gold, gold_answers
from srtk_framework.records.retrieval_records import question_from_record

SETS: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "RoG": ("a_entity", ["B", "C"], ("B", "C")),
    "one text": ("a_entity", "B", ("B",)),
    "CWQ": ("answers", [{"answer_id": "m.0b", "answer": "Bee", "aliases": ["Be"]}], ("m.0b",)),
    "WebQSP": (
        "Parses",
        [{"Answers": []}, {"Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.0b", "EntityName": "Bee"}]}],
        ("m.0b",),
    ),
    "GrailQA": (
        "answer",
        [{"answer_type": "Entity", "answer_argument": "m.0b", "entity_name": "Bee"}],
        ("m.0b",),
    ),
    "Mintaka": (
        "answer",
        {"answerType": "entity", "answer": [{"name": "Q2", "label": {"en": "Bee"}}], "mention": "Bee"},
        ("Q2",),
    ),
    "Mintaka's values": ("answer", {"answerType": "boolean", "answer": [True], "mention": "Yes"}, ("true",)),
    "QALD": (
        "answers",
        [{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri", "value": "http://ex.org/B"}}]}}],
        ("http://ex.org/B",),
    ),
    "QALD, yes or no": ("answers", [{"head": {}, "boolean": False}], ("false",)),
    "MetaQA": ("answers", ["B", "C", "B"], ("B", "C")),
    "KQA Pro": ("answer", "12 kilometre", ("12 kilometre",)),
    "predictions of RoG": ("ground_truth", ["B"], ("B",)),
    "one id": ("answerEntity", "Q2", ("Q2",)),
    "a number": ("answer", 7, ("7",)),
    "ids": ("answer_ids", ["Q2", "Q3"], ("Q2", "Q3")),
}


@pytest.mark.parametrize("name", SETS)
def test_gold_answers_are_read_from_the_fields_of_public_sets(name: str) -> None:
    field, value, answers = SETS[name]
    assert field in FIELDS
    question = question_from_record({"id": "q", "question": "who?", field: value}, "q.jsonl:1")
    assert (question.answers, field_of_gold(question)) == (answers, field)
    assert question.extra[field] == value


def test_answer_entities_win_and_are_not_told() -> None:
    record = {"question": "who?", "answer_entities": ["A"], "answers": ["B"], "a_entity": ["C"]}
    question = question_from_record(record, "q.jsonl:1", "1")
    assert (question.answers, field_of_gold(question)) == (("A",), None)


@pytest.mark.parametrize(
    "record",
    [
        {"answer": "B", "triplets": []},
        {"answer": ["B"], "trace": {}},
        {"answer": {"text": "B", "entities": ["B"], "support": [], "enough": True}},
        {"answer": None},
        {"answers": []},
        {"answers": [{"mystery": 1}]},
        {"answers": [["B"]]},
        {"answer": "B", "options": ["one", "two"]},
        {"Parses": [{"Answers": []}]},
        {"Parses": "B"},
        {"answers": [{"results": {"bindings": "B"}}]},
    ],
)
def test_answers_of_methods_and_unknown_forms_are_no_gold(record: dict[str, Any]) -> None:
    assert gold_answers(record) is None


def test_results_of_other_programs_have_the_gold_that_they_carry() -> None:
    record = {"id": "q", "question": "who?", "prediction": ["B"], "answer": ["C"], "triplets": []}
    retrieval = retrieval_from_record(record, "r.jsonl:1")
    assert retrieval.question.answers == ("C",)
    assert retrieval.answer is not None
    assert retrieval.answer.entities == ("B",)


def test_topics_are_read_from_q_entity() -> None:
    for topics in ("A", ["A"]):
        question = question_from_record({"question": "who?", "q_entity": topics}, "q.jsonl:1", "1")
        assert [link.entity for link in question.links] == ["A"]
    question = question_from_record({"question": "who?", "q_entity": ["A"], "question_entities": []}, "q.jsonl:1", "1")
    assert question.links == ()


# In every command

TRIPLES = [("A", "r", "B"), ("A", "s", "C")]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("gold")
    (folder / "kb.tsv").write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), encoding="utf-8")
    assert main(["graph", "build", "--quiet", "--out", str(folder / "graph"), str(folder / "kb.tsv")]) == 0
    return str(folder / "graph")


def write(file: Path, *records: dict[str, Any]) -> str:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(file)


def run(folder: Path, graph: str, *records: dict[str, Any]) -> dict[str, Any]:
    recipe = {
        "srtk": 1,
        "questions": write(folder / "q.jsonl", *records),
        "output": str(folder / "out"),
        "knowledge_graph": {"use": "local", "path": graph},
        "expander": {"use": "bfs"},
        "evaluate": True,
    }
    (folder / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    assert main(["run", str(folder / "recipe.yaml"), "--quiet"]) == 0
    found: dict[str, Any] = json.loads((folder / "out" / "evaluation.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("field", ["a_entity", "answers", "answer", "answerEntity"])
def test_a_run_scores_them_and_says_where_they_were(
    tmp_path: Path, graph: str, field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run(tmp_path, graph, {"id": "q", "question": "who?", "question_entities": ["A"], field: ["B"]})
    assert report["methods"]["bfs"]["answer_recall"]["mean"] == 1.0
    assert capsys.readouterr().err.count(f"gold answers are read from {field} (1 questions)") == 1


def test_a_run_says_that_topics_are_read_from_another_field(
    tmp_path: Path, graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run(tmp_path, graph, {"id": "q", "question": "who?", "q_entity": ["A"], "a_entity": ["B"]})
    assert report["methods"]["bfs"]["answer_recall"]["mean"] == 1.0
    assert capsys.readouterr().err.count("topics are read from q_entity (1 questions)") == 1


def test_a_run_without_figures_names_the_fields_that_may_hold_gold(
    tmp_path: Path, graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"id": "q", "question": "who?", "question_entities": ["A"], "targets": {"x": ["B"]}, "goldIds": 1}
    report = run(tmp_path, graph, record)
    assert report["methods"]["bfs"]["answer_recall"]["mean"] is None
    err = capsys.readouterr().err
    assert err.count("no gold answers could be read from goldIds (1 questions), targets (1 questions)") == 1


def test_evaluate_and_preprocess_read_them_too(tmp_path: Path, graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"id": "q", "question": "who?", "question_entities": ["A"], "answers": [{"answer_id": "B", "answer": "b"}]}
    gold = write(tmp_path / "gold.jsonl", asked)
    results = write(tmp_path / "results.jsonl", {"id": "q", "question": "who?", "triplets": [["A", "r", "B"]]})
    out = tmp_path / "report.json"
    assert main(["evaluate", results, "--questions", gold, "-o", str(out)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert (report["methods"]["results"]["answer_recall"]["mean"], report["gold_fields"]) == (1.0, {"answers": 1})
    assert "gold answers are read from answers (1 questions)" in capsys.readouterr().err
    target = tmp_path / "train.jsonl"
    assert main(["preprocess", "-i", gold, "-o", str(target), "-kg", graph, "--search-path", "--quiet"]) == 0
    assert target.read_text(encoding="utf-8")
    assert "gold answers are read from answers (1 questions)" in capsys.readouterr().err
