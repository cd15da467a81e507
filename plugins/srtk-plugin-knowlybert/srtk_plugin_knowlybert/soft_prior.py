"""A prior of fillers: the probability of a candidate from its scores and from its place in the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import DriverError
from srtk_plugin_knowlybert.candidates import Candidate
from srtk_plugin_knowlybert.filler_types import PRIOR_FEATURES

# What the language model says of a candidate; see ``features``.
SCORE_FEATURES = ("greatest", "mean", "behind", "templates", "tokens")

_LEAST = 1e-6  # Keeps the logarithms finite.


def features(
    candidates: Sequence[Candidate], prior: npt.NDArray[np.float64], templates: int
) -> npt.NDArray[np.float64]:
    """Return one row for each candidate of a pattern, float64 [n, 11].

    The first columns are ``SCORE_FEATURES``: the log-odds of the greatest and of the mean score over the templates; the
    logarithm of the ratio of the mean score to the pattern's best. Then the share of the templates that found the
    label, and the number of tokens. The rest is the prior.

    Args:
        candidates: All candidates of the pattern.
        prior: From ``FillerTypes.prior``.
        templates: Number of templates of the relation, at least 1.
    """
    means = [one.found.total / templates for one in candidates]
    best = max(map(_log, means), default=0.0)
    rows = [
        (
            _log(one.found.greatest) - _log(1.0 - one.found.greatest),
            _log(mean) - _log(1.0 - mean),
            _log(mean) - best,
            one.found.templates / templates,
            float(len(one.label)),
        )
        for one, mean in zip(candidates, means, strict=True)
    ]
    return np.hstack([np.array(rows).reshape(len(rows), len(SCORE_FEATURES)), prior])


@attrs.frozen(eq=False)
class SoftPrior:
    """A logistic regression over ``features``.

    Attributes:
        weights: float64 [11].
        bias: Added to the weighted sum.
    """

    weights: npt.NDArray[np.float64]
    bias: float

    def probabilities(self, rows: npt.NDArray[np.float64]) -> list[float]:
        """Return the probability that each row is of a right candidate."""
        # A sum for each row by itself: a product of matrices rounds by the number of its rows.
        sums = [math.fsum((row * self.weights).tolist()) + self.bias for row in rows]
        return [1.0 / (1.0 + math.exp(-min(max(one, -60.0), 60.0))) for one in sums]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        names = (*SCORE_FEATURES, *PRIOR_FEATURES)
        return {"weights": dict(zip(names, self.weights.tolist(), strict=True)), "bias": self.bias}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SoftPrior:
        """Read the result of ``to_json``.

        Raises:
            KeyError or TypeError: For anything else.
        """
        weights = [float(data["weights"][name]) for name in (*SCORE_FEATURES, *PRIOR_FEATURES)]
        return cls(np.array(weights), float(data["bias"]))

    @classmethod
    def learn(cls, rows: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> SoftPrior:
        """Learn the regression, with an L2 penalty on weights of standardised columns.

        Args:
            rows: float64 [n, 11].
            right: Whether each row is of a right candidate, bool [n]; some are and some are not.

        Raises:
            DriverError: If scikit-learn is not installed.
        """
        try:
            from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
        except ImportError as error:
            raise DriverError(
                "types: soft is learnt with scikit-learn, which is not installed; run:"
                " pip install 'srtk-plugin-knowlybert[soft]'"
            ) from error
        mean, width = rows.mean(axis=0), rows.std(axis=0)
        width[width == 0] = 1.0
        model = LogisticRegression(C=1.0, max_iter=1000, tol=1e-8).fit((rows - mean) / width, right)
        weights = model.coef_[0] / width
        return cls(weights, float(model.intercept_[0] - (mean * weights).sum()))


def _log(score: float) -> float:
    return math.log(max(score, _LEAST))
