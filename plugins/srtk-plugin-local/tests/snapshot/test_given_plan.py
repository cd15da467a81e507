"""Plans that a build follows: a given one goes before everything, and that of the snapshot keeps a growing file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.column_types import INTEGER, NAMES, TEXT, type_by_name
from srtk_plugin_local.snapshot.given_plan import follow_plan, plan_data
from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets

from srtk_framework.values import InputError

Staged = Callable[..., Sheets]
TABLE = {"a.csv": "id,name,size,tags\n1,Ada,5,x|y\n2,Bo,seven,z|v\n3,Cy,,x\n"}
COLUMNS = {"id": {"as": "key"}, "name": {"as": "name"}, "size": {"as": "integer"}}
ENTRY = {"files": ["a.csv"], "key": ["id"], "columns": COLUMNS}


def followed(
    staged: Staged, entry: dict[str, Any], table: dict[str, str] = TABLE, **flags: Any
) -> tuple[Sheet, list[str]]:
    """Return a sheet after the plan of the snapshot that its build replaces, and the notes."""
    sheets = staged(table)
    [sheet] = sheets
    follow_plan(sheets, sheet, BuildSettings((), **flags), {"tables": {"a": entry}} if entry else {})
    return sheet, sheet.reports[0].notes


def given(staged: Staged, folder: Path, entry: dict[str, Any], name: str = "a") -> Sheet:
    sheets = staged(TABLE)
    [sheet] = sheets
    (folder / "plan.yaml").write_text(json.dumps({"tables": {name: entry}}))  # JSON is YAML
    follow_plan(sheets, sheet, BuildSettings((), plan=str(folder / "plan.yaml")), {"tables": {"a": ENTRY}})
    return sheet


def test_a_plan_says_all_of_the_columns(staged: Staged) -> None:
    sheet, notes = followed(staged, ENTRY | {"ids": "x:", "columns": COLUMNS | {"tags": {"as": "names", "split": "|"}}})
    assert (sheet.planned, sheet.form, sheet.prefix) == (True, "entities", "x:")
    assert [column.title for column in sheet.key] == ["id"]
    assert [(column.kind, column.split, column.odd) for column in sheet.columns] == [
        *(("key", "", 0), ("name", "", 0), ("literal", "", 1), ("names", "|", 0)),
    ]
    assert sheet.columns[2].type is INTEGER
    told = "'size' as integer, though its values would be mixed"
    assert notes == [f"was read as when its graph was built before ({told}); --plan changes it"]


def test_what_a_plan_says_of_a_link_and_of_an_edge(staged: Staged) -> None:
    columns = {"id": {"as": "source"}, "name": {"as": "target", "to": "b", "by": "name"}, "size": {"as": "text"}}
    sheet, _ = followed(
        staged, {"files": ["a.csv"], "rows": "edges", "columns": columns | {"tags": {"as": "link", "to": "c"}}}
    )
    assert (sheet.form, sheet.key, sheet.prefix) == ("edges", [], "")
    assert [(column.kind, column.to, column.by) for column in sheet.columns] == [
        *(("source", "", "key"), ("target", "b", "name"), ("property", "", "key"), ("link", "c", "key")),
    ]
    assert sheet.columns[2].type is TEXT


def test_a_column_that_was_empty_and_is_filled_is_planned_anew(staged: Staged) -> None:
    sheet, _ = followed(staged, ENTRY | {"columns": COLUMNS | {"size": {"as": "empty"}}})
    assert sheet.columns[2].kind == sheet.columns[3].kind == ""
    empty, _ = followed(staged, ENTRY | {"columns": {"size": {"as": "empty"}}}, {"a.csv": "id,name,size\n1,a,\n2,b,\n"})
    assert empty.columns[2].kind == "empty"


def test_a_list_of_a_plan_has_no_odd_values(staged: Staged) -> None:
    sheet, _ = followed(staged, ENTRY | {"columns": COLUMNS | {"size": {"as": "integer", "split": ";"}}})
    assert sheet.columns[2].odd == 0


def test_a_plan_that_says_nothing_new_is_told_without_a_column(staged: Staged) -> None:
    table = {"a.csv": "id,name,size,tags\n1,Ada,5,\n2,Bo,7,\n"}
    _, notes = followed(staged, ENTRY | {"columns": COLUMNS | {"name": {"as": "text"}, "tags": {"as": "date"}}}, table)
    assert notes == ["was read as when its graph was built before; --plan changes it"]
    _, notes = followed(staged, ENTRY | {"columns": COLUMNS | {"size": {"as": "names"}}}, table)
    assert "('size' as names, though its values would be integer)" in notes[0]
    _, notes = followed(staged, ENTRY | {"columns": COLUMNS | {"name": {"as": "names"}}}, table)
    assert "(" not in notes[0]
    _, notes = followed(staged, ENTRY | {"columns": COLUMNS | {"size": {"as": "text"}, "name": {"as": "code"}}}, table)
    said = "'name' as code, though its values would be names; 'size' as text, though its values would be integer"
    assert f"({said})" in notes[0]


@pytest.mark.parametrize(
    ("entry", "flags"),
    [
        ({}, {}),
        (ENTRY | {"files": ["b.csv"]}, {}),
        (ENTRY | {"columns": COLUMNS | {"gone": {"as": "text"}}}, {}),
        (ENTRY | {"beyond": 3}, {}),
        (ENTRY, {"id": "name"}),
        (ENTRY, {"keys": {"a.csv": "name"}}),
        (ENTRY, {"links": {"size": "a"}}),
        (ENTRY, {"columns": ("size",)}),
        (ENTRY, {"literal_columns": ("size",)}),
    ],
)
def test_a_plan_of_the_snapshot_gives_way(staged: Staged, entry: dict[str, Any], flags: dict[str, Any]) -> None:
    sheet, notes = followed(staged, entry, **flags)
    assert not sheet.planned
    assert notes == []


def test_a_file_that_has_grown_beyond_its_rows_follows_its_plan(staged: Staged) -> None:
    assert followed(staged, ENTRY | {"beyond": 2})[0].planned


def test_a_key_that_no_longer_tells_rows_apart_is_planned_anew(staged: Staged) -> None:
    table = {"a.csv": "id,name,size\n1,Ada,5\n1,Bo,7\n"}
    sheet, notes = followed(staged, ENTRY | {"rows": "entities"}, table)
    assert not sheet.planned
    assert notes == ["was planned anew, since its key no longer tells its rows apart"]
    assert followed(staged, ENTRY | {"rows": "facts"}, table)[0].planned
    assert followed(staged, ENTRY | {"rows": "entities", "key": []}, table)[0].planned


def test_a_given_plan_goes_before_that_of_the_snapshot(staged: Staged, tmp_path: Path) -> None:
    sheet = given(staged, tmp_path, {"files": ["a.csv"], "columns": {"size": {"as": "ignored"}}})
    assert (sheet.planned, sheet.columns[2].kind, sheet.reports[0].notes) == (True, "ignored", [])
    by_table = given(staged, tmp_path / ".", {"columns": {"size": {"as": "ignored"}}})
    assert by_table.columns[2].kind == "ignored"


def test_a_given_plan_must_name_columns_that_are_there(staged: Staged, tmp_path: Path) -> None:
    columns = {"id": {"as": "key"}, "sise": {"as": "text"}, "zzz": {"as": "text"}}
    with pytest.raises(InputError, match=r"plan\.yaml: a\.csv has no column 'sise'\. .*size"):
        given(staged, tmp_path, {"files": ["a.csv"], "columns": columns})


def test_the_plan_of_a_sheet_is_plain_data(staged: Staged) -> None:
    [sheet] = staged(TABLE)
    key, name, size, tags = sheet.columns
    key.kind, name.kind, size.kind, tags.kind = "key", "link", "literal", "names"
    name.to, name.by, tags.split, size.type = "b", "name", "|", type_by_name("number in kg") or TEXT
    sheet.key, sheet.prefix = [key], "a:"
    columns = {
        "id": {"as": "key"},
        "name": {"as": "link", "to": "b", "by": "name"},
        "size": {"as": "number in kg"},
        "tags": {"as": "names", "split": "|"},
    }
    entry = {"files": ["a.csv"], "rows": "entities", "key": ["id"], "ids": "a:", "columns": columns}
    assert plan_data([sheet]) == {"tables": {"a": entry}}


def test_texts_that_are_literals_are_no_names_in_a_plan() -> None:
    columns = [Column("a", 0, "literal", NAMES), Column("b", 1, "property", INTEGER)]
    data = plan_data([Sheet("t", "sheet_0", columns, form="edges")])
    assert data == {
        "tables": {"t": {"files": [], "rows": "edges", "columns": {"a": {"as": "text"}, "b": {"as": "integer"}}}}
    }
