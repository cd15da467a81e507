"""The plan of columns on the screen."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from srtk_plugin_local.snapshot.column_table import column_tables

LONG = "exactly twenty-four here"
COLUMNS = [
    {"column": "club", "as": "relation", "example": f"Tigres{chr(31)}Chivas"},
    {"column": "note", "as": "text", "example": LONG},
    {"column": "size", "as": "layout", "kind": "layout", "example": f"{LONG}!"},
]


def report(name: str, columns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"name": name, "columns": columns, "header_line": 1, **more}


def test_columns_stand_two_blanks_apart_with_the_first_letters_of_an_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    [table] = column_tables([report("data/a.csv", COLUMNS)])
    Console(width=80).print(table)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "a.csv",
        "column  read as   example",
        "club    relation  Tigres, Chivas",
        "note    text      exactly twenty-four here",
        "size    layout    exactly twenty-four her…",
    ]
    assert [row.style for row in table.rows] == ["", "", "dim"]


def test_of_files_with_the_same_columns_the_first_is_shown_and_without_headings_none() -> None:
    other = report("b.csv", COLUMNS[:1])
    reports = [report("a.csv", COLUMNS), report("c.csv", COLUMNS), report("d.csv", COLUMNS, header_line=0), other]
    assert [table.title for table in column_tables(reports)] == ["a.csv", "b.csv"]
