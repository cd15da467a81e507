"""The file of a plan: what may stand in it, and which entry is about a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.plan_file import entry_of, plan_text, read_plan, table_of

from srtk_framework.values import InputError


def plan(folder: Path, data: Any) -> str:
    (folder / "plan.yaml").write_text(data if isinstance(data, str) else json.dumps(data))  # JSON is YAML
    return str(folder / "plan.yaml")


ENTRY = {"files": ["a.csv"], "rows": "edges", "key": ["id"], "ids": "a:", "columns": {"id": {"as": "key"}}}


def test_a_plan_that_was_written_is_read(tmp_path: Path) -> None:
    columns = {"id": {"as": "key"}, "of": {"as": "link", "to": "b", "by": "name", "split": "|"}, "n": {"as": "integer"}}
    data = {"tables": {"a": ENTRY | {"columns": columns | {"m": {"as": "number in kg"}}}, "é": {"columns": {}}}}
    text = plan_text(data)
    assert text.startswith("tables:\n  a:\n    files:\n    - a.csv\n    rows: edges\n")  # in its order
    assert "é:" in text
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    assert read_plan(str(tmp_path / "p.yaml")) == data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], ": is no plan of columns; it begins with `tables:`"),
        ({"tables": []}, ": is no plan of columns"),
        ({"table": {}}, ": is no plan of columns"),
        ({"tables": {"a": 7}}, ": tables.a: must be a mapping with `columns`"),
        ({"tables": {"a": {"columns": []}}}, ": tables.a: must be a mapping with `columns`"),
        ({"tables": {"a": ENTRY | {"keys": [], "named": 1}}}, ": tables.a.keys: is no entry of a plan"),
        ({"tables": {"a": ENTRY | {"rows": "node"}}}, ": tables.a.rows: is 'node'; choose entities, edges, facts"),
        ({"tables": {"a": {"columns": {"x": "key"}}}}, ": tables.a.columns.x: is 'key'; choose as: key, name, "),
        ({"tables": {"a": {"columns": {"x": {}}}}}, ": tables.a.columns.x: is None; choose as: "),
        ({"tables": {"a": {"columns": {"x": {"as": "nmae"}}}}}, ": tables.a.columns.x: is 'nmae'; choose as: "),
        (
            {"tables": {"a": {"columns": {"x": {"as": "key", "with": 1, "at": 2}}}}},
            ": tables.a.columns.x.at: is no entry of a column",
        ),
    ],
)
def test_what_is_no_plan_is_refused_with_its_place(tmp_path: Path, data: Any, said: str) -> None:
    path = plan(tmp_path, data)
    with pytest.raises(InputError) as caught:
        read_plan(path)
    assert str(caught.value).startswith(path + said)


def test_a_plan_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"gone\.yaml: cannot be read \(No such file.*\); check the path given as plan"
    ):
        read_plan(str(tmp_path / "gone.yaml"))


def test_the_table_of_a_file_is_the_first_that_has_it_by_path_or_name() -> None:
    data = {"tables": {"x": {}, "a": {"files": ["a.csv", 7]}, "b": {"files": ["in/b.csv", "a.csv"]}}}
    assert [table_of(data, file) for file in ("in/a.csv", "7.csv", "in/b.csv", "x.csv")] == ["a", "a", "b", None]
    assert table_of({}, "a.csv") is None


def test_the_entry_of_a_file_is_that_of_its_table_too() -> None:
    data = {"tables": {"x": {"rows": "edges"}, "a": {"files": ["a.csv", 7]}}}
    assert [entry_of(data, file) for file in ("a.csv", "7.csv", "x.csv")] == [data["tables"]["a"]] * 2 + [None]
    assert entry_of(data, "z.csv", "x") == {"rows": "edges"}
    assert entry_of(data, "a.csv", "x") == {"rows": "edges"}
    assert entry_of({}, "a.csv", "a") is None
