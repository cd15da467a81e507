"""The harness that kills commands strikes where it says, and finds a command that is not safe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.kills import EVERY, RENAMES, Kills, restored, tree

WAYS = '''
import gzip, os, shutil, tempfile
from pathlib import Path

def safe(arguments):
    """Replace a file in one step."""
    with open("new", "wb") as file:
        file.write(b"the new content")
        file.flush()
        os.fsync(file.fileno())
    os.replace("new", "kept")
    return 0

def unsafe(arguments):
    """Move the old away first."""
    Path("new").write_text("the new content")
    Path("kept").rename("old")
    Path("new").rename("kept")
    Path("old").unlink()
    return 0

def unsynced(arguments):
    """Rename what may not be on the disk."""
    Path("new").write_text("the new content")
    os.replace("new", "kept")
    return 0

def every(arguments):
    """Change files in many ways."""
    Path("a/b").mkdir(parents=True)
    Path("a/b/touched").touch()
    with gzip.open("a/packed.gz", "wt") as file:
        file.write("packed")
    with tempfile.NamedTemporaryFile(dir="a") as file:
        file.write(b"x")
    shutil.copyfile("kept", "a/copied")
    with open("kept", "r+") as file:
        file.truncate(3)
    Path("/dev/null").write_text("not counted")
    shutil.rmtree("a")
    return 0
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    (folder / "kept").write_text("the old content")
    return folder


@pytest.fixture
def ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ways").mkdir()
    (tmp_path / "ways" / "killed_ways.py").write_text(WAYS)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "ways")])


def outcomes(place: Path, way: str, how: str, kinds: tuple[str, ...] = EVERY) -> Iterator[tuple[str, str | None]]:
    saved = place.with_name("saved")
    reset = restored(saved, place)
    place.rename(saved)
    with Kills(place, target=f"killed_ways:{way}") as kills:
        for ended in kills.everywhere([], reset, how, kinds):
            kept = place / "kept"
            yield ended.calls[-1], kept.read_text() if kept.exists() else None


@pytest.mark.usefixtures("ways")
def test_a_safe_way_has_the_old_or_the_new_after_each_kill(place: Path) -> None:
    assert list(outcomes(place, "safe", "kill")) == [
        ("open new", "the old content"),
        ("write new", "the old content"),
        ("fsync new", "the old content"),
        ("rename new", "the old content"),
    ]
    assert (place / "kept").read_text() == "the new content"


@pytest.mark.usefixtures("ways")
def test_an_unsafe_way_is_seen_between_its_renames(place: Path) -> None:
    found = dict(outcomes(place, "unsafe", "kill", RENAMES))
    assert found == {"rename kept": "the old content", "rename new": None, "unlink old": "the new content"}


@pytest.mark.usefixtures("ways")
def test_a_write_is_struck_half_way(place: Path) -> None:
    for call, _ in outcomes(place, "safe", "kill"):
        if call == "write new":
            assert (place / "new").read_text() == "the new"


@pytest.mark.usefixtures("ways")
def test_a_power_cut_takes_what_was_not_synced(place: Path) -> None:
    assert {kept for _, kept in outcomes(place, "safe", "power")} == {"the old content"}
    place.with_name("saved").rename(place.with_name("again"))
    saved = place.with_name("again")
    with Kills(place, target="killed_ways:unsynced") as kills:
        left = []
        for ended in kills.everywhere([], restored(saved, place), "power", EVERY):
            left.append(((place / "new").read_text() if (place / "new").exists() else None, ended.calls[-1]))
    assert left[-1] == ("", "rename new")


@pytest.mark.usefixtures("ways")
def test_calls_through_the_standard_library_count_and_others_do_not(place: Path) -> None:
    with Kills(place, target="killed_ways:every") as kills:
        ended = kills.run([], kinds=EVERY)
    assert ended.code == 0, ended.stderr
    assert ended.calls == (
        "mkdir a/b",
        "mkdir a",
        "mkdir a/b",
        "open a/b/touched",
        "open a/packed.gz",
        *_named(ended.calls, "write a/packed.gz"),
        "open a",  # a temporary file, by an opener
        *_named(ended.calls, "a/tmp"),
        "open a/copied",
        *_named(ended.calls, "write a/copied"),
        "open kept",
        "truncate kept",
        *_named(ended.calls, "unlink "),
    )
    gone = {call.removeprefix("unlink ") for call in _named(ended.calls, "unlink ")}
    assert gone == {"a", "a/b", "a/b/touched", "a/copied", "a/packed.gz"}
    assert _named(ended.calls, "write a/tmp")


def _named(calls: tuple[str, ...], part: str) -> list[str]:
    return [call for call in calls if part in call]


@pytest.mark.usefixtures("ways")
def test_a_full_disk_is_an_error_and_no_kill(place: Path) -> None:
    saved = place.with_name("saved")
    place.rename(saved)
    with Kills(place, target="killed_ways:safe") as kills:
        for ended in kills.everywhere([], restored(saved, place), "full", ("open", "write")):
            assert not ended.killed
            assert "No space left on device" in ended.stderr
            assert tree(place).keys() <= {"kept", "new"}
            assert (place / "kept").read_text() == "the old content"
