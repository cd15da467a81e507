"""``srtk graph build`` killed wherever it changes files: the old or the new snapshot is there, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit.kills import EVERY, RENAMES, Kills, restored, tree
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.meta_file import read_meta

from srtk_framework.records import check_files
from srtk_framework.values import Pattern, SnapshotError, Triple

COMMAND = ["graph", "build", "t.tsv", "--out", "g", "--quiet"]
MODULES = ("duckdb", "pyarrow", "srtk_plugin_local.snapshot.build", "srtk_plugin_local.commands.build")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder without a snapshot, one with the old, and one with the new; each after an unbroken build."""
    folder = tmp_path_factory.mktemp("states")
    with Kills(folder / "old", *MODULES) as kills:
        (folder / "old").mkdir()
        (folder / "old" / "t.tsv").write_text("a\tr\tb\n")
        assert kills.run(COMMAND).code == 0
    shutil.copytree(folder / "old", folder / "changed")
    (folder / "changed" / "t.tsv").write_text("a\tr\tb\na\tr\tc\n")
    (folder / "empty").mkdir()
    shutil.copy2(folder / "changed" / "t.tsv", folder / "empty" / "t.tsv")
    for name in ("empty", "changed"):
        shutil.copytree(folder / name, folder / f"{name} built")
        with Kills(folder / f"{name} built", *MODULES) as kills:
            assert kills.run(COMMAND).code == 0
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def found(folder: Path) -> list[Triple] | None:
    """Return the triples of the snapshot, every byte of which is right; None if there is none."""
    if not (folder / "g" / "meta.json").exists():
        return None
    graph = LocalGraph(str(folder / "g"))
    graph.open()
    meta = read_meta(folder / "g")
    check_files(folder / "g" / meta.generation, meta.files, "", SnapshotError, anew=True)
    return list(graph.match([Pattern()])[0])


OLD = [Triple("a", "r", "b")]
NEW = [Triple("a", "r", "b"), Triple("a", "r", "c")]


def struck(states: Path, place: Path, begin: str, how: str, kinds: tuple[str, ...], every: int) -> Iterator[str]:
    """Strike a build everywhere; afterwards the same command must give the bytes of an unbroken build."""
    with Kills(place, *MODULES) as kills:
        for ended in kills.everywhere(COMMAND, restored(states / begin, place), how, kinds, every):
            assert found(place) in ([OLD, NEW] if begin == "changed" else [None, NEW]), ended.calls[-1]
            again = kills.run(COMMAND)
            assert again.code == 0, (ended.calls[-1], again.stderr)
            assert without_marks(place) == without_marks(states / f"{begin} built"), ended.calls[-1]
            yield ended.calls[-1]


def without_marks(folder: Path) -> dict[str, str]:
    """Return the files of a folder without the list of what was verified, which has times."""
    return {name: content for name, content in tree(folder).items() if not name.endswith(".verified.json")}


def test_after_a_kill_at_renames_the_old_or_the_new_snapshot_is_there(states: Path, place: Path) -> None:
    calls = list(struck(states, place, "changed", "kill", ("rename",), 1))
    name = read_meta(states / "changed built" / "g").generation
    assert calls == ["rename .g.building/snapshot", "rename g/.meta.json.part"]
    assert (place / "g" / name).is_dir()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("begin", "how", "kinds", "every"),
    [
        ("changed", "kill", RENAMES, 1),
        ("empty", "kill", RENAMES, 2),
        ("changed", "kill", EVERY, 5),
        ("changed", "power", RENAMES, 2),
        ("changed", "full", ("open", "write", "mkdir"), 5),
    ],
)
def test_after_a_strike_anywhere_the_old_or_the_new_snapshot_is_there(
    states: Path, place: Path, begin: str, how: str, kinds: tuple[str, ...], every: int
) -> None:
    calls = list(struck(states, place, begin, how, kinds, every))
    print(f"{begin} {how} {kinds}: {len(calls)} strikes")
    assert len(calls) >= 10


def test_after_a_kill_of_an_update_the_old_or_the_new_version_is_there(states: Path, place: Path) -> None:
    shutil.copytree(states / "old", states / "updated")
    (states / "updated" / "add.tsv").write_text("a\tr\tc\n")
    words = ["graph", "update", "g", "--add", "add.tsv", "--quiet"]
    with Kills(place, *MODULES, "srtk_plugin_local.commands.update") as kills:
        for ended in kills.everywhere(words, restored(states / "updated", place), "kill", ("rename",), 1):
            assert found(place) in (OLD, NEW), ended.calls[-1]
            assert kills.run(words).code == 0
            assert found(place) == NEW


def test_a_build_over_the_same_graph_keeps_its_files(states: Path, place: Path) -> None:
    restored(states / "changed built", place)()
    before = {path: path.stat().st_ino for path in (place / "g").glob("*/*")}
    with Kills(place, *MODULES) as kills:
        assert kills.run(COMMAND).code == 0
    assert {path: path.stat().st_ino for path in (place / "g").glob("*/*")} == before


def test_a_build_over_a_damaged_snapshot_repairs_it(states: Path, place: Path) -> None:
    restored(states / "changed built", place)()
    (target,) = (place / "g").glob("*/forward.targets")
    target.write_bytes(b"\0" * target.stat().st_size)
    with pytest.raises(SnapshotError, match="is damaged"):
        found(place)
    with Kills(place, *MODULES) as kills:
        assert kills.run(COMMAND).code == 0
    assert found(place) == NEW
    assert len(list((place / "g").iterdir())) == 2
