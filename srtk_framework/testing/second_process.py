"""Repeats a check in a second Python, where sets and dictionaries of texts have another order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_TARGET = "SRTK_KIT_ANSWERS"  # Set in the second process: the file that its checks write their answers to

_SECONDS = 600  # A check that hangs fails in the end


class _Run(NamedTuple):
    """Answers of a second process by the test's node id after the file, and the end of the output of pytest."""

    answers: dict[str, Any]
    output: str


def as_json(answers: Any) -> Any:
    """Bring plain answers into the form that JSON gives them on the way from the second process."""
    return json.loads(json.dumps(answers, default=repr))


def answers_elsewhere(request: pytest.FixtureRequest, answers: Any) -> Any:
    """Return the answers of the running check in a second process with another ``PYTHONHASHSEED``.

    The process runs the check for all classes of the test file at once, so that a file starts one process.
    """
    test = request.node.nodeid.partition("::")[2]
    target = os.environ.get(_TARGET)
    if target:
        with open(target, "a", encoding="utf-8") as lines:
            lines.write(json.dumps([test, answers]) + "\n")
        return answers
    config = request.config
    check = request.node.originalname or request.node.name
    ini = str(config.inipath) if config.inipath else ""
    run = _run(request.path, check, str(config.rootpath), ini, str(config.getoption("importmode")))
    assert test in run.answers, f"the check did not run in a second process: {run.output}"
    return run.answers[test]


@cache
def _run(path: Path, check: str, root: str, ini: str, mode: str) -> _Run:
    options = ["-q", "--assert=plain", "--tb=short", "-p", "no:cacheprovider", f"--import-mode={mode}"]
    options += ["--rootdir", root, *(["-c", ini] if ini else [])]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "answers.jsonl"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, str(path), "-k", check],
            env={
                **kept,
                "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
                "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
                _TARGET: str(target),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        lines = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
    return _Run(dict(json.loads(line) for line in lines), (done.stdout + done.stderr)[-2000:])
