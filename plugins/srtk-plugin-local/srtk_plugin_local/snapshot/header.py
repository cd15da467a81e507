"""The header of a table: whether there is any, and which columns hold the parts of a fact or of an entity."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from statistics import median

import attrs

from srtk_framework.values import InputError, shortened
from srtk_plugin_local.snapshot.apoc import is_apoc
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.column_types import DOUBLE, NEARLY, QUANTITY, is_missing, share, type_of
from srtk_plugin_local.snapshot.headings import (
    DIRECTIONS,
    IDS,
    LABELS,
    WEAK_ENDS,
    WORDS,
    are_years,
    first_known,
    is_edge_list,
    is_number,
    is_year,
    key_by_heading,
    neo4j_kind,
    neo4j_space,
    normal,
    place_of,
    recognised,
    words_of,
)
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.plan_file import entry_of, read_plan
from srtk_plugin_local.snapshot.plurals import same_word

# Longest heading of a first line that only stands alone.
_HEADING = 40

Row = tuple[int, Sequence[str]]
"""Line number and cells."""


@attrs.frozen
class Plan:
    """How the rows of a table are read.

    Attributes:
        width: Number of columns.
        start: Number of the first line that is a row.
        picked: Places of the columns to read, from 0; of a sheet, all of them.
        filled: The first so many of them must not be empty.
        titles: Headings of a sheet, whose columns are understood when all tables are read; empty for any other table.
        spaces: Texts before the ids of a subject and an object, from the id spaces of Neo4j.
        expected: The columns in words, for messages.
        header: Number of lines of the header; lines above it are no part of the table.
    """

    width: int
    start: int
    picked: tuple[int, ...]
    filled: int
    titles: tuple[str, ...] = ()
    spaces: tuple[str, str] = ("", "")
    expected: str = ""
    header: int = 0


Planner = Callable[[Sequence[Row], FileReport], Plan]
"""Makes the plan of a table from its first rows."""


def plan_facts(settings: BuildSettings) -> Planner:
    """Return the planner of files of facts, or of sheets, by the settings of a build."""

    def plan(rows: Sequence[Row], report: FileReport) -> Plan:
        if not rows:
            return Plan(3, 1, (0, 1, 2), 3, expected="3 columns")
        return _First(settings, rows, report).plan()

    return plan


def _with_row_names(rows: Sequence[Row], usual: int) -> list[Row] | None:
    """Return rows with an empty heading above the names of the rows, which R leaves out; None for other rows.

    The first line then has a cell less than each of the others, and their first cells are different words. A text
    behind a separator and a blank, and no heading so, is the rest of a cell: *12 High Street, Leeds*.
    """
    (line, titles), *rest = rows
    names = [cells[0] for _, cells in rest]
    is_short = usual > 2 and len(rest) > 1 and {len(cells) for _, cells in rest} == {usual} and len(titles) == usual - 1
    is_cut = any(cell.startswith(" ") and not is_number(cell.strip()) for _, cells in rest for cell in cells)
    if (
        not is_short
        or (is_cut and not any(title.startswith(" ") for title in titles))
        or not all(titles)
        or recognised(titles) is not None
        or len({*names}) < len(names)
        or share(names, DOUBLE) > 0
    ):
        return None
    return [(line, ["", *titles]), *rest]


def _above(rows: Sequence[Row], usual: int) -> int:
    """Return the number of first rows that are no part of the table: they fill less than half of the usual cells."""
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in rows]
    least = median(filled[1:] or filled) / 2
    return next((at for at, count in enumerate(filled) if count > 1 and count >= least), 0) if usual > 2 else 0


def _merged(rows: Sequence[Row], first: Row) -> Row | None:
    """Return the headings of two lines in one, as of merged cells: ``Sales`` above ``Online`` is ``Sales Online``.

    The second line fills each gap of the first, and has gaps itself, the first of them under the first heading.
    """
    second = next((row for row in rows if row[0] > first[0]), first)
    above, below = ([cell.strip() for cell in cells] for _, cells in (first, second))
    gaps = [at for at, cell in enumerate(above) if not cell]
    if not gaps or len(above) != len(below) or below[0] or not all(below[at] for at in gaps):
        return None
    titles, group = [], ""
    for upper, lower in zip(above, below, strict=True):
        group = upper or group
        titles.append(f"{group} {lower}".strip())
    return second[0], titles


def _grouped(upper: Row, lower: Row) -> Row | None:
    """Return the headings of two lines in one where the first has groups over repeated headings of the second.

    ``Q1`` and ``Q2`` above ``Shop``, ``Units``, ``Sales``, ``Units`` and ``Sales`` make ``Q1 Units`` and the like.
    A row may have the same value in two columns, too, so that groups of several columns have to share a heading.
    """
    above, below = ([cell.strip() for cell in cells] for _, cells in (upper, lower))
    if len(above) != len(below) or not all(below):
        return None
    groups: list[tuple[str, list[str]]] = [("", [])]
    for name, title in zip(above, below, strict=True):
        if name:
            groups.append((name, []))
        groups[-1][1].append(title)
    wide = [title for name, titles in groups if name and len(titles) > 1 for title in {*titles}]
    if len({*wide}) == len(wide) or any(map(is_number, {*wide})):
        return None
    titles = [f"{name} {title}".strip() for name, some in groups for title in some]
    return (lower[0], titles) if len({*titles}) == len(titles) else None


class _First:
    """The plan of one file by its first rows; a header at line 0 comes from a container with headings of its own."""

    def __init__(self, settings: BuildSettings, rows: Sequence[Row], report: FileReport) -> None:
        self.settings = settings
        self.report = report
        plain = [row for row in rows if not row[1][0].startswith("#")] or rows
        self.usual = Counter(len(cells) for _, cells in plain).most_common(1)[0][0]
        if settings.header is None and (named := _with_row_names(rows, self.usual)) is not None:
            rows = named
            report.note(
                "its first line has a heading less than its rows have cells; the first column is the name of the row"
            )
        kept = [row for row in rows if not (row[1][0].startswith("#") and len(row[1]) != self.usual)]
        # Headings of a container, at line 0, stand above rows of their own width.
        above = _above(kept, self.usual) if kept[0][0] else 0
        group, kept = kept[max(above - 1, 0)], kept[above:]
        first = kept[0]
        if recognised(_titles(first[1])) is None and settings.header is None:
            first = next((row for row in kept if len(row[1]) == self.usual), first)
        self.span = 1
        upper, merged = first, None
        if settings.header is not False and first[0]:
            merged = _merged(kept, first)
            lower = first if above else next((row for row in kept if row[0] > first[0]), first)
            if merged is None and (merged := _grouped(group, lower)) is not None:
                upper = group
        if merged is not None:
            self.span = merged[0] - upper[0] + 1
            kept = [merged, *(row for row in kept if row[0] > merged[0])]
            first = merged
        self.line, self.cells = first
        self.place = f"{report.name}:{self.line}" if self.line else report.name
        self.certain = not self.line
        rest = [cells for row in kept if row is not first and len(cells := row[1]) >= min(2, self.usual)]
        self.rest = [cells for cells in rest if not is_rule(cells, report.separator)]
        self.titles = _titles(self.cells)
        self.columns = settings.chosen_columns() if settings.key_of(report.name) is None else ()
        headed = settings.header is True and set(self.columns) <= set(self.titles)
        self.numbered = bool(self.columns) and not headed and all(column.isdigit() for column in self.columns)

    def plan(self) -> Plan:
        """Return the plan.

        Raises:
            InputError: If the columns are not to be found.
        """
        settings = self.settings
        key = settings.key_of(self.report.name)
        named = (bool(self.columns) and not self.numbered) or key is not None
        if settings.header is False and named and not (key or "").isdigit():
            raise InputError(
                f"{self.report.name}: columns are chosen by name, but the file is said to have no header; give "
                "the numbers of the columns, such as 1,2,3, or leave --no-header out"
            )
        planned = settings.plan is not None and entry_of(read_plan(settings.plan), self.report.name) is not None
        if planned or self.report.key or self.report.links:
            return self._sheet(True)
        if key is not None:
            self._place(key)
            return self._sheet(bool(self.certain or settings.header is not False))
        if self.columns:
            return self._facts(self._columns(), self._is_header(named))
        return self._plan_by_content()

    def _plan_by_content(self) -> Plan:
        """Return the plan where no setting names a column."""
        settings = self.settings
        if is_apoc(self.titles):
            return self._sheet(True)
        if self.certain or settings.header is not False:
            found = self._recognised()
            if found is not None:
                if {"node1", "label", "node2"} <= {*self.titles}:
                    self.report.note("has the headings of KGTK; give --from kgtk to read its names and literals")
                return self._facts(found, True)
            if self._evidence():
                return self._sheet(True)
        if len(self.titles) == 3:
            header = self.certain or settings.header is True
            if not header and self._has_weights():
                self.report.note(
                    "its third column holds numbers and the others share their values, so that its rows are edges with "
                    "a weight; give --columns 1,2,3 if the second is the relation"
                )
                return self._sheet(False, ("weight",))
            if not header:
                self._doubt()
            return self._facts(self._order(), header)
        if settings.header is True:
            return self._sheet(True)
        if settings.header is False and self.usual == 2:
            return self._sheet(False)
        raise InputError(f"{self.place}: {self._unclear()}")

    def _is_header(self, named: bool) -> bool:
        if self.settings.header is not None and not self.certain:
            return self.settings.header
        words = recognised(self.titles) is not None or any(neo4j_kind(title) == "ID" for title in self.titles)
        return self.certain or named or words

    def _recognised(self) -> tuple[int, int, int] | None:
        """Return the places of subject, relation and object, if headings and columns agree."""
        found = recognised(self.titles)
        if found is None or self.usual < 3:
            return None
        _, relation, _ = found
        values = {cells[relation].strip().casefold() for cells in self.rest if relation < len(cells)}
        if values and values <= DIRECTIONS:
            return None
        weak = all(normal(self.titles[place]) in WEAK_ENDS for place in (found[0], found[2]))
        if weak and len(self.titles) > 3 and key_by_heading(self.titles, "") is not None:
            return None
        return found

    def _evidence(self) -> bool:
        """Return whether the first row is a header of a sheet: by its words, by its types, or since it stands alone."""
        titles, rest = self.titles, self.rest
        if self.certain and not rest:
            return len(titles) != 3
        if is_result(titles):
            return True
        if any(neo4j_kind(title) in ("ID", "START_ID") for title in titles):
            return True
        columns = [[cells[place].strip() for cells in rest if place < len(cells)] for place in range(len(titles))]
        if self._has_odd_title(columns):
            return False
        again = any(title and title in column for title, column in zip(titles, columns, strict=True))
        if not again and (is_edge_list(titles) or self._has_years(columns)):
            return True
        words = key_by_heading(titles, "") is not None or first_known(titles, LABELS) is not None
        words = words or any(f"{title}Label" in titles for title in titles) or self._names_rows()
        if len(titles) == 3:
            return not again and bool(rest) and self._heads_sheet(columns, words)
        return (words and not again) or self._types_differ(columns) or (not again and self._stands_alone(columns))

    def _names_rows(self) -> bool:
        """Return whether the first title is the name of the file in singular, as *order* in ``orders.csv``."""
        table, title = words_of(PurePath(self.report.name).stem), normal(self.titles[0])
        return bool(table and title) and table[-1] != title and same_word(table[-1], title)

    def _has_years(self, columns: Sequence[Sequence[str]]) -> bool:
        """Return whether the titles that are numbers are years: of two, other numbers than years stand below them."""
        years = [place for place, title in enumerate(self.titles) if is_number(title)]
        below = [value for place in years for value in columns[place] if value and not is_missing(value, None)]
        is_wide = bool(below) and share(below, DOUBLE) >= NEARLY and not all(map(is_year, below))
        return are_years([self.titles[place] for place in years], 2 if is_wide else 3)

    def _has_odd_title(self, columns: Sequence[Sequence[str]]) -> bool:
        """Return whether a title is empty or a number; the first may be empty, as pandas leaves it over row numbers."""
        first = int(not self.titles[0] or self.titles[0].startswith("Unnamed"))
        filled = {place for cells in self.rest for place, cell in enumerate(cells) if cell.strip()}
        some = [title for place, title in enumerate(self.titles) if place >= first and (title or place in filled)]
        known = [normal(title) or title.strip("# ") for title in some]
        numbers = [title for title in some if is_number(title)]
        return not known or "" in known or (bool(numbers) and not self._has_years(columns))

    def _heads_sheet(self, columns: Sequence[Sequence[str]], words: bool) -> bool:
        """Return whether three titles head a sheet; they may also head subjects, relations and objects."""
        if words:
            return not _mixed_kinds(columns[1])
        return self._types_differ(columns) and _relation_place(columns) is None

    def _stands_alone(self, columns: Sequence[Sequence[str]]) -> bool:
        """Return whether the first row is unlike the rows below it."""
        if len(self.rest) < 2 or self._looks_like_a_row(columns):
            return False
        if self.certain or len(self.titles) != 2:
            return self.certain or len(self.titles) != 1
        if self._heads_codes() and not any(any(map(str.isdigit, title)) for title in self.titles):
            return True
        # Two headings in small letters, where the names below are not.
        names = [value for column in columns for value in column if value]
        capital = sum(value[:1].isupper() for value in names)
        small = all(title[:1].islower() for title in self.titles)
        return small and capital >= 0.9 * len(names)

    def _types_differ(self, columns: Sequence[Sequence[str]]) -> bool:
        """Return whether a heading does not fit the numbers, dates or truth values below it."""
        for title, column in zip(self.titles, columns, strict=True):
            values = [value for value in column if value and not is_missing(value, None)]
            if len(values) < 2:
                continue
            kind, _ = type_of(values, self.report.separator)
            is_quantity = kind is QUANTITY and share(values, kind) >= NEARLY
            if (kind.datatype or is_quantity) and not share([title], kind):
                return True
        return False

    def _looks_like_a_row(self, columns: Sequence[Sequence[str]]) -> bool:
        """Return whether a first cell is a sentence, or is written as all codes below it are, such as Q42."""
        for title, column in zip(self.titles, columns, strict=True):
            values = [value for value in column if value]
            shape = _shape(title)
            if len(title) > _HEADING or ("9" in shape and values and all(_shape(value) == shape for value in values)):
                return True
        return False

    def _heads_codes(self) -> bool:
        """Return whether a word stands above codes of one form, such as tconst above tt9000001."""
        rows = [row for row in self.rest if len(row) == len(self.titles)]
        for place, title in enumerate(self.titles):
            shapes = {_shape(row[place].strip()) for row in rows}
            if len(shapes) == 1 and "9" in min(shapes) and "9" not in _shape(title):
                return True
        return False

    def _has_weights(self) -> bool:
        """Return whether three columns without a header are both ends of edges and a weight."""
        rows = [[cell.strip() for cell in cells] for cells in (self.cells, *self.rest) if len(cells) == 3]
        start, end, weight = zip(*rows, strict=True)
        numbers = share(weight, DOUBLE) == 1 and share((*start, *end), DOUBLE) == 0
        return numbers and not set(start).isdisjoint(end)

    def _order(self) -> tuple[int, int, int]:
        """Return the places of subject, relation and object of a table without such headings."""
        columns = [[cells[place].strip() for cells in self.rest if len(cells) == 3] for place in range(3)]
        for place, cell in enumerate(() if self.certain else self.cells):
            columns[place].append(cell.strip())
        if _relation_place(columns) == 0:
            self.report.note(
                "the first of its three columns was read as the relation, since the two others share their values; "
                "give --columns 1,2,3 if the second is the relation"
            )
            return (1, 0, 2)
        return (0, 1, 2)

    def _unclear(self) -> str:
        count, separator = len(self.cells), self.report.separator
        separated = f" separated by {separator!r}" if separator else ""
        first, *others = self.cells
        if not others:
            more = "; write columns that blanks line up as CSV, as with pandas.read_fwf" if "  " in first else ""
            return (
                f"found one column; give the --separator of its columns, if it has several (the lines were cut at "
                f"{separator!r}){more}"
            )
        if count == 2:
            return (
                "its first line may be a header or the first of its rows; give --header if it is one (the rows are "
                "then entities), or --no-header (the rows are then edges)"
            )
        return (
            f"expected 3 columns{separated}, found {count}: {shortened(str(list(self.cells)))}; name "
            "subject, relation and object with --columns, by heading or number (--columns 1,2,3), or give --header if "
            "the first line is one and each row is one entity"
        )

    def _columns(self) -> tuple[int, int, int]:
        if len(self.columns) != 3:
            raise InputError(f"columns is {list(self.columns)}; name three: subject, relation and object")
        subject, relation, object_ = (self._place(column) for column in self.columns)
        return subject, relation, object_

    def _place(self, column: str) -> int:
        """Return the place of a column given by heading or number."""
        return place_of(column, self.titles, self.place, not self.numbered, self.usual)

    def _facts(self, picked: tuple[int, int, int], header: bool) -> Plan:
        width = len(self.cells) if header or not self.numbered else self.usual
        roles = dict(zip(picked, WORDS, strict=True))
        titles = (
            self.titles if header else [f"column {place + 1}" for place in range(max(len(self.titles), self.usual))]
        )
        if header and not self.certain:
            self.report.header, self.report.header_line = tuple(self.cells), self.line
        cells = self.rest[0] if self.rest else ()
        further: list[int] = []
        if header and not self.columns and neo4j_kind(titles[picked[0]]) == "START_ID":
            # Neo4j has the properties of an edge in its row.
            further = [at for at, title in enumerate(titles) if at not in roles and title and not neo4j_kind(title)]
        roles |= dict.fromkeys(further, "qualifier")
        self.report.properties = tuple(titles[place] for place in further)
        self.report.columns = [
            {"column": titles[place], "as": role, "example": cells[place] if place < len(cells) else ""}
            for place, role in sorted(roles.items())
        ]
        self.report.unread = [title for place, title in enumerate(titles) if title and place not in roles]
        spaces = [neo4j_space(self.titles[place]) if header else "" for place in (picked[0], picked[2])]
        subject, object_ = (f"{space}/" if space else "" for space in spaces)
        return Plan(
            width,
            self.line + header,
            (*picked, *further),
            3,
            (),
            (subject, object_),
            f"{width} columns",
            header * self.span,
        )

    def _sheet(self, header: bool, further: tuple[str, ...] = ()) -> Plan:
        """Return the plan of a sheet; without a header it is a list of edges."""
        width = len(self.titles) if header else self.usual
        more = further or tuple(f"column {n + 1}" for n in range(2, width))
        titles = tuple(self.titles) if header else ("source", "target", *more)
        if header and not self.certain:
            self.report.header, self.report.header_line = tuple(self.cells), self.line
        picked = tuple(range(width))
        lines = self.span if header else 0
        return Plan(width, self.line + header, picked, 0, titles, ("", ""), f"{width} columns", lines)

    def _doubt(self) -> None:
        """Note that the first line is kept as a fact although it has words of a header."""
        if self.settings.header is not None:
            return
        known = {word for words in (*WORDS.values(), IDS) for word in words if len(word) > 1}
        columns = enumerate(self.cells)
        if any(place < len(row) and row[place] == cell for place, cell in columns for row in self.rest):
            return  # a word of a header does not come again in its column
        below = {cell for row in self.rest for cell in row}
        alone = below.isdisjoint(self.cells) and not any(cell.strip().isdigit() for cell in self.cells)
        stands_out = (self.report.format == "csv" or self._heads_codes()) and bool(below) and alone
        if known.isdisjoint(normal(title) for title in self.titles) and not stands_out:
            return
        text = shortened(self.report.separator.join(self.cells))
        advice = "if it is a header, give --header, or --id NAME if each row is one entity; else --no-header"
        if self.report.strict:
            raise InputError(f"{self.report.name}:{self.line}: {text!r} may be a header; {advice}")
        self.report.note(f":{self.line}: kept as a fact: {text!r}; {advice}")


def _shape(text: str) -> str:
    """Return how a text is written: runs of capitals, small letters and digits, and all other characters."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", lambda run: "A" if run[0].isupper() else "a", text))


