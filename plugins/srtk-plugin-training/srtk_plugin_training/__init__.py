"""Training: examples from questions with gold, samples for path scorers, the trainer of a recipe, and its folder."""

from __future__ import annotations

from srtk_plugin_training.folder import TrainingFolder
from srtk_plugin_training.lightning_fit import fit_by_epochs, loggers, newest_checkpoint, quiet_lightning, run_fit
from srtk_plugin_training.samples import samples

__all__ = [
    "TrainingFolder",
    "fit_by_epochs",
    "loggers",
    "newest_checkpoint",
    "quiet_lightning",
    "run_fit",
    "samples",
]
