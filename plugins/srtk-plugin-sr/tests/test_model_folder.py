"""The folder of a model with its training, and the stop of a training by a signal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_sr import model_folder
from srtk_plugin_sr.model_folder import digest, stoppable, train_into

from srtk_framework.cli import TERMINATED
from srtk_framework.values import InputError, RunError


def test_a_training_is_stopped_by_a_signal_which_has_its_own_meaning_afterwards(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def trains() -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
        return 0

    try:
        assert stoppable(trains) == TERMINATED
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "terminated; the same command goes on" in capsys.readouterr().err


def test_a_stop_by_the_keyboard_goes_on_to_the_caller_and_a_training_ends_with_its_code() -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        stoppable(interrupted)
    assert stoppable(lambda: 7) == 7
    assert signal.getsignal(signal.SIGTERM) is before


def test_another_thread_trains_without_touching_signals() -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(stoppable(lambda: 5)))
    thread.start()
    thread.join()
    assert found == [5]


def trained(folder: Path, name: str, seen: list[str], **inputs: str) -> tuple[Mapping[str, Any], bool]:
    def train(made: Path) -> Mapping[str, Any]:
        seen.append(name)
        made.mkdir(parents=True, exist_ok=True)
        (made / "config.json").write_text(name)
        (made / "sub").mkdir(exist_ok=True)
        (made / "sub" / "part").write_text(name)
        return {"score": 0.5}

    return train_into(folder, inputs, False, train)


def test_the_same_training_is_not_done_again_and_another_says_what_differs(tmp_path: Path) -> None:
    out, seen = tmp_path / "model", list[str]()
    assert trained(out, "one", seen, seed="0", rows="a") == ({"score": 0.5}, True)
    assert trained(out, "one", seen, seed="0", rows="a") == ({"score": 0.5}, False)
    assert seen == ["one"]
    with pytest.raises(RunError, match="differs in rows, seed"):
        trained(out, "other", seen, seed="1", rows="b")
    assert (out / "sub" / "part").read_text() == "one"
    # A file of the folder that no training wrote stays, and what it wrote is replaced.
    (out / "sub" / "own").write_text("mine")
    train_into(out, {"seed": "2"}, True, lambda made: trained_again(made))
    assert {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()} >= {"config.json", "sub/own", "sub/part"}
    assert (out / "config.json").read_text() == "two"


def trained_again(made: Path) -> Mapping[str, Any]:
    made.mkdir(parents=True, exist_ok=True)
    (made / "config.json").write_text("two")
    return {}


def test_where_a_disk_has_no_second_names_files_are_copied_and_a_full_one_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **more: Any) -> None:
        raise OSError(28, "No space left on device")

    out, seen = tmp_path / "model", list[str]()
    out.mkdir()
    (out / "own").write_text("mine")
    monkeypatch.setattr(model_folder.os, "link", refused)
    trained(out, "one", seen)
    assert (out / "own").read_text() == "mine"
    monkeypatch.setattr(model_folder.shutil, "copytree", refused)
    with pytest.raises((InputError, RunError), match="the disk is full"):
        train_into(out, {"seed": "1"}, True, trained_again)


def test_a_digest_tells_rows_apart() -> None:
    assert len({digest(rows) for rows in ([], ["a"], ["a", "b"], [("a", 1)], ["\ud800"])}) == 5