def _mixed_kinds(column: Sequence[str]) -> bool:
    """Return whether the values of a column are few and come again and again, as relations do."""
    return len(column) >= 6 and 3 * len(set(column)) <= len(column) and all("_" in v or v.islower() for v in column)


def _relation_place(columns: Sequence[Sequence[str]]) -> int | None:
    """Return which of three columns holds the relation, if the values show it: the two others share theirs."""
    if min(map(len, columns)) < 5:
        return None
    sets = [set(column) for column in columns]

    def shared(a: int, b: int) -> float:
        return len(sets[a] & sets[b]) / min(len(sets[a]), len(sets[b]))

    for place, (a, b) in ((1, (0, 2)), (0, (1, 2)), (2, (0, 1))):
        apart = not sets[place] & (sets[a] | sets[b])
        apart = apart and len(sets[place]) < len(columns[place])  # a relation comes again
        few = 10 * len(sets[place]) <= len(columns[place])
        if apart and (shared(a, b) >= 0.3 or (few and shared(a, b) >= 0.02 and len(sets[a]) > 3 * len(sets[place]))):
            return place
    return None


def is_result(titles: Sequence[str]) -> bool:
    """Return whether headings are variables of SPARQL, as in its results in TSV."""
    return all(re.fullmatch(r"\?\w+", title) for title in titles)


