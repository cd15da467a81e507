"""Terminal tables of the part ``completion`` of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from srtk_plugin_evaluation.link_tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from srtk_plugin_evaluation.intervals import Estimate

SHORT = {
    "mrr": "MRR",
    "hits_at_1": "Hits@1",
    "hits_at_3": "Hits@3",
    "hits_at_10": "Hits@10",
    "average_precision": "average precision",
    "new_precision": "precision of new answers",
    "new_recall": "recall of new answers",
    "set_coverage": "gold in the answers",
    "set_size": "new answers",
    "calibration_error": "calibration error",
    "brier": "Brier score",
}
"""Display names of metrics, in the order of tables."""

SLICED = ("mrr", "hits_at_10", "average_precision", "new_precision", "new_recall", "set_coverage", "calibration_error")
"""Metrics shown by slice."""


def completion_tables(completion: Mapping[str, Any], slices: bool = True) -> list[Table]:
    """Build the tables of metrics, with a row per metric, of differences and, if asked for, of slices."""
    from rich.text import Text

    methods: Mapping[str, Mapping[str, Estimate]] = completion["methods"]
    laid = plain_table("completion", ["metric", *methods], 1)
    laid.caption = f"{completion['questions']} patterns with gold answers. ±: half of the 95 % interval."
    for metric, name in SHORT.items():
        if any(metric in found for found in methods.values()):
            laid.add_row(name, *(_cell(found.get(metric)) for found in methods.values()))
    found = [laid]
    if any(completion["differences"].values()):
        tests = plain_table("differences of completion", ["pair", "metric", "mean", "low", "high", "p", "Holm p"], 2)
        for pair, metrics in completion["differences"].items():
            for number, metric in enumerate(metric for metric in SHORT if metric in metrics):
                apart = metrics[metric]
                figures = (f"{apart[part]:+.3f}" for part in ("mean", "low", "high"))
                p, corrected = (f"{apart[part]:.3f}" for part in ("p", "p_holm"))
                tests.add_row(Text(pair if number == 0 else ""), SHORT[metric], *figures, p, corrected)
        found.append(tests)
    if slices:
        found += [_slice(name, groups) for name, groups in completion.get("slices", {}).items()]
    return found


def _slice(name: str, groups: Mapping[str, Mapping[str, Any]]) -> Table:
    from rich.text import Text

    every = [metrics for group in groups.values() for metrics in group["methods"].values()]
    shown = [metric for metric in SLICED if any(metric in metrics for metrics in every)]
    laid = plain_table(
        f"completion by {name}", ["group", "method", "patterns", *(SHORT[metric] for metric in shown)], 2
    )
    for label, group in groups.items():
        for number, (method, metrics) in enumerate(group["methods"].items()):
            cells = (_mean(metrics.get(metric)) for metric in shown)
            laid.add_row(Text(label if number == 0 else ""), Text(method), str(group["questions"]), *cells)
    return laid


def _mean(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{estimate['mean']:.3f}"


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    half = f"{(estimate['high'] - estimate['low']) / 2:.3f}".removeprefix("0")
    return f"{estimate['mean']:.3f} ±{half}  n {estimate['n']}"
