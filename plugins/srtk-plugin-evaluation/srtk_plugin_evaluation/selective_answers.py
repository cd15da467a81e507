"""Selective answering: accuracy at coverage, the area under the risk curve, and calibration of answers' confidences.

A method that may refuse, or that gives confidences, can be asked for its surest answers alone. Questions are sorted
by confidence; at coverage c, the first c of all questions are answered (El-Yaniv and Wiener 2010). Answers of equal
confidence are in no order: accuracy is its expectation over all orders of the ties, each equally likely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import CERTAINTIES, rounded
from srtk_plugin_evaluation.calibration import bin_sums, brier_score, error_of_bins, reliability

COVERAGES = tuple(step / 10 for step in range(1, 11))  # Shares of the questions at which accuracy is told.

_Floats = npt.NDArray[np.float64]


@attrs.frozen
class Judged:
    """An answer and how sure its method was.

    Attributes:
        right: Whether the whole answer is right; None without gold answers.
        answered: False for a refusal, a failed question and an answer of nothing.
        confidence: Probability, from 0 to 1, that the answer is right, as its method gave it; None if it gave none.
        certainty: One of ``CERTAINTIES``, or None.
    """

    right: bool | None
    answered: bool
    confidence: float | None = None
    certainty: str | None = None


def accuracy_at(sureness: npt.ArrayLike, right: npt.ArrayLike, count: float) -> float:
    """Return the expected accuracy of the ``count`` surest answers; NaN if there are fewer, or ``count`` is 0.

    Args:
        sureness: How sure each answer is; higher is surer.
        right: Whether each answer is right.
        count: Number of answers, not rounded, so that shares of small sets are exact.
    """
    answers, hits = _expected(sureness, right)
    if not 0 < count <= answers[-1] + 1e-9:
        return float("nan")
    return float(np.interp(count, answers, hits) / count)


def risk_area(sureness: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the area under the risk-coverage curve (AURC): the mean error of the k surest answers over all k.

    See Geifman et al. (2019, section 2). NaN without answers.
    """
    answers, hits = _expected(sureness, right)
    counts = np.arange(1, round(answers[-1]) + 1, dtype=np.float64)
    return float((1 - np.interp(counts, answers, hits) / counts).mean()) if counts.size else float("nan")


def _expected(sureness: npt.ArrayLike, right: npt.ArrayLike) -> tuple[_Floats, _Floats]:
    """Return numbers of the surest answers, from 0, where their sureness changes, and how many of them are right.

    The answers between two of these numbers are tied in random order, so the line between is their mean.
    """
    values, good = np.asarray(sureness, dtype=np.float64), np.asarray(right, dtype=np.float64)
    _, places = np.unique(-values, return_inverse=True)
    sizes, hits = np.bincount(places), np.bincount(places, good)
    return np.concatenate([[0.0], np.cumsum(sizes)]), np.concatenate([[0.0], np.cumsum(hits)])


def selective(answers: Sequence[Judged | None]) -> dict[str, Any] | None:
    """Summarise the answers of one method; None if it answers no question that has gold answers.

    Args:
        answers: An answer for each question; None for a question that does not count.

    Returns:
        ``questions`` with gold answers; ``coverage``, the share of them that is answered; ``accuracy``, the share of
        right answers among the answered. With certainties, ``certainty``: for each level ``n`` and ``accuracy`` of its
        answers. With confidences or certainties, ``accuracy_at``: the accuracy of the surest share of all questions,
        None beyond the coverage; and ``risk_area``. With confidences, ``calibration_error``, ``brier`` and
        ``reliability``, whose ``n`` is ``confident``.
    """
    counted = [one for one in answers if one is not None and one.right is not None]
    told = [one for one in counted if one.answered]
    if not told:
        return None
    found: dict[str, Any] = {
        "questions": len(counted),
        "coverage": rounded(len(told) / len(counted)),
        "accuracy": rounded(sum(map(_is_right, told)) / len(told)),
    }
    levels = {name: [one for one in told if one.certainty == name] for name in CERTAINTIES}
    if any(levels.values()):
        found["certainty"] = {
            name: {"n": len(some), "accuracy": rounded(sum(map(_is_right, some)) / len(some))}
            for name, some in levels.items()
            if some
        }
    return found | _curve(counted, told) | _calibration(told)


def _curve(counted: Sequence[Judged], told: Sequence[Judged]) -> dict[str, Any]:
    confident = any(one.confidence is not None for one in told)
    if not confident and all(one.certainty is None for one in told):
        return {}
    sure = [_sureness(one, confident) for one in told]
    right = [_is_right(one) for one in told]
    at = {f"{share:g}": accuracy_at(sure, right, share * len(counted)) for share in COVERAGES}
    return {
        "accuracy_at": {share: None if np.isnan(value) else rounded(value) for share, value in at.items()},
        "risk_area": rounded(risk_area(sure, right)),
    }


def _sureness(one: Judged, confident: bool) -> float:
    """Order answers by confidence where a method has any, else by certainty; answers without either come last."""
    if confident:
        return -1.0 if one.confidence is None else one.confidence
    return 0.0 if one.certainty is None else float(len(CERTAINTIES) - CERTAINTIES.index(one.certainty))


def _calibration(told: Sequence[Judged]) -> dict[str, Any]:
    known = [one for one in told if one.confidence is not None]
    if not known:
        return {}
    confidences, right = [one.confidence or 0.0 for one in known], [_is_right(one) for one in known]
    sums = bin_sums(confidences, right)
    return {
        "confident": len(known),
        "calibration_error": rounded(float(error_of_bins(sums))),
        "brier": rounded(brier_score(confidences, right)),
        "reliability": reliability(sums),
    }


def _is_right(one: Judged) -> bool:
    return bool(one.right)


def compare_selective(methods: Mapping[str, Sequence[Judged | None]]) -> dict[str, Any]:
    """Summarise the answers of each method; methods without answers are left out."""
    found = {name: selective(answers) for name, answers in methods.items()}
    return {name: some for name, some in found.items() if some is not None}
