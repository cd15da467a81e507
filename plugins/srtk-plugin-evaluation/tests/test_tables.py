"""Terminal tables of a report."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any

import pytest
from kit.placed import rows
from srtk_plugin_evaluation.columns import METRICS, PATH_METRICS
from srtk_plugin_evaluation.metrics import compare
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.tables import answers_table, measured, table, tables

from srtk_framework.values import console


def drawn(report: dict[str, Any], width: int) -> str:
    with redirect_stdout(io.StringIO()) as out:
        console(width=width).print(table(report))
    return out.getvalue()


def test_the_table_fits_80_columns_without_truncated_figures() -> None:
    full = dict.fromkeys(METRICS, 1.0) | dict.fromkeys(PATH_METRICS, 1.0) | {"triples": 1234.0, "tokens": 12345.0}
    many = [Row(str(i), full, walks=True, seconds=0.0004) for i in range(20)]
    text = drawn(compare({"a name of a method that is long": many, "[red]bfs": many}), 80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text
    assert "1234" in text
    assert "[red]bfs" in text
    assert "12345" in text


def test_the_table_of_an_empty_run_can_be_drawn() -> None:
    assert "0 questions" in drawn(compare({"beam": []}), 80)


def estimate(mean: float | None, low: float | None = None, high: float | None = None, **more: float) -> dict[str, Any]:
    return {"mean": mean, "low": low, "high": high, "n": 9, **more}


def report(methods: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"questions": 9, "links": "given", "failed": {}, "methods": methods, "differences": {}, **parts}


def cells(laid: Any) -> list[list[str]]:
    """Return the rows of a table, the heads first."""
    return [
        [str(column.header).replace("\n", " ") for column in laid.columns],
        *map(list, zip(*([str(cell) for cell in column.cells] for column in laid.columns), strict=True)),
    ]


def test_shares_have_three_digits_and_sizes_those_that_suit_them() -> None:
    found = table(
        report(
            {
                "beam": {
                    "answer_recall": estimate(0.5, 0.4, 0.7),
                    "triples": estimate(12.34, 10.0, 14.0),
                    "tokens": estimate(1234.5, 1000.0, 1101.0),
                    "questions_per_second": estimate(123_456.0, 100_000.0, 104_000.0),
                }
            }
        )
    )
    assert cells(found) == [
        ["method", "answer recall", "triples", "tokens", "per second"],
        ["beam", "0.500\n±.150", "12.3\n±2.0", "1234\n±50", "123k\n±2k"],
    ]


@pytest.mark.parametrize(
    ("mean", "text"),
    [(999.94, "999.9"), (1000.0, "1000"), (99_999.0, "99999"), (100_000.0, "100k"), (100_600.0, "101k")],
)
def test_sizes_lose_digits_as_they_grow(mean: float, text: str) -> None:
    assert cells(table(report({"beam": {"triples": estimate(mean)}})))[1][1].split("\n")[0] == text


def test_a_metric_is_a_column_if_any_method_has_it() -> None:
    found = table(
        report(
            {
                "beam": {"answer_recall": estimate(1.0, 1.0, 1.0), "triple_f1": estimate(None)},
                "bfs": {"path_hit": estimate(0.25), "triple_f1": estimate(None)},
            }
        )
    )
    assert cells(found) == [
        ["method", "answer recall", "gold path"],
        ["beam", "1.000\n±.000", "-"],
        ["bfs", "-", "0.250"],
    ]


def test_the_caption_counts_questions_and_failures() -> None:
    assert table(report({}, failed={"beam": 0})).caption == (
        "9 questions; links: given; failed: none. ±: half of the 95 % interval."
    )
    failed = table(report({}, failed={"beam": 2, "bfs": 0, "ppr": 1})).caption
    assert "failed: beam 2, ppr 1." in str(failed)


def test_the_table_of_answers_has_the_use_of_generators() -> None:
    found = answers_table(
        report(
            {
                "ours": {"answer_hit": estimate(0.5, 0.4, 0.6), "calls": estimate(2.0, 1.0, 3.0)},
                "theirs": {"cost_per_1000": estimate(1.5)},
            }
        )
    )
    assert cells(found) == [
        ["method", "hit@1", "calls", "cost of 1,000"],
        ["ours", "0.500\n±.100", "2.0\n±1.0", "-"],
        ["theirs", "-", "-", "1.5"],
    ]


def test_links_alone_are_no_metrics_of_subgraphs() -> None:
    speed = {"questions_per_second": estimate(5.0)}
    assert not measured(report({"beam": {**speed, "answer_recall": estimate(None)}}))
    assert measured(report({"beam": speed, "bfs": {"triples": estimate(0.0)}}))


def test_differences_have_a_sign_and_name_their_pair_once() -> None:
    pair = {
        "triples": estimate(-2.25, -3.0, 1.0, p=0.5, p_holm=0.75),
        "answer_recall": estimate(0.125, 0.1, 0.2, p=0.001, p_holm=0.002),
    }
    found = tables(report({}, differences={"a - b": pair, "a - c": {}}))[-1]
    assert cells(found) == [
        ["pair", "metric", "mean", "low", "high", "p", "Holm p"],
        ["a - b", "answer recall", "+0.125", "+0.100", "+0.200", "0.001", "0.002"],
        ["", "triples", "-2.2", "-3.0", "+1.0", "0.500", "0.750"],
    ]


def test_slices_name_their_group_once_and_count_its_questions() -> None:
    group = {
        "questions": 4,
        "methods": {"a": {"answer_recall": estimate(0.5, 0.4, 0.6)}, "b": {"triples": estimate(3.0, 2.0, 4.0)}},
    }
    found = tables(report({}, slices={"hops": {"1": group, "2": {**group, "questions": 5}}}))[-1]
    assert found.title == "by hops"
    assert cells(found) == [
        ["group", "method", "n", "answer recall", "triples"],
        ["1", "a", "4", "0.500 ±.100", "-"],
        ["", "b", "4", "-", "3.0 ±1.0"],
        ["2", "a", "5", "0.500 ±.100", "-"],
        ["", "b", "5", "-", "3.0 ±1.0"],
    ]


def test_a_comparison_has_a_table_per_curve_then_differences_then_slices() -> None:
    whole = compare({"beam": rows(0), "bfs": rows(6)}, fields=["kind"])
    titles = [laid.title for laid in tables(whole)]
    assert titles == [
        None,
        "answer recall of the first triples",
        "triple precision of the first triples",
        "triple recall of the first triples",
        "differences",
        "by kind",
    ]
    at = cells(tables(whole)[1])
    assert at[0] == ["method", "5", "10", "20", "50", "100", "200", "all"]
    assert at[1:] == [["beam"] + ["1.000"] * 7, ["bfs", "0.000"] + ["1.000"] * 6]


def test_runs_of_linkers_have_the_tables_of_links_only() -> None:
    linking = {"questions": 1, "methods": {"l": {"strong_f1": estimate(0.5)}}, "differences": {}}
    group = {"questions": 1, "methods": {}, "linking": linking}
    found = tables(report({"l": {"triples": estimate(None)}}, linking=linking, slices={"kind": {"a": group}}))
    assert [laid.title for laid in found] == ["links", "links by kind"]
