"""The folder in which ``srtk train`` trains: what the training in it began with, and whether it has ended."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from srtk_framework.records import read_json, write_json
from srtk_framework.values import InputError, RunError

NAME = "training.json"
_COMPLETE, _RUNNING = "complete", "running"


def claim_folder(folder: FilePath, inputs: Mapping[str, str], fresh: bool) -> None:
    """Make the folder ready: a training of the same inputs goes on, a finished one of others is replaced.

    Args:
        folder: Folder for checkpoints and logs.
        inputs: What decides the weights, by name.
        fresh: Start over, whatever unfinished training the folder holds.

    Raises:
        RunError: If the folder holds an unfinished training of other inputs, or ``training.json`` is none.
    """
    earlier = _earlier(folder / NAME)
    same = earlier is not None and earlier["inputs"] == dict(inputs)
    if earlier is not None and not same and not fresh and earlier.get("state") != _COMPLETE:
        before = earlier["inputs"]
        names = [name for name in sorted({*before, *inputs}) if before.get(name) != inputs.get(name)]
        raise RunError(
            f"{folder} holds an unfinished training that differs in {', '.join(names)}; continue that training with"
            " what it began with, choose another --output-dir, or start over with --fresh"
        )
    if not same or fresh:
        for name in ("checkpoints", "log"):
            shutil.rmtree(folder / name, ignore_errors=True)
    write_json(folder / NAME, {"state": _RUNNING, "inputs": dict(inputs)})


def release_folder(folder: FilePath, inputs: Mapping[str, str]) -> None:
    """Note that the training in the folder has ended."""
    write_json(folder / NAME, {"state": _COMPLETE, "inputs": dict(inputs)})


def _earlier(file: FilePath) -> Mapping[str, Any] | None:
    if not file.exists():
        return None
    remedy = "move this file away, or choose another --output-dir"
    try:
        found = read_json(file)
    except InputError as error:
        raise RunError(f"{error}; {remedy}") from error
    if not isinstance(found, dict) or not isinstance(found.get("inputs"), dict):
        raise RunError(f"{file} is not the record of a training; {remedy}")
    return found
