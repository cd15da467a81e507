"""Sheets: the tables of a build whose rows are no facts, with all their columns, in the staging database."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from srtk_plugin_local.snapshot.arrow_texts import LIST
from srtk_plugin_local.snapshot.build_settings import WITHIN
from srtk_plugin_local.snapshot.column_types import (
    MIXED,
    NEARLY,
    TEXT,
    USUAL,
    ZERO_ONE,
    ColumnType,
    asks,
    type_by_heading,
    type_of,
)
from srtk_plugin_local.snapshot.headings import IDS, LABELS, is_edge_list, normal, words_of
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.list_cells import ONLY_NAMES, has_lists, list_items
from srtk_plugin_local.snapshot.staging_values import first_row, quote

if TYPE_CHECKING:
    import duckdb

# Rows from which types are found; of a larger table, each type is then checked on all rows.
_SAMPLE = 20_000
# Rows up to which values are counted exactly.
_EXACT = 1_000_000
# Columns whose values are counted at once: each takes some megabytes, however short the table.
_TOGETHER = 20
_SEPARATORS = (LIST, "|", ";", ":::")
# Mean length of the parts of a list, above which a separator belongs to a sentence.
_PART = 40
# How R writes what is missing; among names it may be Namibia, sodium or a continent.
_NA = "NA"
_CODE = re.compile("[A-Z][A-Za-z]")
# A character of HTML, whose semicolon separates nothing.
_ENTITY = re.compile(r"&#?\w+;")
# A code that a spreadsheet must not take for a number: ``="0140449116"`` and ``'04229``.
_TEXT_MARK = '^="(.*)"$|^\'([0-9][0-9 -]*)$'
# The address behind the name of a link, and a cell of such links.
_ADDRESS = r" \(https?://[^\s()]+(\([^\s()]*\)[^\s()]*)?\)"
_LINKS = rf"[^()]+{_ADDRESS}(, [^()]+{_ADDRESS})*"
# A mark of a footnote behind a number, which other numbers do not have; powers such as 10³ all have one.
_NOTED = re.compile(r"([0-9%)])\s?([*†‡§¶]+|[¹²³⁴⁵⁶⁷⁸⁹]+|\[[0-9a-z]{1,2}\])$")
_DASHES = ("-", "–", "—", "--", "---", "?", "n.a.")
_NO_NUMBERS = (*_DASHES, _NA)
# Length from which other values are words, so that a dash among them is no mark.
_WORD = 3


@attrs.define
class Column:
    """A column of a sheet.

    Attributes:
        title: Its heading.
        place: Its place, from 0.
        kind: Its meaning: ``key``, ``name``, ``label`` (of the values of another column), ``alias``, ``link``,
            ``literal``, ``names`` (of things: each value is an entity), ``type``, ``source``, ``target``,
            ``relation``, ``property`` (of an edge), ``layout``, ``bookkeeping``, ``empty`` or ``ignored``.
        type: Type of its values.
        split: Separator of several values in one cell; empty if a cell is one value.
        to: Name of the table whose rows a link leads to; heading of the column whose values a label names.
        by: ``key`` or ``name`` of that row.
        why: Reason of the kind, unless the values decided.
        filled: Number of its values.
        distinct: Number of different values, about.
        odd: Number of values that do not fit the type.
        missing: Number of words of a missing value.
        example: A value.
    """

    title: str
    place: int
    kind: str = ""
    type: ColumnType = TEXT
    split: str = ""
    to: str = ""
    by: str = ""
    why: str = ""
    filled: int = 0
    distinct: int = 0
    odd: int = 0
    missing: int = 0
    example: str = ""

    @property
    def sql(self) -> str:
        """Its name in the database."""
        return f"c{self.place}"

    @property
    def words(self) -> str:
        """Its heading, normalised."""
        return normal(self.title.replace("_", " "))

    def canonical(self, text: str = "") -> str:
        """Return the SQL expression of its canonical text.

        Args:
            text: SQL expression of a value, by default the column.
        """
        text = text or self.sql
        if self.type.canonical == "{}":
            return text
        made = self.type.canonical.format(text, "")
        return made if not self.odd else f"CASE WHEN {self.fits(text)} THEN {made} ELSE {text} END"

    def fits(self, text: str = "") -> str:
        """Return the SQL condition that a value fits the type."""
        pattern = self.type.pattern.replace("'", "''")
        return f"regexp_full_match({text or self.sql}, '{pattern}')"


@attrs.define
class Sheet:
    """A table whose rows are entities, edges, or facts between the rows of two other tables.

    Attributes:
        name: Its name: the file's name without endings.
        table: Its name in the database.
        columns: Its columns.
        reports: Reports of its files.
        parts: Number of rows of each of its files.
        rows: Number of rows.
        form: ``entities``, ``edges`` or ``facts``.
        key: The columns of the key; several if only together they are unique.
        prefix: Text before the keys in ids.
        neo4j: Whether it has headings of Neo4j.
        links: Tables by heading, where the container declares its links.
        planned: Whether a plan decided about its columns.
    """

    name: str
    table: str
    columns: list[Column]
    reports: list[FileReport] = attrs.field(factory=list)
    parts: list[int] = attrs.field(factory=list)
    rows: int = 0
    form: str = "entities"
    key: list[Column] = attrs.field(factory=list)
    prefix: str = ""
    neo4j: bool = False
    links: dict[str, str] = attrs.field(factory=dict)
    planned: bool = False

    @property
    def titles(self) -> list[str]:
        """The headings."""
        return [column.title for column in self.columns]

    @property
    def words(self) -> list[str]:
        """The words of its name."""
        return words_of(self.name)

    @property
    def skipped(self) -> int:
        """Rows of its files that could not be read."""
        return sum(count for report in self.reports for count, *_ in report.skipped.values())

    def ends(self) -> list[int]:
        """Return the number of rows up to the end of each of its files, in their order."""
        return list(accumulate(self.parts))

    def label(self) -> Column | None:
        """Return the column of the names; None without such a column."""
        return next((column for column in self.columns if column.kind == "name"), None)

    def note(self, sentence: str) -> None:
        """Add a note to its first file."""
        self.reports[0].note(sentence)


@attrs.define
class Sheets:
    """All sheets of a build.

    Attributes:
        con: Connection to the staging database.
        missing: Words of missing values; None for the usual words.
        split: Separator of several values in one cell, in the columns that have it; empty to find it.
        found: The sheets, by their headings.
    """

    con: duckdb.DuckDBPyConnection
    missing: Sequence[str] | None = None
    split: str = ""
    found: dict[tuple[str, ...], Sheet] = attrs.field(factory=dict)

    def add(self, report: FileReport, table: Any, headings: tuple[str, ...] = ()) -> None:
        """Append rows: texts by column; an empty text is no value.

        Tables with the same headings are parts of a single table at first, except the tables of a database.

        Args:
            report: Report of the file.
            table: The rows.
            headings: Headings; by default the file's.
        """
        headings = headings or report.sheet
        titles = tuple(normal(title) or title for title in headings)
        titles = (report.name, *titles) if report.format == "sqlite" else titles
        sheet = self.found.get(titles)
        if sheet is None:
            made = [Column(title or f"column {at + 1}", at) for at, title in enumerate(headings)]
            sheet = Sheet(self._free_name(report), f"sheet_{len(self.found)}", made)
            columns = ", ".join(f"{column.sql} VARCHAR" for column in made)
            self.con.execute(f"CREATE TABLE {sheet.table} ({columns})")
            self.found[titles] = sheet
            for title in sorted({title for title in headings if title and headings.count(title) > 1}):
                report.note(f"has several columns {title!r}, which are one relation")
        if report not in sheet.reports:
            sheet.reports.append(report)
            sheet.parts.append(0)
            sheet.links |= report.links
        self.con.register("chunk", table)
        cells = ", ".join(f"nullif(trim({column.sql}), '')" for column in sheet.columns)
        self.con.execute(f"INSERT INTO {sheet.table} SELECT {cells} FROM chunk")
        self.con.unregister("chunk")
        sheet.rows += table.num_rows
        sheet.parts[-1] += table.num_rows

    def part(self, sheet: Sheet, tables: Sequence[str | None]) -> None:
        """Make a sheet of each table that the files of a sheet belong to; without effect for a single table.

        Args:
            sheet: The sheet.
            tables: A name of the table for each of its files, which only has to differ.
        """
        groups = dict.fromkeys(tables)
        if len(groups) < 2:
            return
        starts = [0, *sheet.ends()]
        # The name of the whole is free again, and that of its first file.
        self.found = {titles: other for titles, other in self.found.items() if other is not sheet}
        for number, group in enumerate(groups):
            places = [place for place, table in enumerate(tables) if table == group]
            columns = [Column(column.title, column.place) for column in sheet.columns]
            reports, parts = [sheet.reports[place] for place in places], [sheet.parts[place] for place in places]
            made = Sheet(self._free_name(reports[0]), f"{sheet.table}_{number}", columns, reports, parts, sum(parts))
            made.links = {title: table for report in reports for title, table in report.links.items()}
            where = " OR ".join(f"rowid >= {starts[at]} AND rowid < {starts[at + 1]}" for at in places)
            self.con.execute(f"CREATE TABLE {made.table} AS SELECT * FROM {sheet.table} WHERE {where} ORDER BY rowid")
            self.found[(made.table,)] = made
        self.con.execute(f"DROP TABLE {sheet.table}")

    def _free_name(self, report: FileReport) -> str:
        """Return the name of a new sheet; of two files with one name, the later one gets a number."""
        name = table_name(report.name)
        taken = {sheet.name for sheet in self}
        free = next(free for n in count(1) if (free := name if n == 1 else f"{name}-{n}") not in taken)
        if free != name:
            report.note(f"is called {free!r}, since another table is called {name!r}")
        return free

    def __iter__(self) -> Iterator[Sheet]:
        return iter(self.found.values())

    def _drop_missing(self, sheet: Sheet) -> None:
        """Empty the cells that hold a word of a missing value.

        A name such as Nan stays in a column that names the rows or the ends of edges: it would not be missing there.
        """
        words = USUAL if self.missing is None else tuple(word.casefold() for word in self.missing)
        if not words or not sheet.rows:
            return
        listed = ", ".join(quote(word) for word in words)
        counts = ", ".join(f"count(*) FILTER (lower({c.sql}) IN ({listed}))" for c in sheet.columns)
        ends = is_edge_list(sheet.titles) or ()
        for column, found in zip(
            sheet.columns, first_row(self.con, f"SELECT {counts} FROM {sheet.table}"), strict=True
        ):
            if not found:
                continue
            where = f"lower({column.sql}) IN ({listed})"
            if column.place in ends or column.words in (*IDS, *LABELS):
                where += f" AND {column.sql} <> upper(left({column.sql}, 1)) || lower(substr({column.sql}, 2))"
            (column.missing,) = first_row(self.con, f"UPDATE {sheet.table} SET {column.sql} = NULL WHERE {where}")
            if column.missing < found:
                sheet.note(
                    f"{found - column.missing:,} values of {column.title!r} are names, though they are words of a "
                    "missing value, such as Nan; give --missing to choose the words"
                )

    def profile(self, sheet: Sheet) -> None:
        """Find types, separators of lists and counts of all columns."""
        self._drop_missing(sheet)
        in_brackets = [f"bool_and(left({column.sql}, 1) IN ('[', '{{'))" for column in sheet.columns]
        linked = [f"bool_and(regexp_full_match({c.sql}, '{_LINKS}'))" for c in sheet.columns]
        marked = [f"bool_or(left({c.sql}, 1) = '''' OR left({c.sql}, 2) = '=\"')" for c in sheet.columns]
        for read, conditions in (
            (self._drop_text_marks, marked),
            (self._split_lists, in_brackets),
            (self._drop_addresses, linked),
        ):
            flags = first_row(self.con, f"SELECT {', '.join(conditions)} FROM {sheet.table}")
            for column in (column for column, flag in zip(sheet.columns, flags, strict=True) if flag):
                read(sheet, column)
        con, step = self.con, max(1, -(-sheet.rows // _SAMPLE))
        sample = con.sql(f"SELECT * FROM {sheet.table} WHERE rowid % {step} = 0").to_arrow_table()
        different = "count(DISTINCT {})" if sheet.rows <= _EXACT else "approx_count_distinct({})"
        sums = [f"count({c.sql}), {different.format(c.sql)}" for c in sheet.columns]
        row: tuple[int, ...] = ()
        for at in range(0, len(sums), _TOGETHER):
            row += first_row(con, f"SELECT {', '.join(sums[at : at + _TOGETHER])} FROM {sheet.table}")
        every = [[value for value in part.to_pylist() if value is not None] for part in sample.columns]
        for at, (column, values) in enumerate(zip(sheet.columns, every, strict=True)):
            column.filled, column.distinct = row[2 * at], row[2 * at + 1]
            column.example = values[0] if values else ""
            if values:
                self._find_type(sheet, column, values)
        if any(column.type.datatype and _NA in values for column, values in zip(sheet.columns, every, strict=True)):
            self._drop_na(sheet, every)

    def _drop_text_marks(self, sheet: Sheet, column: Column) -> None:
        """Leave the text of cells that tell a spreadsheet not to take it for a number."""
        text = f"nullif(regexp_replace({column.sql}, {quote(_TEXT_MARK)}, '\\1\\2'), '')"
        self.con.execute(f"UPDATE {sheet.table} SET {column.sql} = {text}")

    def _drop_addresses(self, sheet: Sheet, column: Column) -> None:
        """Leave the names of links, as Notion and Airtable write them: ``Spring Launch (https://...), ...``."""
        names = f"trim(regexp_replace({column.sql}, '{_ADDRESS}(, )?', '{LIST}', 'g'), '{LIST}')"
        # Links of one name stay different by their addresses.
        links, named = first_row(
            self.con, f"SELECT count(DISTINCT {column.sql}), count(DISTINCT {names}) FROM {sheet.table}"
        )
        if named < links:
            return
        self.con.execute(f"UPDATE {sheet.table} SET {column.sql} = {names}")
        sheet.note(f"of the links in {column.title!r} the names are read alone, without their addresses")

    def _split_lists(self, sheet: Sheet, column: Column) -> None:
        """Write the lists of a column that are texts in brackets as the lists of other files are."""
        import pyarrow as pa

        there = f"{column.sql} IS NOT NULL"
        found = self.con.execute(f"SELECT DISTINCT {column.sql} FROM {sheet.table} WHERE {there}").fetchall()
        cells = [cell for (cell,) in found]
        if not has_lists(cells[:_SAMPLE]):
            return
        items = [None if (some := list_items(cell)) is None else LIST.join(some) for cell in cells]
        if any("{" in cell for cell in cells):
            sheet.note(ONLY_NAMES.format(column.title))
        self.con.register("listed", pa.table({"cell": cells, "items": pa.array(items, pa.string())}))
        same = f"{column.sql} = listed.cell AND listed.items IS NOT NULL"
        self.con.execute(f"UPDATE {sheet.table} SET {column.sql} = nullif(listed.items, '') FROM listed WHERE {same}")
        self.con.unregister("listed")

    def _drop_na(self, sheet: Sheet, every: Sequence[Sequence[str]]) -> None:
        """Empty the cells with NA among texts, where it is missing among numbers, but for names and among codes."""
        ends = is_edge_list(sheet.titles) or ()
        for column, values in zip(sheet.columns, every, strict=True):
            others = [value for value in values if value != _NA]
            named = column.place in ends or column.words in (*IDS, *LABELS)
            # Most values are codes if they have two letters, the first in capitals; NA may be Namibia among them.
            codes = 2 * sum(_CODE.fullmatch(value) is not None for value in others) >= len(others)
            if column.type.datatype or named or len(others) in (0, len(values)) or codes:
                continue
            column.filled -= self._empty(sheet, column, (_NA,))
            column.distinct -= 1
            column.example = others[0]

    def _find_type(self, sheet: Sheet, column: Column, values: list[str]) -> None:
        given = self.split if any(self.split in value for value in values) else ""
        column.split = given if self.split else separator_of(column.title, values)
        if column.split:
            values = [part.strip() for value in values for part in value.split(column.split) if part.strip()]
        separator = sheet.reports[0].separator
        plain = [value for value in values if value not in _NO_NUMBERS] or values
        found, doubt = type_of(plain, separator)
        if not found.datatype and not column.split and 0 < sum(map(bool, map(_NOTED.search, plain))) < len(plain):
            bare = [_NOTED.sub(r"\1", value) for value in plain]
            kind, other_doubt = type_of(bare, separator)
            if kind.datatype:
                marked = next(filter(_NOTED.search, plain))
                sheet.note(f"column {column.title!r}: marks of footnotes were left out, such as that of {marked}")
                text = f"regexp_replace({column.sql}, {quote(_NOTED.pattern)}, '\\1')"
                self.con.execute(f"UPDATE {sheet.table} SET {column.sql} = {text}")
                plain, values, found, doubt = bare, [_NOTED.sub(r"\1", value) for value in values], kind, other_doubt
        column.type = type_by_heading(found, column.words.split(), plain)
        if column.type is ZERO_ONE and not asks(column.words.split()):
            doubt = "its 0 and 1 were read as no and yes; integer would fit, too"
        words = [value for value in values if value not in _DASHES]
        if column.type.datatype and len(plain) < len(values):
            column.filled -= self._empty(sheet, column, _NO_NUMBERS)
        elif 0 < len(words) < len(values) and all(len(value) >= _WORD for value in words):
            column.filled -= self._empty(sheet, column, _DASHES)
            column.example = words[0]
        if doubt:
            sheet.note(f"column {column.title!r}: {doubt}; give a --plan to change it")
        if column.type.datatype and not column.split:
            # A query takes time for each column of the table, so a sample of all rows is counted here.
            all_here = sheet.rows <= _SAMPLE
            column.odd = sum(not column.type.fits(v) for v in plain) if all_here else self.count_odd(sheet, column)
            if column.odd > (1 - NEARLY) * column.filled:  # the sample was too kind
                column.type, column.odd = (MIXED if column.type.numeric else TEXT), 0

    def count_odd(self, sheet: Sheet, column: Column) -> int:
        """Count the values that do not fit the type."""
        return first_row(self.con, f"SELECT count(*) FROM {sheet.table} WHERE NOT {column.fits()}")[0]

    def _empty(self, sheet: Sheet, column: Column, words: Sequence[str]) -> int:
        """Empty the cells that hold a word; return and add up their number."""
        listed = ", ".join(map(quote, words))
        sql = f"UPDATE {sheet.table} SET {column.sql} = NULL WHERE {column.sql} IN ({listed})"
        (dropped,) = first_row(self.con, sql)
        column.missing += dropped
        return dropped

    def is_unique(self, sheet: Sheet, columns: Sequence[Column]) -> bool:
        """Return whether columns are filled in each row and unique together."""
        if not sheet.rows or any(column.filled < sheet.rows for column in columns):
            return False
        if len(columns) == 1 and columns[0].distinct < 0.9 * sheet.rows:
            return False
        names = ", ".join(column.canonical() for column in columns)
        sql = f"SELECT 1 FROM {sheet.table} GROUP BY {names} HAVING count(*) > 1 LIMIT 1"
        return not first_row(self.con, sql)

    def has_only(self, sheet: Sheet, column: Column, words: Collection[str]) -> bool:
        """Return whether all values of a column are among some words in small letters."""
        listed = ", ".join(quote(word) for word in sorted(words))
        other = f"{column.sql} IS NOT NULL AND lower({column.sql}) NOT IN ({listed})"
        return not first_row(self.con, f"SELECT count(*) FROM {sheet.table} WHERE {other}")[0]

    def has_both(self, sheet: Sheet, one: Column, other: Column) -> bool:
        """Return whether a row has values in both columns."""
        both = f"{one.sql} IS NOT NULL AND {other.sql} IS NOT NULL"
        return bool(first_row(self.con, f"SELECT count(*) FROM {sheet.table} WHERE {both}")[0])

    def hits(self, sheet: Sheet, column: Column, target: Sheet, other: str) -> float:
        """Return the share of the different values of a column that an expression over another sheet gives."""
        value = column.canonical("x") if not column.split else "x"
        values = f"SELECT DISTINCT {self.values(column)} AS x FROM {sheet.table} WHERE {column.sql} IS NOT NULL"
        sql = f"SELECT count(*), count(*) FILTER ({value} IN (SELECT {other} FROM {target.table})) FROM ({values})"
        total, found = first_row(self.con, sql)
        return found / total if total else 0.0

    def values(self, column: Column) -> str:
        """Return the SQL expression of the single values of a column."""
        if not column.split:
            return column.sql
        separator = "chr(31)" if column.split == LIST else "'" + column.split.replace("'", "''") + "'"
        return f"trim(unnest(string_split({column.sql}, {separator})))"


def table_name(file: str) -> str:
    """Return the name of a table: its file's name without endings, or the name within the file."""
    path, _, inner = file.rpartition(WITHIN)
    return inner if path else Path(file).name.split(".")[0]


def separator_of(title: str, values: Sequence[str]) -> str:
    """Return the separator of several values in the cells of a column; empty if a cell is one value."""
    for separator in _SEPARATORS:
        plain = [_ENTITY.sub("&", value) for value in values] if separator == ";" else values
        cells = [value.split(separator) for value in plain if separator in value]
        parts = [part.strip() for cell in cells for part in cell if part.strip()]
        if separator == LIST and cells:
            return separator
        if parts and len(cells) >= 0.02 * len(values) and sum(map(len, parts)) / len(parts) <= _PART:
            if separator == ";" and len(cells) < 2 and not _is_plural(title):
                continue
            return separator
    # A comma between digits may belong to a number, or to the name of a substance.
    tight = any(re.search(r",\S", value) for value in values)
    separator = "," if tight and not any(re.search(r"\d,\d", value) for value in values) else ", "
    cells = [value.split(separator) for value in values if separator in value]
    parts = [part.strip() for cell in cells for part in cell]
    if len(cells) < 2 or sum(map(len, parts)) / len(parts) > 30:
        return ""
    # Under another heading, at least half of the parts must be values alone, too; states do not divide their cities.
    alone = separator == "," and len({*parts}.intersection(values)) >= max(2, len({*parts}) / 2)
    return separator if alone or (_is_plural(title) and len(set(parts)) < len(parts)) else ""


def _is_plural(title: str) -> bool:
    last = (words_of(title) or [""])[-1]
    return len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is", "address"))
