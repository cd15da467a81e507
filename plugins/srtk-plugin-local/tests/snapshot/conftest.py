"""Sheets in a database of their own, so that their rules are tested without a whole build."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.sheets import Sheets

Staged = Callable[..., Sheets]


@pytest.fixture
def staged() -> Staged:
    """Return a function that stages CSV texts by file name; their cells hold no comma. All are profiled."""

    def made(tables: Mapping[str, str], profiled: bool = True, format: str = "csv", **flags: Any) -> Sheets:
        sheets = Sheets(duckdb.connect(config={"threads": 1}), **flags)
        for name, text in tables.items():
            head, *rows = (line.split(",") for line in text.strip("\n").split("\n"))
            columns = [pa.array([row[at] for row in rows], pa.string()) for at in range(len(head))]
            report = FileReport(name, format, separator=",", sheet=tuple(head))
            sheets.add(report, pa.table(columns, [f"c{at}" for at in range(len(head))]))
        for sheet in sheets if profiled else ():
            sheets.profile(sheet)
        return sheets

    return made
