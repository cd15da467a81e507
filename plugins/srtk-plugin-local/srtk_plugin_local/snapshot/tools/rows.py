"""Rows of a tool's table as mappings from heading to value: CSV, TSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_files import Input, blocks, guess_format
from srtk_plugin_local.snapshot.input_report import FileReport, Meter
from srtk_plugin_local.snapshot.limits import MAX_LITERAL
from srtk_plugin_local.snapshot.tables import WIDTHS, decoded_lines

Row = dict[str, Any]


def rows_of(name: str, report: FileReport, meter: Meter, quoted: bool = True) -> tuple[list[str], Iterator[Row]]:
    """Return the headings of a table, and its rows; a missing value is None or an empty text.

    Args:
        name: Path of the file.
        report: Counts the rows, and those with another number of cells, which are skipped.
        meter: Gets the progress.
        quoted: Whether quotation marks enclose cells.

    Raises:
        InputError: If it is no table, or not UTF-8.
    """
    kind = guess_format(name)
    if kind == "parquet":
        return _parquet(name, report, meter)
    if kind not in ("csv", "tsv"):
        raise InputError(f"{name}: is {kind}, not a table; give the tool's files in CSV, TSV or Parquet")
    records = _records(name, report, meter, quoted)
    try:
        headings = [heading.strip() for heading in next(records)]
    except StopIteration:
        raise InputError(f"{name}: is empty; leave the file out") from None
    report.header, report.header_line = tuple(headings), 1

    def rows() -> Iterator[Row]:
        for line, record in enumerate(records, start=2):
            if len(record) == len(headings):
                report.rows += 1
                yield dict(zip(headings, record, strict=True))
            elif record:
                sentence = f"expected {len(headings)} cells, found {len(record)}; correct the row"
                report.skip(WIDTHS, line, sentence)

    return headings, rows()


def _records(name: str, report: FileReport, meter: Meter, quoted: bool) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_LITERAL)
    with Input(name) as source:
        source.to_utf8()
        start = source.peek().partition(b"\n")[0]
        report.separator = max("\t,;", key=lambda mark: start.count(mark.encode()))

        def read() -> Iterator[tuple[int, bytes]]:
            for block in blocks(source, report, quoted):
                meter(source.done)
                yield block

        lines = decoded_lines(name, read())
        try:
            yield from csv.reader(
                lines, delimiter=report.separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
            )
        except csv.Error as error:
            raise InputError(f"{name}: cannot be read as a table ({error}); correct the file") from error


def _parquet(name: str, report: FileReport, meter: Meter) -> tuple[list[str], Iterator[Row]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(name)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{name}: cannot be read as Parquet ({error}); write the file again") from error

    def rows() -> Iterator[Row]:
        done = 0
        for batch in file.iter_batches(batch_size=10_000):
            done += batch.nbytes
            meter(done)
            report.rows += batch.num_rows
            yield from batch.to_pylist()

    return list(file.schema_arrow.names), rows()


def text(value: Any) -> str:
    """Return a value of a cell as text; empty for a missing value."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return str(value).strip()
