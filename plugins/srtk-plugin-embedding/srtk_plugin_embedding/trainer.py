"""Training of an embedding with Lightning: it resumes at its checkpoints and keeps the best vectors."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from srtk_plugin_training import fit_by_epochs, quiet_lightning

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
    with quiet_lightning():
        from safetensors.numpy import load_file

        from srtk_plugin_embedding.lightning_module import EmbeddingModule

        module = EmbeddingModule(kind, queries, entities, relations, settings, validate, folder, seed)
        fit_by_epochs(module, folder, settings.epochs, settings.accelerator, settings.logger, settings.validate_every)
        best = load_file(folder / "best.safetensors")
    return best["entities"], best["relations"], module.figures
