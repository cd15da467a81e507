"""Rows of totals that have a value in each column, in sheets whose types are known."""

from __future__ import annotations

from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets
from srtk_plugin_local.snapshot.staging_values import first_row, quote
from srtk_plugin_local.snapshot.tables import TOTALS, WORDS_OF_TOTALS

# Share of a sum by which its rounded parts may miss it.
_ROUNDED = 0.005
# Rows that a sum has at least.
_PARTS = 2


def drop_totals(sheets: Sheets, sheet: Sheet) -> None:
    """Leave out rows that begin with a word such as *Total* and hold the sums of all other rows; tell the others.

    Args:
        sheets: All sheets.
        sheet: A sheet, with the types of its columns.

    Raises:
        InputError: If there is such a row, and its report is strict.
    """
    cells = ", ".join(column.sql for column in sheet.columns)
    words = ", ".join(map(quote, sorted(WORDS_OF_TOTALS)))
    is_total = f"lower(trim(coalesce({cells}), ' :')) IN ({words})"
    found = sheets.con.execute(f"SELECT rowid, coalesce({cells}) FROM {sheet.table} WHERE {is_total}").fetchall()
    if not found or sheet.rows < len(found) + _PARTS:
        return
    numbers = [column for column in sheet.columns if column.type.numeric and not column.split]
    sums = [row for row, _ in found if _is_sum(sheets, sheet, numbers, row, is_total)]
    for row, text in found:
        if row in sums:
            place = next(place for place, end in enumerate(sheet.ends()) if row < end)
            report = sheet.reports[place]
            report.skip(TOTALS, row - [0, *sheet.ends()][place] + 1, "the row sums up other rows; remove it", "row ")
            report.rows -= 1
        else:
            sheet.note(
                f"its row {text!r} does not hold the sums of the others, and is a row like them; remove it if not"
            )
    if sums:
        sheet.rows -= len(sums)
        sheets.con.execute(f"DELETE FROM {sheet.table} WHERE rowid IN ({', '.join(map(str, sums))})")
        sheets.profile(sheet)


def _is_sum(sheets: Sheets, sheet: Sheet, numbers: list[Column], row: int, is_total: str) -> bool:
    """Return whether each number of a row is the sum of its column without the rows of totals."""
    same = []
    for column in numbers:
        number = f"try_cast({column.canonical()} AS DOUBLE)"
        value, whole = first_row(
            sheets.con,
            f"SELECT max({number}) FILTER (rowid = {row}), sum({number}) FILTER (NOT ({is_total})) FROM {sheet.table}",
        )
        if value is not None and whole is not None:
            same.append(abs(value - whole) <= _ROUNDED * max(1.0, abs(whole)))
    return bool(same) and all(same)
