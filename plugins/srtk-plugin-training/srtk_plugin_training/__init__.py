"""Training: examples from questions with gold, samples for path scorers, the trainer of a recipe, and its folder."""

from __future__ import annotations

from srtk_plugin_training.folder import TrainingFolder
from srtk_plugin_training.lightning_fit import (
    BEST,
    fit,
    missing_packages,
    quiet_lightning,
    read_best,
    read_checkpoint,
    require_packages,
    save_best,
)
from srtk_plugin_training.samples import samples
from srtk_plugin_training.settings_class import settings_class

__all__ = [
    "BEST",
    "TrainingFolder",
    "fit",
    "missing_packages",
    "quiet_lightning",
    "read_best",
    "read_checkpoint",
    "require_packages",
    "samples",
    "save_best",
    "settings_class",
]
