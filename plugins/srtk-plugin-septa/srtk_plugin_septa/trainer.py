"""Training of the aligned encoders with Lightning: it resumes at its checkpoints and keeps the best weights."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from srtk_framework.training import loggers, newest_checkpoint, quiet_lightning, run_fit
from srtk_framework.values import DriverError
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.shape import Ints, Shape, Vectors

if TYPE_CHECKING:
    from srtk_plugin_septa.pairs import Pairs


def missing_packages() -> list[str]:
    """Return the packages that only training needs and that are not installed."""
    return [name for name in ("lightning",) if find_spec(name) is None]


def require_training_packages() -> None:
    """Tell what to install, before any work is done.

    Raises:
        DriverError: If a package is missing.
    """
    if missing := missing_packages():
        raise DriverError(f"training needs {' and '.join(missing)}; run: pip install 'srtk-plugin-septa[train]'")


def train_alignment(
    shape: Shape,
    pairs: Pairs,
    learning: Ints,
    validation: Ints,
    settings: SeptaFitSettings,
    folder: FilePath,
    seed: int,
) -> tuple[dict[str, Vectors], dict[str, float]]:
    """Train both encoders; an interrupted training in the folder is resumed.

    Args:
        shape: Sizes of the network.
        pairs: Pairs of subgraphs and texts.
        learning: Numbers of the pairs to train on.
        validation: Numbers of the pairs to validate with.
        settings: Settings of the training.
        folder: Folder for checkpoints, logs and the best weights.
        seed: Seed of everything random.

    Returns:
        The best weights, and their figures.

    Raises:
        DriverError: If the loss is not finite, or a logger is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with quiet_lightning():
        import torch
        from safetensors.numpy import load_file

        from srtk_plugin_septa.alignment import AlignmentModule

        module = AlignmentModule(shape, pairs, learning, validation, settings, folder, seed)
        checkpoint = newest_checkpoint(folder)
        if checkpoint is not None:
            # The checkpoint was written by this code, and holds more than weights.
            module.on_load_checkpoint(torch.load(checkpoint, map_location="cpu", weights_only=False))
        if not module.stopped:
            with torch.random.fork_rng(devices=[]):
                run_fit(_trainer(settings, folder), module, checkpoint)
        best = load_file(folder / "best.safetensors")
    return best, module.figures


def _trainer(settings: SeptaFitSettings, folder: FilePath) -> Any:
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar

    callbacks: list[Any] = [
        ModelCheckpoint(
            folder / "checkpoints",
            filename="epoch-{epoch:06d}",
            auto_insert_metric_name=False,
            every_n_epochs=1,
            save_on_train_epoch_end=True,
        )
    ]
    if interactive := sys.stderr.isatty():
        callbacks.append(RichProgressBar(leave=False))
    return lightning.Trainer(
        accelerator=settings.accelerator,
        devices=1,
        max_epochs=settings.epochs,
        callbacks=callbacks,
        logger=loggers(settings.logger, folder),
        enable_progress_bar=interactive,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        reload_dataloaders_every_n_epochs=1,
        use_distributed_sampler=False,
    )
