"""The plan of columns: the meaning of each column of each sheet, from headings and whole columns of all tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from srtk_framework.values import InputError, close_matches
from srtk_plugin_local.snapshot.arrow_texts import LIST
from srtk_plugin_local.snapshot.build_settings import BuildSettings, same_file
from srtk_plugin_local.snapshot.column_types import (
    BOOLEAN,
    CODE,
    DATE,
    DATE_TIME,
    DOUBLE,
    INTEGER,
    MIXED,
    NAMES,
    QUANTITY,
    TEXT,
)
from srtk_plugin_local.snapshot.given_plan import follow_plan, plan_data
from srtk_plugin_local.snapshot.headings import (
    ALIASES,
    DIRECTIONS,
    LABELS,
    first_known,
    is_edge_list,
    key_by_heading,
    neo4j_kind,
    neo4j_name,
    neo4j_type,
    place_of,
)
from srtk_plugin_local.snapshot.layout_words import kept, unwanted_columns
from srtk_plugin_local.snapshot.plurals import same_word
from srtk_plugin_local.snapshot.property_graphs.roles import SPARE_TYPES, WEIGHTS
from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets
from srtk_plugin_local.snapshot.staging_values import first_row
from srtk_plugin_local.snapshot.table_links import HIT, LAST_NAMES, find_links, names_table

# Share of different values from which a column may name the rows.
_NAMED = 0.5
_EDGE_IDS = ("id", "edge id", "uuid", "key", "edge", "link id", "relationship id")
_NUMBERED = (INTEGER, CODE, QUANTITY, NAMES, MIXED)
_DAYS = ("date", "dateTime")
_MOMENTS = (*_DAYS, "time")
# Headings of the times of a relation, which is no event.
_OF_STATES = ("since", "until", "valid from", "valid to", "valid until", "start date", "end date")
# Last words of the headings of texts that name nothing.
_DESCRIPTIONS = [
    [word] for word in ("description", "notes", "note", "comment", "comments", "summary", "abstract", "remarks")
]
_NEO4J_TYPES = {
    **dict.fromkeys(("int", "long", "short", "byte"), INTEGER),
    **dict.fromkeys(("float", "double"), DOUBLE),
    "boolean": BOOLEAN,
    "date": DATE,
    "datetime": DATE_TIME,
    "localdatetime": DATE_TIME,
}
# Headings of the times of the rows of a key.
_TIMES = (
    "year",
    "date",
    "day",
    "week",
    "month",
    "quarter",
    "period",
    "season",
    "jahr",
    "datum",
    "monat",
    "annee",
    "ano",
)
# How often the keys of such rows come on average, at least.
_AGAIN = 1.5
# Headings of a timetable or a pivot, and how many of them make one.
_PERIODS = frozenset(
    (
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"),
        *("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
        *("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
        *("lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"),
        *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
        *("november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    )
)
_PIVOT = 3
# Columns of which a key of several may consist.
_COMPOSITE = 6
_FIRST_NAMES = ("first name", "firstname", "given name", "forename", "vorname", "prenom")


def plan_sheets(
    sheets: Sheets, settings: BuildSettings, shared_ids: bool, pinned: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Decide the meaning of each column.

    Args:
        sheets: The sheets, with types and counts.
        settings: Flags that decide before anything else.
        shared_ids: Whether the build has files of triples, whose ids a table may use.
        pinned: Plan of the snapshot that this build replaces.

    Returns:
        The plan as plain data.

    Raises:
        InputError: If a flag names a column or a table that is not there, or no key can be found.
    """
    every = list(sheets)
    for sheet in every:
        sheet.neo4j = any(neo4j_kind(column.title) for column in sheet.columns)
        follow_plan(sheets, sheet, settings, pinned or {})
    new = [sheet for sheet in every if not sheet.planned]
    for sheet in new:
        _leave_out(sheet, settings)
        _find_ends(sheets, sheet, settings)
        _find_labels(sheet, settings)
        if sheet.form == "entities" and not sheet.key:
            _find_key(sheets, sheet, settings)
    for sheet in new:
        if sheet.key and sheet.label() is None:
            _find_name(sheets, sheet, settings)
    for sheet in new:
        find_links(sheets, sheet, settings)
    for sheet in new:
        if sheet.form == "entities" and not sheet.key:
            _join_or_compose(sheets, sheet)
    # Where several tables have keys of their own, equal keys are different things.
    keyed = [sheet for sheet in every if sheet.form == "entities" and not sheet.neo4j]
    for sheet in new if len(keyed) > 1 else ():
        if sheet in keyed:
            sheet.prefix = f"{sheet.name}:"
    if len(keyed) > 1 and shared_ids:
        keyed[0].note("the ids of tables have the table's name in front, and are not the ids of files of triples")
    for sheet in every:
        for column in sheet.columns:
            _finish(sheets, sheet, column, settings)
    _refuse_unknown(every, settings)
    return plan_data(every)


