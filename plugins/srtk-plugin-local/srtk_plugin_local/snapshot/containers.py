"""Files that hold several tables: Excel workbooks, SQLite databases and JSON."""

from __future__ import annotations

import re
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from srtk_framework.values import InputError, shortened
from srtk_plugin_local.snapshot.arrow_texts import check_separator
from srtk_plugin_local.snapshot.build_settings import WITHIN
from srtk_plugin_local.snapshot.header import Planner
from srtk_plugin_local.snapshot.input_report import FileReport, Meter
from srtk_plugin_local.snapshot.json_tables import json_tables
from srtk_plugin_local.snapshot.limits import MAX_LITERAL, ROWS, amount, check_width, megabytes
from srtk_plugin_local.snapshot.tables import BELOW, Merged, read_batches, read_cells

if TYPE_CHECKING:
    import pyarrow as pa

# A cell of a workbook whose formula has no value.
_FORMULA_ALONE = re.compile(rb"<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\b[^>]*\bref=[\"']([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)[\"']")
# Unpacked bytes of the largest workbook; openpyxl reads some megabytes in a second.
MAX_WORKBOOK = 256 << 20
Tables = Iterator[tuple[FileReport, Iterator["pa.Table"]]]


def read_container(name: str, kind: str, planner: Planner, strict: bool, meter: Meter, memory: str = "1GB") -> Tables:
    """Yield each table of a file: its report, and tables of text columns as ``read_rows`` gives them.

    Raises:
        InputError: If the file cannot be read, holds no table, or openpyxl is not installed.
    """
    if kind == "json":
        tables = json_tables(name, planner, strict, meter, amount(memory))
    else:
        tables = (_workbook if kind == "xlsx" else _database)(name, planner, strict, meter)
    if (first := next(tables, None)) is None:
        raise InputError(f"{name}: holds no table with rows; leave it out")
    yield first
    yield from tables


def _workbook(name: str, planner: Planner, strict: bool, meter: Meter) -> Tables:
    if find_spec("openpyxl") is None:
        raise InputError(f"{name}: reading Excel needs openpyxl; run: pip install 'srtk-plugin-local[excel]'")
    try:
        with zipfile.ZipFile(name) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_WORKBOOK:
            raise InputError(
                f"{name}: unpacks to {megabytes(size)}, and a workbook of at most {megabytes(MAX_WORKBOOK)} is "
                "read; save its sheets as CSV"
            )
        yield from _sheets(name, planner, strict, meter)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # openpyxl raises what zipfile and its XML parser do
        raise InputError(f"{name}: cannot be read as an Excel workbook ({error}); save it again as .xlsx") from error


def _sheets(name: str, planner: Planner, strict: bool, meter: Meter) -> Tables:
    import openpyxl

    book = openpyxl.load_workbook(name, read_only=True, data_only=True)
    with zipfile.ZipFile(name) as archive:
        # Openpyxl has to read a workbook twice for this, so the text of the sheets is searched first.
        sheets = (archive.read(entry) for entry in archive.namelist() if entry.startswith("xl/worksheets/"))
        lacking = _uncalculated(name) if any(map(_FORMULA_ALONE.search, sheets)) else {}
        merged = {
            sheet.title: _merged_rows(archive.read(sheet._worksheet_path.lstrip("/"))) for sheet in book.worksheets
        }
    columns: list[tuple[FileReport, Iterator[pa.Table]]] = []
    has_tables = False
    with closing(book):
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the file may declare any size
            rows = []
            for line, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
                if row := _texts(cells):
                    check_width(f"{name}{WITHIN}{sheet.title}", len(row))
                    rows.append((line, row))
            if not rows:
                continue
            width = max(len(row) for _, row in rows)
            texts = [(line, [*row, *[""] * (width - len(row))]) for line, row in rows]
            report = FileReport(f"{name}{WITHIN}{sheet.title}", "xlsx", strict)
            if sheet.sheet_state != "visible":
                report.note("is a hidden sheet, which was read like the others")
            for place, count in sorted(lacking.get(sheet.title, {}).items()):
                title = (texts[0][1][place] if place < width else "") or f"column {place + 1}"
                sentence = (
                    f"{count:,} formulas of {title!r} were never calculated, so that their cells are empty; open the "
                    "workbook in a spreadsheet program, and save it"
                )
                if strict:
                    raise InputError(f"{report.name}: {sentence}")
                report.note(sentence)
            foot = _foot(texts)
            for line, _ in texts[foot:]:
                report.skip(BELOW, line, "the line is no part of the table; remove it", "row ")
            made = read_cells(texts[:foot], planner, report, merged.get(sheet.title, ()))
            if width == 1:
                columns.append((report, made))
                continue
            has_tables = True
            yield report, made
            meter(0)
    for report, made in columns:
        if has_tables:
            report.note("is a single column beside the tables of other sheets; it was not read")
        yield report, iter(()) if has_tables else made


def _merged_rows(sheet: bytes) -> list[Merged]:
    """Return the cells that are merged over several rows of a column."""
    from openpyxl.utils import column_index_from_string

    found = ((column, int(first), other, int(last)) for column, first, other, last in _MERGED.findall(sheet))
    return [
        (column_index_from_string(column.decode()) - 1, first, last)
        for column, first, other, last in found
        if column == other and first < last
    ]


