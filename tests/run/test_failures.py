from __future__ import annotations

import json
from pathlib import Path

import pytest

from srtk_framework.cli import main
from srtk_framework.run.failures import failures_by_reason


def test_errors_are_counted_by_reason_without_ids_and_numbers_and_each_kind_has_its_remedy_once() -> None:
    errors = [
        "no entity of the graph was found in the question; name some",
        "the graph has none of the entities Q1, Q2; check their ids",
        "sparql: http://127.0.0.1:8890/sparql: no connection in 15 s; is it up?",
        "the graph has none of the entities Q77; check their ids",
        "the graph has none of the entities 'a b'; check their ids",
    ]
    assert failures_by_reason(errors) == [
        ("the graph has none of the entities …; check their ids", 3),
        ("no entity of the graph was found in the question; name some", 1),
        ("sparql: http://127.0.0.1:8890/sparql: no connection in 15 s; is it up?", 1),
    ]


@pytest.mark.parametrize(
    ("remedies", "remedy"),
    [
        (["; shorten it", "; shorten it to 20; or cut it"], "; shorten it …"),
        (["; raise timeout to 9", "; raise timeout to 10", "; raise timeout"], "; raise timeout …"),
        (["", "; shorten it", ""], "; shorten it"),
        (["; shorten it", "; ask later"], "; shorten it"),
    ],
)
def test_remedies_that_differ_in_their_end_are_told_by_their_common_words(remedies: list[str], remedy: str) -> None:
    errors = [f"the text is too long{one}" for one in remedies]
    assert failures_by_reason(errors) == [(f"the text is too long{remedy}", len(errors))]


def test_no_error_has_no_reason_and_one_that_begins_with_an_id_keeps_it() -> None:
    assert failures_by_reason([]) == []
    assert failures_by_reason(["Q1 is gone", "Q2 is gone"]) == [("Q1 is gone", 2)]


def test_a_run_shows_the_reasons_of_its_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(n), "question": "what?", "question_entities": [f"lost{n}"]} for n in range(3)]
    rows += [{"id": "x", "question": "what else?"}, {"id": "y", "question": "riga?", "question_entities": ["riga"]}]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    graph = {"use": "memory", "triples": [["riga", "in", "latvia"]]}
    data = {"srtk": 1, "questions": "questions.jsonl", "knowledge_graph": graph, "expander": {"use": "bfs"}}
    (tmp_path / "recipe.yaml").write_text(json.dumps(data))
    assert main(["run", "recipe.yaml", "--quiet"]) == 0
    shown = capsys.readouterr().err
    assert "4 of 5 questions failed" in shown
    assert "     3 failed: the graph has none of the entities …; check their ids\n" in shown
    assert "     1 failed: no entity of the graph was found in the question; name some in question_entities, " in shown
