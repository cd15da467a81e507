"""Rounding of scores for comparisons and records."""

from __future__ import annotations

SCORE_DIGITS = 4
"""Number of decimals to which scores are rounded before they are compared or written."""

_PARTS = 10.0**SCORE_DIGITS


def rounded(score: float) -> float:
    """Round a score for comparisons and records; -0.0 becomes 0.0."""
    score = float(score)
    scaled = score * _PARTS
    if -1e13 < scaled < 1e13:
        whole = round(scaled)
        # Not near the middle, this is what `round` with digits returns, in a third of the time.
        if -0.499 < scaled - whole < 0.499:
            return whole / _PARTS
    return round(score, SCORE_DIGITS) + 0.0
