"""What commands that train share: a folder in which a model and its training stand, and a stop by SIGTERM."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path as FilePath
from types import FrameType
from typing import Any

from srtk_plugin_training import TrainingFolder

from srtk_framework.cli import TERMINATED
from srtk_framework.records import publication_error, publish


def training_folder(out: FilePath) -> TrainingFolder:
    """Return the folder of the training whose model stands in the folder ``out``."""
    return TrainingFolder(out / "training", out / "config.json", "--output-dir")


def training_state(inputs: Mapping[str, str]) -> dict[str, Any]:
    """Return the record with which a training begins: what decides the weights, by name, and a hash of it.

    Args:
        inputs: What decides the weights, but for the versions, which are added.
    """
    parts = ("srtk-framework", "srtk-plugin-sr", "srtk-plugin-transformers")
    whole = {**inputs, **{f"the version of {name}": version(name) for name in parts}}
    return {"fingerprint": digest(sorted(whole.items())), "inputs": whole}


def differences(earlier: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """Name the inputs in which two trainings differ."""
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
        print("srtk: terminated; the same command goes on", file=sys.stderr)
        return TERMINATED
    finally:
        if main_thread:
            signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def put_model(made: FilePath, out: FilePath, state: Mapping[str, Any]) -> None:
    """Put a model in the place of an earlier one in one step, with all else that stands in the folder."""
    training_folder(made).end(state)

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
