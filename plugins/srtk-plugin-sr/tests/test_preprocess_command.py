"""`srtk preprocess`: searched or given paths become training rows in SRTK's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_sr.templates import FORMS
from srtk_plugin_sr.train_command import read_rows

from srtk_framework.cli import main

FACTS = [
    "film\tby\tann",
    "film\tyear\t1999",
    "film2\tby\tann",
    "ann\tborn\triga",
    "riga\tin\tlatvia",
    "film\tset_in\tspain",
]


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    facts = tmp_path / "facts.tsv"
    facts.write_text("".join(f"{fact}\n" for fact in FACTS), encoding="utf-8")
    labels = tmp_path / "labels.tsv"
    labels.write_text("by\tdirector\nborn\tplace of birth\n", encoding="utf-8")
    out = str(tmp_path / "graph")
    assert main(["graph", "build", "--out", out, "--labels", str(labels), str(facts)]) == 0
    return out


def questions(folder: Path, *rows: dict[str, Any]) -> str:
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def asked(**more: Any) -> dict[str, Any]:
    return {"id": "1", "question": "Where?", "question_entities": ["film"], "answer_entities": ["riga"], **more}


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def preprocess(folder: Path, snapshot: str, source: str, *flags: str) -> int:
    return main(["preprocess", "-i", source, "-o", str(folder / "train.jsonl"), "-kg", snapshot, "--quiet", *flags])


def test_searched_paths_become_rows_of_labels(tmp_path: Path, snapshot: str) -> None:
    assert preprocess(tmp_path, snapshot, questions(tmp_path, asked()), "--search-path") == 0
    assert rows(tmp_path / "train.jsonl") == [
        {"query": "Where? [SEP] ", "positive": "director", "negatives": ["set in", "year"]},
        {"query": "Where? [SEP] director", "positive": "place of birth", "negatives": ["END OF HOP"]},
        {"query": "Where? [SEP] director # place of birth", "positive": "END OF HOP", "negatives": ["in"]},
    ]


def test_paths_and_their_qualities_are_written(tmp_path: Path, snapshot: str) -> None:
    assert preprocess(tmp_path, snapshot, questions(tmp_path, asked()), "--search-path") == 0
    assert [row["paths"] for row in rows(tmp_path / "paths.jsonl")] == [[["by", "born"]]]
    assert [row["path_scores"] for row in rows(tmp_path / "scores.jsonl")] == [[1.0]]


def test_the_scored_paths_are_an_input_of_the_command(tmp_path: Path, snapshot: str) -> None:
    preprocess(tmp_path, snapshot, questions(tmp_path, asked()), "--search-path")
    first = rows(tmp_path / "train.jsonl")
    assert preprocess(tmp_path, snapshot, str(tmp_path / "scores.jsonl")) == 0
    assert rows(tmp_path / "train.jsonl") == first


def test_srtk_files_with_paths_and_scores_are_read(tmp_path: Path, snapshot: str) -> None:
    given = asked(paths=[["by"], ["set_in"]], path_scores=[0.9, 0.2])
    assert preprocess(tmp_path, snapshot, questions(tmp_path, given)) == 0
    assert [row["positive"] for row in rows(tmp_path / "train.jsonl")] == ["director", "END OF HOP"]


def test_steps_against_their_direction_are_searched_on_request(tmp_path: Path, snapshot: str) -> None:
    backward = asked(question_entities=["riga"], answer_entities=["ann"])
    assert preprocess(tmp_path, snapshot, questions(tmp_path, backward), "--search-path") == 0
    assert rows(tmp_path / "train.jsonl") == []
    assert preprocess(tmp_path, snapshot, questions(tmp_path, backward), "--search-path", "--inverse") == 0
    assert next(row["positive"] for row in rows(tmp_path / "train.jsonl")) == "is place of birth of"


def test_a_question_without_path_is_counted(tmp_path: Path, snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = questions(tmp_path, asked(), asked(id="2", answer_entities=["nowhere"]))
    main(["preprocess", "-i", source, "-o", str(tmp_path / "t.jsonl"), "-kg", snapshot, "--search-path"])
    assert "3 rows of 1 questions" in capsys.readouterr().err


def test_an_input_without_paths_says_what_to_do(
    tmp_path: Path, snapshot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert preprocess(tmp_path, snapshot, questions(tmp_path, asked())) == 2
    assert "give --search-path" in capsys.readouterr().err


def test_an_input_without_answers_says_so(tmp_path: Path, snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    bare = {"id": "1", "question": "Where?", "question_entities": ["film"]}
    assert preprocess(tmp_path, snapshot, questions(tmp_path, bare), "--search-path") == 2
    assert "answer_entities" in capsys.readouterr().err


def test_training_rows_have_the_texts_that_the_scorer_scores(tmp_path: Path, snapshot: str) -> None:
    preprocess(tmp_path, snapshot, questions(tmp_path, asked()), "--search-path")
    words = FORMS["srtk"]
    rows = read_rows(str(tmp_path / "train.jsonl"))
    assert [query for query, _, _ in rows] == [
        words.query_text("Where?", path) for path in ("", "director", "director # place of birth")
    ]
    assert rows[0][1:] == (words.candidate_text("director"), ("relation: set in", "relation: year"))
    assert rows[1][2] == (words.candidate_text(words.end),)
