"""Training: lessons of questions with gold, samples of lessons, and the training that a recipe describes."""

from __future__ import annotations

from srtk_framework.training.samples import samples

__all__ = [
    "samples",
]
