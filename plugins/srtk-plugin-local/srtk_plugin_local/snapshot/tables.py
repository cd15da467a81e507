"""Rows of text from TSV, CSV, Parquet and JSON files, as pyarrow tables; errors name the line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.records import parse_json
from srtk_framework.values import InputError, shortened
from srtk_plugin_local.snapshot.arrow_texts import as_text
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.header import Plan, Planner, Row, is_result, is_rule, plan_fixed
from srtk_plugin_local.snapshot.headings import IDS, TEXTS
from srtk_plugin_local.snapshot.input_files import Input, blocks
from srtk_plugin_local.snapshot.input_report import COMMENTS, EMPTY_FILES, FileReport, Meter, counted
from srtk_plugin_local.snapshot.limits import MAX_LITERAL, ROWS, check_width
from srtk_plugin_local.snapshot.parser_process import read_apart
from srtk_plugin_local.snapshot.separators import first_rows, found_separator, is_border

if TYPE_CHECKING:
    import pyarrow as pa

# Lines from which separator, header and columns are found.
SAMPLE = 200

EMPTY = "rows with an empty cell"
WIDTHS = "rows with another number of columns"
ABOVE = "lines above the table"
BELOW = "lines below the table"
RULES = "rows that hold dashes alone"
TOTALS = "rows of totals"

_SAMPLE_BYTES = 1 << 20
# Lines of notes below a table at most; more are rows.
_NOTES = 100
# First cells of a row that sums up others, if a further cell is empty.
WORDS_OF_TOTALS = frozenset(
    (
        *("total", "totals", "grand total", "subtotal", "sub-total", "sum", "average", "mean"),
        *("gesamt", "gesamtsumme", "summe", "zwischensumme", "insgesamt", "somme", "totale", "suma", "soma", "totaal"),
    )
)
# A term in a result of SPARQL in TSV, and the escapes in its text.
_TERM = re.compile(r'<([^<>]*)>|"((?:[^"\\]|\\.)*)"(?:@[\w-]+|\^\^(?:<[^<>]*>|\S+))?')
_ESCAPED, _ESCAPES = re.compile(r"\\(.)"), {"t": "\t", "n": "\n", "r": "\r"}


def read_rows(
    name: str,
    kind: str,
    separator: str | None,
    planner: Planner,
    report: FileReport,
    meter: Meter,
    memory: str = "1GB",
) -> Iterator[pa.Table]:
    """Yield tables of text columns ``c0``, ``c1``, ...

    A sheet, which is no table of facts, gives all its columns; ``sheet`` of the report has their headings.

    Args:
        name: Path of the file.
        kind: ``tsv`` (no quoting), ``csv`` (quoted by ``"``) or ``parquet``.
        separator: Column separator; by default found out.
        planner: Finds header and columns.
        report: Counts read and skipped rows.
        meter: Called with the bytes read.
        memory: Amount of memory for Parquet.

    Raises:
        InputError: With file and line, for invalid UTF-8, wrong quotation marks, or columns that are not to be found;
            for skipped rows, if the report is strict.
    """
    if kind == "parquet":
        yield from _read_parquet(name, planner, report, meter, memory)
    else:
        with Input(name) as source:
            yield from _read_text(source, kind, separator, planner, report, meter)
    report.check()


def _read_text(
    source: Input, kind: str, separator: str | None, planner: Planner, report: FileReport, meter: Meter
) -> Iterator[pa.Table]:
    source.to_utf8(report)
    start = source.peek()
    if start[1:2] == b"\0" or (start[:1] == b"\0" and len(start) > 1):
        raise InputError(f"{source.name}: is UTF-16 without a mark; save it as UTF-8 (iconv -f UTF-16LE -t UTF-8)")
    if not start.strip():
        report.skip(EMPTY_FILES, 1, "the file is empty; leave it out")
        report.note("is empty; check that it was saved, or leave it out")
    lines = [line for line in _first_lines(source.name, start) if not is_border(line[1])]
    if separator is None:
        separator = found_separator(lines, kind)
        if kind == "tsv" and (separator in ",;" or _is_quoted(lines, separator)):
            kind = "csv"
    report.format, report.separator = kind, separator
    if kind == "csv" and len(separator) != 1:
        raise InputError(
            f"{source.name}: CSV takes one character as separator, not {separator!r}; use --format tsv for longer ones"
        )
    rows = first_rows(lines, kind, separator)
    check_width(source.name, max((len(cells) for _, cells in rows), default=0))
    plan = planner(rows, report)
    has_terms = kind == "tsv" and bool(plan.titles) and is_result(plan.titles)
    if has_terms:
        plan = attrs.evolve(plan, titles=tuple(title[1:] for title in plan.titles))
        report.note("was read as a result of SPARQL; the languages and datatypes of its values are not kept")
    report.sheet = plan.titles
    proper = [cells for _, cells in rows if len(cells) == plan.width]
    joins = separator in ",;" and not any(cell.startswith(" ") for cells in proper for cell in cells)
    shape = _Shape(plan, report, has_terms, joins)
    if kind == "csv" or plan.titles or shape.is_drawn:
        yield from _split_rows(source, kind, separator, shape, meter)
    else:
        yield from _split_blocks(source, separator, shape, meter)
    shape.tell()
    meter(source.size)


def _is_quoted(lines: Sequence[tuple[int, str]], separator: str) -> bool:
    """Return whether all cells of the first line are in quotation marks, as R writes headings."""
    cells = lines[0][1].split(separator) if lines else []
    return len(cells) > 1 and all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)


def _first_lines(name: str, start: bytes) -> list[tuple[int, str]]:
    """Return the first lines of a file that are not blank, with their numbers."""
    cut = start.removeprefix(b"\xef\xbb\xbf")[:_SAMPLE_BYTES]
    whole = cut if len(cut) < _SAMPLE_BYTES else cut[: cut.rfind(b"\n") + 1] or cut
    numbered = enumerate(whole.split(b"\n", SAMPLE + 1)[: SAMPLE + 1], start=1)
    return [(number, _decode(name, number, line.rstrip(b"\r"))) for number, line in numbered if line.strip()][:SAMPLE]


class _Shape:
    """A plan put into practice: rows of another shape are counted and left out.

    Args:
        plan: The columns.
        report: Counts the rows.
        has_terms: Whether cells are terms of SPARQL.
        joins: Whether a separator before a blank is part of a text where a row has too many cells.
    """

    def __init__(self, plan: Plan, report: FileReport, has_terms: bool = False, joins: bool = False) -> None:
        self.plan = plan
        self.has_terms = has_terms
        self.report = report
        # As in Markdown, where blanks stand beside the bars; a sheet's cells are stripped later.
        self.is_drawn = report.separator == "|" and bool(plan.header)
        self._strips = report.format == "csv" or bool(plan.titles) or self.is_drawn
        self._joins = joins
        self._group = ""
        self._short: list[int] = []
        self._joined: list[int] = []

    def above(self, text: str, line: int, unit: str = "") -> None:
        """Count a line above the first row, unless it belongs to the header or tells the separator."""
        if line < self.plan.start - self.plan.header and not text.startswith("sep=") and not is_border(text):
            reason, what = (COMMENTS, "a comment") if text.startswith("#") else (ABOVE, "no part of the table")
            self.report.skip(reason, line, f"the line is {what}; remove it", unit)

    def joined(self, cells: list[str], line: int) -> list[str]:
        """Return a row with too many cells as it has to be where separators before a blank are part of a text."""
        if not self._joins or len(cells) <= self.plan.width or cells[0].startswith("#"):
            return cells
        found: list[str] = []
        for cell in cells:
            if cell.startswith(" ") and found:
                found[-1] += f"{self.report.separator}{cell}"
            else:
                found.append(cell)
        if len(found) != self.plan.width:
            return cells
        self._joined.append(line)
        return found

    def takes(self, cells: Sequence[str], line: int, unit: str = "") -> bool:
        """Return whether a row is read; count it if not."""
        plan, report = self.plan, self.report
        if len(cells) != plan.width:
            if len(cells) == 1 and is_border(cells[0]):
                return False
            if cells[0].startswith("#"):
                report.skip(COMMENTS, line, "the line is a comment; remove it")
                return False
            if not self._fits(cells):
                report.skip(
                    WIDTHS,
                    line,
                    f"expected {plan.expected} separated by {report.separator!r}, found {len(cells)}; "
                    "correct the line, or give --separator",
                )
                return False
        if is_rule(cells, report.separator) and (plan.titles or self.is_drawn):
            if not (self.is_drawn and line == plan.start):
                report.skip(RULES, line, "the row holds dashes alone; fill it or remove it", unit)
            return False
        for place in plan.picked[: plan.filled]:
            if not (cells[place].strip() if self._strips else cells[place]):
                report.skip(EMPTY, line, f"column {place + 1} is empty; fill it or remove the line", unit)
                return False
        if plan.titles and "" in cells and _sums_up(next(filter(None, cells), ""), self._group):
            report.skip(TOTALS, line, "the row sums up other rows; remove it", unit)
            return False
        self._group = cells[0] or self._group
        if plan.titles and len(cells) < plan.width:
            self._short.append(line)
        return True

    def tell(self) -> None:
        """Note the rows whose cells were joined, and those of a sheet without some of its last cells."""
        mark = self.report.separator
        for lines, what, done in (
            (self._short, "rows have fewer cells than there are headings", "the missing cells were read as empty"),
            (self._joined, "rows have more cells than there are columns", f"{mark!r} before a blank was read as text"),
        ):
            if lines:
                where = f"{'in' if len(lines) == 1 else 'the first in'} {lines[0]}"
                self.report.note(f"{counted(len(lines), what)}, {where}; {done}")

    def _fits(self, cells: Sequence[str]) -> bool:
        """Return whether surplus cells are empty, or missing cells of a sheet may be."""
        if len(cells) > self.plan.width:
            return not any(cell.strip() for cell in cells[self.plan.width :])
        return bool(self.plan.titles) and len(cells) > 1

    def table(self, rows: Sequence[Sequence[str]]) -> pa.Table:
        """Return the table of rows that were taken."""
        plan = self.plan
        self.report.rows += len(rows)
        if self.has_terms:
            rows = [[_plain(cell) for cell in row] for row in rows]
        elif self.is_drawn and not self.plan.titles:
            rows = [[cell.strip() for cell in row] for row in rows]
        columns = (([row[place] if place < len(row) else "" for row in rows]) for place in plan.picked)
        return self.spaced(_table(list(columns)))

    def spaced(self, table: pa.Table) -> pa.Table:
        """Put the id spaces before the ids."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for place, space in zip((0, 2), self.plan.spaces, strict=True):
            if space:
                column = pc.binary_join_element_wise(pa.scalar(space), table.column(place), pa.scalar(""))
                table = table.set_column(place, f"c{place}", column)
        return table


def _sums_up(text: str, group: str) -> bool:
    """Return whether the first text of a row is a word for a total: alone, or beside the first text of a row above."""
    words = text.strip(" :").casefold()
    if words in WORDS_OF_TOTALS:
        return True
    above = group.strip().casefold()
    rest = words.removeprefix(above) if words.startswith(above) else words.removesuffix(above)
    return bool(above) and rest != words and rest.strip(" :-") in WORDS_OF_TOTALS


def _plain(term: str) -> str:
    """Return the text of a term of SPARQL: of ``"Riga"@lv`` and of ``<http://...>``."""
    if found := _TERM.fullmatch(term):
        return found[1] if found[1] is not None else _ESCAPED.sub(lambda m: _ESCAPES.get(m[1], m[1]), found[2])
    return term


def _table(columns: Sequence[Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table({f"c{place}": pa.array(column, pa.string()) for place, column in enumerate(columns)})


def _decode(name: str, line: int, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}:{line}: is not UTF-8 ({error.reason}); convert the file to UTF-8") from error


def _split_blocks(source: Input, separator: str, shape: _Shape, meter: Meter) -> Iterator[pa.Table]:
    """Read facts without quoting, block by block."""
    for line, block in blocks(source, shape.report):
        data = block.replace(b"\r\n", b"\n") if b"\r" in block else block
        while line < shape.plan.start and data:
            head, _, data = data.partition(b"\n")
            if head.strip():
                shape.above(head.decode("utf-8", "replace"), line)
            line += 1
        table = _fast_rows(data, separator, shape)
        if table is None:
            table = _careful_rows(data, separator, shape, line)
        meter(source.done)
        yield table


def _fast_rows(data: bytes, separator: str, shape: _Shape) -> pa.Table | None:
    """Split a block with pyarrow's parser; return None if a line has another shape."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    if len(separator.encode()) != 1 or b"\r" in data or not data.strip(b"\n"):
        return None
    plan = shape.plan
    names = [f"x{place}" for place in range(plan.width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(delimiter=separator, quote_char=False, escape_char=False),
            arrow_csv.ConvertOptions(column_types={n: pa.string() for n in names}, strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        return None
    picked = [table.column(place) for place in plan.picked]
    if any(pc.min(pc.binary_length(column)).as_py() == 0 for column in picked[: plan.filled]):
        return None
    shape.report.rows += table.num_rows
    return shape.spaced(pa.table({f"c{place}": column for place, column in enumerate(picked)}))


def _careful_rows(data: bytes, separator: str, shape: _Shape, line: int) -> pa.Table:
    """Split a block line by line."""
    rows = []
    for number, raw in enumerate(data.split(b"\n"), start=line):
        if raw:
            cells = _decode(shape.report.name, number, raw).split(separator)
            if shape.takes(cells, number):
                rows.append(cells)
    return shape.table(rows)


def _split_rows(source: Input, kind: str, separator: str, shape: _Shape, meter: Meter) -> Iterator[pa.Table]:
    """Read a quoted or wide table, row by row."""
    lines = decoded_lines(source.name, blocks(source, shape.report, kind == "csv"))
    rows: list[list[str]] = []
    notes: list[tuple[int, list[str]]] = []
    last, had_gap, plan = 0, False, shape.plan
    for line, cells in _cells(lines, kind, separator, source.name):
        # Notes stand below an empty line, have fewer cells, and no row follows; empty lines may stand between all rows.
        has_gap = last >= plan.start and line - last > 1 + sum(cell.count("\n") for cell in cells)
        is_below = plan.titles and (notes or (has_gap and not had_gap)) and len(cells) < plan.width
        last, had_gap = line, has_gap
        if line < plan.start:
            shape.above(cells[0], line)
            continue
        notes.append((line, cells))
        if is_below and len(notes) <= _NOTES:
            continue
        notes = [(number, shape.joined(some, number)) for number, some in notes]
        rows += [some for number, some in notes if shape.takes(some, number)]
        notes = []
        if len(rows) >= ROWS:
            yield shape.table(rows)
            rows = []
            meter(source.done)
    for line, _ in notes:
        shape.report.skip(BELOW, line, "the line is no part of the table; remove it")
    if rows:
        yield shape.table(rows)


def _cells(lines: Iterator[str], kind: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row that is not blank, with the number of its last line."""
    if kind != "csv":
        for number, line in enumerate(lines, start=1):
            if text := line.rstrip("\r\n"):
                yield number, text.split(separator)
        return
    csv.field_size_limit(MAX_LITERAL)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    last = 0
    try:
        for cells in reader:
            last = reader.line_num
            if cells:
                yield last, cells
    except csv.Error as error:
        if "field limit" in str(error):
            raise InputError(
                f"{name}:{last + 1}: a cell that begins in this line has more than 16 MB; close its quotation mark, or "
                "shorten it"
            ) from error
        if "new-line character" in str(error):
            raise InputError(
                f"{name}:{reader.line_num}: a carriage return ends the line, though others end in a line feed; write "
                "one kind of line ends (dos2unix -c mac)"
            ) from error
        raise InputError(f"{name}:{reader.line_num}: {error}; correct the quoting of this line") from error


def decoded_lines(name: str, some: Iterable[tuple[int, bytes]]) -> Iterator[str]:
    """Yield the lines of blocks with their line feeds; a carriage return may stand in a quoted value.

    Raises:
        InputError: With the line, if it is not UTF-8.
    """
    for start, block in some:
        for place, line in enumerate(block.split(b"\n")[: -1 if block.endswith(b"\n") else None], start=start):
            yield _decode(name, place, line) + "\n"


def _read_parquet(name: str, planner: Planner, report: FileReport, meter: Meter, memory: str) -> Iterator[pa.Table]:
    apart = FileReport(name, "parquet")
    tables = read_apart(name, "parquet", BuildSettings((), memory=memory), apart, lambda _: None)
    titles = next(tables).column_names
    yield from read_batches(report.name, titles, tables, planner, report, meter)
    for note in apart.notes:
        report.note(note)


def read_batches(
    name: str,
    titles: Sequence[str],
    batches: Iterator[Any],
    planner: Planner,
    report: FileReport,
    meter: Meter,
) -> Iterator[pa.Table]:
    """Yield tables of text columns from record batches or tables of pyarrow, whose headings are certain."""
    first = next(batches, None)
    texts = (
        []
        if first is None
        else [
            as_text(first.slice(0, SAMPLE).column(place), name, title).to_pylist() for place, title in enumerate(titles)
        ]
    )
    rows: list[Row] = [(0, titles)]
    rows += [(n, [cell or "" for cell in cells]) for n, cells in enumerate(zip(*texts, strict=True), start=1)]
    plan = planner(rows, report)
    report.sheet = plan.titles
    shape = _Shape(plan, report)
    row = 1
    for batch in batches if first is None else chain((first,), batches):
        read = {title: as_text(batch.column(place), name, title) for place, title in enumerate(titles)}
        yield _fast_batch(read, titles, shape) or _careful_batch(read, titles, shape, row)
        row += batch.num_rows
        meter(0)


Merged = tuple[int, int, int]
"""A cell that is merged over rows: the place of its column, and the numbers of the first and the last row."""


def read_cells(
    rows: Sequence[Row], planner: Planner, report: FileReport, merged: Sequence[Merged] = ()
) -> Iterator[pa.Table]:
    """Yield tables of text columns from rows of cells, perhaps with a header.

    Args:
        rows: The rows.
        planner: Finds header and columns.
        report: Counts read and skipped rows.
        merged: Cells whose text stands in the first of several rows, and is read in each.
    """
    plan = planner(rows[:SAMPLE], report)
    report.sheet = plan.titles
    rows = _unmerged(rows, [one for one in merged if one[1] >= plan.start], plan, report)
    shape = _Shape(plan, report)
    for line, cells in rows:
        if line < plan.start:
            shape.above(cells[0], line, "row ")
    kept = [cells for line, cells in rows if line >= plan.start and shape.takes(cells, line, "row ")]
    for start in range(0, len(kept), ROWS):
        yield shape.table(kept[start : start + ROWS])
    report.check()


def _unmerged(rows: Sequence[Row], merged: Sequence[Merged], plan: Plan, report: FileReport) -> Sequence[Row]:
    """Return rows with the text of a merged cell in each of its rows."""
    cells = {line: list(row) for line, row in rows} if merged else {}
    filled: dict[str, None] = {}
    for place, first, last in merged:
        text = cells.get(first, [])[place : place + 1]
        for line in range(first + 1, last + 1):
            if text and text[0] and line in cells and place < len(cells[line]):
                cells[line][place] = text[0]
                filled[plan.titles[place] if place < len(plan.titles) else f"column {place + 1}"] = None
    if filled:
        report.note(f"cells merged over several rows were read in each of them: {', '.join(filled)}")
    return list(cells.items()) if merged else rows


def _fast_batch(read: Mapping[str, Any], titles: Sequence[str], shape: _Shape) -> pa.Table | None:
    """Return the rows of a batch; None if a cell is empty that must not be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plan = shape.plan
    columns = [read[titles[place]] for place in plan.picked]
    empty = (pc.any(pc.fill_null(pc.equal(pc.binary_length(c), 0), True)).as_py() for c in columns[: plan.filled])
    if any(empty):
        return None
    shape.report.rows += len(columns[0])
    return shape.spaced(pa.table({f"c{place}": pc.fill_null(column, "") for place, column in enumerate(columns)}))


def _careful_batch(read: Mapping[str, Any], titles: Sequence[str], shape: _Shape, row: int) -> pa.Table:
    texts = {title: column.to_pylist() for title, column in read.items()}
    size = len(next(iter(texts.values())))
    cells = ([(texts[title][n] if title in texts else "") or "" for title in titles] for n in range(size))
    return shape.table([one for number, one in enumerate(cells, start=row) if shape.takes(one, number, "row ")])


def read_names(
    name: str, report: FileReport, meter: Meter
) -> Iterator[tuple[list[str], list[str], list[str], list[bool]]]:
    """Yield batches of (ids, texts, languages, alias flags) from a file of labels or aliases.

    TSV, CSV and Parquet have the columns id, text and, optionally, language. JSON is an object of texts, or lists of
    texts, by id; all texts of a list but the first are aliases.
    """
    from srtk_plugin_local.snapshot.input_files import guess_format

    kind = guess_format(name)
    if kind == "json":
        report.format = "json"
        names = _json_names(name)
        report.rows = len(names[0])
        yield names
        meter(0)
        return
    if kind not in ("tsv", "csv", "parquet"):
        raise InputError(
            f"{name}: labels are read from tsv, csv, parquet or json; give an RDF file with labels as a file of triples"
        )
    for table in read_rows(name, kind, None, plan_fixed((2, 3), 1, (IDS, TEXTS)), report, meter):
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
