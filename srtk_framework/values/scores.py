"""Rounding of scores for comparisons and records."""

from __future__ import annotations

SCORE_DIGITS = 4
"""Number of decimals to which scores are rounded before they are compared or written."""


def rounded(score: float) -> float:
    """Round a score for comparisons and records; -0.0 becomes 0.0."""
    return round(float(score), SCORE_DIGITS) + 0.0
