"""Training: examples from questions with gold, samples for path scorers, the trainer of a recipe, and its folder."""

from __future__ import annotations

from srtk_framework.training.fit_settings import settings_class
from srtk_framework.training.folder import TrainingFolder
from srtk_framework.training.lightning_fit import fit_by_epochs, loggers, newest_checkpoint, quiet_lightning, run_fit
from srtk_framework.training.samples import samples

__all__ = [
    "TrainingFolder",
    "fit_by_epochs",
    "loggers",
    "newest_checkpoint",
    "quiet_lightning",
    "run_fit",
    "samples",
    "settings_class",
]
