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


def test_the_last_line_counts_rows_and_questions_without_a_path_or_a_good_one(
    tmp_path: Path, snapshot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        asked(paths=[["by"], ["set_in"]], path_scores=[0.5, 0.49]),
        asked(id="2", paths=[["by"]], path_scores=[0.25]),
        asked(id="3", paths=[], path_scores=[]),
    ]
    out = tmp_path / "train.jsonl"
    assert main(["preprocess", "-i", questions(tmp_path, *given), "-o", str(out), "-kg", snapshot]) == 0
    said = capsys.readouterr().err
    assert (
        f"2 rows of 1 questions in {out}; of 3 questions 1 have no path to an answer, 1 none of quality 0.5\n" in said
    )
    assert "what SRTK calls jaccard is --metric precision" in said
    assert "--omit-prefixes" not in said
    assert (
        main(["preprocess", "-i", questions(tmp_path, *given), "-o", str(out), "-kg", snapshot, "--metric", "f1"]) == 0
    )
    assert "jaccard" not in capsys.readouterr().err
    assert preprocess(tmp_path, snapshot, questions(tmp_path, *given), "--omit-prefixes") == 0
    assert capsys.readouterr().err == "srtk: note: --omit-prefixes changes nothing: queries use whole IRIs\n"


def test_a_path_has_two_steps_and_a_row_fifteen_negatives_unless_told_otherwise(tmp_path: Path) -> None:
    facts = tmp_path / "many.tsv"
    rows_ = ["film\tr0\tann", "ann\tr1\triga", "riga\tr2\tlatvia"] + [f"film\tx{n}\te{n}" for n in range(30)]
    facts.write_text("".join(f"{row}\n" for row in rows_), encoding="utf-8")
    graph = str(tmp_path / "many")
    assert main(["graph", "build", "--quiet", "--no-header", "--out", graph, str(facts)]) == 0
    far = questions(tmp_path, asked(answer_entities=["latvia"]))
    assert preprocess(tmp_path, graph, far, "--search-path") == 0
    assert rows(tmp_path / "train.jsonl") == []
    assert preprocess(tmp_path, graph, far, "--search-path", "--max-hops", "3") == 0
    made = rows(tmp_path / "train.jsonl")
    assert [len(row["negatives"]) for row in made] == [15, 1, 1, 0]
    assert preprocess(tmp_path, graph, far, "--search-path", "--max-hops", "3", "--num-negative", "2") == 0
    assert len(rows(tmp_path / "train.jsonl")[0]["negatives"]) == 2
    first = rows(tmp_path / "train.jsonl")
    assert (
        preprocess(tmp_path, graph, far, "--search-path", "--max-hops", "3", "--num-negative", "2", "--seed", "0") == 0
    )
    assert rows(tmp_path / "train.jsonl") == first


def test_many_questions_are_searched_in_batches_and_written_in_order(tmp_path: Path, snapshot: str) -> None:
    given = [asked(id=str(n), question=f"Where {n}?") for n in range(70)]
    assert preprocess(tmp_path, snapshot, questions(tmp_path, *given), "--search-path") == 0
    made = rows(tmp_path / "train.jsonl")
    assert [row["query"] for row in made[::3]] == [f"Where {n}? [SEP] " for n in range(70)]
    assert not list(tmp_path.glob(".*"))


def test_the_file_of_the_rows_must_be_named(snapshot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["preprocess", "-i", questions(tmp_path, asked()), "-kg", snapshot])
    assert "required: -o/--output" in capsys.readouterr().err