def _leave_out(sheet: Sheet, settings: BuildSettings) -> None:
    """Mark columns that are empty, layout or bookkeeping."""
    numeric = {column.title for column in sheet.columns if column.type.numeric}
    unwanted = unwanted_columns(sheet.titles, numeric, settings.keep)
    key = _given_key(sheet, settings)
    for column in sheet.columns:
        if key is not None and place_of(key, sheet.titles, sheet.name) == column.place:
            continue
        if not column.filled:
            column.kind = "empty"
        elif column.title in unwanted and key_by_heading(sheet.titles, sheet.name) != column.place:
            column.kind = unwanted[column.title]
        elif (
            column.title in (f"column {column.place + 1}", "Unnamed: 0", "index", "level_0")
            and column.place == 0
            and column.type is INTEGER
            and column.distinct >= 0.9 * sheet.rows
        ):
            column.kind, column.why = "bookkeeping", "row numbers of pandas"
        elif column.example[:2].lower() == "0x" and len(column.example) > 100:
            column.kind, column.why = "bookkeeping", "binary"


def _given_key(sheet: Sheet, settings: BuildSettings) -> str | None:
    """Return the heading of the key that is given for one of the files."""
    return next((key for report in sheet.reports if (key := settings.key_of(report.name)) is not None), None)


def _open(sheet: Sheet) -> Iterator[Column]:
    """Yield the columns without a meaning so far."""
    return (column for column in sheet.columns if not column.kind)


def _find_ends(sheets: Sheets, sheet: Sheet, settings: BuildSettings) -> None:
    """Find both ends of the edges of a list of edges."""
    ends = is_edge_list(sheet.titles)
    if ends is None or any(sheet.columns[at].kind for at in ends):
        return
    weak = is_edge_list(sheet.titles, weak=False) is None
    key = key_by_heading(sheet.titles, sheet.name)
    if weak and (key is not None or first_known(sheet.titles, LABELS) is not None):
        return
    if weak and any(_tells_rows(sheet, column, ends) for column in _open(sheet)):
        return
    sheet.form = "edges"
    for column in _open(sheet):
        if column.words in _EDGE_IDS and column.distinct >= HIT * sheet.rows:
            column.kind, column.why = "bookkeeping", "number of the edge"
        elif column.words == "type" and sheets.has_only(sheet, column, DIRECTIONS):
            column.kind, column.why = "bookkeeping", "direction"
        elif column.words in WEIGHTS and _is_constant(sheets, sheet, column) and not kept(column.title, settings.keep):
            column.kind, column.why = "bookkeeping", "all are equal"
            sheet.note(
                f"the {column.title} of all edges is {column.example}; it was left out (--keep {column.title} reads it)"
            )
    for at, kind in zip(ends, ("source", "target"), strict=True):
        sheet.columns[at].kind, sheet.columns[at].why = kind, "heading"


def _tells_rows(sheet: Sheet, column: Column, ends: Sequence[int]) -> bool:
    """Return whether a column beside *from* and *to* makes each row a thing of its own: its name, or its moment.

    The same ferry leaves at eight and at nine; *since* is the time of a relation, which stays an edge.
    """
    if column.type.datatype in _MOMENTS or column.words in _TIMES:
        return column.words not in _OF_STATES
    may_name = _may_name(column) or (column.type is CODE and column.place < min(ends))
    is_unique = column.distinct == column.filled == sheet.rows
    return may_name and is_unique and (len(sheet.columns) > 3 or column.place < min(ends))


