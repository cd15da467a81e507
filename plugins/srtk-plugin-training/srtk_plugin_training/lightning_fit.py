"""What trainings with Lightning share: resuming, Ctrl-C, loggers, and silence."""

from __future__ import annotations

import logging
import sys
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


def fit_by_epochs(
    module: Any,
    folder: Path,
    epochs: int,
    accelerator: str,
    logger: str | None,
    every: int = 1,
    stem: str = "epoch",
    devices: int = 1,
    strategy: str = "auto",
) -> None:
    """Fit a module after its newest checkpoint, unless it has ``stopped`` there.

    Args:
        module: Module of Lightning that restores ``stopped`` in ``on_load_checkpoint``.
        folder: Folder of the training.
        epochs: Most epochs.
        accelerator: Lightning's name of it.
        logger: A logger beside the CSV files, or None.
        every: Epochs from one checkpoint to the next.
        stem: Beginning of the checkpoints' names.
        devices: Number of devices; the module divides its batches among them itself.
        strategy: Lightning's name of how they work together.

    Raises:
        DriverError: If the logger is not installed.
        KeyboardInterrupt: At Ctrl-C.
    """
    import torch

    checkpoint = newest_checkpoint(folder)
    if checkpoint is not None:
        # The checkpoint was written by the module, and holds more than weights.
        module.on_load_checkpoint(torch.load(checkpoint, map_location="cpu", weights_only=False))
    if module.stopped:
        return
    machine = {"accelerator": accelerator, "devices": devices, "strategy": strategy}
    with torch.random.fork_rng(devices=[]):
        run_fit(_trainer(folder, epochs, machine, logger, every, stem), module, checkpoint)


def _trainer(folder: Path, epochs: int, machine: Mapping[str, Any], logger: str | None, every: int, stem: str) -> Any:
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar

    callbacks: list[Any] = [
        ModelCheckpoint(
            folder / "checkpoints",
            filename=f"{stem}-{{epoch:06d}}",
            auto_insert_metric_name=False,
            every_n_epochs=every,
            save_on_train_epoch_end=True,
        )
    ]
    if interactive := sys.stderr.isatty():
        callbacks.append(RichProgressBar(leave=False))
    return lightning.Trainer(
        **machine,
        max_epochs=epochs,
        callbacks=callbacks,
        logger=loggers(logger, folder),
        enable_progress_bar=interactive,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        reload_dataloaders_every_n_epochs=1,
        use_distributed_sampler=False,
    )


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
