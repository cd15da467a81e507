"""Answers of ten records each, computed by hand: hits, F1, equality, accuracy at coverage and calibration."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_evaluation import compare, row, write_report
from srtk_plugin_evaluation.scores import read_scores, write_scores
from srtk_plugin_evaluation.selective_answers import Answers, Judged, accuracy_at, risk_area, selective
from srtk_plugin_evaluation.tables import selective_table, tables

from srtk_framework.cli import main
from srtk_framework.values import Answer, Link, Literal, Question, Retrieval, Step, Subgraph

REFUSED = Answer(enough=False, missing="no such relation")

TEN: tuple[tuple[tuple[str, ...], Answer | None, float | None], ...] = (
    (("A",), Answer("a", ("A",)), 0.9),
    (("A", "B"), Answer("a", ("A",)), 0.8),
    (("A",), Answer("b, a", ("B", "A")), 0.7),
    (("A", "B"), Answer("b, a", ("B", "A")), 0.6),
    (("A",), REFUSED, None),
    (("A", "B", "C"), Answer("a, d", ("A", "D")), 0.5),
    (('"3"^^xsd:integer',), Answer("3 films", ("A", "B", "C"), number=3), 0.9),
    (("4",), Answer("3", number=3), 0.4),
    (("true",), Answer("Yes.", truth=True), 0.3),
    (("A",), None, None),
)
"""Gold answers, the answer given (None for a failed question), and its probability."""

KINDS = ("one", "set", "one", "set", "one", "set", "count", "count", "truth", "one")


def ten(certainties: tuple[str | None, ...] = (None,) * 10) -> list[Retrieval]:
    found = []
    for i, (gold, answer, probability) in enumerate(TEN):
        answers = tuple(Literal(one) if one.startswith('"') else one for one in gold)
        links = tuple(Link(f"T{number}", start=number, end=number + 1) for number in range(1 + i % 2))
        paths = ((Step("r"),) * (1 + i % 2),)
        question = Question(str(i), "which?", links, answers, paths, extra={"kind": KINDS[i]})
        trace: dict[str, Any] = {} if probability is None else {"reader": {"reads": 1, "probability": probability}}
        if answer is None:
            found.append(Retrieval(question, error="the graph is away"))
            continue
        told = attrs.evolve(answer, certainty=certainties[i]) if certainties[i] else answer
        found.append(Retrieval(question, Subgraph(trace=trace), told))
    return found


def means(retrievals: list[Retrieval]) -> dict[str, Any]:
    return compare({"m": [row(one) for one in retrievals]})


def test_ten_answers_have_the_metrics_that_are_counted_by_hand() -> None:
    methods = means(ten())["methods"]["m"]
    found = {name: methods[name]["mean"] for name in ("answer_hit", "answer_f1", "answer_equal")}
    hits, f1, equal = (
        [1, 1, 0, 1, 0, 1, 1, 0, 1, 0],
        [1, 2 / 3, 2 / 3, 1, 0, 2 / 5, 1, 0, 1, 0],
        [1, 0, 0, 1, 0, 0, 1, 0, 1, 0],
    )
    assert found["answer_hit"] == pytest.approx(sum(hits) / 10)
    assert found["answer_f1"] == pytest.approx(sum(f1) / 10, abs=1e-4)
    assert found["answer_equal"] == pytest.approx(sum(equal) / 10)
    assert methods["answer_hit"]["n"] == 10


def test_accuracy_at_coverage_and_calibration_are_those_counted_by_hand() -> None:
    found = means(ten())["answers"]["m"]
    assert (found["questions"], found["coverage"], found["accuracy"]) == (10, 0.8, 0.5)
    at = {"0.1": 1, "0.2": 1, "0.3": 2 / 3, "0.4": 2 / 4, "0.5": 3 / 5, "0.6": 3 / 6, "0.7": 3 / 7, "0.8": 4 / 8}
    assert {share: value for share, value in found["accuracy_at"].items() if value is not None} == pytest.approx(
        at, abs=1e-4
    )
    assert (found["accuracy_at"]["0.9"], found["accuracy_at"]["1"]) == (None, None)
    assert found["risk_area"] == pytest.approx((0 + 0 + 1 / 3 + 1 / 2 + 2 / 5 + 1 / 2 + 4 / 7 + 1 / 2) / 8, abs=1e-4)
    assert found["calibration_error"] == pytest.approx((0.2 + 0.8 + 0.7 + 0.4 + 0.5 + 0.4 + 0.7) / 8, abs=1e-4)
    assert found["brier"] == pytest.approx((0.01 + 0.64 + 0.49 + 0.16 + 0.25 + 0.01 + 0.16 + 0.49) / 8, abs=1e-4)
    assert found["confident"] == sum(bin_["n"] for bin_ in found["reliability"]) == 8


def test_answers_of_equal_certainty_are_in_no_order() -> None:
    rights = [True, True, True, False, True, True, False, False, False, False]
    levels = ["sure"] * 4 + ["likely"] * 4 + ["unsure"] * 2
    found = selective(Answers(Judged(right, True, None, level) for right, level in zip(rights, levels, strict=True)))
    assert found is not None
    assert found["certainty"] == {
        "sure": {"n": 4, "accuracy": 0.75},
        "likely": {"n": 4, "accuracy": 0.5},
        "unsure": {"n": 2, "accuracy": 0.0},
    }
    at = {"0.1": 3 / 4, "0.4": 3 / 4, "0.6": 4 / 6, "0.8": 5 / 8, "0.9": 5 / 9, "1": 5 / 10}
    assert {share: found["accuracy_at"][share] for share in at} == pytest.approx(at, abs=1e-4)
    assert "calibration_error" not in found


def test_the_area_is_the_mean_error_over_all_numbers_of_answers() -> None:
    sure, right = [0.9, 0.9, 0.5, 0.1], [1, 0, 1, 0]
    assert [accuracy_at(sure, right, k) for k in (1, 2, 3, 4)] == pytest.approx([1 / 2, 1 / 2, 2 / 3, 1 / 2])
    assert risk_area(sure, right) == pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert math.isnan(accuracy_at(sure, right, 5))


def test_a_method_that_tells_nothing_of_its_sureness_has_no_curve() -> None:
    given = (Judged(True, True), Judged(False, True), Judged(False, False), None, Judged(None, True))
    found = selective(Answers(given))
    assert found == {"questions": 3, "coverage": pytest.approx(0.6667, abs=1e-4), "accuracy": 0.5}
    assert selective(Answers([Judged(None, True), None])) is None


def test_answers_are_told_by_kind_hops_and_topics() -> None:
    slices = means(ten())["slices"]
    assert {name: list(groups) for name, groups in slices.items() if name in ("hops", "topics", "kind")} == {
        "hops": ["1", "2"],
        "topics": ["1", "2"],
        "kind": ["count", "one", "set", "truth"],
    }
    by_kind = {kind: group["methods"]["m"]["answer_equal"]["mean"] for kind, group in slices["kind"].items()}
    assert by_kind == pytest.approx({"count": 0.5, "one": 0.25, "set": 1 / 3, "truth": 1.0}, abs=1e-4)
    by_topics = {number: group["methods"]["m"]["answer_hit"]["mean"] for number, group in slices["topics"].items()}
    assert by_topics == pytest.approx({"1": 3 / 5, "2": 3 / 5})


def test_alternatives_of_one_span_are_one_topic() -> None:
    links = (Link("A", start=0, end=3), Link("B", start=0, end=3), Link("C"), Link("D"))
    assert row(Retrieval(Question("1", "who?", links))).topics == 3
    assert row(Retrieval(Question("1", "who?"))).topics is None


def test_scores_of_a_run_keep_answers_and_topics(tmp_path: Path) -> None:
    rows = [row(one) for one in ten(("sure",) * 10)]
    write_scores(tmp_path, [("m", one) for one in rows])
    assert read_scores(tmp_path) == {"m": rows}


def test_the_table_and_the_page_show_the_curve(tmp_path: Path) -> None:
    report = means(ten())
    assert selective_table(report) is not None
    assert any(table.title == "accuracy of the surest answers" for table in tables(report))
    page = next(file for file in write_report(report, tmp_path) if file.name == "report.html").read_text("utf-8")
    assert "Accuracy of the surest share of all questions" in page
    assert "Reliability by bin of confidence" in page
    assert selective_table(means(ten()[4:5])) is None


@pytest.mark.parametrize("field", ["probability", "confidence"])
def test_a_file_of_answers_with_probabilities_is_evaluated(
    tmp_path: Path, field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        {
            "id": str(number),
            "question": "which?",
            "answer_entities": ["A"],
            "triplets": [["T", "r", "A"]],
            "answer": {"text": end, "entities": [end], field: sure},
        }
        for number, (end, sure) in enumerate((("A", 0.9), ("B", 0.2)))
    ]
    results, report = tmp_path / "results.jsonl", tmp_path / "report.json"
    results.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert main(["evaluate", str(results), "-o", str(report)]) == 0
    found = json.loads(report.read_text(encoding="utf-8"))["answers"]["results"]
    assert found["accuracy_at"]["0.5"] == 1.0
    assert found["calibration_error"] == pytest.approx((0.1 + 0.2) / 2)
    assert "accuracy of the surest answers" in capsys.readouterr().out


def test_values_that_are_no_nodes_are_gold_of_answers_alone() -> None:
    question = Question("1", "how many?", extra={"answer_values": ["4"]})
    metrics = row(Retrieval(question, answer=Answer("4", number=4))).metrics
    assert (metrics["answer_equal"], metrics["answer_coverage"]) == (1.0, None)
    failed = Retrieval(question, error="away")
    report = compare({"m": [row(Retrieval(question, answer=Answer("4", number=4))), row(failed)]})
    assert report["methods"]["m"]["answer_equal"]["mean"] == 0.5