def _find_labels(sheet: Sheet, settings: BuildSettings) -> None:
    """Find columns such as ``itemLabel``, which name the values of ``item``, as query services write them.

    The first of these columns is the key of entities, whose rows a query may repeat.
    """
    there = {column.title: column for column in _open(sheet)}
    for column in sheet.columns:
        label = there.get(f"{column.title}Label")
        if label is None or column.kind not in ("", "source", "target"):
            continue
        label.kind, label.to, label.why = "label", column.title, "heading"
        if column.kind:
            continue
        column.kind = "names"
        free = not sheet.key and _given_key(sheet, settings) is None and not sheet.reports[0].key
        if sheet.form == "entities" and free:
            _set_key(sheet, [column], "heading")
            label.kind, label.to = "name", ""
            if column.distinct < column.filled:
                sheet.note(f"rows that share {column.title!r} are one entity, with several values")


def _is_constant(sheets: Sheets, sheet: Sheet, column: Column) -> bool:
    """Return whether all weights are equal; a single edge has its weight as a fact, unless it is 1."""
    if not column.type.numeric or column.distinct != 1:
        return False
    (ones,) = first_row(sheets.con, f"SELECT count(*) FROM {sheet.table} WHERE {column.canonical()} = '1'")
    return column.filled > 1 or bool(ones)


def _find_key(sheets: Sheets, sheet: Sheet, settings: BuildSettings) -> None:
    """Find the key: by flag, by heading, or the first unique column of names."""
    given = _given_key(sheet, settings)
    declared = sheet.reports[0].key
    if given or declared:
        column = sheet.columns[place_of(given or declared, sheet.titles, sheet.name)]
        _set_key(sheet, [column], "given" if given else "primary key")
        return
    place = key_by_heading(sheet.titles, sheet.name)
    if place is not None and not sheet.columns[place].kind:
        column = sheet.columns[place]
        if sheets.is_unique(sheet, [column]):
            _set_key(sheet, [column], "heading")
            return
        exact = column.words in ("id", "uri", "iri", "entity") or sheet.neo4j
        if exact and (period := _period(sheets, sheet, column)) is not None:
            _compose(sheet, [column, period])
            return
        if exact:
            _set_key(sheet, [column], "heading")
            if column.distinct < column.filled:
                parts = "; its files are parts of one table, since their headings are the same"
                more = parts if len(sheet.reports) > 1 else ""
                sheet.note(
                    f"{column.title!r} is the key by its heading, though rows share it: they are one entity{more}"
                )
            return
    both = _parts_of_name(list(_open(sheet)))
    both = both if both and sheets.is_unique(sheet, both) else []
    among = [c for c in _open(sheet) if not both or _tells_more(sheets, sheet, c, both)]
    if sum(c.words in _PERIODS for c in among) >= _PIVOT:  # what stands below days and months names no row
        among = [c for c in among if c.words not in _PERIODS]
    own = next((c for c in among if c.type is CODE and _names_rows(c, sheet)), None)
    if own is not None and sheets.is_unique(sheet, [own]):
        # Each order may name another bike, and is still an order.
        _set_key(sheet, [own], "heading names the table")
        return
    unique_codes = [c for c in among if c.type is CODE and not c.split and sheets.is_unique(sheet, [c])]
    for kind, word in ((NAMES, "names"), (CODE, "codes")):
        unique = [c for c in among if c.type is kind and not c.split and sheets.is_unique(sheet, [c])]
        if kind is NAMES and unique_codes:
            first = unique_codes[0].place
            unique = [c for c in unique if c.place < first or not _names_another(sheets, sheet, c)]
        if unique:
            _set_key(sheet, unique[:1], f"{'first' if len(unique) > 1 else 'only'} unique column of {word}")
            return
    sheet.key = both


def _names_rows(column: Column, sheet: Sheet) -> bool:
    """Return whether a heading is the name of the table in singular, as *order* of *orders*."""
    return bool(sheet.words) and column.words != "" and same_word(column.words, sheet.words[-1])


def _period(sheets: Sheets, sheet: Sheet, key: Column) -> Column | None:
    """Return the column of the time that each row of a key is of, as in ``entity,year,value``; None without any."""
    # Most keys come again, not a few that have two values; and other tables link to the key alone.
    linked = any(names_table(c, sheet, False) for other in sheets if other is not sheet for c in other.columns)
    if linked or sheet.neo4j or _AGAIN * key.distinct > sheet.rows:
        return None
    times = (c for c in _open(sheet) if c.words in _TIMES and c.filled == sheet.rows)
    return next((c for c in times if sheets.is_unique(sheet, [key, c])), None)


def _names_another(sheets: Sheets, sheet: Sheet, column: Column) -> bool:
    """Return whether a heading names another table, as ``Customer`` beside a table of customers."""
    return any(other is not sheet and names_table(column, other, False) for other in sheets)


