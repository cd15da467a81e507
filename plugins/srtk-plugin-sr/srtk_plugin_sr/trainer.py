"""Training of an encoder on samples with Lightning: it resumes at its checkpoints and keeps the best weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Protocol

from srtk_plugin_training import fit, quiet_lightning

from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.samples import TrainingSet

_PROBE = 2
"""Texts of the backward pass that finds the weights without a gradient."""


class TrainableEncoder(Protocol):
    """Methods of an encoder that can be trained."""

    def learner(self) -> Any:
        """Return a copy of the network: a torch module that maps token rows to vectors, with a method ``tokenize``."""

    def take(self, module: Any) -> None:
        """Encode with the weights of such a copy from now on, and change the fingerprint with them."""

    def save(self, folder: FilePath) -> None:
        """Write a folder that ``load`` reads."""

    def load(self, folder: FilePath) -> None:
        """Encode with the weights in a folder from now on."""


def trainable_encoder(encoder: Encoder) -> TrainableEncoder:
    """Return the driver of an encoder if it can be trained.

    Raises:
        DriverError: If it cannot.
    """
    driver: Any = getattr(encoder, "driver", encoder)
    missing = [name for name in ("learner", "take", "save", "load") if not callable(getattr(driver, name, None))]
    if missing:
        raise DriverError(
            f"the encoder {type(driver).__name__} cannot be trained (it has no {' and no '.join(missing)});"
            " use one that can, such as transformers"
        )
    return driver  # type: ignore[no-any-return]


def train_encoder(
    network: Any,
    data: TrainingSet,
    settings: ScorerFitSettings,
    *,
    temperature: float,
    validate: Callable[[], Mapping[str, float]] | None,
    folder: FilePath,
    seed: int,
    wandb: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """Train a network in place; it ends with the best weights, or with their blend with the start.

    Args:
        network: Torch module that maps token rows to vectors, with a method ``tokenize``.
        data: Samples to train on.
        settings: Settings of the training.
        temperature: Divides cosines.
        validate: Called after each round; returns metrics, among them ``settings.monitor``.
        folder: Folder for checkpoints and logs; an interrupted training in this folder is resumed.
        seed: Seed of the order of samples and of dropout.
        wandb: For the logger ``wandb``, its `project`, `group` and `save_dir`; by default from its environment, and the
            folder.

    Returns:
        The figures of the best round, and the numbers of samples and rounds.

    Raises:
        DriverError: If there is no sample, or the loss is not finite.
    """
    if not data.samples:
        raise DriverError("there is no sample to train on; find out why the examples have no paths")
    with quiet_lightning():
        from srtk_plugin_sr.lightning_module import ScorerModule

        start = None if settings.blend == 1 else weights_of(network)
        rows = network.tokenize(list(data.texts))
        _freeze_unused(network, rows)
        if settings.checkpointing:
            network.save_memory()
        module = ScorerModule(network, data, rows, settings, temperature, validate, folder, seed)
        machine = {name: getattr(settings, name) for name in ("accelerator", "devices", "strategy")}
        machine["precision"] = "bf16-mixed" if str(settings.precision) == "bf16" else "32-true"
        best = fit(module, folder, settings.logger, keep=settings.keep, stem="round", wandb=wandb, **machine)
        network.load_state_dict(best)
        network.to("cpu").eval()
        if start is not None:
            blend_weights(network, start, weights_of(network), settings.blend)
    return {**module.figures, "samples": float(len(data.samples)), "rounds": float(module.done)}


def weights_of(network: Any) -> dict[str, Any]:
    """Return a copy of the weights of a network."""
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def blend_weights(network: Any, first: Mapping[str, Any], last: Mapping[str, Any], share: float) -> None:
    """Load the weights that lie a share of the way from the first to the last; 0 and 1 are exact."""
    network.load_state_dict(
        {name: value.lerp(last[name], share) if value.is_floating_point() else value for name, value in first.items()}
    )


def _freeze_unused(network: Any, rows: Sequence[Sequence[int]]) -> None:
    """Freeze the weights that no vector depends on, such as a pooler's: devices would wait for their gradients."""
    network.eval()
    network(rows[:_PROBE]).float().pow(2).sum().backward()
    for parameter in network.parameters():
        if parameter.grad is None:
            parameter.requires_grad_(False)
        parameter.grad = None
    network.train()
