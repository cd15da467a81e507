"""The folder of a training: its record from the beginning to the end, and the rules for its replacement."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from srtk_framework.records import checked, write_checked
from srtk_framework.values import RunError

COMPLETE, RUNNING = "complete", "running"
RECORD = "training.json"
# Files of a training, which another training in the same folder removes; its model stays until there is another.
_OURS = (
    *("checkpoints", "log", "best.safetensors", "broken-batch.json"),
    *("training_examples.jsonl", "retrievals.jsonl", "validation_retrievals.jsonl", "held_out.tsv"),
)

Differences = Callable[[Mapping[str, Any]], str]  # Names in what an earlier record differs from this training.


class TrainingFolder:
    """A folder with the record ``training.json``, checkpoints and logs; whoever trains there holds its lock.

    Args:
        path: The folder.
        model: File or folder that only a finished training leaves.
        setting: Setting with the folder, for errors: ``--output-dir``.
    """

    def __init__(self, path: Path, model: Path, setting: str) -> None:
        self.path = path
        self.model = model
        self.setting = setting

    def earlier(self) -> dict[str, Any] | None:
        """Return the record of the training that the folder holds; None where it holds none.

        Raises:
            RunError: If the file of that name is no record of a training.
        """
        file = self.path / RECORD
        if not os.path.lexists(file):
            return None
        remedy = f"move this file away and start over with --fresh, or choose another {self.setting}"
        try:
            found, _ = checked(file.read_bytes(), file, remedy, kind=RunError)
        except OSError as error:
            raise RunError(f"{file}: cannot be read ({error.strerror}); {remedy}") from error
        if not isinstance(found.get("fingerprint"), str):
            raise RunError(f"{file} is not the record of a training; {remedy}")
        return found

    def finished(self, state: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the record of the folder if it is of this very training, and its model is there."""
        earlier = self.earlier()
        if earlier is None or earlier["fingerprint"] != state["fingerprint"] or earlier.get("state") != COMPLETE:
            return None
        return earlier if os.path.lexists(self.model) else None

    def begin(self, state: Mapping[str, Any], fresh: bool, differences: Differences) -> bool:
        """Make the folder ready for a training, and write its record.

        Args:
            state: The record, with the ``fingerprint`` of all that decides the weights.
            fresh: Start over, whatever the folder holds.
            differences: Names the differences, for errors.

        Returns:
            Whether the folder holds this training unfinished, which goes on.

        Raises:
            RunError: If the folder holds another training, or such files without a record.
        """
        earlier = self.earlier()
        same = earlier is not None and earlier["fingerprint"] == state["fingerprint"]
        if not (same or fresh):
            self._refuse_other(earlier, differences)
        goes_on = same and not fresh
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"the folder {self.path} cannot be made: {error}; choose another {self.setting}") from error
        for name in () if goes_on else _OURS:
            target = self.path / name
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
        write_checked(self.path / RECORD, {"state": RUNNING, **state})
        return goes_on

    def end(self, state: Mapping[str, Any]) -> None:
        """Note that the training has ended, and its model is there."""
        write_checked(self.path / RECORD, {"state": COMPLETE, **state})

    def _refuse_other(self, earlier: Mapping[str, Any] | None, differences: Differences) -> None:
        if earlier is None:
            there = [*(self.path / name for name in _OURS), self.model]
            found = [path for path in there if os.path.lexists(path)]
            if found:
                raise RunError(
                    f"{found[0].parent} holds {found[0].name}, but no {RECORD} that says of which training; choose"
                    f" another {self.setting}, or replace what a training leaves there with --fresh"
                )
        elif earlier.get("state") != COMPLETE:
            raise RunError(
                f"{self.path} holds an unfinished training that differs in {differences(earlier)}; continue that"
                f" training with what it began with, choose another {self.setting}, or start over with --fresh"
            )
        elif os.path.lexists(self.model):
            raise RunError(
                f"{self.path} holds a finished training that differs in {differences(earlier)}; choose another"
                f" {self.setting}, or replace its model with --fresh"
            )
