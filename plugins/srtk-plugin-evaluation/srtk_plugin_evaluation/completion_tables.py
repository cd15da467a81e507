"""Terminal tables of the part ``completion`` of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from srtk_plugin_evaluation.link_tables import difference_table, metric_table, shown_in, slice_table

if TYPE_CHECKING:
    from rich.table import Table

    from srtk_plugin_evaluation.intervals import Estimate

# Display names of metrics, in the order of tables.
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

# Metrics shown by slice.
SLICED = ("mrr", "hits_at_10", "average_precision", "new_precision", "new_recall", "set_coverage", "calibration_error")


def completion_tables(completion: Mapping[str, Any], slices: bool = True) -> list[Table]:
    """Build the tables of metrics, with a row per metric, of differences and, if asked for, of slices."""
    found = [metric_table("completion", completion, SHORT, "patterns with gold answers")]
    if any(completion["differences"].values()):
        found.append(difference_table("differences of completion", completion["differences"], SHORT))
    if slices:
        for name, groups in completion.get("slices", {}).items():
            names = shown_in({metric: SHORT[metric] for metric in SLICED}, groups)
            found.append(slice_table(f"completion by {name}", "patterns", names, groups, _cell))
    return found


def _cell(_: str, estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{estimate['mean']:.3f}"
