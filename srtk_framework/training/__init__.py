"""Training: training examples from questions with gold, samples for path scorers, and the trainer of a recipe."""

from __future__ import annotations

from srtk_framework.training.samples import samples

__all__ = [
    "samples",
]
