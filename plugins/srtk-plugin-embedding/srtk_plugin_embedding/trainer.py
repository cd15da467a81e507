"""Training of an embedding with Lightning: it resumes at its checkpoints and keeps the best vectors."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from srtk_plugin_training import fit, quiet_lightning

from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_embedding.query_answers import QueryAnswers
from srtk_plugin_embedding.scoring import Kind

if TYPE_CHECKING:
    from srtk_plugin_embedding.lightning_module import Validate, Vectors


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
    with quiet_lightning():
        from srtk_plugin_embedding.lightning_module import EmbeddingModule

        module = EmbeddingModule(kind, queries, entities, relations, settings, validate, folder, seed)
        best = fit(module, folder, settings.logger, accelerator=settings.accelerator)
    return best["entities"].numpy(), best["relations"].numpy(), module.figures
