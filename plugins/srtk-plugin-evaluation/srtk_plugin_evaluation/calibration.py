"""Calibration of confidences: expected calibration error, Brier score, and the table of a reliability diagram."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import rounded

BINS = 15  # Number of bins of equal width between 0 and 1, as in Guo et al. (2017, section 2).

_Floats = npt.NDArray[np.float64]


def bin_sums(confidences: npt.ArrayLike, right: npt.ArrayLike) -> _Floats:
    """Sort predictions into bins by confidence.

    Args:
        confidences: Confidence of each prediction, from 0 to 1.
        right: Whether each prediction is right.

    Returns:
        Per bin, [``BINS``, 3]: number of predictions, sum of confidences, number of right predictions. Sums of several
        sets of predictions may be added.
    """
    values, good = np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64)
    places = np.minimum((values * BINS).astype(np.int64), BINS - 1)
    return np.stack([np.bincount(places, some, BINS) for some in (np.ones_like(values), values, good)], axis=1)


def error_of_bins(sums: _Floats) -> _Floats:
    """Return the expected calibration error of ``bin_sums``, [..., ``BINS``, 3] to [...]; NaN without predictions.

    It is the mean distance of a bin's mean confidence from its share of right predictions, weighted by predictions.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found: _Floats = np.abs(sums[..., 1] - sums[..., 2]).sum(axis=-1) / sums[..., 0].sum(axis=-1)
    return found


def calibration_error(confidences: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the expected calibration error (ECE) of predictions, with ``BINS`` bins; NaN without predictions."""
    return float(error_of_bins(bin_sums(confidences, right)))


def brier_score(confidences: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the mean squared distance of confidences from 1 (right) or 0 (wrong); NaN without predictions."""
    apart = np.asarray(confidences, dtype=np.float64) - np.asarray(right, dtype=np.float64)
    return float((apart**2).mean()) if apart.size else float("nan")


def reliability(sums: _Floats) -> list[dict[str, Any]]:
    """Return the table of a reliability diagram: bins with predictions, by confidence.

    Returns:
        Per bin: ``from`` and ``to``, its ends; ``n``, its predictions; ``confidence``, their mean; ``right``, their
        share that is right.
    """
    return [
        {
            "from": rounded(place / BINS),
            "to": rounded((place + 1) / BINS),
            "n": round(count),
            "confidence": rounded(total / count),
            "right": rounded(good / count),
        }
        for place, (count, total, good) in enumerate(sums.tolist())
        if count
    ]
