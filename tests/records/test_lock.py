"""Locks of folders: held by one process, freed by its death, on platforms without fcntl too."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from srtk_framework.records import locked
from srtk_framework.values import RunError

HOLD = """
import sys, time
from pathlib import Path
from srtk_framework.records import locked
with locked(Path(sys.argv[1]), Path("out"), "choose another folder"):
    print("held", flush=True)
    {inside}
    sys.stdin.read()
"""

WITHOUT_FCNTL = """
import sys, warnings
sys.modules["fcntl"] = None
warnings.simplefilter("ignore")
"""


def hold(file: Path, inside: str = "", before: str = "") -> "subprocess.Popen[str]":
    """Start a process that holds a lock until its standard input is closed."""
    code = textwrap.dedent(before) + HOLD.format(inside=inside)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def take(file: Path, before: str = "") -> str:
    """Try to take a lock in a process of its own; return its last words."""
    code = textwrap.dedent(before) + HOLD.format(inside="")
    done = subprocess.run([sys.executable, "-c", code, str(file)], input="", capture_output=True, text=True, timeout=60)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def end(process: "subprocess.Popen[str]") -> None:
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_second_process_is_refused_by_folder_and_process_number(tmp_path: Path) -> None:
    file = tmp_path / ".lock"
    first = hold(file)
    with (
        pytest.raises(RunError, match=f"out is in use by process {first.pid}; wait until that has ended, or go away"),
        locked(file, Path("out"), "go away"),
    ):
        pass
    end(first)
    with locked(file, Path("out"), "go away"):
        pass


def test_a_second_holder_in_this_process_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path / ".lock", tmp_path, "choose another"):
        with (
            pytest.raises(RunError, match="is in use by another part of this process"),
            locked(tmp_path / ".lock", tmp_path, "choose another"),
        ):
            pass
        assert take(tmp_path / ".lock").endswith(
            f"out is in use by process {os.getpid()}; wait until that has ended, or choose another folder"
        )


def test_a_released_lock_leaves_no_file(tmp_path: Path) -> None:
    with locked(tmp_path / "new" / ".lock", tmp_path, "choose another"):
        assert sorted(os.listdir(tmp_path / "new")) == [".lock", ".lock.pid"]
    assert os.listdir(tmp_path / "new") == []


def test_an_exception_inside_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path / ".lock", tmp_path, "choose another"):
        raise KeyError("x")
    with locked(tmp_path / ".lock", tmp_path, "choose another"):
        pass


def test_the_death_of_the_holder_frees_the_lock(tmp_path: Path) -> None:
    first = hold(tmp_path / ".lock")
    first.kill()
    first.communicate(timeout=60)
    assert (tmp_path / ".lock.pid").exists()
    with locked(tmp_path / ".lock", tmp_path, "choose another"):
        assert (tmp_path / ".lock.pid").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("unreadable", ["", "twelve", None])
def test_a_holder_without_a_number_is_another_process(tmp_path: Path, unreadable: str | None) -> None:
    with locked(tmp_path / ".lock", tmp_path, "choose another"):
        if unreadable is None:
            (tmp_path / ".lock.pid").unlink()
        else:
            (tmp_path / ".lock.pid").write_text(unreadable)
        with (
            pytest.raises(RunError, match="is in use by another process;"),
            locked(tmp_path / ".lock", tmp_path, "choose another"),
        ):
            pass


def test_of_many_processes_at_once_one_holds_the_lock(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"""
import sys, time
from pathlib import Path
from srtk_framework.records import locked
from srtk_framework.values import RunError
log = Path({str(log)!r})
held = 0
until = time.monotonic() + 20
while held < 5 and time.monotonic() < until:
    try:
        with locked(Path(sys.argv[1]), Path("out"), "wait"):
            with log.open("a") as file:
                file.write("in\\n"); file.flush()
                time.sleep(0.002)
                file.write("out\\n")
            held += 1
    except RunError:
        time.sleep(0.001)
sys.exit(held != 5)
"""
    every = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "a" / ".lock")]) for _ in range(6)]
    assert [process.wait(timeout=60) for process in every] == [0] * 6
    assert log.read_text() == "in\nout\n" * 30


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RunError, match=r"the folder .*file/inner cannot be made: Not a directory; choose another"),
        locked(tmp_path / "file" / "inner" / ".lock", tmp_path, "choose another"),
    ):
        pass


def test_a_lock_that_is_a_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with (
        pytest.raises(RunError, match=r"cannot be locked through .*\.lock: .*; choose another"),
        locked(tmp_path / ".lock", tmp_path, "choose another"),
    ):
        pass


def test_without_fcntl_a_second_process_is_refused_too(tmp_path: Path) -> None:
    first = hold(tmp_path / ".lock", before=WITHOUT_FCNTL)
    assert f"out is in use by process {first.pid};" in take(tmp_path / ".lock", before=WITHOUT_FCNTL)
    end(first)
    assert take(tmp_path / ".lock", before=WITHOUT_FCNTL) == "held"
    assert os.listdir(tmp_path) == []


def test_without_fcntl_the_death_of_the_holder_frees_the_lock(tmp_path: Path) -> None:
    first = hold(tmp_path / ".lock", before=WITHOUT_FCNTL)
    first.kill()
    first.communicate(timeout=60)
    assert take(tmp_path / ".lock", before=WITHOUT_FCNTL) == "held"
