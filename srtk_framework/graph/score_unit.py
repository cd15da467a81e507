"""Scores in natural-log units, also for a path scorer that names no unit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from srtk_framework.values import END, Step

Rows = Sequence[Sequence[float]]

SPREAD = 2.5
"""Standard deviation, in natural-log units, of a question's first candidates: that of ``dense`` is 1.6 to 2.5 in the
median of its sets. Of 1, 1.5, 2.2, 2.5 and 3 chosen on the demo's questions with seed 1, PathQuestion and MetaQA."""
# Share of the largest score up to which differences are those of floating-point numbers.
_NOISE = 1e-9


def relative_scores(candidates: Sequence[Sequence[Step]], scores: Rows) -> list[list[float]]:
    """Return the distances of scores from END's, or from a question's best score where END is not offered.

    So a constant added to all scores changes nothing, also between paths of different lengths. Scores of whole paths
    become scores of their steps.

    Args:
        candidates: Candidates of each of a question's paths.
        scores: Their scores.
    """
    best = max((score for row in scores for score in row), default=0.0)
    rows = []
    for steps, row in zip(candidates, scores, strict=True):
        zero = row[steps.index(END)] if END in steps else best
        rows.append([score - zero for score in row])
    return rows


def unit_of(scores: Rows) -> float | None:
    """Return the size of a natural-log unit in the numbers of a scorer; None where no path has scores that differ.

    Args:
        scores: Scores of a question's candidates, per path. Only differences within a path count, so that topics of
            which one is nearer to the question are no spread.
    """
    gaps = []
    for row in (row for row in scores if len(row) > 1):
        mean = math.fsum(row) / len(row)
        gaps += [score - mean for score in row]
    deviation = math.sqrt(math.fsum(gap * gap for gap in gaps) / max(1, len(gaps)))
    largest = max((abs(score) for row in scores for score in row), default=0.0)
    return deviation / SPREAD if deviation > _NOISE * largest else None
