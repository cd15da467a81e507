"""Common parts of trainings with Lightning: resuming, Ctrl-C, loggers, and silence."""

from __future__ import annotations

import logging
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from srtk_framework.values import DriverError, unguarded

BEST = "best.safetensors"  # File of the best weights in the folder of a training.


def missing_packages(plugin: str, *packages: str) -> list[str]:
    """Name the packages for training that are not installed, and how to install them.

    Args:
        plugin: Distribution that has them in its extra ``train``.
        packages: The packages.

    Returns:
        A sentence, or nothing.
    """
    missing = [name for name in packages if find_spec(name) is None]
    return [f"training needs {' and '.join(missing)}; run: pip install '{plugin}[train]'"] if missing else []


def require_packages(plugin: str, *packages: str) -> None:
    """Refuse to begin without the packages for training; see ``missing_packages``.

    Raises:
        DriverError: If a package is missing.
    """
    for text in missing_packages(plugin, *packages):
        raise DriverError(text)


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the checkpoint that a training resumes from: the last by name in ``checkpoints``, or None."""
    # Lightning copies a checkpoint from the folder for temporary files, so a stop may leave a part of one.
    found = [file for file in sorted((folder / "checkpoints").glob("*.ckpt")) if zipfile.is_zipfile(file)]
    return found[-1] if found else None


def run_fit(trainer: Any, module: Any, checkpoint: Path | None) -> None:
    """Fit a module, from a checkpoint if it is given.

    Args:
        trainer: Trainer of Lightning.
        module: Module of Lightning.
        checkpoint: Written by the same module; only tensors and plain values are read of it, so it runs no code.

    Raises:
        KeyboardInterrupt: At Ctrl-C.
    """
    import signal

    before = signal.getsignal(signal.SIGINT)
    try:
        trainer.fit(module, ckpt_path=str(checkpoint) if checkpoint else None, weights_only=True)
    except SystemExit as error:
        # Lightning turns Ctrl-C into SystemExit.
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt from error


def fit(
    module: Any,
    folder: Path,
    logger: str | None,
    *,
    keep: int = 1,
    stem: str = "epoch",
    wandb: Mapping[str, str] | None = None,
    **machine: Any,
) -> dict[str, Any]:
    """Fit a learner from its newest checkpoint, unless it has stopped there.

    Args:
        module: A ``srtk_plugin_training.learner.Learner``.
        folder: Folder of the training.
        logger: A logger beside the CSV files, or None.
        keep: Number of checkpoints to keep, the newest.
        stem: Beginning of the checkpoints' names.
        wandb: Settings for the logger ``wandb``: its `project`, `group` and `save_dir`.
        machine: Accelerator, devices, strategy and precision, by the names of Lightning's trainer.

    Returns:
        The best weights by name, as tensors on the CPU.

    Raises:
        DriverError: If the loss is not finite, or the logger is not installed.
        KeyboardInterrupt: At Ctrl-C.
    """
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = newest_checkpoint(folder)
    if checkpoint is not None:
        module.on_load_checkpoint(read_checkpoint(checkpoint))
    if not module.stopped:
        trainer = _trainer(folder, machine, loggers(logger, folder, wandb), module.every, keep, stem)
        trainer.fit_loop.max_epochs = module.rounds(trainer.world_size)
        with torch.random.fork_rng(devices=[]):
            run_fit(trainer, module, checkpoint)
    return read_best(folder / BEST)


def save_best(weights: Mapping[str, Any], path: Path) -> None:
    """Write weights by name with their checksum; they are contiguous tensors on the CPU."""
    from safetensors.torch import save_file

    save_file(dict(weights), path, {"checksum": _checksum(weights)})


def read_best(path: Path) -> dict[str, Any]:
    """Read weights that ``save_best`` wrote.

    Raises:
        DriverError: If they are not what was written.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            if (file.metadata() or {}).get("checksum") != _checksum(weights):
                raise ValueError("its checksum is another")
    except (SafetensorError, OSError, ValueError) as error:
        raise DriverError(f"{path}: is damaged ({error}); start the training over with --fresh") from error
    return weights


def _checksum(weights: Mapping[str, Any]) -> str:
    import torch

    found = 0
    for name, one in sorted(weights.items()):
        found = zlib.crc32(f"{name} {one.dtype} {tuple(one.shape)}".encode(), found)
        found = zlib.crc32(one.reshape(-1).view(torch.uint8).numpy(), found)
    return f"{found:08x}"


def read_checkpoint(checkpoint: Path) -> dict[str, Any]:
    """Read a checkpoint without running code that a pickle may name.

    Raises:
        DriverError: If it holds anything but tensors and plain values, or is damaged.
    """
    import torch

    try:
        with zipfile.ZipFile(checkpoint) as archive:  # It has checksums, which torch does not compare.
            if bad := archive.testzip():
                raise ValueError(f"{bad} has another content than was written")
        found: dict[str, Any] = torch.load(checkpoint, map_location="cpu", weights_only=True)
    except Exception as error:
        raise DriverError(
            f"the checkpoint {checkpoint} is damaged, or holds more than tensors and plain values, which could run"
            " code; delete it to resume from an earlier checkpoint, or start over with --fresh"
        ) from error
    return found


def _trainer(folder: Path, machine: Mapping[str, Any], loggers: list[Any], every: int, keep: int, stem: str) -> Any:
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar

    callbacks: list[Any] = [
        ModelCheckpoint(
            folder / "checkpoints",
            filename=f"{stem}-{{epoch:06d}}",
            auto_insert_metric_name=False,
            monitor="epoch",
            mode="max",
            save_top_k=keep,
            every_n_epochs=every,
            save_on_train_epoch_end=True,
        )
    ]
    if interactive := sys.stderr.isatty():
        callbacks.append(RichProgressBar(leave=False, console_kwargs={"file": unguarded(sys.stderr)}))
    return lightning.Trainer(
        **machine,
        max_epochs=1,
        callbacks=callbacks,
        logger=loggers,
        enable_progress_bar=interactive,
        enable_model_summary=False,
        log_every_n_steps=10,
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
