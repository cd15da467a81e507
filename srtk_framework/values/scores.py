"""The rounding of scores, which every comparison and every record uses."""

from __future__ import annotations

SCORE_DIGITS = 4
"""Scores are rounded to this many decimals before they are compared or written."""


def rounded(score: float) -> float:
    """Round a score for comparison and output; -0.0 becomes 0.0."""
    return round(float(score), SCORE_DIGITS) + 0.0