def is_rule(cells: Sequence[str], separator: str = "") -> bool:
    """Return whether a row holds dashes alone, as the rule below the header of a table in Markdown does.

    A single dash is a mark of a missing value where no ``|`` separates the cells.
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    dashes = ":?-+:?" if separator == "|" else ":?--+:?"
    return bool(filled) and all(re.fullmatch(dashes, cell) for cell in filled)


def _titles(cells: Iterable[str]) -> list[str]:
    return [(cell.lstrip("# ") if place == 0 else cell).strip() for place, cell in enumerate(cells)]


def plan_fixed(widths: Sequence[int], filled: int, header: tuple[Sequence[str], Sequence[str]] | None) -> Planner:
    """Return the planner of files whose columns stand in a fixed order.

    Args:
        widths: Allowed numbers of columns; the first row decides.
        filled: The first so many columns must not be empty.
        header: Words of the first two headings; a first line with both is a header.
    """

    def plan(rows: Sequence[Row], report: FileReport) -> Plan:
        rows = [row for row in rows if not (row[1][0].startswith("#") and len(row[1]) not in widths)]
        if not rows:
            return Plan(widths[0], 1, tuple(range(widths[0])), filled, expected=f"{widths[0]} columns")
        line, cells = rows[0]
        width = len(cells) if line else min(len(cells), max(widths))  # further columns of Parquet are left out
        if width not in widths:
            raise InputError(
                f"{report.name}:{line}: expected {widths[0]} columns separated by {report.separator!r}, found {width}; "
                "correct the line"
            )
        titles = [normal(title) for title in _titles(cells)]
        taken = header is not None and all(title in words for title, words in zip(titles, header, strict=False))
        if taken and line:
            report.header, report.header_line = tuple(cells), line
            report.columns = [{"column": title, "as": title, "example": ""} for title in cells]
        picked = tuple(range(width))
        return Plan(len(cells), line + taken, picked, filled, expected=f"{width} columns", header=int(taken))

    return plan
