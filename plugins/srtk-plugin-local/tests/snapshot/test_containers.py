"""Sheets of workbooks and tables of databases: their rows as texts, their keys, and what is no part of a table."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from srtk_plugin_local.snapshot import containers
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.containers import read_container
from srtk_plugin_local.snapshot.header import plan_facts
from srtk_plugin_local.snapshot.input_report import FileReport

from srtk_framework.values import InputError

Read = list[tuple[FileReport, list[int], list[list[str]]]]
"""The report of each table, the sizes of its batches, and its rows."""


def read(file: Path, kind: str) -> Read:
    planner = plan_facts(BuildSettings((str(file),), header=True))
    found: Read = []
    for report, tables in read_container(str(file), kind, planner, False, lambda done: None):
        batches = [list(map(list, zip(*table.to_pydict().values(), strict=True))) for table in tables]
        found.append((report, [*map(len, batches)], [row for rows in batches for row in rows]))
    return found


def workbook(file: Path, *sheets: Sequence[Sequence[Any]]) -> Read:
    """Write a workbook of sheets by their rows, and read it."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"s{number}")
        for row in rows:
            sheet.append(row)
    book.save(file)
    return read(file, "xlsx")


def database(file: Path, *statements: str) -> Read:
    with closing(sqlite3.connect(file)) as made:
        for statement in statements:
            made.execute(statement)
        made.commit()
    return read(file, "sqlite")


HEAD = [["id", "name", "size"], [1, "Ada", 5]]


@pytest.mark.parametrize(
    ("rows", "kept", "left_out"),
    [
        ([*HEAD, [], ["a note"]], 1, 1),
        ([*HEAD, [], ["a note"], ["another"], [], ["the last"]], 1, 3),
        ([*HEAD, ["a part"], [], ["a note"]], 2, 1),
        ([*HEAD, ["a part"]], 2, 0),  # no empty row above it
        ([*HEAD, [], ["two", "cells"]], 2, 0),
        ([*HEAD, [], [None, None, "a note"]], 1, 1),
        ([["id", "name"], [1, "Ada"], [], ["a note"]], 2, 0),  # of two columns a single cell may be a row
    ],
)
def test_lines_of_one_cell_below_an_empty_row_are_no_part_of_a_sheet(
    tmp_path: Path, rows: list[list[Any]], kept: int, left_out: int
) -> None:
    [(report, _, read_)] = workbook(tmp_path / "t.xlsx", rows)
    assert len(read_) == kept
    assert report.skipped.get("lines below the table", [0])[0] == left_out


def test_cells_of_a_workbook_are_texts_in_iso_form_without_blanks_around_them(tmp_path: Path) -> None:
    cells = ["k", True, 7, 1.5, " Ada ", datetime(2020, 1, 2, 3, 4), date(2020, 1, 2), time(8, 30), None]
    [(report, _, rows)] = workbook(tmp_path / "t.xlsx", [[*"abcdefghi"], cells])
    assert rows == [["k", "true", "7", "1.5", "Ada", "2020-01-02 03:04:00", "2020-01-02 00:00:00", "08:30:00", ""]]
    assert (report.name, report.format) == (f"{tmp_path / 't.xlsx'}::s1", "xlsx")


def test_sheets_of_one_column_are_read_where_no_sheet_has_more(tmp_path: Path) -> None:
    names, empty = [["name"], ["Ada"], ["Bo"]], [[None]]
    [(report, _, rows)] = workbook(tmp_path / "t.xlsx", empty, names)
    assert (report.name.rpartition("::")[2], rows, report.notes) == ("s2", [["Ada"], ["Bo"]], [])
    first, second = workbook(tmp_path / "t.xlsx", names, HEAD)
    assert (first[2], second[2]) == ([["1", "Ada", "5"]], [])
    assert second[0].notes == ["is a single column beside the tables of other sheets; it was not read"]


def test_a_formula_without_a_value_is_told_with_the_number_of_a_column_that_has_no_heading(tmp_path: Path) -> None:
    rows = [*HEAD, [2, "Bo", 6, "=C3", "=C3"], [3, "Cy", 7, None, "=C4"]]
    [(report, _, read_)] = workbook(tmp_path / "t.xlsx", rows, [["a", "b"], ["x", "y"]])[:1]
    assert [note.split(" were")[0] for note in report.notes] == ["1 formulas of 'column 4'", "2 formulas of 'column 5'"]
    assert len(read_) == 3


