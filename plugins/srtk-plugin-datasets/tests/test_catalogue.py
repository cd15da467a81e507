"""The published data sets: their addresses and checksums, and drivers that are given no path."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from srtk_plugin_datasets.catalogue import DataFile, catalogue, data_set

from srtk_framework.cli import main
from srtk_framework.host import load
from srtk_framework.values import InputError

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data"))
WITHOUT_PATH = ["cwq", "elevant", "gtsqa", "lcquad1", "metaqa", "mintaka", "pathquestion", "qald", "rog"]
WITHOUT_PATH += ["lama", "simplequestions", "wc2014", "webnlg", "webqsp"]
WITHOUT_PATH += ["commonsenseqa", "openbookqa", "piqa", "socialiqa"]


def test_every_address_names_one_version_and_every_file_has_a_checksum() -> None:
    files = [file for one in catalogue().values() for file in one.files]
    assert len(files) > 50
    for file in files:
        assert re.match(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/\S+$", file.url), file
        assert re.fullmatch(r"sha256:[0-9a-f]{64}|git:[0-9a-f]{40}", file.checksum), file
        assert ".." not in Path(file.path).parts, file
        assert not Path(file.path).is_absolute(), file
    assert len({file.url for file in files}) == len(files)


def test_each_set_says_where_it_comes_from_and_under_which_licence() -> None:
    for one in catalogue().values():
        assert one.page.startswith("https://")
        assert one.title
        assert one.licence


def test_a_checksum_is_that_of_the_bytes() -> None:
    # printf 'hello\n' | sha256sum; printf 'hello\n' | git hash-object --stdin
    by_sha = DataFile("a", "", "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03")
    by_git = DataFile("a", "", "git:ce013625030ba8dba906f756967f9e9ca394464a")
    for file in (by_sha, by_git):
        assert file.holds(b"hello\n")
        assert not file.holds(b"hello")
        assert not file.holds(b"")


@pytest.mark.parametrize("name", ["metaqa", "pathquestion", "wc2014", "lama", "webnlg"])
def test_the_checksums_are_those_of_the_published_files_that_are_at_hand(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip(f"no {name} in the data folder; set SRTK_DATA")
    there = [file for file in data_set(name).files if (DATA / name / file.path).is_file()]
    assert len(there) >= 3
    assert [file.path for file in there if not file.holds((DATA / name / file.path).read_bytes())] == []


@pytest.mark.parametrize(
    ("name", "stem"), [("openbookqa", "openbookqa"), ("piqa", "piqa"), ("socialiqa", "social_i_qa")]
)
def test_the_checksums_of_multiple_choice_are_those_of_the_published_files(name: str, stem: str) -> None:
    if not (DATA / "commonsense_qa").is_dir():
        pytest.skip("no commonsense_qa in the data folder; set SRTK_DATA")
    places = {file: DATA / "commonsense_qa" / f"{stem}_{file.path}" for file in data_set(name).files}
    there = {file: place.read_bytes() for file, place in places.items() if place.is_file()}
    assert there
    assert [file.path for file, content in there.items() if not file.holds(content)] == []


@pytest.mark.parametrize("name", WITHOUT_PATH)
def test_a_driver_without_a_path_says_where_its_set_comes_from(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SRTK_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"no `path` is given.*https://.*licence: .*to have it: ") as caught:
        next(iter(load("dataset", name)().read()))
    fetched = [
        one for one in catalogue().values() if one.files and f"srtk datasets fetch {one.name}" in str(caught.value)
    ]
    by_hand = "fetch it by hand into" in str(caught.value)
    assert fetched or by_hand


def test_a_driver_without_a_path_reads_the_set_where_it_was_fetched_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mintaka").mkdir()
    (tmp_path / "mintaka" / "mintaka_dev.json").write_text("[]", encoding="utf-8")
    monkeypatch.setenv("SRTK_DATA", str(tmp_path))
    assert list(load("dataset", "mintaka")().read()) == []


def test_check_tells_of_a_set_that_is_not_there_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SRTK_DATA", raising=False)
    (tmp_path / "recipe.yaml").write_text("srtk: 1\nquestions: {use: metaqa}\n", encoding="utf-8")
    assert main(["check", "recipe.yaml"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "data/metaqa is not there" in said
    assert "CC BY 3.0" in said
    assert "srtk datasets fetch metaqa" in said


def test_an_unknown_set_gets_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no data set 'wc2104'\. Did you mean .*'wc2014'"):
        data_set("wc2104")
