"""Runs in processes of their own: stopped by a signal, two at a time, and without locks."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest
from kit.toy_runs import data, journal, run

from srtk_framework.values import RunError

pytestmark = pytest.mark.usefixtures("toys")

SLOW = """
import sys, time
sys.path[:0] = {paths!r}
from srtk_framework.cli import main
import srtk_toys
plain = srtk_toys.OneHop.expand
def slow(self, questions):
    time.sleep(0.4)
    return plain(self, questions)
srtk_toys.OneHop.expand = slow
sys.exit(main(["run", {recipe!r}]))
"""


def begun(tmp_path, questions, toys):
    """Start a run in a process of its own, and wait until it has finished some questions."""
    recipe = tmp_path / "r.yaml"
    recipe.write_text(json.dumps(data(tmp_path, questions, batch=2)))
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW.format(paths=[str(toys)], recipe=str(recipe))],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    path = tmp_path / "run" / "journal" / "onehop.jsonl"
    for _ in range(1200):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.05)
    return process


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_cleanly_and_loses_nothing_that_is_finished(tmp_path, questions, toys, sent, code):
    process = begun(tmp_path, questions, toys)
    process.send_signal(sent)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert "srtk: stopping after this batch" in said
    assert "the same command goes on" in said
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["state"] == "stopped"
    assert not (tmp_path / "run" / ".lock").exists()
    finished = journal(tmp_path).splitlines()
    assert 2 <= len(finished) < 16
    outcome = run(data(tmp_path, questions, batch=2))
    assert outcome.finished == 16
    assert journal(tmp_path).splitlines()[: len(finished)] == finished


def test_a_second_run_in_the_folder_is_refused_by_number(tmp_path, questions, toys):
    process = begun(tmp_path, questions, toys)
    for again in ({}, {"resume": True}, {"fresh": True}):
        with pytest.raises(
            RunError, match=rf"run is in use by process {process.pid}; wait .*, or choose another `output:`"
        ):
            run(data(tmp_path, questions), **again)
    process.kill()
    process.communicate(timeout=60)
    assert run(data(tmp_path, questions)).finished == 16


def test_a_run_works_where_there_are_no_locks_and_no_folder_can_be_opened(tmp_path, questions, toys):
    recipe = tmp_path / "r.yaml"
    recipe.write_text(json.dumps(data(tmp_path, questions)))
    code = f"""
import os, sys, warnings
sys.path[:0] = [{str(toys)!r}]
sys.modules["fcntl"] = None
warnings.simplefilter("ignore")
plain = os.open
def no_folders(path, *args, **more):
    if not isinstance(path, int) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return plain(path, *args, **more)
os.open = no_folders
from srtk_framework.cli import main
sys.exit(main(["run", {str(recipe)!r}, "--quiet"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(journal(tmp_path).splitlines()) == 16
    assert not (tmp_path / "run" / ".lock").exists()
