"""A logistic regression whose weights may differ from step to step, as far as there are examples for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Step

_Floats = npt.NDArray[np.float64]


@attrs.frozen
class PooledLogistic:
    """Weights of all steps, and the differences of each step from them.

    Attributes:
        means: Mean of each feature, which is taken off.
        scales: Its standard deviation, by which it is divided.
        weights: Weight of each feature, and last the intercept.
        of_step: Summands of the weights for a step.
    """

    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    of_step: Mapping[Step, tuple[float, ...]] = attrs.field(factory=dict)

    @classmethod
    def learn(
        cls, features: _Floats, right: _Floats, steps: Sequence[Step], spread: float, spread_of_step: float
    ) -> PooledLogistic:
        """Learn the most likely weights, with normal priors: of all steps around 0, of a step around these.

        A step with few examples so keeps nearly the weights of all (partial pooling; Gelman and Hill 2007, ch. 12).

        Args:
            features: Features of each example, [examples, features].
            right: 1 for a right example, else 0.
            steps: Step of each example.
            spread: Precision (1 / variance) of the prior of the weights of all steps.
            spread_of_step: Precision of the prior of the differences of a step.
        """
        means, scales = features.mean(axis=0), features.std(axis=0)
        scales[scales < 1e-9] = 1.0
        rows = _standard(features, means, scales)
        weights = _fitted(rows, right, np.zeros(len(rows)), spread)
        odds = _product(rows, weights)
        places: dict[Step, list[int]] = {}
        for place, step in enumerate(steps):
            places.setdefault(step, []).append(place)
        of_step = {
            step: tuple(_fitted(rows[some], right[some], odds[some], spread_of_step).tolist())
            for step, some in sorted(places.items())
        }
        return cls(tuple(means.tolist()), tuple(scales.tolist()), tuple(weights.tolist()), of_step)

    def probabilities(self, step: Step, features: _Floats) -> _Floats:
        """Return the probability of each example of a step, independently of the rest."""
        weights = np.array(self.weights)
        if step in self.of_step:
            weights += np.array(self.of_step[step])
        odds = _product(_standard(features, np.array(self.means), np.array(self.scales)), weights)
        found: _Floats = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON holds them."""
        of_step = [[*step, list(one)] for step, one in sorted(self.of_step.items())]
        shared = {name: list(getattr(self, name)) for name in ("means", "scales", "weights")}
        return {**shared, "of_step": of_step}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PooledLogistic:
        """Read the result of ``to_json``."""
        means, scales, weights = (tuple(map(float, data[name])) for name in ("means", "scales", "weights"))
        of_step = {Step(relation, inverse): tuple(map(float, one)) for relation, inverse, one in data["of_step"]}
        return cls(means, scales, weights, of_step)


def _standard(features: _Floats, means: _Floats, scales: _Floats) -> _Floats:
    return np.column_stack([(features - means) / scales, np.ones(len(features))])


def _product(rows: _Floats, weights: _Floats) -> _Floats:
    # A product of matrices has other last bits in another batch.
    found: _Floats = (rows * weights).sum(axis=1)
    return found


def _fitted(rows: _Floats, right: _Floats, odds: _Floats, spread: float) -> _Floats:
    """Return the weights of most posterior probability where the log-odds are ``odds`` without them."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    spreads = np.full(rows.shape[1], spread)

    def loss(weights: _Floats) -> tuple[float, _Floats]:
        logits = odds + rows @ weights
        errors = 1 / (1 + np.exp(-np.clip(logits, -500, 500))) - right
        value = (np.logaddexp(0, logits) - right * logits).sum() + (spreads * weights * weights).sum() / 2
        return float(value), rows.T @ errors + spreads * weights

    found: _Floats = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    return found
