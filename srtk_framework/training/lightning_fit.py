"""What trainings with Lightning share: resuming, Ctrl-C, loggers, and silence."""

from __future__ import annotations

import logging
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from srtk_framework.values import DriverError


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the checkpoint from which a training is resumed: the last by name in ``checkpoints``; None without one."""
    # Lightning copies a checkpoint from the folder for temporary files, so a stop may leave a part of one.
    found = [file for file in sorted((folder / "checkpoints").glob("*.ckpt")) if zipfile.is_zipfile(file)]
    return found[-1] if found else None


def run_fit(trainer: Any, module: Any, checkpoint: Path | None) -> None:
    """Fit a module, from a checkpoint if there is one.

    Args:
        trainer: Trainer of Lightning.
        module: Module of Lightning.
        checkpoint: Written by the same module: it holds more than weights, and is not read safely.

    Raises:
        KeyboardInterrupt: At Ctrl-C.
    """
    import signal

    before = signal.getsignal(signal.SIGINT)
    try:
        trainer.fit(module, ckpt_path=str(checkpoint) if checkpoint else None, weights_only=False)
    except SystemExit as error:
        # Lightning turns Ctrl-C into SystemExit.
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt from error


def loggers(name: str | None, folder: Path, wandb: Mapping[str, str] | None = None) -> list[Any]:
    """Return the loggers of a training: CSV files in the folder, and another by its name.

    Args:
        name: ``tensorboard``, ``wandb``, or None.
        folder: Folder of the training.
        wandb: Settings for ``wandb``: its `project`, `group` and `save_dir`.

    Raises:
        DriverError: If the logger is not installed.
    """
    from lightning.pytorch import loggers as known

    # A resumed training writes a table of its own beside the earlier one.
    every: list[Any] = [known.CSVLogger(folder, name="log")]
    if name is None:
        return every
    kind: Any = known.TensorBoardLogger if name == "tensorboard" else known.WandbLogger
    options = {"save_dir": str(folder), "name": name, **((wandb or {}) if name == "wandb" else {})}
    try:
        every.append(kind(**options))
    except ModuleNotFoundError as error:
        raise DriverError(f"the logger {name} is not installed ({error}); install it or leave it out") from error
    return every


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """Silence the warnings and advice that Lightning prints; errors are raised as usual."""
    names = ("lightning", "lightning.pytorch", "lightning.fabric", "lightning.pytorch.utilities.rank_zero")
    levels = {name: logging.getLogger(name).level for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for name in names:
                logging.getLogger(name).setLevel(logging.ERROR)
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)
