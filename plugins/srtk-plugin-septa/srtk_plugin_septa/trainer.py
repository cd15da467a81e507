"""Training of the aligned encoders with Lightning: it resumes at its checkpoints and keeps the best weights."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from srtk_plugin_training import fit, quiet_lightning

from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.shape import Ints, Shape, Vectors

if TYPE_CHECKING:
    from srtk_plugin_septa.pairs import Pairs


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
    with quiet_lightning():
        from srtk_plugin_septa.alignment import AlignmentModule

        module = AlignmentModule(shape, pairs, learning, validation, settings, folder, seed)
        machine = {name: getattr(settings, name) for name in ("accelerator", "devices", "strategy")}
        best = fit(module, folder, settings.logger, **machine)
    return {name: weights.numpy() for name, weights in best.items()}, module.figures