def _is_of_another(sheets: Sheets, sheet: Sheet, column: Column) -> bool:
    """Return whether a heading names another table, and nearly all values are in a column of another."""
    return _names_another(sheets, sheet, column) and any(
        sheets.hits(sheet, column, other, there.canonical()) >= HIT
        for other in sheets
        if other is not sheet
        for there in other.columns
    )


def _tells_more(sheets: Sheets, sheet: Sheet, column: Column, both: Sequence[Column]) -> bool:
    """Return whether a column may be a key before first and last names: it precedes them, or another table has it."""
    others = (there for other in sheets if other is not sheet for there in other.columns[1:])
    return column.place < min(part.place for part in both) or (
        column not in both and any(there.words == column.words for there in others)
    )


def _may_name(column: Column) -> bool:
    return column.type is NAMES and not column.split


def _set_key(sheet: Sheet, columns: list[Column], why: str) -> None:
    sheet.key = columns
    for column in columns:
        column.kind, column.why, column.split = "key", why, ""


def _find_name(sheets: Sheets, sheet: Sheet, settings: BuildSettings) -> None:
    """Find the column that names the rows, where the key does not."""
    key, *more = sheet.key
    among = _nameable(sheet, settings)
    coded = is_code(key)
    names = key.type is NAMES and key.why != "heading" and not coded
    if not more and (_name_by_heading(sheets, sheet, among) or names):
        return
    if _name_by_parts(among) or (key.type is NAMES and " " in key.example):
        return
    named = [c for c in among if c.words.split()[-1:] in (["name"], ["title"], ["label"], ["identifier"])]
    named.sort(key=lambda c: not any(same_word(word, c.words.split()[0]) for word in sheet.words))
    texts = [c for c in among if _may_name(c) and c.words.split()[-1:] not in [[word] for word in SPARE_TYPES]]
    for column in named if coded and key.why != "heading" else [*named, *texts]:
        titled = column in named
        tells = key.type is not NAMES or titled or column.distinct == sheet.rows
        differs = column.distinct >= (_NAMED if titled else 0.9) * sheet.rows
        if differs and tells and column.type in (NAMES, MIXED, TEXT):
            if not titled and _is_of_another(sheets, sheet, column):
                return  # what comes after the customer of an order names no order, either
            column.kind, column.why = "name", "heading" if titled else "first column of different names"
            return


def _nameable(sheet: Sheet, settings: BuildSettings) -> list[Column]:
    """Return the open columns that may name the rows: not the literals of the settings, and no lists."""
    there = [title for title in settings.literal_columns if title in sheet.titles or title.isdigit()]
    literal = {place_of(title, sheet.titles, sheet.name) for title in there}
    return [c for c in _open(sheet) if c.place not in literal and not c.split]


def _name_by_heading(sheets: Sheets, sheet: Sheet, among: Sequence[Column]) -> bool:
    """Name the rows by the column whose heading is a word for a name, and rows that lack it by another such column."""
    known = first_known(sheet.titles, LABELS, {column.place for column in among})
    if known is None:
        return False
    column = sheet.columns[known]
    if neo4j_name(column.title).casefold() != "name" and column.distinct < _NAMED * column.filled:
        return False
    column.kind, column.why = "name", "heading"
    for other in among:
        named = neo4j_name(other.title).casefold() in LABELS and other.distinct >= _NAMED * other.filled
        if not other.kind and named and not sheets.has_both(sheet, column, other):
            other.kind, other.why = "name", f"heading, of rows without {column.title}"
            break
    return True


def _name_by_parts(among: Sequence[Column]) -> bool:
    """Name the rows by first and last name."""
    parts = _parts_of_name(among)
    for column, why in zip(parts, ("first name", "last name"), strict=False):
        column.kind, column.why = "name", why
    return bool(parts)


def _parts_of_name(among: Sequence[Column]) -> list[Column]:
    """Return the columns of first and last names; none where one of them is missing."""
    found = (next((c for c in among if c.words in words), None) for words in (_FIRST_NAMES, LAST_NAMES))
    parts = [column for column in found if column is not None]
    return parts if len(parts) > 1 else []


def is_code(key: Column) -> bool:
    """Return whether a key is a code with a letter and a number, such as tt0076759 or SHOP-12, which people say."""
    return re.fullmatch(r"[A-Za-z]{1,8}[-_]?[0-9]{1,9}", key.example) is not None


