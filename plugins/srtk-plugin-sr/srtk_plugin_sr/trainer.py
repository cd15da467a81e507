"""Train an encoder on samples with Lightning: go on where it was stopped, keep the best weights."""

from __future__ import annotations

import logging
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from srtk_framework.values import DriverError
from srtk_plugin_sr.batching import Schedule
from srtk_plugin_sr.fit_settings import Material, Training

_PROBE = 2


def learn(
    network: Any,
    material: Material,
    training: Training,
    *,
    temperature: float,
    validate: Callable[[], Mapping[str, float]] | None,
    folder: FilePath,
    seed: int,
) -> dict[str, float]:
    """Train a network, which ends up with the best weights.

    Args:
        network: Torch module with ``tokenize``; token rows to vectors.
        material: What to learn from.
        training: The settings.
        temperature: Divides cosines.
        validate: Called after each round; returns metrics, among them ``training.monitor``.
        folder: For checkpoints and logs; a training that was stopped here goes on.
        seed: Of order and dropout.

    Returns:
        The figures of the best round.

    Raises:
        DriverError: If there is nothing to learn from, or the loss is not finite.
    """
    if not material.items:
        raise DriverError("there is not one sample to learn from; see why the lessons have no paths")
    with _quietly():
        import lightning
        import torch

        from srtk_plugin_sr import lightning_module as lit

        folder.mkdir(parents=True, exist_ok=True)
        rows = network.tokenize(list(material.texts))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            _freeze_unused(network, rows)
            if training.checkpointing:
                network.save_memory()
            trainer = _trainer(lightning, training, folder)
            schedule = Schedule(
                material.items,
                [len(row) for row in rows],
                training.batch_size,
                training.epochs,
                training.steps,
                training.validate_every,
                trainer.world_size,
                seed,
            )
            trainer.fit_loop.max_epochs = schedule.rounds
            module = lit.ScorerModule(network, material, rows, training, schedule, temperature, validate, folder, seed)
            _fit(trainer, module, newest_checkpoint(folder))
        lit.load_weights(network, folder)
        network.to("cpu").eval()
    return {**module.figures, "samples": float(len(material.items)), "rounds": float(len(module.history))}


def begin(folder: FilePath, key: str) -> None:
    """Make a folder for one training; what another one, with another key, left there goes."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "key"
    if file.exists() and file.read_text(encoding="utf-8") == key:
        return
    for name in ("checkpoints", "log"):
        shutil.rmtree(folder / name, ignore_errors=True)
    file.write_text(key, encoding="utf-8")


def newest_checkpoint(folder: FilePath) -> FilePath | None:
    """Return the checkpoint with which a stopped training goes on, or None."""
    found = sorted((folder / "checkpoints").glob("round-*.ckpt"))
    return found[-1] if found else None


def _fit(trainer: Any, module: Any, checkpoint: FilePath | None) -> None:
    import signal

    before = signal.getsignal(signal.SIGINT)
    try:
        # The checkpoint is our own, and holds more than weights.
        trainer.fit(module, ckpt_path=str(checkpoint) if checkpoint else None, weights_only=False)
    except SystemExit as error:
        # What Lightning makes of Ctrl-C.
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt from error


def _trainer(lightning: Any, training: Training, folder: FilePath) -> Any:
    from lightning.pytorch.callbacks import ModelCheckpoint, RichProgressBar

    callbacks: list[Any] = [
        ModelCheckpoint(
            folder / "checkpoints",
            filename="round-{epoch:06d}",
            auto_insert_metric_name=False,
            save_top_k=training.keep,
            monitor="round",
            mode="max",
            save_on_train_epoch_end=True,
        )
    ]
    if interactive := sys.stderr.isatty():
        callbacks.append(RichProgressBar(leave=False))
    precision: Any = "bf16-mixed" if str(training.precision) == "bf16" else "32-true"
    return lightning.Trainer(
        accelerator=training.accelerator,
        devices=training.devices,
        strategy=training.strategy,
        precision=precision,
        max_epochs=1,
        callbacks=callbacks,
        logger=_loggers(training, folder),
        enable_progress_bar=interactive,
        enable_model_summary=False,
        log_every_n_steps=10,
        num_sanity_val_steps=0,
        reload_dataloaders_every_n_epochs=1,
        use_distributed_sampler=False,
    )


def _loggers(training: Training, folder: FilePath) -> list[Any]:
    from lightning.pytorch import loggers

    # A training that goes on writes a table of its own: the earlier one stays.
    every: list[Any] = [loggers.CSVLogger(folder, name="log")]
    if training.logger is None:
        return every
    kind = loggers.TensorBoardLogger if training.logger == "tensorboard" else loggers.WandbLogger
    try:
        every.append(kind(save_dir=str(folder), name=training.logger))
    except ModuleNotFoundError as error:
        raise DriverError(f"the logger {training.logger} is not installed ({error}); install it or leave it out") from (
            error
        )
    return every


def _freeze_unused(network: Any, rows: Sequence[Sequence[int]]) -> None:
    """Leave out the weights that no vector depends on, such as a pooler's: several devices would wait for them."""
    network.eval()
    network(rows[:_PROBE]).float().pow(2).sum().backward()
    for parameter in network.parameters():
        if parameter.grad is None:
            parameter.requires_grad_(False)
        parameter.grad = None
    network.train()


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep Lightning from printing advice; what matters is raised."""
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
