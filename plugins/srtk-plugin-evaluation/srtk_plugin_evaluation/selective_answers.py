"""Selective answering: accuracy at coverage, the area under the risk curve, and calibration of answers' confidences.

A method that may refuse, or that gives confidences, can be asked for its surest answers alone. Questions are sorted
by confidence; at coverage c, the first c of all questions are answered (El-Yaniv and Wiener 2010). Answers of equal
confidence are in no order: accuracy is its expectation over all orders of the ties, each equally likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import CERTAINTIES, rounded
from srtk_plugin_evaluation.calibration import bin_sums, brier_score, error_of_bins, reliability
from srtk_plugin_evaluation.numbers import Numbers

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


class Answers:
    """The answers of a method to all questions, in columns.

    Args:
        judged: The first answers; None for a question that does not count.

    Attributes:
        size: Number of questions.
    """

    def __init__(self, judged: Iterable[Judged | None] = ()) -> None:
        self.size = 0
        self._columns = {name: Numbers() for name in ("right", "answered", "confidence", "certainty")}
        for one in judged:
            self.add(one)

    def add(self, judged: Judged | None) -> None:
        """Add the answer to the next question."""
        place = self.size
        self.size = place + 1
        if judged is None:
            return
        certainty = None if judged.certainty is None else CERTAINTIES.index(judged.certainty)
        for column, value in zip(
            self._columns.values(), (judged.right, judged.answered, judged.confidence, certainty), strict=True
        ):
            if value is not None:
                column.put(place, value)

    def counted(self) -> _Floats:
        """Return [4, n]: right, answered, confidence and certainty of the answers to questions with gold answers."""
        found = np.array([column.values(self.size) for column in self._columns.values()])
        return found[:, ~np.isnan(found[0])]


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


def selective(answers: Answers) -> dict[str, Any] | None:
    """Summarise the answers of one method; None if it answers no question that has gold answers.

    Returns:
        ``questions`` with gold answers; ``coverage``, the share of them that is answered; ``accuracy``, the share of
        right answers among the answered. With certainties, ``certainty``: for each level ``n`` and ``accuracy`` of its
        answers. With confidences or certainties, ``accuracy_at``: the accuracy of the surest share of all questions,
        None beyond the coverage; and ``risk_area``. With confidences, ``calibration_error``, ``brier`` and
        ``reliability``, whose ``n`` is ``confident``.
    """
    counted = answers.counted()
    right, _, confidence, certainty = told = counted[:, counted[1] == 1]
    if not right.size:
        return None
    questions = counted.shape[1]
    found: dict[str, Any] = {
        "questions": questions,
        "coverage": rounded(right.size / questions),
        "accuracy": rounded(right.sum() / right.size),
    }
    levels = {name: right[certainty == place] for place, name in enumerate(CERTAINTIES)}
    if any(some.size for some in levels.values()):
        found["certainty"] = {
            name: {"n": some.size, "accuracy": rounded(some.sum() / some.size)}
            for name, some in levels.items()
            if some.size
        }
    return found | _curve(questions, told) | _calibration(right, confidence)


def _curve(questions: int, told: _Floats) -> dict[str, Any]:
    right, _, confidence, certainty = told
    confident = not np.isnan(confidence).all()
    if not confident and np.isnan(certainty).all():
        return {}
    # By confidence where a method has any, else by certainty; answers without either come last.
    sure = np.nan_to_num(confidence if confident else -certainty, nan=-len(CERTAINTIES))
    at = {f"{share:g}": accuracy_at(sure, right, share * questions) for share in COVERAGES}
    return {
        "accuracy_at": {share: None if np.isnan(value) else rounded(value) for share, value in at.items()},
        "risk_area": rounded(risk_area(sure, right)),
    }


def _calibration(right: _Floats, confidence: _Floats) -> dict[str, Any]:
    known = ~np.isnan(confidence)
    if not known.any():
        return {}
    sums = bin_sums(confidence[known], right[known])
    return {
        "confident": int(known.sum()),
        "calibration_error": rounded(float(error_of_bins(sums))),
        "brier": rounded(brier_score(confidence[known], right[known])),
        "reliability": reliability(sums),
    }


def compare_selective(methods: Mapping[str, Answers]) -> dict[str, Any]:
    """Summarise the answers of each method; methods without answers are left out."""
    found = {name: selective(answers) for name, answers in methods.items()}
    return {name: some for name, some in found.items() if some is not None}
