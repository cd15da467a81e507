"""Calibration of scores to probabilities, its error, and the threshold of the best F1."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from srtk_plugin_local.dictionary.conditional_logit import Floats, fit_binary, log_odds, sigmoid

# Keeps the map finite where a score divides right from wrong without an overlap.
_PENALTY = 0.01
_BINS = 10


@attrs.frozen
class Calibration:
    """A monotone map from scores to probabilities (Platt 1999).

    Attributes:
        slope: Factor of the log-odds, above 0.
        shift: Offset of the log-odds.
    """

    slope: float = 1.0
    shift: float = 0.0

    @classmethod
    def learnt(cls, scores: Floats, right: npt.NDArray[np.bool_]) -> Calibration:
        """Fit the map; return the identity if all scores are right or all are wrong."""
        if not len(right) or right.all() or not right.any():
            return cls()
        weights = fit_binary(np.stack([log_odds(scores), np.ones(len(scores))], axis=1), right, _PENALTY)
        # A negative slope would reverse the order; it comes from too few examples.
        return cls(float(weights[0]), float(weights[1])) if weights[0] > 0 else cls()

    def __call__(self, scores: Floats) -> Floats:
        """Convert scores to probabilities."""
        return sigmoid(self.slope * log_odds(scores) + self.shift)


def calibration_error(scores: Floats, right: npt.NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins of equal size (Naeini et al. 2015)."""
    if not len(scores):
        return 0.0
    order = np.argsort(scores, kind="stable")
    parts = np.array_split(order, min(_BINS, len(order)))
    return float(sum(abs(scores[part].mean() - right[part].mean()) * len(part) for part in parts) / len(scores))


def best_threshold(scores: Floats, right: npt.NDArray[np.bool_], wanted: int) -> tuple[float, float]:
    """Find the threshold with the greatest F1.

    Args:
        scores: Scores of the links.
        right: Whether each link is right.
        wanted: Number of gold links.

    Returns:
        The threshold and its F1; the lowest threshold in a tie.
    """
    if not len(scores) or not wanted:
        return 0.0, 0.0
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(right[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + wanted)
    last = np.append(scores[order][1:] < scores[order][:-1], True)  # only where the next score is lower
    f1 = np.where(last, f1, -1.0)
    at = len(f1) - 1 - int(np.argmax(f1[::-1]))
    threshold = float(scores[order][at])
    below = scores[order][at + 1] if at + 1 < len(order) else 0.0
    return (threshold + float(below)) / 2, float(f1[at])