def _foot(rows: Sequence[tuple[int, Sequence[str]]]) -> int:
    """Return the number of rows without those at the end that stand below an empty row, and fill a cell each."""
    end = len(rows)
    while end > 1 and sum(map(bool, rows[end - 1][1])) == 1:
        end -= 1
    apart = (at for at in range(end, len(rows)) if rows[at][0] > rows[at - 1][0] + 1)
    return next(apart, len(rows)) if len(rows[0][1]) > 2 else len(rows)


def _texts(cells: Iterable[Any]) -> list[str]:
    """Return cells as texts, up to the last that is not empty."""
    texts = [_text(cell) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _uncalculated(name: str) -> dict[str, dict[int, int]]:
    """Count the formulas without a value, by sheet and place of the column."""
    import openpyxl

    found: dict[str, dict[int, int]] = {}
    with (
        closing(openpyxl.load_workbook(name, read_only=True)) as formulas,
        closing(openpyxl.load_workbook(name, read_only=True, data_only=True)) as values,
    ):
        for sheet in formulas.worksheets:
            counts: Counter[int] = Counter()
            sheet.reset_dimensions()
            values[sheet.title].reset_dimensions()
            for row, known in zip(sheet.iter_rows(), values[sheet.title].iter_rows(values_only=True), strict=True):
                cells = zip(row, known, strict=True)
                counts.update(at for at, (cell, value) in enumerate(cells) if value is None and cell.data_type == "f")
            found[sheet.title] = dict(counts)
    return found


def _text(value: Any) -> str:
    """Return a cell as text: dates in ISO form, truth values in small letters."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return str(value).strip()


def _database(name: str, planner: Planner, strict: bool, meter: Meter) -> Tables:
    try:
        database = sqlite3.connect(f"file:{quote(str(Path(name).resolve()))}?mode=ro", uri=True)
        with closing(database):
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LITERAL)
            sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            names = [table for (table,) in database.execute(sql).fetchall()]
            # Their rows are read later, one table after the other.
            made = {table: list(_database_table(name, table, database, planner, strict, meter)) for table in names}
            views = [view for (view,) in database.execute(sql.replace("'table'", "'view'")).fetchall()]
            tables = [one for found in made.values() for one in found]
            if tables and views:
                tables[0][0].note(f"the views of its database are not read: {shortened(', '.join(views))}")
            if tables and (empty := [table for table, found in made.items() if not found]):
                tables[0][0].note(f"these tables of its database have no rows: {shortened(', '.join(empty))}")
            yield from tables
    except sqlite3.Error as error:
        raise _wrong(name, error) from error


def _next_row(name: str, cursor: sqlite3.Cursor) -> tuple[Any, ...] | None:
    try:
        return cursor.fetchone()  # type: ignore[no-any-return]
    except sqlite3.Error as error:
        raise _wrong(name, error) from error


def _wrong(name: str, error: sqlite3.Error) -> InputError:
    return InputError(f"{name}: cannot be read as an SQLite database ({error}); check the file")


def _database_table(
    name: str, table: str, database: sqlite3.Connection, planner: Planner, strict: bool, meter: Meter
) -> Tables:
    quoted = '"' + table.replace('"', '""') + '"'
    columns = database.execute(f"PRAGMA table_info({quoted})").fetchall()
    titles = [column[1] for column in columns]  # without generated columns, which a few bytes can make any size
    listed = ", ".join('"' + title.replace('"', '""') + '"' for title in titles)
    if not titles or database.execute(f"SELECT 1 FROM {quoted} LIMIT 1").fetchone() is None:
        return
    keys = [column[1] for column in columns if column[5]]
    report = FileReport(f"{name}{WITHIN}{table}", "sqlite", strict)
    report.key = keys[0] if len(keys) == 1 else ""
    links = database.execute(f"PRAGMA foreign_key_list({quoted})").fetchall()
    composed = {link[0] for link in links if link[1]}
    report.links = {link[3]: link[2] for link in links if link[0] not in composed}
    if composed:
        report.note("its foreign keys of several columns are not followed")

    def batches() -> Iterator[pa.RecordBatch]:
        rows: list[list[str | None]] = []
        size = 0
        cursor = database.execute(f"SELECT {listed} FROM {quoted}")
        while (row := _next_row(name, cursor)) is not None:
            rows.append([_text(cell) or None for cell in row])
            size += sum(len(cell) for cell in rows[-1] if cell)
            if len(rows) == ROWS or size > MAX_LITERAL:
                yield record(rows)
                rows, size = [], 0
        if rows:
            yield record(rows)

    def record(rows: list[list[str | None]]) -> pa.RecordBatch:
        import pyarrow as pa

        columns = list(zip(*rows, strict=True))
        for title, column in zip(titles, columns, strict=True):
            check_separator(report.name, title, column)
        return pa.record_batch([pa.array(column, pa.string()) for column in columns], names=titles)

    yield report, read_batches(report.name, titles, batches(), planner, report, meter)