def _join_or_compose(sheets: Sheets, sheet: Sheet) -> None:
    """Read a table without key as facts between two other tables, or find a key of several columns."""
    links = [column for column in sheet.columns if column.kind == "link" and column.to != sheet.name]
    if len(links) > 1:
        sheet.form = "facts"
        links[0].kind, links[1].kind = "source", "target"
        return
    every = [column for column in sheet.columns if column.kind in ("", "link")]
    usable = [column for column in every if not column.split and column.filled == sheet.rows]
    # A number or a day tells the rows apart where it is unique and the first that each row has.
    numbered = usable and (usable[0].type in _NUMBERED or usable[0].type.datatype in _MOMENTS)
    if numbered and not usable[0].kind and sheets.is_unique(sheet, usable[:1]):
        _set_key(sheet, usable[:1], "first column, which is unique")
        for column in _open(sheet):
            if column.words.split()[-1:] == ["name"] and _may_name(column) and column.distinct >= 0.9 * sheet.rows:
                column.kind, column.why = "name", "heading"
                break
        return
    if len(sheet.columns) == 2 and len(usable) == 2 and usable[0].type is NAMES:
        _set_key(sheet, usable[:1], "first column")
        sheet.note(f"rows with the same {usable[0].title!r} are one entity, with several values")
        return
    for size in (2, 3):
        for columns in combinations(usable[:_COMPOSITE], size):
            if sheets.is_unique(sheet, columns):
                _compose(sheet, list(columns))
                return
    if not every:
        raise InputError(f"{sheet.reports[0].name}: no column tells what a row is; give --id NAME, or --columns")
    _compose(sheet, every)
    sheet.note("some rows are the same in all columns: each is one entity")


def _compose(sheet: Sheet, columns: list[Column]) -> None:
    """Make a key of several columns, which keep their own meaning."""
    sheet.key = columns
    titles = ", ".join(repr(column.title) for column in columns)
    sheet.note(f"no single column tells its rows apart, so {titles} together name a row; give --id NAME to choose")


def _finish(sheets: Sheets, sheet: Sheet, column: Column, settings: BuildSettings) -> None:
    """Decide the meaning of a column that is still open."""
    if sheet.neo4j and column.kind in ("", "name"):
        _finish_neo4j(sheets, sheet, column, settings)
    if column.kind:
        return
    chosen = (place_of(name, sheet.titles, sheet.name) == column.place for name in settings.chosen_columns())
    if settings.columns and not any(chosen):
        column.kind = "ignored"
    elif column.words in ALIASES:
        column.kind = "alias"
    elif sheet.form != "entities":
        column.kind = "property"
    elif column.title in settings.literal_columns or str(column.place + 1) in settings.literal_columns:
        column.kind = "literal"
    elif column.type is NAMES and column.words.split()[-1:] not in _DESCRIPTIONS:
        column.kind = "names"
    else:
        column.kind = "literal"


def _finish_neo4j(sheets: Sheets, sheet: Sheet, column: Column, settings: BuildSettings) -> None:
    kind = neo4j_kind(column.title)
    if kind == "LABEL":
        column.kind, column.split = "type", settings.split or ";"
    elif kind in ("IGNORE", "START_ID", "END_ID", "TYPE"):
        column.kind = "ignored"
    elif column.kind == "":
        column.kind = "alias" if neo4j_name(column.title).casefold() in ALIASES else "literal"
        listed = LIST if column.split == LIST else ""
        column.split = (settings.split or ";") if column.title.endswith("[]") else listed
        declared = neo4j_type(column.title)
        column.type = _NEO4J_TYPES.get(declared, TEXT if declared else column.type)
        column.odd = sheets.count_odd(sheet, column) if column.type.datatype and not column.split else 0


def _refuse_unknown(every: Sequence[Sheet], settings: BuildSettings) -> None:
    """Refuse flags about columns that no table has.

    Raises:
        InputError: Naming the first.
    """
    titles = [title for sheet in every for title in sheet.titles]
    for name in settings.links:
        title = name.rpartition(".")[2]
        if every and title not in titles and name not in titles:
            raise InputError(f"links: no table has a column {name!r}.{close_matches(title, titles)}")
    for name in settings.keys:
        if every and not any(same_file(name, report.name) for sheet in every for report in sheet.reports):
            names = [sheet.name for sheet in every]
            raise InputError(f"keys: {name!r} is no table of this build.{close_matches(name, names)}")
