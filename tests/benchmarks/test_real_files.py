"""Invented tables and public files become the graphs that they mean; the files are looked for by SRTK_DATA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.files import real_files, tables

CASES = real_files.load_expected()
INVENTED: dict[str, Any] = yaml.safe_load((tables.TABLES / "expected.yaml").read_text(encoding="utf-8"))


def test_each_public_file_belongs_to_one_graph() -> None:
    files = [name for case in CASES for name in case["files"]]
    assert len(files) == len(set(files)) == 44
    assert all("question" in case or "empty" in case or case["files"] == ["yfiles.graphml"] for case in CASES)


def test_each_invented_table_says_what_each_of_its_columns_is() -> None:
    assert {path.name for path in tables.TABLES.iterdir()} == {*INVENTED, "expected.yaml"}
    for name, wanted in INVENTED.items():
        with (tables.TABLES / name).open(encoding="utf-8") as file:
            heading = file.readline()
        assert all(column in heading for column in wanted["columns"]), name
        assert set(wanted["types"]) <= set(wanted["columns"]), name


@pytest.mark.slow
@pytest.mark.parametrize("name", INVENTED)
def test_an_invented_table_becomes_what_it_should(name: str, tmp_path: Path) -> None:
    figures = tables.measured(tables.TABLES / name, INVENTED[name], tmp_path)
    assert figures["wrong"] == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["files"][0]))
def test_a_public_file_becomes_what_it_means(case: dict[str, Any], tmp_path: Path) -> None:
    if missing := [name for name in case["files"] if not (real_files.FOLDER / name).is_file()]:
        pytest.skip(f"{missing[0]} is not there; set SRTK_DATA to the folder of the data sets")
    assert real_files.measured(case, tmp_path)["wrong"] == []
