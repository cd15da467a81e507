"""Parquet files as texts: each type of a column, structs and lists, batches, and what is refused."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.parquet import write_table
from srtk_plugin_local.snapshot import arrow_texts
from srtk_plugin_local.snapshot.arrow_texts import LIST, parquet_texts
from srtk_plugin_local.snapshot.input_report import FileReport

from srtk_framework.values import InputError


def read(folder: Path, columns: dict[str, Any]) -> tuple[list[dict[str, list[str | None]]], FileReport]:
    """Return the tables of a file with these columns, of which the first has no rows, and its report."""
    write_table(pa.table(columns), folder / "a.parquet")
    report = FileReport("a", "parquet")
    return [table.to_pydict() for table in parquet_texts(str(folder / "a.parquet"), report)], report


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["oak", None], ["oak", None]),
        ([7, None], ["7", None]),
        ([1.5, float("nan")], ["1.5", None]),
        ([True, False], ["true", "false"]),
        ([date(2020, 1, 2), None], ["2020-01-02", None]),
        ([timedelta(minutes=5), timedelta(seconds=1.5)], ["300 seconds", "1.5 seconds"]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
        ([b"oak", "p\u00edn".encode()], ["oak", "p\u00edn"]),
        ([b"\x00\x01", b"\xff"], ["0x0001", "0xff"]),
        ([b"", None], ["0x", None]),
        (pa.array([b"oak", None], pa.large_binary()), ["oak", None]),
        ([["x", None, "y"], []], [f"x{LIST}y", None]),
        (pa.array([["x"], None], pa.large_list(pa.string())), ["x", None]),
        (pa.array([[("color", "red"), ("legs", None)], []], pa.map_(pa.string(), pa.string())), ["color: red", None]),
    ],
)
def test_the_values_of_a_column_are_texts(tmp_path: Path, values: Any, texts: list[str | None]) -> None:
    found, report = read(tmp_path, {"v": values, "__index_level_0__": [4, 5]})
    assert found == [{"v": []}, {"v": texts}]
    assert report.notes == []


def test_each_value_of_a_struct_has_a_column_and_a_list_of_structs_its_names(tmp_path: Path) -> None:
    rows = [{"city": "Bergen", "at": {"x": 1}}, {"city": "Oslo", "at": {"x": 2}}]
    people = [[{"name": "Ida", "age": 3}, {"name": "Per", "age": 4}], []]
    found, report = read(tmp_path, {"place": rows, "people": people})
    assert found[1] == {"place.city": ["Bergen", "Oslo"], "place.at.x": ["1", "2"], "people": [f"Ida{LIST}Per", None]}
    assert list(found[0]) == list(found[1])
    assert "people" in " ".join(report.notes)


def test_a_batch_has_at_least_a_thousand_rows_and_no_more_bytes_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"v": [f"{n:0>20}" for n in range(2500)]}
    monkeypatch.setattr(arrow_texts, "_BATCH", 1)
    assert [len(table["v"]) for table in read(tmp_path, values)[0]] == [0, 1000, 1000, 500]
    monkeypatch.undo()
    assert [len(table["v"]) for table in read(tmp_path, values)[0]] == [0, 2500]
    monkeypatch.setattr(arrow_texts, "ROWS", 1200)
    assert [len(table["v"]) for table in read(tmp_path, values)[0]] == [0, 1200, 1200, 100]


@pytest.mark.parametrize("cells", [["x", f"one{LIST}other"], [["x"], ["y", f"one{LIST}other"]]])
def test_a_text_with_the_separator_of_lists_is_refused(tmp_path: Path, cells: list[Any]) -> None:
    with pytest.raises(InputError, match=r"a\.parquet: a text of 'v' has the character U\+001F"):
        read(tmp_path, {"v": cells})


def test_a_file_of_parquet_that_is_not_there_or_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for data in (None, b"no"):
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(InputError, match=r"a\.parquet: cannot be read as Parquet"):
            next(parquet_texts(str(path), FileReport("a", "parquet")))
    write_table(pa.table({"s": [f"name {n}" for n in range(99)]}), path)
    path.write_bytes(b"PAR1" + b"\xff" * 60 + path.read_bytes()[64:])
    with pytest.raises(InputError, match=r"(?s)a\.parquet: is damaged \(.*\); write the file again"):
        list(parquet_texts(str(path), FileReport("a", "parquet")))
