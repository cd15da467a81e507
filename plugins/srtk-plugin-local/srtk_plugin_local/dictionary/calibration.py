"""Makes scores probabilities, tells how far they are from that, and finds the least score of a link."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from srtk_plugin_local.dictionary.conditional_logit import Floats, fit_binary, log_odds, sigmoid

_PENALTY = 0.01
_BINS = 10


@attrs.frozen
class Calibration:
    """A rising curve from scores to probabilities (Platt 1999).

    Attributes:
        slope: By which log-odds are multiplied, above 0.
        shift: What is added.
    """

    slope: float = 1.0
    shift: float = 0.0

    @classmethod
    def learnt(cls, scores: Floats, right: npt.NDArray[np.bool_]) -> Calibration:
        """Fit the curve to scores and whether they were right; without both kinds it stays as it is."""
        if not len(right) or right.all() or not right.any():
            return cls()
        weights = fit_binary(np.stack([log_odds(scores), np.ones(len(scores))], axis=1), right, _PENALTY)
        # A falling curve would turn the order round; so few examples tell nothing.
        return cls(float(weights[0]), float(weights[1])) if weights[0] > 0 else cls()

    def __call__(self, scores: Floats) -> Floats:
        """Turn scores into probabilities."""
        return sigmoid(self.slope * log_odds(scores) + self.shift)


def calibration_error(scores: Floats, right: npt.NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins with equally many scores (Naeini et al. 2015)."""
    if not len(scores):
        return 0.0
    order = np.argsort(scores, kind="stable")
    parts = np.array_split(order, min(_BINS, len(order)))
    return float(sum(abs(scores[part].mean() - right[part].mean()) * len(part) for part in parts) / len(scores))


def best_threshold(scores: Floats, right: npt.NDArray[np.bool_], wanted: int) -> tuple[float, float]:
    """Find the least score to keep so that F1 is greatest.

    Args:
        scores: Of links.
        right: Which of them are right.
        wanted: How many links there should be.

    Returns:
        The threshold, and the F1 that it gives; of equally good ones the lowest.
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
