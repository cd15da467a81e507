"""Tables with equal headings: parts of one table, or tables of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.plan_file import read_plan
from srtk_plugin_local.snapshot.sheets import Sheets
from srtk_plugin_local.snapshot.table_parts import part_tables

from srtk_framework.values import InputError

Staged = Callable[..., Sheets]


def parted(
    staged: Staged, files: Sequence[str], head: str = "id,name,x", pinned: dict[str, Any] | None = None, **flags: Any
) -> tuple[list[list[str]], list[str]]:
    """Return the files of each table, and the notes; a file is its rows, with a blank between."""
    tables = {
        f"{letter}.csv": f"{head}\n{rows}".replace(" ", "\n") for letter, rows in zip("abcd", files, strict=False)
    }
    sheets = staged(tables, False)
    part_tables(sheets, BuildSettings((), **flags), {"tables": pinned or {}})
    return [[report.name for report in sheet.reports] for sheet in sheets], [
        note for sheet in sheets for report in sheet.reports for note in report.notes
    ]


def plan(folder: Path, tables: dict[str, Sequence[str]]) -> str:
    """Write a plan of the files of tables, and return its path."""
    entries = {name: {"files": list(files), "columns": {}} for name, files in tables.items()}
    path = folder / f"{'-'.join(tables)}.yaml"
    path.write_text(json.dumps({"tables": entries}))  # JSON is YAML
    return str(path)


SAME, OTHER = "1,Ada,5 2,Bo,6", "1,Cy,5 2,Di,6"
ONE, TWO = [["a.csv", "b.csv"]], [["a.csv"], ["b.csv"]]


def test_other_names_under_the_same_keys_are_other_things(staged: Staged) -> None:
    assert parted(staged, [SAME, SAME]) == (ONE, [])
    files, notes = parted(staged, [SAME, OTHER, "1,Ed,5 2,Flo,6"])
    assert files == [["a.csv"], ["b.csv"], ["c.csv"]]
    what = "2 of the 2 values of 'id' that they share stand for rows with other values"
    told = f"has the headings of b.csv, c.csv, but {what}, so each is a table of its own; give --id id to read parts"
    assert notes == [f"{told} of one table"]


@pytest.mark.parametrize(
    ("head", "first", "second", "parts"),
    [
        ("id,name,x", "1,Ada,5 2,Bo,6", "1.0,Cy,5 2.0,Di,6", TWO),  # pandas writes whole numbers so where one lacks
        ("id,name,x", "1,Ada,5", "1,ADA,5", ONE),
        ("id,name,x", "1,Ada,5 1,Bo,6", "2,Cy,5", ONE),  # within a part a key may repeat
        ("id,name,x", "1,Ada,5 2,Bo,6", "1,Ada,7 2,Bo,8", ONE),  # the names decide where there are some
        ("id,full_name,shop_name", "1,Ada,A 2,Bo,B", "1,Cy,A 2,Di,B", TWO),  # the first of them
        ("id,full_name,shop_name", "1,Ada,A 2,Bo,B", "1,Ada,C 2,Bo,D", ONE),
        ("id,my_full_name,x", "1,Ada,A 2,Bo,B", "1,Cy,A 2,Di,B", TWO),
        ("id,p,q", "1,a,b 2,c,d", "1,x,b 2,y,d", ONE),  # half of the others
        ("id,p,q,r", "1,a,b,k 2,c,d,k", "1,x,y,k 2,x,y,k", TWO),  # two of three
        ("id,p,q,r", "1,a,b,k 2,c,d,k", "1,x,b,k 2,x,d,k", ONE),
        ("id,source,target", "1,a,b 2,b,c", "1,x,y 2,y,z", ONE),  # edges have numbers alone
        ("p,q,r", "1,a,b 2,b,c", "1,x,y 2,y,z", ONE),  # no heading of a key
        ("id,name,x", "1,Ada,5 2,Bo,6", ",Cy,5 ,Di,6", ONE),
    ],
)
def test_rows_of_a_key_are_compared(staged: Staged, head: str, first: str, second: str, parts: Any) -> None:
    assert parted(staged, [first, second], head)[0] == parts


def test_the_keys_of_the_smallest_part_count(staged: Staged) -> None:
    many = " ".join(f"{n},N{n},5" for n in range(9))
    assert parted(staged, [many, OTHER])[0] == TWO
    assert parted(staged, [OTHER, many])[0] == TWO
    with pytest.raises(InputError, match=r"a\.csv and b\.csv: have the same headings, and 1 of the 1 values of 'id' "):
        parted(staged, [many, "1,Cy,5 77,Di,6 78,Ed,7"])


def test_a_tenth_of_the_keys_may_have_a_corrected_name(staged: Staged) -> None:
    rows = [f"{n},N{n},5" for n in range(10)]
    assert parted(staged, [" ".join(rows), " ".join(["0,Cy,5", *rows[1:]])]) == (ONE, [])
    with pytest.raises(InputError, match="2 of the 10 values of 'id' that they share stand for rows with other values"):
        parted(staged, [" ".join(rows), " ".join(["0,Cy,5", "1,Di,5", *rows[2:]])])


@pytest.mark.parametrize(
    ("pinned", "parts"),
    [
        ({"a": ["a.csv"]}, ONE),  # a new month
        ({"a": ["a.csv", "b.csv"]}, ONE),
        ({"a": ["a.csv"], "b": ["b.csv"]}, TWO),
        ({"b": ["b.csv"]}, ONE),
    ],
)
def test_the_plan_of_the_snapshot_keeps_its_tables(staged: Staged, pinned: dict[str, Any], parts: Any) -> None:
    entries = {name: {"files": files, "columns": {}} for name, files in pinned.items()}
    assert parted(staged, [SAME, SAME], pinned=entries)[0] == parts


def test_a_new_file_beside_two_tables_of_the_snapshot_is_a_third(staged: Staged) -> None:
    pinned = {"a": {"files": ["a.csv"], "columns": {}}, "b": {"files": ["b.csv"], "columns": {}}}
    assert parted(staged, [SAME, SAME, SAME], pinned=pinned)[0] == [["a.csv"], ["b.csv"], ["c.csv"]]


def test_a_given_plan_goes_before_the_keys(staged: Staged, tmp_path: Path) -> None:
    assert parted(staged, [SAME, OTHER], plan=plan(tmp_path, {"t": ["a.csv", "b.csv"]}))[0] == ONE
    assert parted(staged, [SAME, SAME], plan=plan(tmp_path, {"a": ["a.csv"]}))[0] == TWO
    assert parted(staged, [SAME, SAME], plan=plan(tmp_path, {"x": ["z.csv"]}))[0] == ONE
    one = {"t": {"files": ["a.csv", "b.csv"], "columns": {}}}
    assert parted(staged, [SAME, SAME], pinned=one, plan=plan(tmp_path, {"a": ["a.csv"], "b": ["b.csv"]}))[0] == TWO


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        ({"id": "id"}, ONE),
        ({"keys": {"a.csv": "id"}}, ONE),  # the key of one is that of all
        ({"keys": {"a.csv": "id", "b": "id"}}, TWO),
        ({"id": "id", "keys": {"a.csv": "id", "b.csv": "id"}}, TWO),
    ],
)
def test_a_key_that_is_given_decides(staged: Staged, flags: dict[str, Any], parts: Any) -> None:
    assert parted(staged, [SAME, OTHER], **flags)[0] == parts


@pytest.mark.parametrize("is_given", [True, False])
def test_a_plan_of_one_table_leaves_the_others_to_their_keys(staged: Staged, tmp_path: Path, is_given: bool) -> None:
    files = {"a.csv": f"id,name,x {SAME}", "b.csv": f"id,name,x {SAME}"}
    files |= {"c.csv": f"id,name,y {SAME}", "d.csv": f"id,name,y {OTHER}"}
    sheets = staged({name: text.replace(" ", "\n") for name, text in files.items()}, False)
    path = plan(tmp_path, {"a": ["a.csv"], "b": ["b.csv"]})
    settings = BuildSettings((), plan=path if is_given else None)
    part_tables(sheets, settings, {} if is_given else read_plan(path))
    assert sorted(sheet.name for sheet in sheets) == ["a", "b", "c", "d"]
