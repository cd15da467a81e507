"""Models of ``hybrid``: a probability for each candidate from the ratings of all completers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Step
from srtk_plugin_completers.calibration import Calibration
from srtk_plugin_completers.candidate_pool import CandidatePool
from srtk_plugin_completers.pooled_logistic import PooledLogistic

_SHRUNK = 50.0  # Proposals with the share of all steps that are added to those of a step for its prior.
_PRECISION = 1.0  # Precision (1 / variance) of the normal prior of the weights of all steps.
_PRECISION_OF_STEP = 30.0  # Precision of the prior of how the weights of a step differ from these.

_Floats = npt.NDArray[np.float64]


@attrs.frozen
class LogisticModel:
    """A logistic regression over the features of candidates.

    Attributes:
        priors: Log-odds with which a proposal for a step is right.
        everywhere: Those for steps without their own.
        regression: Weights.
    """

    priors: Mapping[Step, float]
    everywhere: float
    regression: PooledLogistic

    @classmethod
    def learn(cls, pools: Sequence[CandidatePool], right: Sequence[_Floats]) -> LogisticModel:
        """Learn from pools and, of each, 1 for the candidates that are right."""
        counts: dict[Step, list[float]] = {}
        for pool, good in zip(pools, right, strict=True):
            row = counts.setdefault(pool.step, [0.0, 0.0])
            row[0] += float(good.sum())
            row[1] += len(good)
        found, size = (sum(column) for column in zip(*counts.values(), strict=True))
        # Where all are right, half a candidate counts as wrong, so that the odds are finite.
        share = min(found, size - 0.5) / size
        shares = {step: (row[0] + _SHRUNK * share) / (row[1] + _SHRUNK) for step, row in sorted(counts.items())}
        priors = {step: float(np.log(one / (1 - one))) for step, one in shares.items()}
        everywhere = float(np.log(share / (1 - share)))
        features = np.vstack([pool.features(priors[pool.step]) for pool in pools])
        steps = [pool.step for pool in pools for _ in pool.ids]
        regression = PooledLogistic.learn(features, np.concatenate(right), steps, _PRECISION, _PRECISION_OF_STEP)
        return cls(priors, everywhere, regression)

    def probabilities(self, pool: CandidatePool) -> _Floats:
        """Return the probability of each candidate of a pool."""
        return self.regression.probabilities(pool.step, pool.features(self.priors.get(pool.step, self.everywhere)))

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON holds them."""
        priors = [[*step, one] for step, one in sorted(self.priors.items())]
        return {"priors": priors, "everywhere": self.everywhere, "regression": self.regression.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LogisticModel:
        """Read the result of ``to_json``."""
        priors = {Step(relation, inverse): float(one) for relation, inverse, one in data["priors"]}
        return cls(priors, float(data["everywhere"]), PooledLogistic.from_json(data["regression"]))


@attrs.frozen
class IsotonicModel:
    """Maps of each completer's confidences to probabilities, and a map of their combination.

    Attributes:
        parts: Maps of each completer.
        together: Map of 1 - the product of their doubts.
    """

    parts: tuple[Calibration, ...]
    together: Calibration

    @classmethod
    def learn(cls, pools: Sequence[CandidatePool], right: Sequence[_Floats]) -> IsotonicModel:
        """Learn from pools and, of each, 1 for the candidates that are right."""
        steps = [pool.step for pool in pools for _ in pool.ids]
        rates, good = np.vstack([pool.rates for pool in pools]), np.concatenate(right) > 0
        # The number of right ones decides which steps have maps of their own.
        fillers = [(step, 1.0, 0.0) for step, is_right in zip(steps, good.tolist(), strict=True) if is_right]

        def learnt(values: _Floats) -> Calibration:
            triples = zip(steps, values.tolist(), good.tolist(), strict=True)
            return Calibration.learn("isotonic", None, [one for one in triples if one[1] > 0], fillers)

        parts = tuple(learnt(column) for column in rates.T)
        joined = np.concatenate([_joined(parts, pool) for pool in pools])
        return cls(parts, learnt(joined))

    def probabilities(self, pool: CandidatePool) -> _Floats:
        """Return the probability of each candidate of a pool."""
        return self.together.probabilities(pool.step, _joined(self.parts, pool))

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON holds them."""
        return {"parts": [one.to_json() for one in self.parts], "together": self.together.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> IsotonicModel:
        """Read the result of ``to_json``."""
        return cls(tuple(map(Calibration.from_json, data["parts"])), Calibration.from_json(data["together"]))


def _joined(parts: Sequence[Calibration], pool: CandidatePool) -> _Floats:
    """Return 1 - the product of the doubts of all completers."""
    doubts = np.ones(len(pool.ids))
    for part, rates in zip(parts, pool.rates.T, strict=True):
        doubts *= 1 - np.where(rates > 0, part.probabilities(pool.step, rates), 0.0)
    found: _Floats = 1 - doubts
    return found
