"""Evaluation of result files that other programs made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_evaluation.files import evaluate_files
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import InputError, Triple

Write = Callable[..., Path]

GOLD = (
    {"id": "a", "question": "Where is A?", "question_entities": ["A"], "answer_entities": ["R"]},
    {"id": "b", "question": "Where is B?", "question_entities": ["B"], "answer_entities": ["R", "S"]},
)
OURS = (
    {"id": "a", "question": "Where is A?", "question_entities": ["A"], "triplets": [["A", "in", "R"]]},
    {"id": "b", "question": "Where is B?", "question_entities": ["B"], "triplets": [["B", "in", "S"]]},
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, *records: Mapping[str, Any]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return write


def mean(report: Mapping[str, Any], method: str, metric: str = "answer_recall") -> float:
    return float(report["methods"][method][metric]["mean"])


def test_results_are_scored_against_the_questions_with_the_same_id(write: Write) -> None:
    report = evaluate_files([write("beam.jsonl", *OURS[::-1])], write("gold.jsonl", *GOLD))
    assert mean(report, "beam") == 0.75
    assert report["questions"] == 2
    assert report["links"] == "given"


def test_results_without_ids_are_joined_by_the_text(write: Write) -> None:
    bare = [{key: value for key, value in record.items() if key != "id"} for record in OURS]
    bare[0]["question"] = "  Where is  A? "
    assert mean(evaluate_files([write("srtk.jsonl", *bare)], write("gold.jsonl", *GOLD)), "srtk") == 0.75


def test_results_with_ids_of_their_own_are_joined_by_the_text(write: Write) -> None:
    other = [{**record, "id": f"WebQTest-{i}"} for i, record in enumerate(OURS)]
    assert mean(evaluate_files([write("rog.jsonl", *other)], write("gold.jsonl", *GOLD)), "rog") == 0.75


def test_gold_triples_are_read_along_gold_paths_in_a_given_graph(write: Write) -> None:
    gold = {**GOLD[1], "gold_paths": [["in"]]}
    found = {**OURS[1], "triplets": [["B", "in", "S"], ["S", "near", "R"], ["R", "near", "T"], ["A", "in", "R"]]}
    results, questions = write("ours.jsonl", found), write("questions.jsonl", gold)
    graph = MemoryGraph([Triple("B", "in", "R"), Triple("B", "in", "S"), Triple("A", "in", "R")])
    for given in (None, graph):
        report = evaluate_files([results], questions, graph=given)
        values = {name: report["methods"]["ours"][f"triple_{name}"]["mean"] for name in ("precision", "recall")}
        # Of four triples one is right; of the two triples of the path one is there.
        assert values == ({"precision": None, "recall": None} if given is None else {"precision": 0.25, "recall": 0.5})


def test_the_fields_of_rog_and_subgraphrag_are_read(write: Write) -> None:
    rog = [
        {"id": r["id"], "question": r["question"], "q_entity": ["A"], "a_entity": ["R"], "graph": r["triplets"]}
        for r in OURS
    ]
    scored = [{**r, "scored_triples": [[*r["triplets"][0], 0.5]]} for r in OURS]
    for record in scored:
        del record["triplets"]
    report = evaluate_files([write("rog.jsonl", *rog), write("sub.jsonl", *scored)], write("gold.jsonl", *GOLD))
    assert (mean(report, "rog"), mean(report, "sub")) == (0.75, 0.75)
    assert list(report["differences"]) == ["rog - sub"]


def test_without_a_question_file_the_gold_of_the_results_is_used(write: Write) -> None:
    whole = [{**gold, **result} for gold, result in zip(GOLD, OURS, strict=True)]
    assert mean(evaluate_files([write("beam.jsonl", *whole)], None), "beam") == 0.75


def test_results_of_no_known_question_are_refused_and_named(write: Write) -> None:
    strange = [{**OURS[0], "id": f"x{i}"} for i in range(7)]
    with pytest.raises(InputError, match=r"7 of 9 results match no question of .*\(x0, x1, x2, x3, x4 and 2 more\)"):
        evaluate_files([write("beam.jsonl", *OURS, *strange)], write("gold.jsonl", *GOLD))


def test_questions_without_a_result_are_refused_and_named(write: Write) -> None:
    with pytest.raises(InputError, match=r"1 of 2 questions of .* have no result \(b\)"):
        evaluate_files([write("beam.jsonl", OURS[0])], write("gold.jsonl", *GOLD))


def test_questions_without_a_result_can_count_as_failed(write: Write) -> None:
    report = evaluate_files([write("beam.jsonl", OURS[0])], write("gold.jsonl", *GOLD), missing="fail")
    assert report["failed"] == {"beam": 1}
    assert mean(report, "beam") == 0.5


def test_a_failed_result_counts_as_failed(write: Write) -> None:
    report = evaluate_files([write("beam.jsonl", OURS[0], {**OURS[1], "error": "down"})], write("gold.jsonl", *GOLD))
    assert report["failed"] == {"beam": 1}


def test_a_question_answered_twice_is_refused_with_its_line(write: Write) -> None:
    with pytest.raises(InputError, match=r"beam.jsonl:3: line 1 already has a result for question 'a'"):
        evaluate_files([write("beam.jsonl", *OURS, OURS[0])], write("gold.jsonl", *GOLD))
    with pytest.raises(InputError, match=r"beam.jsonl:2: line 1 already has a result for id 'a'"):
        evaluate_files([write("beam.jsonl", *[{**GOLD[0], "triplets": []}] * 2)], None)


def test_a_text_that_several_questions_share_needs_ids(write: Write) -> None:
    twins = ({**GOLD[0], "id": "c"}, *GOLD)
    bare = {key: value for key, value in OURS[0].items() if key != "id"}
    with pytest.raises(InputError, match=r"beam.jsonl:1: 2 questions of .* have this text \(c, a\)"):
        evaluate_files([write("beam.jsonl", bare)], write("gold.jsonl", *twins))


def test_links_that_differ_from_the_input_are_marked_and_never_count_as_answers(write: Write) -> None:
    linked = [{**record, "question_entities": ["R"]} for record in OURS]
    report = evaluate_files([write("beam.jsonl", *linked)], write("gold.jsonl", *GOLD))
    assert report["links"] == "linked"
    assert mean(report, "beam") == 0.25


def test_a_malformed_line_is_refused_with_its_place(write: Write) -> None:
    path = write("beam.jsonl", OURS[0])
    path.write_text(path.read_text() + "{oops\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"beam.jsonl:2"):
        evaluate_files([path], write("gold.jsonl", *GOLD))


def test_results_without_gold_are_refused(write: Write) -> None:
    with pytest.raises(InputError, match="no record has gold"):
        evaluate_files([write("beam.jsonl", *OURS)], None)


def test_an_empty_result_file_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="the file has no results"):
        evaluate_files([write("beam.jsonl")], None)
    with pytest.raises(InputError, match="at least one"):
        evaluate_files([], None)
