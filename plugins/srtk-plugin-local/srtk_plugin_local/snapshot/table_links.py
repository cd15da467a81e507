"""Links between tables: columns whose values are rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from srtk_framework.values import InputError, close_matches
from srtk_plugin_local.snapshot.build_settings import BuildSettings, same_file
from srtk_plugin_local.snapshot.column_types import DECIMAL, DOUBLE, INTEGER, MIXED, NAMES, TEXT
from srtk_plugin_local.snapshot.headings import CODES, KEYS, ROLES
from srtk_plugin_local.snapshot.plurals import same_word
from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets

# Share of the different values of a link that must be keys of the other table: nearly all.
HIT = 0.9
# The same of names under a heading that names the table; the others stay names of things.
_TEXT_HIT = 0.5
LAST_NAMES = ("last name", "lastname", "surname", "family name", "nachname", "nom de famille")
_IDS = (*KEYS, *CODES, "ids", "ref", "fk")


def find_links(sheets: Sheets, sheet: Sheet, settings: BuildSettings) -> None:
    """Find the columns whose values are rows of a table."""
    every = list(sheets)
    for column in sheet.columns:
        given = _given_link(settings, sheet, column)
        if given is not None:
            target = _table(every, given, column)
            by = max(("key", "name"), key=lambda by: _hits(sheets, sheet, column, target, by))
            column.kind = column.kind if column.kind in ("source", "target") else "link"
            column.to, column.by = target.name, by
            column.why = "foreign key" if column.title in sheet.links else "given"
        elif column.kind in ("source", "target"):
            _find_nodes(sheets, sheet, column)
        elif not column.kind:
            _find_link(sheets, sheet, column)


def _given_link(settings: BuildSettings, sheet: Sheet, column: Column) -> str | None:
    if (declared := sheet.links.get(column.title)) is not None:
        return declared
    for name, table in settings.links.items():
        file, dot, title = name.rpartition(".")
        if title == column.title and (not dot or any(same_file(file, report.name) for report in sheet.reports)):
            return table
        if name == column.title:
            return table
    return None


def _table(every: Sequence[Sheet], name: str, column: Column) -> Sheet:
    for sheet in every:
        if sheet.name == name or any(same_file(name, report.name) for report in sheet.reports):
            if sheet.key:
                return sheet
            raise InputError(f"{sheet.name}: has no key for {column.title!r} to link to; give --key {name}=COLUMN")
    names = [sheet.name for sheet in every]
    raise InputError(
        f"{column.title!r} links to {name!r}, which is no table of this build.{close_matches(name, names)}"
    )


def _hits(sheets: Sheets, sheet: Sheet, column: Column, target: Sheet, by: str) -> float:
    """Return the share of the values of a column that are keys or names of another table, in one type."""
    if by == "key":
        if len(target.key) != 1:
            return 0.0
        (key,) = target.key
        if (column.type is INTEGER) != (key.type is INTEGER) or column.type in (DECIMAL, DOUBLE):
            return 0.0
        return sheets.hits(sheet, column, target, key.canonical())
    label = target.label()
    if label is None or column.type not in (NAMES, TEXT, MIXED):
        return 0.0
    return sheets.hits(sheet, column, target, name_of(target))


def name_of(sheet: Sheet) -> str:
    """Return the SQL expression of the name of a row."""
    names = [column for column in sheet.columns if column.kind == "name"]
    names.sort(key=lambda column: column.words in LAST_NAMES)
    return names[0].sql if len(names) == 1 else f"concat_ws(' ', {', '.join(column.sql for column in names)})"


def _find_nodes(sheets: Sheets, sheet: Sheet, column: Column) -> None:
    """Find the table of nodes beside a list of edges."""
    best = 0.0
    for target in sheets:
        for by in ("key", "name"):
            if target is not sheet and target.key and (share := _hits(sheets, sheet, column, target, by)) > best:
                best, column.to, column.by = share, target.name, by
    if best < _TEXT_HIT:
        column.to = column.by = ""


def _find_link(sheets: Sheets, sheet: Sheet, column: Column) -> None:
    """Find a link by three signs together: the heading, nearly all values in the other table, and their type."""
    for target in sheets:
        if not target.key:
            continue
        named = names_table(column, target, target is sheet) or _abbreviates(sheets, column, target)
        for by in ("key", "name"):
            share = _hits(sheets, sheet, column, target, by) if named or by == "name" else 0.0
            share += target.skipped / column.distinct if share and named else 0.0
            enough = (HIT if by == "key" else _TEXT_HIT) if named else (0.95 if column.distinct >= 3 else 2.0)
            if share >= enough:
                column.kind, column.to, column.by = "link", target.name, by
                column.why = named or "all values are names there"
                return
    if _stem(column) and column.distinct >= 3:
        fits = [other for other in sheets if other is not sheet and _hits(sheets, sheet, column, other, "key") == 1]
        if len(fits) == 1:
            sheet.note(
                f"all values of {column.title!r} are keys of {fits[0].name}; if it leads there, give --link "
                f"{column.title}={Path(fits[0].reports[0].name).name}"
            )


def _stem(column: Column) -> str:
    """Return what a heading such as ``cust_id`` is the id of; empty for another heading."""
    *stem, last = column.words.split() or [""]
    if stem:
        return stem[-1] if last in _IDS else ""
    return last[:-2] if last.endswith("id") else ""


def _abbreviates(sheets: Sheets, column: Column, target: Sheet) -> str:
    """Return why a heading such as ``cust_id`` means rows of a table: it begins the name of no other table."""
    stem = _stem(column)
    begun = [other for other in sheets if other.words and other.words[-1].startswith(stem)]
    return "heading begins the table's name" if len(stem) > 2 and begun == [target] else ""


def names_table(column: Column, target: Sheet, own: bool) -> str:
    """Return why a heading means rows of a table; empty if it does not."""
    words = column.words.split()
    stem = words[:-1] if len(words) > 1 and words[-1] in _IDS else words
    if not stem:
        return ""
    if (
        not own
        and len(target.key) == 1
        and column.words == target.key[0].words
        and column.words not in ("id", "name", "code")
    ):
        return "heading of a key"
    if target.words and same_word(stem[-1], target.words[-1]) and (not own or len(words) > 1):
        return "heading names the table"
    if target.words and column.words.endswith("id") and same_word(column.words[:-2], target.words[-1]):
        return "heading names the table"
    if own and not ROLES.isdisjoint((" ".join(stem), stem[0], stem[-1])):
        return "heading of a role"
    return ""
