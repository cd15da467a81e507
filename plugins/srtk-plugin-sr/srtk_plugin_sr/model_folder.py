"""Folder of a model with its training, and a stop by SIGTERM, for the commands that train."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path as FilePath
from types import FrameType
from typing import Any

from srtk_plugin_training import TrainingFolder

from srtk_framework.cli import TERMINATED, say
from srtk_framework.records import publication_error, publish, workplace


def train_into(
    out: FilePath, inputs: Mapping[str, str], fresh: bool, train: Callable[[FilePath], Mapping[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """Train into a folder, unless the same training has finished there.

    Args:
        out: The folder of the model.
        inputs: Everything that decides the weights, by name, except the versions.
        fresh: Whether to start over, and replace another training in the folder.
        train: Writes the model into the folder that it gets, and returns its figures.

    Returns:
        The figures, and whether the training ran now.
    """
    parts = ("srtk-framework", "srtk-plugin-sr", "srtk-plugin-transformers")
    whole = {**inputs, **{f"the version of {name}": version(name) for name in parts}}
    state: dict[str, Any] = {"fingerprint": digest(sorted(whole.items())), "inputs": whole}
    folder = _training_folder(out)
    with workplace(out, f"choose another {folder.setting}") as beside:
        finished = folder.finished(state)
        if finished is not None and not fresh:
            return finished["figures"], False
        folder.begin(state, fresh, partial(_differences, state=state))
        made = beside / "model"
        state["figures"] = dict(train(made))
        _put_model(made, out, state)
        return state["figures"], True


def _training_folder(out: FilePath) -> TrainingFolder:
    """Return the folder of the training whose model stands in a folder."""
    return TrainingFolder(out / "training", out / "config.json", "--output-dir")


def _differences(earlier: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """Name the inputs that differ between two trainings."""
    before, now = earlier.get("inputs"), state["inputs"]
    before = before if isinstance(before, Mapping) else {}
    return ", ".join(name for name in sorted({*before, *now}) if before.get(name) != now.get(name))


def digest(rows: Sequence[Any]) -> str:
    """Hash rows of texts and numbers."""
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()


def stoppable(train: Callable[[], int]) -> int:
    """Train, and return the exit code; SIGTERM stops the training as Ctrl-C does."""
    before = None
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    # Only the main thread gets signals.
    main_thread = threading.current_thread() is threading.main_thread()
    if main_thread:
        before = signal.signal(signal.SIGTERM, stop)
    try:
        return train()
    except KeyboardInterrupt:
        if not received:
            raise
        say("terminated; the same command goes on")
        return TERMINATED
    finally:
        if main_thread:
            signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _put_model(made: FilePath, out: FilePath, state: Mapping[str, Any]) -> None:
    """Replace an earlier model in one step, and keep the other files of its folder."""
    _training_folder(made).end(state)

    def there(folder: str, names: list[str]) -> list[str]:
        new = made / FilePath(folder).relative_to(out)
        return [name for name in names if os.path.lexists(new / name) and not (FilePath(folder) / name).is_dir()]

    try:
        shutil.copytree(out, made, symlinks=True, ignore=there, copy_function=_link, dirs_exist_ok=True)
        publish(made, out)
    except OSError as error:
        raise publication_error(error, out) from error


def _link(file: str, place: str) -> None:
    """Give a file a second name, or where the disk has no such names, a copy."""
    try:
        os.link(file, place)
    except OSError:
        shutil.copy2(file, place)
