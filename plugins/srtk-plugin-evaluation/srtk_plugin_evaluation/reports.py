"""Comparisons of methods and runs: printed, and written with plots and a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from srtk_framework.cli import say
from srtk_framework.values import InputError, console


def show(report: Mapping[str, Any], folder: Path | None, quiet: bool = False) -> None:
    """Print a report, and write it to the folder if it is named."""
    from srtk_plugin_evaluation.tables import tables

    screen = console()
    for number, table in enumerate(() if quiet else tables(report)):
        if number:
            screen.print()
        screen.print(table)
    if folder is not None:
        write(report, folder, quiet)


def print_tables(report: Mapping[str, Any]) -> None:
    """Print the tables of one run's evaluation, with links and completion, without slices."""
    from srtk_plugin_evaluation.completion_tables import completion_tables
    from srtk_plugin_evaluation.link_tables import link_tables
    from srtk_plugin_evaluation.tables import answers_table, measured, selective_table, table

    laid = [table(report) if measured(report) else None, answers_table(report), selective_table(report)]
    laid += completion_tables(report["completion"], slices=False) if "completion" in report else []
    laid += link_tables(report["linking"]) if "linking" in report else []
    for one in laid:
        if one is not None:
            console().print(one)


def write(report: Mapping[str, Any], folder: Path, quiet: bool = False) -> None:
    """Write a report to a folder, and print the names of its files."""
    from srtk_plugin_evaluation.plots import INSTALL, can_plot
    from srtk_plugin_evaluation.report import write_report

    files = write_report(report, folder)
    if not can_plot():
        say(f"{INSTALL}")
    if not quiet:
        page = next((file for file in files if file.suffix == ".html"), None)
        opened = "" if page is None else f"; open {page}"
        console().print(f"wrote {len(files)} files in {folder}{opened}", soft_wrap=True)


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
        say(f"the runs are not compared: {error}")
        return
    show(report, target, quiet)
