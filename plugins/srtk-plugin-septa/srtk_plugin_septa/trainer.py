"""Training of the aligned encoders with Lightning: it resumes at its checkpoints and keeps the best weights."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from srtk_plugin_training import fit_by_epochs, quiet_lightning

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
        from safetensors.numpy import load_file

        from srtk_plugin_septa.alignment import AlignmentModule

        module = AlignmentModule(shape, pairs, learning, validation, settings, folder, seed)
        fit_by_epochs(
            module,
            folder,
            settings.epochs,
            settings.accelerator,
            settings.logger,
            devices=settings.devices,
            strategy=settings.strategy,
        )
        best = load_file(folder / "best.safetensors")
    return best, module.figures
