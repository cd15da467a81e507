"""Training of an embedding with Lightning: it resumes at its checkpoints and keeps the best vectors."""

from __future__ import annotations

import logging
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from srtk_framework.values import DriverError
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_embedding.query_answers import QueryAnswers
from srtk_plugin_embedding.scoring import Kind

if TYPE_CHECKING:
    from srtk_plugin_embedding.lightning_module import Validate, Vectors


def missing_packages() -> list[str]:
    """Return the packages that only training needs and that are not installed."""
    return [name for name in ("lightning", "torch") if find_spec(name) is None]


def require_training_packages() -> None:
    """Tell what to install, before any work is done.

    Raises:
        DriverError: If a package is missing.
    """
    if missing := missing_packages():
        raise DriverError(
            f"training needs {' and '.join(missing)}, which completing does without;"
            " run: pip install 'srtk-plugin-embedding[train]'"
        )


def train_embedding(
    kind: Kind,
    queries: QueryAnswers,
    entities: int,
    relations: int,
    settings: EmbeddingFitSettings,
    validate: Validate | None,
    folder: FilePath,
    seed: int,
) -> tuple[Vectors, Vectors, dict[str, float]]:
    """Train vectors; an interrupted training in the folder is resumed.

    Args:
        kind: The scoring function.
        queries: Queries with their answers.
        entities: Number of entities.
        relations: Number of relations.
        settings: Settings of the training.
        validate: See ``EmbeddingModule``.
        folder: Folder for checkpoints, logs and the best vectors.
        seed: Seed of everything random.

    Returns:
        The best vectors of entities and relations, and their figures.

    Raises:
        DriverError: If the loss is not finite, or a logger is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _quietly():
        import torch
        from safetensors.numpy import load_file

        from srtk_plugin_embedding.lightning_module import EmbeddingModule

        module = EmbeddingModule(kind, queries, entities, relations, settings, validate, folder, seed)
        checkpoint = newest_checkpoint(folder)
        if checkpoint is not None:
            # The checkpoint was written by this code, and holds more than weights.
            module.on_load_checkpoint(torch.load(checkpoint, map_location="cpu", weights_only=False))
        if not module.stopped:
            with torch.random.fork_rng(devices=[]):
                _fit(_trainer(settings, folder), module, checkpoint)
        best = load_file(folder / "best.safetensors")
    return best["entities"], best["relations"], module.figures


def newest_checkpoint(folder: FilePath) -> FilePath | None:
    """Return the checkpoint from which a training is resumed, or None."""
    # Lightning copies a checkpoint from the folder for temporary files, so a stop may leave a part of one.
    found = [file for file in sorted((folder / "checkpoints").glob("epoch-*.ckpt")) if zipfile.is_zipfile(file)]
    return found[-1] if found else None


def _fit(trainer: Any, module: Any, checkpoint: FilePath | None) -> None:
    import signal

    before = signal.getsignal(signal.SIGINT)
    try:
        trainer.fit(module, ckpt_path=str(checkpoint) if checkpoint else None, weights_only=False)
    except SystemExit as error:
        # Lightning turns Ctrl-C into SystemExit.
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt from error


def _trainer(settings: EmbeddingFitSettings, folder: FilePath) -> Any:
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar

    callbacks: list[Any] = [
        ModelCheckpoint(
            folder / "checkpoints",
            filename="epoch-{epoch:06d}",
            auto_insert_metric_name=False,
            every_n_epochs=settings.validate_every,
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
        logger=_loggers(settings, folder),
        enable_progress_bar=interactive,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        reload_dataloaders_every_n_epochs=1,
        use_distributed_sampler=False,
    )


def _loggers(settings: EmbeddingFitSettings, folder: FilePath) -> list[Any]:
    from lightning.pytorch import loggers

    # A resumed training writes a table of its own beside the earlier one.
    every: list[Any] = [loggers.CSVLogger(folder, name="log")]
    if settings.logger is None:
        return every
    try:
        every.append(loggers.TensorBoardLogger(save_dir=str(folder), name=settings.logger))
    except ModuleNotFoundError as error:
        raise DriverError(
            f"the logger {settings.logger} is not installed ({error}); install it or leave it out"
        ) from error
    return every


@contextmanager
def _quietly() -> Iterator[None]:
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
