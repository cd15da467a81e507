"""Comparisons of methods and runs: printed, and written with plots and a page."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from srtk_framework.values import InputError


def show(report: Mapping[str, Any], folder: Path | None, quiet: bool = False) -> None:
    """Print a report, and write it to the folder if it is named."""
    from rich.console import Console

    from srtk_plugin_evaluation.tables import tables

    console = Console()
    for number, table in enumerate(() if quiet else tables(report)):
        if number:
            console.print()
        console.print(table)
    if folder is not None:
        write(report, folder, quiet)


def print_tables(report: Mapping[str, Any]) -> None:
    """Print the tables of one run's evaluation, with links and completion, without slices."""
    from rich.console import Console

    from srtk_plugin_evaluation.completion_tables import completion_tables
    from srtk_plugin_evaluation.link_tables import link_tables
    from srtk_plugin_evaluation.tables import answers_table, measured, selective_table, table

    laid = [table(report) if measured(report) else None, answers_table(report), selective_table(report)]
    laid += completion_tables(report["completion"], slices=False) if "completion" in report else []
    laid += link_tables(report["linking"]) if "linking" in report else []
    for one in laid:
        if one is not None:
            Console().print(one)


def write(report: Mapping[str, Any], folder: Path, quiet: bool = False) -> None:
    """Write a report to a folder, and print the names of its files."""
    from rich.console import Console

    from srtk_plugin_evaluation.plots import INSTALL, can_plot
    from srtk_plugin_evaluation.report import write_report

    files = write_report(report, folder)
    if not can_plot():
        print(f"srtk: {INSTALL}", file=sys.stderr)
    if not quiet:
        page = next((file for file in files if file.suffix == ".html"), None)
        opened = "" if page is None else f"; open {page}"
        Console().print(f"wrote {len(files)} files in {folder}{opened}", highlight=False, soft_wrap=True, markup=False)


def compare_runs(folders: Sequence[Path], quiet: bool = False) -> None:
    """Print the comparison of finished runs and write it beside their folders, or print the reason against it."""
    from srtk_plugin_evaluation import comparison

    distinct = list(dict.fromkeys(folders))
    if len(distinct) < 2:
        return
    parents = {folder.parent for folder in distinct}
    target = (parents.pop() if len(parents) == 1 else Path("out")) / "comparison"
    try:
        report = comparison.compare_runs(distinct)
    except InputError as error:
        print(f"srtk: the runs are not compared: {error}", file=sys.stderr)
        return
    show(report, target, quiet)
