"""Rows of a tool's table as mappings from heading to value: CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from typing import Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_files import Input, guess_format
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.tables import Meter

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
    kind = guess_format(name, None)
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
    return headings, _mapped(headings, records, report)


def _mapped(headings: list[str], records: Iterator[list[str]], report: FileReport) -> Iterator[Row]:
    for line, record in enumerate(records, start=2):
        if not record:
            continue
        if len(record) != len(headings):
            sentence = f"expected {len(headings)} cells, found {len(record)}; correct the row"
            report.skip("rows with another number of columns", line, sentence)
            continue
        report.rows += 1
        yield dict(zip(headings, record, strict=True))


def _records(name: str, report: FileReport, meter: Meter, quoted: bool) -> Iterator[list[str]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with Input(name) as source:
        text = io.TextIOWrapper(io.BufferedReader(_Raw(source, meter)), encoding="utf-8-sig", newline="")
        start = text.readline()
        report.separator = max("\t,;", key=start.count)
        lines = _first_again(start, text)
        try:
            yield from csv.reader(
                lines, delimiter=report.separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
            )
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(f"{name}: cannot be read as a table ({error}); correct the file") from error


def _first_again(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest


class _Raw(io.RawIOBase):
    """An input as a stream of Python's."""

    def __init__(self, source: Input, meter: Meter) -> None:
        self._source = source
        self._meter = meter

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        self._meter(self._source.done)
        return len(data)


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
    """Return a value of a cell as text; empty for a missing one."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return str(value).strip()
