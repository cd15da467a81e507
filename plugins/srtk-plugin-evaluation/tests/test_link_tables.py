"""Terminal tables of links."""

from __future__ import annotations

from typing import Any

from srtk_plugin_evaluation.link_scores import METRICS
from srtk_plugin_evaluation.link_tables import SHORT, link_slices, link_tables


def estimate(
    mean: float, low: float | None = None, high: float | None = None, n: int = 9, **more: float
) -> dict[str, Any]:
    return {"mean": mean, "low": low, "high": high, "n": n, **more}


def cells(laid: Any) -> list[list[str]]:
    """Return the rows of a table, the heads first."""
    return [
        [str(column.header) for column in laid.columns],
        *map(list, zip(*([str(cell) for cell in column.cells] for column in laid.columns), strict=True)),
    ]


def linking(methods: dict[str, Any], **differences: Any) -> dict[str, Any]:
    return {"questions": 7, "methods": methods, "differences": differences}


def test_every_linking_metric_has_a_name() -> None:
    assert set(METRICS) <= set(SHORT)


def test_metrics_are_rows_in_a_fixed_order_and_methods_are_columns() -> None:
    found = link_tables(
        linking(
            {
                "one": {"recall_at_1": estimate(0.5, 0.25, 0.75, 40), "strong_f1": estimate(0.123, 0.1, 0.2, 12)},
                "two": {"strong_f1": estimate(1.0, 1.0, 1.0, 12)},
            }
        )
    )
    assert len(found) == 1
    assert cells(found[0]) == [
        ["metric", "one", "two"],
        ["strong F1", "0.123 ±.050  n 12", "1.000 ±.000  n 12"],
        ["recall at 1", "0.500 ±.250  n 40", "-"],
    ]
    assert found[0].caption == "7 questions with gold links. ±: half of the 95 % interval."


def test_differences_name_their_pair_once_and_leave_out_what_is_not_tested() -> None:
    pair = {
        "entity_f1": estimate(-0.25, p=0.5, p_holm=1.0),
        "strong_f1": estimate(0.125, 0.0, 0.25, p=0.001, p_holm=0.003),
        "strong_recall": estimate(0.5, p=0.001, p_holm=0.003),
    }
    found = link_tables(linking({"one": {}, "two": {}}, **{"one - two": pair}))[1]
    assert found.title == "differences of links"
    assert cells(found) == [
        ["pair", "metric", "mean", "low", "high", "p", "Holm p"],
        ["one - two", "strong F1", "+0.125", "+0.000", "+0.250", "0.001", "0.003"],
        ["", "entity F1", "-0.250", "-", "-", "0.500", "1.000"],
    ]


def test_a_slice_has_a_row_per_group_and_method() -> None:
    part = linking({"one": {"strong_f1": estimate(0.5, 0.25, 0.75)}, "two": {"recall_at_5": estimate(0.75)}})
    found = link_slices("kind", {"a": {"linking": part}, "b": {}, "c": {"linking": {**part, "questions": 2}}})
    assert found is not None
    assert cells(found) == [
        ["group", "method", "questions", "strong F1", "weak F1", "recall at 5"],
        ["a", "one", "7", "0.500 ±.250  n 9", "-", "-"],
        ["", "two", "7", "-", "-", "0.750  n 9"],
        ["c", "one", "2", "0.500 ±.250  n 9", "-", "-"],
        ["", "two", "2", "-", "-", "0.750  n 9"],
    ]


def test_a_slice_without_gold_links_has_no_table() -> None:
    assert link_slices("kind", {"a": {"questions": 3}}) is None
