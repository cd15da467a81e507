"""From the ratings of nodes to an answer: the threshold, and the probability that the answer is right as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from srtk_plugin_graph_reader.inputs import Floats, Ints

Doubles = npt.NDArray[np.float64]

_STEPS = np.arange(-4.0, 6.1, 0.25)
"""Thresholds that are tried, as log-odds."""
_RIDGE = 0.01  # Keeps the weights finite where every held-out answer is right.


class Rated(NamedTuple):
    """The ratings of a question's nodes.

    Attributes:
        ratings: Log-odds that a node is an answer; minus infinity for a topic.
        gold: 1 for each answer, else 0.
        missing: Number of gold answers that are no nodes.
    """

    ratings: Floats
    gold: Floats
    missing: int


@attrs.frozen
class Decision:
    """What of the ratings is an answer.

    Attributes:
        threshold: Least log-odds of an answer; the best node is always one.
        weights: Three weights of the logistic model of a right answer: of one, of the best rating above the threshold,
            and of the least distance of a rating from it.
    """

    threshold: float = 0.0
    weights: tuple[float, ...] = (0.0, 0.0, 1.0)

    def chosen(self, ratings: Floats) -> Ints:
        """Return the places of the answers, best first; of equal ratings the first."""
        order = np.argsort(-ratings, kind="stable")
        many = max(1, int(np.sum(ratings >= self.threshold)))
        found: Ints = order[:many]
        return found

    def f1(self, rated: Rated) -> float:
        """Return the F1 of the answer to a question."""
        chosen = self.chosen(rated.ratings)
        right = int(rated.gold[chosen].sum())
        return 2 * right / (len(chosen) + int(rated.gold.sum()) + rated.missing)

    def probability(self, ratings: Floats) -> float:
        """Return the probability that exactly the right nodes are chosen."""
        return float(1 / (1 + np.exp(-np.dot(self._features(ratings), self.weights))))

    def _features(self, ratings: Floats) -> tuple[float, float, float]:
        finite = ratings[np.isfinite(ratings)].astype(np.float64)
        least = float(np.min(np.abs(finite - self.threshold)))
        return 1.0, float(np.max(finite)) - self.threshold, least

    @classmethod
    def best(cls, rated: Sequence[Rated]) -> Decision:
        """Choose the threshold of the best mean F1, the least of equal ones, and calibrate the probability."""
        every = [cls(float(threshold)) for threshold in _STEPS]
        best = max(every, key=lambda one: sum(map(one.f1, rated)))
        features = np.array([best._features(one.ratings) for one in rated])
        right = np.array([best.f1(one) == 1 for one in rated], dtype=np.float64)
        return attrs.evolve(best, weights=_logistic(features, right))


def _logistic(features: Doubles, right: Doubles) -> tuple[float, ...]:
    """Return the weights of a logistic regression with a ridge."""
    import torch

    rows, labels = torch.from_numpy(features), torch.from_numpy(right)
    weights = torch.zeros(features.shape[1], dtype=torch.float64, requires_grad=True)
    # Plain Newton's steps leave the optimum where the ratings are large; the line search does not.
    fit = torch.optim.LBFGS([weights], 1, 200, tolerance_grad=1e-9, tolerance_change=0, line_search_fn="strong_wolfe")

    def loss() -> float:
        fit.zero_grad()
        cross = torch.nn.functional.binary_cross_entropy_with_logits(rows @ weights, labels, reduction="sum")
        found = cross + _RIDGE / 2 * (weights @ weights)
        found.backward()  # type: ignore[no-untyped-call]
        return found.item()

    fit.step(loss)  # type: ignore[no-untyped-call]
    return tuple(weights.tolist())
