"""Terminal tables of the part ``completion`` of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from srtk_plugin_evaluation.link_tables import difference_table, metric_table, plain_table

if TYPE_CHECKING:
    from rich.table import Table

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
    found = [metric_table("completion", completion, SHORT, "patterns with gold answers")]
    if any(completion["differences"].values()):
        found.append(difference_table("differences of completion", completion["differences"], SHORT))
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
            means = (f"{metrics[metric]['mean']:.3f}" if metric in metrics else "-" for metric in shown)
            laid.add_row(Text(label if number == 0 else ""), Text(method), str(group["questions"]), *means)
    return laid
