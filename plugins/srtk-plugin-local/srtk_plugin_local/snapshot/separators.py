"""The separator of the columns of a table of text, and its first rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence

from srtk_plugin_local.snapshot.header import Row

# Share of lines that must be as wide as the first; a few broken lines do not hide the separator.
_SAME_WIDTH = 0.6
# A line that SQL clients draw above, below and between rows: ``+----+----+`` and ``----+----``.
_BORDER = re.compile(r"\+?[-=]{2,}(\+[-=]{2,})*\+?")
# A first line in which Excel is told the separator.
_TOLD = re.compile(r"sep=(.)")


def first_rows(lines: Sequence[tuple[int, str]], kind: str, separator: str) -> list[Row]:
    """Return the cells of the first lines that are rows, up to one that cannot be read."""
    if kind != "csv":
        return [(number, line.split(separator)) for number, line in lines]
    numbers = [number for number, _ in lines]
    reader = csv.reader((line + "\n" for _, line in lines), delimiter=separator, strict=True)
    rows: list[Row] = []
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:  # cut in the middle of a row, or told with its line when the row is read
            return rows
        if cells is None:
            return rows
        if cells:
            rows.append((numbers[reader.line_num - 1], cells))


def is_border(line: str) -> bool:
    """Return whether a line is a border of a table that is drawn with characters."""
    return "+" in line and _BORDER.fullmatch(line.strip()) is not None


def found_separator(lines: Sequence[tuple[int, str]], kind: str) -> str:
    """Return the separator that cuts most of the first lines as it cuts the first, into three columns at best.

    A tab stands in few texts, so that tabs in most of the lines decide in tsv.
    """
    usual = "\t" if kind == "tsv" else ","
    if lines and (told := _TOLD.fullmatch(lines[0][1].strip())):
        return told[1]
    lines = [line for line in lines if not line[1].startswith("#")] or lines
    if kind == "tsv" and sum("\t" in line for _, line in lines) >= _SAME_WIDTH * len(lines):
        return usual
    widths = {}
    for other in (usual, *(c for c in ",;\t|" if c != usual)):
        quoted = "csv" if kind == "csv" or other in ",;" else kind
        widths[other] = [len(cells) for _, cells in first_rows(lines, quoted, other)]
    (columns, same, _), separator = _best_separator(widths)
    if columns > 2 or same == 1:
        return separator
    # Above a table there may be lines of other widths, as in the statement of an account.
    for other, some in widths.items():
        if (most := max(some, key=some.count, default=1)) > 2:
            widths[other] = some[some.index(most) :]
    return _best_separator(widths)[1] or usual


def _best_separator(widths: Mapping[str, Sequence[int]]) -> tuple[tuple[int, float, bool], str]:
    """Return the best separator by the numbers of cells into which each cuts the lines, and its score.

    A tab stands in few texts, so that it goes before others that cut as well.
    """
    best, separator = (0, 0.0, False), ""
    for other, some in widths.items():
        if some and some[0] > 1:
            score = (min(some[0], 3), some.count(some[0]) / len(some), other == "\t")
            if score[1] >= _SAME_WIDTH and score > best:
                best, separator = score, other
    return best, separator
