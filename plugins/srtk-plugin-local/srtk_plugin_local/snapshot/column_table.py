"""The plan of columns on the screen: what each column of each file was read as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srtk_framework.values import on_one_line
from srtk_plugin_local.snapshot.input_report import has_headings

if TYPE_CHECKING:
    from rich.table import Table

# Characters of an example.
_EXAMPLE = 24
_DIM = ("layout", "bookkeeping", "empty", "ignored")


def column_tables(reports: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """Yield a table for each file with columns: column, read as, example."""
    from rich.table import Table

    seen = set()
    for report in reports:
        shown = [(column["column"], column["as"]) for column in report["columns"]]
        if not has_headings(report) or tuple(shown) in seen:
            continue
        seen.add(tuple(shown))
        title = Path(report["name"]).name
        table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), header_style="bold")
        for heading in ("column", "read as", "example"):
            table.add_column(heading, overflow="fold")
        for column in report["columns"]:
            example = column["example"].replace(chr(31), ", ")
            short = example if len(example) <= _EXAMPLE else f"{example[: _EXAMPLE - 1]}…"
            style = "dim" if column.get("kind") in _DIM else ""
            table.add_row(*map(on_one_line, (column["column"], column["as"], short)), style=style)
        yield table
