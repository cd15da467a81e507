"""Files and folders appear whole, on every system."""

from __future__ import annotations

import builtins
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit.kills import EVERY, Kills, restored, tree

from srtk_framework.records import publication, publish, publish_generation, settle, unfinished, workplace
from srtk_framework.values import RunError

PUBLISHER = '''
import sys
from pathlib import Path
from srtk_framework.records import publication, publish, publish_generation, workplace

def folder(arguments):
    """Publish a folder over another."""
    with workplace(Path("kept"), "wait") as place:
        (place / "new").mkdir()
        (place / "new" / "one").write_text("new 1")
        (place / "new" / "two").write_text("new 2")
        publish(place / "new", Path("kept"))
    return 0

def moved(arguments):
    """The same where the system cannot exchange two folders."""
    publication._exchange = lambda one, other: False
    return folder(arguments)

def generation(arguments):
    """Publish a generation."""
    with workplace(Path("kept"), "wait") as place:
        (place / "new").mkdir()
        (place / "new" / "one").write_text("new 1")
        (place / "new" / "two").write_text("new 2")
        publish_generation(place / "new", Path("kept"), "new", "pointer", str)
    return 0

def file(arguments):
    """Publish a file."""
    with workplace(Path("kept/one"), "wait") as place:
        (place / "one").write_text("new 1")
        publish(place / "one", Path("kept/one"))
    return 0
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "place"
    (folder / "kept" / "old").mkdir(parents=True)
    (folder / "kept" / "pointer").write_text("old")
    for name in ("one", "old/one", "old/two"):
        (folder / "kept" / name).write_text("old 1")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "publisher.py").write_text(PUBLISHER)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "code")])
    return folder


def read_folder(kept: Path) -> str:
    return "new" if tree(kept).keys() == {"one", "two"} else "old" if (kept / "pointer").exists() else "broken"


def read_generation(kept: Path) -> str:
    pointed = kept / (kept / "pointer").read_text()
    return (pointed / "one").read_text().split()[0] if tree(pointed).keys() == {"one", "two"} else "broken"


WAYS: dict[str, Callable[[Path], str]] = {
    "folder": read_folder,
    "generation": read_generation,
    "file": lambda kept: (kept / "one").read_text().split()[0],
}


@pytest.mark.parametrize("how", ["kill", pytest.param("power", marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", WAYS)
def test_the_old_or_the_new_is_there_after_each_kill(place: Path, way: str, how: str) -> None:
    saved = place.with_name("saved")
    place.rename(saved)
    seen = []
    with Kills(place, target=f"publisher:{way}") as kills:
        reset = restored(saved, place)
        reset()
        assert kills.run([]).code == 0
        unbroken = tree(place)
        for ended in kills.everywhere([], reset, how, EVERY):
            seen.append(WAYS[way](place / "kept"))
            assert kills.run([]).code == 0
            assert tree(place) == unbroken, ended.calls[-1]
    assert len(seen) > 8
    assert seen == sorted(seen, reverse=True)
    assert set(seen) == {"old", "new"}


def test_where_two_folders_cannot_be_exchanged_the_next_publication_brings_the_old_one_back(place: Path) -> None:
    saved = place.with_name("saved")
    place.rename(saved)
    seen = []
    with Kills(place, target="publisher:moved") as kills:
        reset = restored(saved, place)
        reset()
        assert kills.run([]).code == 0
        unbroken = tree(place)
        for _ in kills.everywhere([], reset):
            gone = not (place / "kept").exists()
            settle(place / "kept")
            seen.append((read_folder(place / "kept"), gone))
            assert kills.run([]).code == 0
            assert tree(place) == unbroken
    assert {kept for kept, _ in seen} == {"old", "new"}
    assert ("old", True) in seen


def test_a_second_process_is_refused_by_name_and_number(tmp_path: Path) -> None:
    with (
        workplace(tmp_path / "target", "choose another --out"),
        pytest.raises(RunError, match=r"target is in use by .*; wait until that has ended, or choose another --out"),
        workplace(tmp_path / "target", "choose another --out"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".target.building" / "deep").mkdir(parents=True)
    (tmp_path / ".target.building" / "deep" / "file").write_text("left")
    assert unfinished(tmp_path / "target")
    with workplace(tmp_path / "target", "wait") as place:
        assert list(place.iterdir()) == []
        assert unfinished(tmp_path / "target")
    assert not unfinished(tmp_path / "target")


def test_two_names_of_one_target_have_one_lock(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with (
        workplace(tmp_path / "real", "wait"),
        pytest.raises(RunError, match="link is in use by"),
        workplace(tmp_path / "link", "wait"),
    ):
        pass


def made(folder: Path, content: str) -> Path:
    folder.mkdir()
    (folder / "file").write_text(content)
    return folder


def test_equal_files_of_a_generation_stay(tmp_path: Path) -> None:
    target = tmp_path / "target"
    first = publish_generation(made(tmp_path / "1", "a"), target, "gen", "pointer", str)
    number = (first / "file").stat().st_ino
    again = publish_generation(made(tmp_path / "2", "a"), target, "gen", "pointer", str)
    assert (again, (again / "file").stat().st_ino) == (first, number)


def test_a_damaged_generation_is_replaced_by_one_of_another_name(tmp_path: Path) -> None:
    target = tmp_path / "target"
    first = publish_generation(made(tmp_path / "1", "a"), target, "gen", "pointer", str)
    (first / "file").write_text("b")
    second = publish_generation(made(tmp_path / "2", "a"), target, "gen", "pointer", str)
    assert second.name == (target / "pointer").read_text() == "gen-2"
    assert sorted(path.name for path in target.iterdir()) == ["gen-2", "pointer"]


# Windows and macOS, whose calls fail where those of Linux do not.


@pytest.fixture
def without_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no folder be opened, as on Windows."""
    real = os.open

    def refused(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if os.path.isdir(path) and not flags & os.O_CREAT and kwargs.get("dir_fd") is None and "pytest" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(publication.os, "open", refused)
    monkeypatch.setattr(shutil, "_use_fd_functions", False)


@pytest.fixture
def without_fcntl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `import fcntl` fail, as on Windows."""
    real = builtins.__import__

    def refused(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "fcntl":
            raise ModuleNotFoundError("No module named 'fcntl'")
        return real(name, *args, **kwargs)

    for name in [name for name in sys.modules if name == "fcntl" or name.startswith("filelock")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", refused)


@pytest.mark.filterwarnings("ignore:only soft file lock is available")
@pytest.mark.usefixtures("without_folders", "without_fcntl")
def test_without_fcntl_and_without_opening_folders_all_is_published(tmp_path: Path) -> None:
    with workplace(tmp_path / "target", "wait") as place:
        with pytest.raises(RunError, match="is in use by"), workplace(tmp_path / "target", "wait"):
            pass
        publish_generation(made(place / "new", "a"), tmp_path / "target", "gen", "pointer", str)
        publish(made(place / "other", "b"), tmp_path / "folder")
        publish(made(place / "third", "c"), tmp_path / "folder")
    assert (tmp_path / "target" / "gen" / "file").read_text() == "a"
    assert (tmp_path / "folder" / "file").read_text() == "c"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Let renaming over a file fail as often as is said for its name, as where somebody has it open on Windows."""
    left: dict[str, int] = {}
    real = os.replace

    def refused(old: Any, new: Any) -> None:
        name = os.path.basename(new)
        if left.get(name) and os.path.exists(new):
            left[name] -= 1
            raise PermissionError(13, "The process cannot access the file because it is being used", str(new))
        real(old, new)

    monkeypatch.setattr(publication.os, "replace", refused)
    monkeypatch.setattr(publication, "_TRIES", 20)
    monkeypatch.setattr(publication, "_PAUSE", 0.0)
    return left


def test_a_file_that_is_open_for_a_moment_is_replaced(tmp_path: Path, held: dict[str, int]) -> None:
    target = tmp_path / "target"
    publish_generation(made(tmp_path / "1", "a"), target, "one", "pointer", str)
    held["pointer"] = 5
    publish_generation(made(tmp_path / "2", "b"), target, "two", "pointer", str)
    assert (target / "pointer").read_text() == "two"


def test_a_file_that_stays_open_is_an_error_and_the_old_is_whole(tmp_path: Path, held: dict[str, int]) -> None:
    target = tmp_path / "target"
    publish_generation(made(tmp_path / "1", "a"), target, "one", "pointer", str)
    held["pointer"] = 100
    with pytest.raises(PermissionError) as error:
        publish_generation(made(tmp_path / "2", "b"), target, "two", "pointer", str)
    assert (target / (target / "pointer").read_text() / "file").read_text() == "a"
    said = str(publication.publication_error(error.value, target))
    assert said.endswith("check the folder and its permissions, and close the programs that have it open")


def test_an_old_generation_that_cannot_be_deleted_is_deleted_by_the_next_publication(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    publish_generation(made(tmp_path / "1", "a"), target, "one", "pointer", str)

    def refused(path: Path) -> None:
        raise PermissionError(13, "The process cannot access the file because it is being used", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(publication, "remove", refused)
        publish_generation(made(tmp_path / "2", "b"), target, "two", "pointer", str)
    assert sorted(path.name for path in target.iterdir()) == ["one", "pointer", "two"]
    assert (target / "pointer").read_text() == "two"
    publish_generation(made(tmp_path / "3", "c"), target, "three", "pointer", str)
    assert sorted(path.name for path in target.iterdir()) == ["pointer", "three"]


def test_an_open_folder_that_cannot_be_moved_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = made(tmp_path / "target", "old")
    real = os.replace

    def refused(old: Any, new: Any) -> None:
        if os.path.basename(old) == "target":
            raise PermissionError(13, "The process cannot access the file because it is being used", str(old))
        real(old, new)

    monkeypatch.setattr(publication, "_exchange", lambda one, other: False)
    monkeypatch.setattr(publication.os, "replace", refused)
    with pytest.raises(PermissionError):
        publish(made(tmp_path / "new", "new"), target)
    assert (target / "file").read_text() == "old"
