"""Plans of columns that a build follows: a given plan, and the plan of the snapshot that it replaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from srtk_framework.values import InputError, close_matches
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.column_types import NAMES, TEXT, ColumnType, type_by_name
from srtk_plugin_local.snapshot.plan_file import KINDS, entry_of, read_plan
from srtk_plugin_local.snapshot.sheets import Sheet, Sheets


def plan_data(sheets: Iterable[Sheet]) -> dict[str, Any]:
    """Return the plan of sheets as plain data."""
    tables = {}
    for sheet in sheets:
        data: dict[str, Any] = {"files": [Path(report.name).name for report in sheet.reports], "rows": sheet.form}
        if sheet.key:
            data["key"] = [column.title for column in sheet.key]
        if sheet.prefix:
            data["ids"] = sheet.prefix
        data["columns"] = {}
        for column in sheet.columns:
            kind = TEXT if column.type is NAMES else column.type  # a plan means entities by names
            entry = {"as": kind.name if column.kind in ("literal", "property") else column.kind}
            entry |= {"to": column.to, "by": column.by} if column.to else {}
            data["columns"][column.title] = entry | ({"split": column.split} if column.split else {})
        tables[sheet.name] = data
    return {"tables": tables}


def follow_plan(sheets: Sheets, sheet: Sheet, settings: BuildSettings, pinned: Mapping[str, Any]) -> None:
    """Let a plan decide about a sheet, which is marked as planned then.

    A given plan goes before everything. The plan of the snapshot that a build replaces keeps a growing file from being
    read in another way, with a note. If it no longer fits, the sheet is planned anew.

    Raises:
        InputError: If a given plan names a column that is not there.
    """
    file = sheet.reports[0].name
    if settings.plan is not None and (entry := entry_of(read_plan(settings.plan), file, sheet.name)) is not None:
        if lacking := [title for title in entry["columns"] if title not in sheet.titles]:
            hint = close_matches(lacking[0], sheet.titles)
            raise InputError(f"{settings.plan}: {file} has no column {lacking[0]!r}.{hint}")
        _apply(sheets, sheet, entry)
        return
    entry = entry_of(pinned, file)
    flags = settings.key_of(file) or settings.links or settings.columns or settings.literal_columns
    if entry is None or flags or set(entry["columns"]) - set(sheet.titles) or sheet.rows <= entry.get("beyond", -1):
        return
    key = [column for column in sheet.columns if column.title in entry.get("key", ())]
    if key and entry.get("rows") == "entities" and not sheets.is_unique(sheet, key):
        sheet.note("was planned anew, since its key no longer tells its rows apart")
        return
    now = {column.title: column.type for column in sheet.columns}
    _apply(sheets, sheet, entry)
    sheet.note(f"was read as when its graph was built before{_changes(sheet, now)}; --plan changes it")


def _changes(sheet: Sheet, now: Mapping[str, ColumnType]) -> str:
    """Return which columns would be of another type by their values now, in brackets; empty if none would."""
    found = []
    for column in sheet.columns:
        same = column.type is now[column.title] or (column.type, now[column.title]) == (TEXT, NAMES)
        is_typed = column.kind in ("literal", "property") and not same
        if column.filled and (is_typed or (column.kind == "names" and now[column.title].datatype)):
            kept = column.type.name if is_typed else "names"
            found.append(f"{column.title!r} as {kept}, though its values would be {now[column.title].name}")
    return f" ({'; '.join(found)})" if found else ""


def _apply(sheets: Sheets, sheet: Sheet, entry: Mapping[str, Any]) -> None:
    sheet.form = entry.get("rows", "entities")
    sheet.prefix = entry.get("ids", "")
    sheet.key = [column for title in entry.get("key", ()) for column in sheet.columns if column.title == title]
    for column in sheet.columns:
        said = entry["columns"].get(column.title)
        if said is None or (said["as"] == "empty" and column.filled):
            continue
        column.split, column.to, column.by = said.get("split", ""), said.get("to", ""), said.get("by", "key")
        column.why = ""
        if said["as"] in KINDS:
            column.kind = said["as"]
            continue
        column.kind = "literal" if sheet.form == "entities" else "property"
        column.type = type_by_name(said["as"]) or TEXT
        column.odd = sheets.count_odd(sheet, column) if column.type.datatype and not column.split else 0
    sheet.planned = True
