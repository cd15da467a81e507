"""Terminal tables of the part ``linking`` of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from srtk_plugin_evaluation.intervals import Estimate

SHORT = {
    "strong_precision": "strong precision",
    "strong_recall": "strong recall",
    "strong_f1": "strong F1",
    "weak_precision": "weak precision",
    "weak_recall": "weak recall",
    "weak_f1": "weak F1",
    "strong_f1_per_question": "strong F1 per question",
    "entity_precision": "entity precision",
    "entity_recall": "entity recall",
    "entity_f1": "entity F1",
    "mention_recall": "mention recall",
    "recall_at_1": "recall at 1",
    "recall_at_5": "recall at 5",
    "recall_at_10": "recall at 10",
    "coverage": "coverage",
    "covered_precision": "covered precision",
    "covered_recall": "covered recall",
    "covered_f1": "covered F1",
    "ambiguous_accuracy": "ambiguous accuracy",
    "nil_accuracy": "NIL accuracy",
    "nil_precision": "NIL precision",
    "nil_recall": "NIL recall",
}
"""Display names of metrics, in the order of tables."""

_TESTED = ("strong_f1", "weak_f1", "entity_f1", "recall_at_5", "covered_f1", "ambiguous_accuracy")

_SLICED = ("strong_f1", "weak_f1", "recall_at_5")


def link_tables(linking: Mapping[str, Any]) -> list[Table]:
    """Build the table of metrics, with a row per metric and a column per method, and the table of differences."""
    found = [metric_table("links", linking, SHORT, "questions with gold links")]
    if any(linking["differences"].values()):
        tested = {metric: SHORT[metric] for metric in _TESTED}
        found.append(difference_table("differences of links", linking["differences"], tested))
    return found


def metric_table(title: str, part: Mapping[str, Any], names: Mapping[str, str], questions: str) -> Table:
    """Build the table of a part of a report, with a row per metric and a column per method."""
    methods: Mapping[str, Mapping[str, Estimate]] = part["methods"]
    laid = plain_table(title, ["metric", *methods], 1)
    laid.caption = f"{part['questions']} {questions}. ±: half of the 95 % interval."
    for metric, name in names.items():
        if any(metric in found for found in methods.values()):
            laid.add_row(name, *(_cell(found.get(metric)) for found in methods.values()))
    return laid


def difference_table(title: str, differences: Mapping[str, Mapping[str, Estimate]], names: Mapping[str, str]) -> Table:
    """Build the table of differences between methods, with a row per pair and metric."""
    from rich.text import Text

    laid = plain_table(title, ["pair", "metric", "mean", "low", "high", "p", "Holm p"], 2)
    for pair, metrics in differences.items():
        for number, metric in enumerate(metric for metric in names if metric in metrics):
            apart = metrics[metric]
            figures = (f"{apart[part]:+.3f}" for part in ("mean", "low", "high"))
            p, corrected = f"{apart['p']:.3f}", f"{apart['p_holm']:.3f}"
            laid.add_row(Text(pair if number == 0 else ""), names[metric], *figures, p, corrected)
    return laid


def link_slices(name: str, groups: Mapping[str, Mapping[str, Any]]) -> Table | None:
    """Build the table of a slice, with a row per group and method; None if no question has gold links."""
    from rich.text import Text

    some = {label: group["linking"] for label, group in groups.items() if "linking" in group}
    if not some:
        return None
    laid = plain_table(f"links by {name}", ["group", "method", "questions", *(SHORT[metric] for metric in _SLICED)], 2)
    for label, linking in some.items():
        for number, (method, found) in enumerate(linking["methods"].items()):
            cells = (_cell(found.get(metric)) for metric in _SLICED)
            laid.add_row(Text(label if number == 0 else ""), Text(method), str(linking["questions"]), *cells)
    return laid


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    half = f"{(estimate['high'] - estimate['low']) / 2:.3f}".removeprefix("0")
    return f"{estimate['mean']:.3f} ±{half}  n {estimate['n']}"


def plain_table(title: str, columns: Sequence[str], texts: int) -> Table:
    """Lay out an empty table; the first ``texts`` columns are aligned to the left."""
    from rich import box
    from rich.table import Table

    laid = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    laid.title_style, laid.caption_justify = "bold", "left"
    for number, column in enumerate(columns):
        laid.add_column(column, justify="left" if number < texts else "right", overflow="fold")
    return laid
