"""Rows of text from TSV, CSV, Parquet and JSON files, as pyarrow tables; errors name the line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from srtk_framework.records import parse_json
from srtk_framework.values import InputError, shortened
from srtk_plugin_local.snapshot.input_files import Input, blocks

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 100_000

Report = Callable[[int], None]
"""Receives the number of bytes read."""


def read_rows(
    name: str,
    kind: str,
    separator: str | None,
    columns: Sequence[str],
    widths: Sequence[int],
    filled: int,
    report: Report,
) -> Iterator[pa.Table]:
    """Yield tables of text columns ``c0``, ``c1``, ...

    Args:
        name: Path of the file.
        kind: ``tsv`` (no quoting), ``csv`` (quoted by ``"``) or ``parquet``.
        separator: Column separator; by default a tab, or a comma in CSV.
        columns: Header names of the columns to read; empty for all columns of a file without header.
        widths: Allowed numbers of columns without a header; the first line decides.
        filled: The first so many columns must not be empty.
        report: Called with the bytes read.

    Raises:
        InputError: With file and line, for a wrong number of columns, an empty column, or invalid UTF-8.
    """
    if kind == "parquet":
        return _read_parquet(name, columns, widths, filled, report)
    if kind == "csv":
        return _read_csv(name, separator or ",", columns, widths, filled, report)
    return _read_tsv(name, separator or "\t", columns, widths, filled, report)


class _Shape:
    """Number of columns of a file and the selected ones, checked line by line."""

    def __init__(self, name: str, separator: str, columns: Sequence[str], widths: Sequence[int], filled: int) -> None:
        self.name = name
        self.separator = separator
        self.columns = tuple(columns)
        self.widths = tuple(widths)
        self.filled = filled
        self.width = 0
        self.picked: list[int] = []

    def start(self, cells: Sequence[str], line: int) -> bool:
        """Take the shape from the first line; return whether that line is a header."""
        self.width = len(cells)
        if self.columns:
            missing = [column for column in self.columns if column not in cells]
            if missing:
                raise InputError(f"{self.name}:{line}: the header has no column {missing[0]!r}; it has {list(cells)}")
            self.picked = [list(cells).index(column) for column in self.columns]
            return True
        if self.width not in self.widths:
            self.width = self.widths[0]
            self.check(cells, line)
        self.picked = list(range(self.width))
        return False

    def check(self, cells: Sequence[str], line: int) -> None:
        """Raise an error for a line of another shape."""
        if len(cells) != self.width:
            raise InputError(
                f"{self.name}:{line}: expected {self.width} columns separated by {self.separator!r}, "
                f"found {len(cells)}; correct the line, or give --separator"
            )
        for place in self.picked[: self.filled]:
            if not cells[place]:
                raise InputError(f"{self.name}:{line}: column {place + 1} is empty; fill it or remove the line")


def _table(columns: Sequence[Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table({f"c{place}": pa.array(column, pa.string()) for place, column in enumerate(columns)})


def _decode(name: str, line: int, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}:{line}: is not UTF-8 ({error.reason}); convert the file to UTF-8") from error


def _read_tsv(
    name: str, separator: str, columns: Sequence[str], widths: Sequence[int], filled: int, report: Report
) -> Iterator[pa.Table]:
    shape = _Shape(name, separator, columns, widths, filled)
    with Input(name) as source:
        for line, block in blocks(source):
            data = block.replace(b"\r\n", b"\n") if b"\r" in block else block
            if not shape.width:
                head = data.lstrip(b"\n")
                if not head:
                    continue
                line += len(data) - len(head)
                text = _decode(name, line, head.partition(b"\n")[0])
                data = head
                if shape.start(text.split(separator), line):
                    data = head.partition(b"\n")[2]
                    line += 1
            table = _fast_rows(data, shape) or _careful_rows(data, shape, line)
            report(source.done)
            yield table
    report(source.size)


def _fast_rows(data: bytes, shape: _Shape) -> pa.Table | None:
    """Split a block with pyarrow's parser; return None if a line has another shape."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    if len(shape.separator.encode()) != 1 or b"\r" in data or not data.strip(b"\n"):
        return None
    names = [f"x{place}" for place in range(shape.width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(delimiter=shape.separator, quote_char=False, escape_char=False),
            arrow_csv.ConvertOptions(column_types={n: pa.string() for n in names}, strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        return None
    picked = [table.column(place) for place in shape.picked]
    if any(pc.min(pc.binary_length(column)).as_py() == 0 for column in picked[: shape.filled]):
        return None
    return pa.table({f"c{place}": column for place, column in enumerate(picked)})


def _careful_rows(data: bytes, shape: _Shape, line: int) -> pa.Table:
    """Split a block line by line; raise an error at the first line of another shape."""
    rows = []
    for number, raw in enumerate(data.split(b"\n"), start=line):
        if raw:
            cells = _decode(shape.name, number, raw).split(shape.separator)
            shape.check(cells, number)
            rows.append([cells[place] for place in shape.picked])
    return _table(list(zip(*rows, strict=True)) or [[] for _ in shape.picked])


def _read_csv(
    name: str, separator: str, columns: Sequence[str], widths: Sequence[int], filled: int, report: Report
) -> Iterator[pa.Table]:
    if len(separator) != 1:
        raise InputError(
            f"{name}: CSV takes one character as separator, not {separator!r}; use --format tsv for longer ones"
        )
    shape = _Shape(name, separator, columns, widths, filled)
    csv.field_size_limit(1 << 30)
    with Input(name) as source:
        lines = (
            _decode(name, start + place, raw)
            for start, block in blocks(source)
            for place, raw in enumerate(block.splitlines(keepends=True) if b"\r" not in block else _lines(block))
        )
        reader = csv.reader(lines, delimiter=separator, strict=True)
        rows: list[list[str]] = []
        while (cells := _next_row(reader, name)) is not None:
            if not cells:
                continue
            if not shape.width and shape.start(cells, reader.line_num):
                continue
            shape.check(cells, reader.line_num)
            rows.append([cells[place] for place in shape.picked])
            if len(rows) == ROWS:
                yield _table(list(zip(*rows, strict=True)))
                rows = []
                report(source.done)
        if rows:
            yield _table(list(zip(*rows, strict=True)))
    report(source.size)


def _lines(block: bytes) -> list[bytes]:
    """Split after line feeds only, since a quoted value may contain a carriage return."""
    parts = block.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _next_row(reader: Any, name: str) -> list[str] | None:
    try:
        return next(reader, None)
    except csv.Error as error:
        raise InputError(f"{name}:{reader.line_num}: {error}; correct the quoting of this line") from error


def _read_parquet(
    name: str, columns: Sequence[str], widths: Sequence[int], filled: int, report: Report
) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(name)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{name}: cannot be read as Parquet ({error}); check the path and the format") from error
    with file:
        known = file.schema_arrow.names
        wanted = list(columns) or known[: max(widths)]
        if missing := [column for column in wanted if column not in known]:
            raise InputError(f"{name}: there is no column {missing[0]!r}; the file has {known}")
        if len(wanted) < min(widths):
            raise InputError(f"{name}: has {len(wanted)} columns, {min(widths)} are needed")
        row = 1
        for batch in file.iter_batches(ROWS, columns=wanted):
            cells = []
            for place, column in enumerate(wanted):
                text = _as_text(batch.column(batch.schema.get_field_index(column)), name, column)
                if place < filled:
                    empty = pc.fill_null(pc.equal(pc.binary_length(text), 0), True)
                    if pc.any(empty).as_py():
                        at = row + pc.index(empty, True).as_py()
                        raise InputError(f"{name}: row {at}: column {column!r} is empty; fill it or remove the row")
                cells.append(pc.fill_null(text, ""))
            row += batch.num_rows
            yield pa.table({f"c{place}": column for place, column in enumerate(cells)})
            report(0)


def _as_text(column: Any, name: str, title: str) -> Any:
    import pyarrow as pa

    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{name}: column {title!r} is of type {column.type}; convert it to text ({error})") from error


def read_names(name: str, report: Report) -> Iterator[tuple[list[str], list[str], list[str], list[bool]]]:
    """Yield batches of (ids, texts, languages, alias flags) from a file of labels or aliases.

    TSV, CSV and Parquet have the columns id, text and, optionally, language. JSON is an object of texts, or lists of
    texts, by id; all texts of a list but the first are aliases.
    """
    from srtk_plugin_local.snapshot.input_files import guess_format

    kind = guess_format(name, None)
    if kind == "json":
        yield _json_names(name)
        report(0)
        return
    if kind not in ("tsv", "csv", "parquet"):
        raise InputError(
            f"{name}: labels are read from tsv, csv, parquet or json; give an RDF file with labels as a file of triples"
        )
    for table in read_rows(name, kind, None, (), (2, 3), 1, report):
        ids, texts, *languages = (column.to_pylist() for column in table.columns)
        yield ids, texts, languages[0] if languages else [""] * len(ids), [False] * len(ids)


def _json_names(name: str) -> tuple[list[str], list[str], list[str], list[bool]]:
    with Input(name) as source:
        data = b"".join(iter(source.read, b""))
    content = parse_json(data, name)
    if not isinstance(content, dict):
        raise InputError(f"{name}: expected a JSON object of id to label, found a {type(content).__name__}")
    rows: list[tuple[str, str, str, bool]] = []
    for id_, value in content.items():
        texts = value if isinstance(value, list) else [value]
        if not id_ or not all(isinstance(text, str) for text in texts):
            raise InputError(
                f"{name}: the label of {id_!r} is {shortened(repr(value))}; give a text or a list of texts"
            )
        rows.extend((id_, text, "", place > 0) for place, text in enumerate(texts))
    ids, names, languages, aliases = zip(*rows, strict=True) if rows else ((), (), (), ())
    return list(ids), list(names), list(languages), list(aliases)
