"""Terminal tables of the part ``linking`` of a report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from srtk_plugin_evaluation.link_scores import METRICS, PER_QUESTION

if TYPE_CHECKING:
    from rich.table import Table

    from srtk_plugin_evaluation.intervals import Estimate

# Display names of metrics, in the order of tables.
SHORT = {
    name: name.replace("_", " ").replace("f1", "F1").replace("nil", "NIL")
    for name in (*METRICS[:6], PER_QUESTION, *METRICS[6:])
}

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


def difference_table(
    title: str,
    differences: Mapping[str, Mapping[str, Estimate]],
    names: Mapping[str, str],
    sizes: Collection[str] = (),
    narrow: bool = False,
) -> Table:
    """Build the table of differences between methods, with a row per pair and metric.

    Args:
        title: Title of the table.
        differences: Pair of methods to metric to difference.
        names: Display names of the metrics that are shown.
        sizes: Metrics that are numbers in place of shares.
        narrow: See ``plain_table``.
    """
    laid = plain_table(title, ["pair", "metric", "mean", "low", "high", "p", "Holm p"], 2, narrow)
    for pair, metrics in differences.items():
        for number, metric in enumerate(metric for metric in names if metric in metrics):
            apart, digits = metrics[metric], 1 if metric in sizes else 3
            ends = (apart[part] for part in ("mean", "low", "high"))
            figures = ("-" if end is None else f"{end:+.{digits}f}" for end in ends)
            p, corrected = f"{apart['p']:.3f}", f"{apart['p_holm']:.3f}"
            laid.add_row(pair if number == 0 else "", names[metric], *figures, p, corrected)
    return laid


def link_slices(name: str, groups: Mapping[str, Mapping[str, Any]]) -> Table | None:
    """Build the table of a slice, with a row per group and method; None if no question has gold links."""
    some = {label: group["linking"] for label, group in groups.items() if "linking" in group}
    names = {metric: SHORT[metric] for metric in _SLICED}
    return slice_table(f"links by {name}", "questions", names, some, lambda _, found: _cell(found)) if some else None


def slice_table(
    title: str,
    count: str,
    names: Mapping[str, str],
    groups: Mapping[str, Mapping[str, Any]],
    cell: Callable[[str, Estimate | None], str],
    narrow: bool = False,
) -> Table:
    """Build the table of a slice, with a row per group and method.

    Args:
        title: Title of the table.
        count: Head of the numbers of questions.
        names: Display names of the metrics that are shown.
        groups: Group to its part of the report, with ``questions`` and ``methods``.
        cell: Returns the text for a metric and its estimate.
        narrow: See ``plain_table``.
    """
    laid = plain_table(title, ["group", "method", count, *names.values()], 2, narrow)
    for label, group in groups.items():
        for number, (method, metrics) in enumerate(group["methods"].items()):
            cells = (cell(metric, metrics.get(metric)) for metric in names)
            laid.add_row(label if number == 0 else "", method, str(group["questions"]), *cells)
    return laid


def shown_in(names: Mapping[str, str], groups: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the display names of the metrics that a method has in some group."""
    every = [metrics for group in groups.values() for metrics in group["methods"].values()]
    return {metric: name for metric, name in names.items() if any(metric in metrics for metrics in every)}


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    half = ""
    if estimate["low"] is not None:
        half = f" ±{(estimate['high'] - estimate['low']) / 2:.3f}".replace("±0.", "±.")
    return f"{estimate['mean']:.3f}{half}  n {estimate['n']}"


def plain_table(title: str, columns: Sequence[str], texts: int = 1, narrow: bool = False) -> Table:
    """Lay out an empty table.

    Args:
        title: Title of the table.
        columns: Heads of the columns.
        texts: Number of first columns that are aligned to the left.
        narrow: Fold texts at 28 characters and numbers nowhere; else all cells fold where the terminal ends.
    """
    from rich import box
    from rich.table import Table

    laid = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    laid.title_style, laid.caption_justify = "bold", "left"
    for number, column in enumerate(columns):
        if number < texts:
            laid.add_column(column, overflow="fold", max_width=28 if narrow else None)
        else:
            laid.add_column(column, justify="right", no_wrap=narrow, overflow="ellipsis" if narrow else "fold")
    return laid