def test_tables_of_a_database_come_by_name_with_their_keys_and_links(tmp_path: Path) -> None:
    found = database(
        tmp_path / "t.db",
        'CREATE TABLE "b ""x""" (nr INTEGER PRIMARY KEY, "a ""title""" TEXT, data BLOB, made TEXT REFERENCES a (k))',
        "CREATE TABLE a (k TEXT PRIMARY KEY, n REAL)",
        "CREATE TABLE c (k TEXT, n INTEGER, d TEXT, PRIMARY KEY (k, n), FOREIGN KEY (k, n) REFERENCES d (k, n))",
        "CREATE TABLE empty (k TEXT)",
        "INSERT INTO \"b \"\"x\"\"\" VALUES (1, 'Cup', x'00ff', 'q'), (2, NULL, NULL, 'r')",
        "INSERT INTO a VALUES ('q', 1.5)",
        "INSERT INTO c VALUES ('q', 1, 'x')",
    )
    assert [report.name.rpartition("::")[2] for report, _, _ in found] == ["a", 'b "x"', "c"]
    assert [report.key for report, _, _ in found] == ["k", "nr", ""]
    assert [report.links for report, _, _ in found] == [{}, {"made": "a"}, {}]
    assert [report.notes for report, _, _ in found] == [
        ["these tables of its database have no rows: empty"],
        [],
        ["its foreign keys of several columns are not followed"],
    ]
    assert found[1][2] == [["1", "Cup", "0x00ff", "q"], ["2", "", "", "r"]]
    assert found[1][0].sheet == ("nr", 'a "title"', "data", "made")


@pytest.mark.parametrize(
    ("rows", "most", "sizes"), [(2, 9999, [2, 2, 1]), (9, 2000, [3, 2]), (9, 1999, [2, 2, 1]), (9, 999, [1] * 5)]
)
def test_a_batch_of_a_database_ends_with_its_last_row_or_the_row_that_goes_beyond_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, most: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(containers, "ROWS", rows)
    monkeypatch.setattr(containers, "MAX_LITERAL", most)
    values = ", ".join(f"('{n}', '{'x' * 999}', NULL, NULL)" for n in range(5))
    [(_, found, read_)] = database(tmp_path / "t.db", "CREATE TABLE t (a, b, c, d)", f"INSERT INTO t VALUES {values}")
    assert (found, [row[0] for row in read_]) == (sizes, [*"01234"])


def test_a_file_without_a_table_that_has_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.db: holds no table with rows; leave it out"):
        database(tmp_path / "t.db", "CREATE TABLE t (a)")
    with pytest.raises(InputError, match=r"t\.xlsx: holds no table with rows; leave it out"):
        workbook(tmp_path / "t.xlsx", [[None]])
    (tmp_path / "u.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"u\.xlsx: cannot be read as an Excel workbook \(File is not a zip file\)"):
        read(tmp_path / "u.xlsx", "xlsx")


def merged_book(file: Path, rows: Sequence[Sequence[Any]], *merged: str, hidden: bool = False) -> Read:
    """Write a workbook of a sheet with merged cells, and read it."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    if hidden:
        book.create_sheet("seen")
        sheet.sheet_state = "hidden"
    book.save(file)
    return read(file, "xlsx")


PLAN = [["house", "room", "seats"], ["North", "N1", 20], [None, "N2", 30], [None, "N3", 30], ["South", "S1", 12]]


def test_a_cell_that_is_merged_over_rows_is_read_in_each_and_told(tmp_path: Path) -> None:
    [(report, _, rows)] = merged_book(tmp_path / "t.xlsx", PLAN, "A2:A4")
    assert [row[0] for row in rows] == ["North", "North", "North", "South"]
    assert report.notes == ["cells merged over several rows were read in each of them: house"]


@pytest.mark.parametrize("cells", ["A1:A2", "A5:B5", "D2:D4"])
def test_cells_that_are_merged_in_the_heading_or_over_columns_or_without_a_text_stay(
    tmp_path: Path, cells: str
) -> None:
    [(report, _, _)] = merged_book(tmp_path / "t.xlsx", PLAN, cells)
    assert not any("merged" in note for note in report.notes)


def test_a_hidden_sheet_is_read_and_told(tmp_path: Path) -> None:
    [(report, _, rows)] = merged_book(tmp_path / "t.xlsx", PLAN, hidden=True)
    assert len(rows) == 4
    assert report.notes == ["is a hidden sheet, which was read like the others"]


def test_views_and_tables_without_rows_are_told_once(tmp_path: Path) -> None:
    made = ("CREATE TABLE a (x)", "INSERT INTO a VALUES (1)", "CREATE TABLE b (x)", "INSERT INTO b VALUES (2)")
    found = database(tmp_path / "t.db", *made, "CREATE TABLE c (x)", "CREATE VIEW v AS SELECT x FROM a")
    notes = [[note for note in report.notes if "database" in note] for report, *_ in found]
    assert notes == [["the views of its database are not read: v", "these tables of its database have no rows: c"], []]
    assert not any("database" in note for note in database(tmp_path / "u.db", *made)[0][0].notes)
