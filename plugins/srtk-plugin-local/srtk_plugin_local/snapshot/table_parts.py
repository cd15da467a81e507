"""Tables with equal headings: parts of one table, such as two months, or tables of their own with their own ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import BuildSettings, same_file
from srtk_plugin_local.snapshot.headings import LABELS, first_known, is_edge_list, key_by_heading
from srtk_plugin_local.snapshot.plan_file import read_plan, table_of
from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets
from srtk_plugin_local.snapshot.staging_values import first_row

# Share of the common keys up to which another name is a correction of the same row.
_FEW = 0.1
# Share of them from which the keys are those of different things.
_MOST = 0.9
# Share of the keys of the smallest part that must be common to it and others, to tell tables apart.
_COMMON = 0.5


def part_tables(sheets: Sheets, settings: BuildSettings, pinned: Mapping[str, Any]) -> None:
    """Make tables of their own of files with equal headings whose keys mean different things.

    A plan or a key that is given for each of the files decides; ``--id`` keeps them one table.

    Args:
        sheets: The sheets, before any of their cells is emptied.
        settings: Flags that decide.
        pinned: Plan of the snapshot that this build replaces.

    Raises:
        InputError: If files may as well be parts of one table as tables of their own.
    """
    given = read_plan(settings.plan) if settings.plan is not None else {}
    for sheet in [sheet for sheet in sheets if len(sheet.reports) > 1]:
        files = [report.name for report in sheet.reports]
        planned = [table_of(given, file) for file in files]
        if any(planned):
            sheets.part(sheet, planned)
            continue
        before = [table_of(pinned, file) for file in files]
        if len(set(before) - {None}) > 1:
            sheets.part(sheet, [table or file for table, file in zip(before, files, strict=True)])
            continue
        keyed = [any(same_file(name, file) for name in settings.keys) for file in files]
        if all(keyed) or (settings.id is None and not any(keyed) and _are_different(sheets, sheet)):
            sheets.part(sheet, files)


def _are_different(sheets: Sheets, sheet: Sheet) -> bool:
    """Return whether the parts of a sheet use the same keys for different things, and note it.

    Raises:
        InputError: If it can be read either way.
    """
    place = None if is_edge_list(sheet.titles) else key_by_heading(sheet.titles, sheet.name)
    if place is None:
        return False
    key = sheet.columns[place]
    common, other, smallest = _common_keys(sheets, sheet, key)
    if not common or other <= _FEW * common:
        return False
    names = [Path(report.name).name for report in sheet.reports]
    what = f"{other:,} of the {common:,} values of {key.title!r} that they share stand for rows with other values"
    keys = " ".join(f"--key {name}={key.title}" for name in names)
    if other < _MOST * common or common < _COMMON * smallest:
        raise InputError(
            f"{' and '.join(names)}: have the same headings, and {what}; give {keys} to read tables of their own, or "
            f"--id {key.title} to read parts of one table"
        )
    sheet.note(
        f"has the headings of {', '.join(names[1:])}, but {what}, so each is a table of its own; give --id {key.title} "
        "to read parts of one table"
    )
    return True


def _common_keys(sheets: Sheets, sheet: Sheet, key: Column) -> tuple[int, int, int]:
    """Count the keys that several parts have, those whose rows differ there, and the keys of the smallest part.

    Rows differ if their names do; without a column of names, if most of their columns do.
    """
    part = "CASE " + " ".join(f"WHEN rowid < {end} THEN {n}" for n, end in enumerate(sheet.ends())) + " END"
    source = f"(SELECT *, regexp_replace({key.sql}, '\\.0+$', '') AS k, {part} AS part FROM {sheet.table})"
    common = f"SELECT k FROM {source} WHERE k IS NOT NULL GROUP BY k HAVING min(part) < max(part)"
    (count,) = first_row(sheets.con, f"SELECT count(*) FROM ({common})")
    others = _compared(sheet, key)
    differ = " + ".join(f"(min(lower({c.sql})) < max(lower({c.sql})))::INT" for c in others) or "0"
    rows = f"SELECT coalesce({differ}, 0) AS n FROM {source} WHERE k IN ({common}) GROUP BY k"
    (other,) = first_row(sheets.con, f"SELECT count(*) FROM ({rows}) WHERE n > {len(others) / 2}")
    sizes = f"SELECT count(DISTINCT k) AS n FROM {source} GROUP BY part"
    (smallest,) = first_row(sheets.con, f"SELECT min(n) FROM ({sizes}) WHERE n > 0")
    return count, other, smallest


def _compared(sheet: Sheet, key: Column) -> Sequence[Column]:
    """Return the columns by which rows of a key are compared: the names, else all other columns."""
    others = [column for column in sheet.columns if column is not key]
    name = first_known(sheet.titles, LABELS, [column.place for column in others])
    if name is not None:
        return [sheet.columns[name]]
    return [column for column in others if column.words.split()[-1:] == ["name"]][:1] or others
