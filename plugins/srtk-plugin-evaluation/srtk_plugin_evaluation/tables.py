"""Terminal tables of an evaluation report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from srtk_plugin_evaluation.columns import COLUMNS, CURVES, SIZES, SLICED, SPEED, TITLES
from srtk_plugin_evaluation.completion_tables import completion_tables
from srtk_plugin_evaluation.link_tables import (
    difference_table,
    link_slices,
    link_tables,
    plain_table,
    shown_in,
    slice_table,
)

if TYPE_CHECKING:
    from rich.table import Table

    from srtk_plugin_evaluation.intervals import Estimate


def table(report: Mapping[str, Any]) -> Table:
    """Build the main table, with a row per method and intervals below the means; fits 80 columns."""
    from rich import box
    from rich.table import Table

    methods: Mapping[str, Mapping[str, Estimate]] = report["methods"]
    shown = [
        column
        for column in COLUMNS
        if column.head and any(m.get(column.name, {}).get("mean") is not None for m in methods.values())
    ]
    laid = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False, min_width=60, caption=_caption(report))
    laid.caption_justify = "left"
    laid.add_column("method", min_width=6, max_width=16, overflow="fold")
    for column in shown:
        laid.add_column(column.head, justify="right", no_wrap=True)
    for method, metrics in methods.items():
        laid.add_row(method, *(_cell(column.name, metrics.get(column.name)) for column in shown))
    return laid


def measured(report: Mapping[str, Any]) -> bool:
    """Return whether a report has metrics of subgraphs, not only of links."""
    return any(
        value["mean"] is not None
        for found in report["methods"].values()
        for metric, value in found.items()
        if metric != SPEED
    )


def _cell(name: str, estimate: Estimate | None) -> str:
    if estimate is None or estimate["mean"] is None:
        return "-"
    mean = estimate["mean"]
    shown = _size(mean, mean) if name in SIZES else f"{mean:.3f}"
    if estimate["low"] is None:
        return shown
    half = (estimate["high"] - estimate["low"]) / 2
    return f"{shown}\n±{_size(half, mean)}" if name in SIZES else f"{shown}\n±{half:.3f}".replace("±0.", "±.")


def _flat(name: str, estimate: Estimate | None) -> str:
    return _cell(name, estimate).replace("\n", " ")


def _size(value: float, shown: float) -> str:
    """Format a size or speed with the precision that suits ``shown``."""
    if shown >= 100_000:
        return f"{value / 1000:.0f}k"
    return f"{value:.0f}" if shown >= 1000 else f"{value:.1f}"


def _caption(report: Mapping[str, Any]) -> str:
    failed = ", ".join(f"{name} {count}" for name, count in report["failed"].items() if count)
    parts = [f"{report['questions']} questions", f"links: {report['links']}", f"failed: {failed or 'none'}"]
    return "; ".join(parts) + ". ±: half of the 95 % interval."


def tables(report: Mapping[str, Any]) -> list[Table]:
    """Build all tables of a comparison: metrics, metrics at K, differences and slices."""
    slices = report.get("slices", {})
    found = [*link_tables(report["linking"])] if "linking" in report else []
    if "linking" in report:
        found += filter(None, (link_slices(name, some) for name, some in slices.items()))
        if not measured(report):
            return found
    found[:0] = filter(None, (table(report), answers_table(report), selective_table(report)))
    if "completion" in report:
        found += completion_tables(report["completion"])
    at = report.get("at")
    if at:
        found += [_at(at, metric) for metric in CURVES if any(metric in some for some in at["methods"].values())]
    if any(report["differences"].values()):
        laid = difference_table("differences", report["differences"], TITLES, SIZES, narrow=True)
        laid.caption = "Holm p: corrected for the number of pairs of a metric."
        found.append(laid)
    for name, some in slices.items():
        names = shown_in({metric: TITLES[metric] for metric in SLICED}, some)
        found.append(slice_table(f"by {name}", "n", names, some, _flat, narrow=True))
    return found


def answers_table(report: Mapping[str, Any]) -> Table | None:
    """Build the table of answers and of the use of generators; None if no method has these metrics."""
    methods = report["methods"]
    shown = [
        column
        for column in COLUMNS
        if column.answers_head and any(column.name in metrics for metrics in methods.values())
    ]
    if not shown:
        return None
    laid = plain_table("answers", ["method", *(column.answers_head for column in shown)], narrow=True)
    for method, metrics in methods.items():
        laid.add_row(method, *(_cell(column.name, metrics.get(column.name)) for column in shown))
    return laid


def selective_table(report: Mapping[str, Any]) -> Table | None:
    """Build the table of accuracy at coverage and of calibration; None where no method gives confidences."""
    methods = {name: some for name, some in report.get("answers", {}).items() if "accuracy_at" in some}
    if not methods:
        return None
    shares = list(next(iter(methods.values()))["accuracy_at"])
    laid = plain_table("accuracy of the surest answers", ["share of questions", *methods], narrow=True)
    for share in shares:
        laid.add_row(share, *(_number(some["accuracy_at"][share]) for some in methods.values()))
    for name, title in SELECTIVE.items():
        if any(name in some for some in methods.values()):
            laid.add_row(title, *(_number(some.get(name)) for some in methods.values()))
    return laid


# Display names of figures of selective answering, in the order of tables.
SELECTIVE = {
    "coverage": "answered",
    "accuracy": "accuracy",
    "risk_area": "area under the risk curve",
    "calibration_error": "calibration error",
    "brier": "Brier score",
}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _at(at: Mapping[str, Any], metric: str) -> Table:
    cuts = [*map(str, at["sizes"]), "all"]
    laid = plain_table(f"{TITLES[metric]} of the first triples", ["method", *cuts], narrow=True)
    for method, metrics in at["methods"].items():
        if metric in metrics:
            laid.add_row(method, *(f"{metrics[metric][cut]['mean']:.3f}" for cut in cuts))
    return laid
