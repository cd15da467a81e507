"""What a disk, a limit, a stream or a locale does ends a command with a sentence, and leaves nothing half-written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from benchmarks.reliability.disk_faults import sweep
from srtk_framework.cli import main


@pytest.mark.slow
def test_each_fault_is_named_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    found = sweep(tmp_path, 1)
    assert len(found) >= 31
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "out/x"), "out/x: No space left on device; free some space"),
        (OSError(errno.EFBIG, "File too large"), "a file or the output cannot be written: File too large; raise"),
        (OSError(errno.EMFILE, "Too many open files", "x"), "x: Too many open files; raise the limit of open files"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "x: Permission denied; change its permissions"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), "the current folder is gone; change to one"),
        (
            UnicodeEncodeError("ascii", "é", 0, 1, "ordinal"),
            "the encoding ascii of the locale lacks '\\xe9'",
        ),
        (MemoryError(), "the memory is full"),
    ],
)
def test_what_a_disk_a_limit_or_a_locale_does_is_no_fault_of_a_command(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr("srtk_framework.cli._dispatch", fail)
    assert main(["run", "x"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"srtk: error: {said}")
    assert "has a fault" not in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_a_full_output_is_met_before_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(["--version"]) == 1
    assert "No space left on device; free some space" in capsys.readouterr().err
