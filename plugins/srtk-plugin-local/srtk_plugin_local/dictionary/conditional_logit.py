"""Conditional logit: linear models that choose the right row of a group; and logistic regression."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Newton's steps double the correct digits: a fit that has not settled after 50 does not settle.
_MOST_ROUNDS = 50
_CLOSE = 1e-8


@attrs.frozen
class Groups:
    """Rows of features in groups.

    Attributes:
        rows: Features [n, d].
        offsets: First row of each of g groups, then n [g + 1]; no group is empty.
    """

    rows: Floats
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: list[list[list[float]]], width: int) -> Groups:
        """Build from lists of groups of rows."""
        offsets = np.cumsum([0, *(len(group) for group in rows)]).astype(np.int64)
        flat = [row for group in rows for row in group]
        return cls(np.array(flat, dtype=np.float64).reshape(len(flat), width), offsets)

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """Group of each row."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def part(self, chosen: npt.NDArray[np.int64]) -> Groups:
        """Return the groups with these indices."""
        rows = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in chosen]
        sizes = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
        return Groups(self.rows[np.concatenate(rows)] if rows else self.rows[:0], sizes)


def utilities(rows: Floats, weights: Floats) -> Floats:
    """Return the weighted sum of each row; unlike a matrix product, bit-equal for any number of rows."""
    return np.asarray((rows * weights).sum(axis=1))


def chances(groups: Groups, weights: Floats) -> Floats:
    """Return the probability of each row within its group: the softmax of the utilities."""
    if not len(groups.rows):
        return np.zeros(0)
    starts, owner = groups.offsets[:-1], groups.owner
    values = utilities(groups.rows, weights)
    values = np.exp(values - np.maximum.reduceat(values, starts)[owner])
    whole: Floats = values / np.add.reduceat(values, starts)[owner]
    return whole


def fit(groups: Groups, right: npt.NDArray[np.int64], penalty: float) -> Floats:
    """Fit a conditional logit (McFadden 1974) by Newton's method.

    Args:
        groups: Groups of rows, with features of similar scale.
        right: Index of the right row of each group, in ``groups.rows``.
        penalty: L2 penalty, which keeps weights small when examples are few.

    Returns:
        The weights [d] with the greatest penalised likelihood.
    """
    width = groups.rows.shape[1]
    weights = np.zeros(width)
    if not len(right):
        return weights
    starts, owner = groups.offsets[:-1], groups.owner
    best = _loss(groups, right, penalty, weights)
    for _ in range(_MOST_ROUNDS):
        p = chances(groups, weights)
        weighed = groups.rows * p[:, None]
        means = np.add.reduceat(weighed, starts, axis=0)
        slope = penalty * weights + (means - groups.rows[right]).sum(axis=0)
        apart = groups.rows - means[owner]
        bend = penalty * np.eye(width) + apart.T @ (apart * p[:, None])
        step: Any = np.linalg.solve(bend, slope)
        share = 1.0
        while (loss := _loss(groups, right, penalty, weights - share * step)) > best and share > _CLOSE:
            share /= 2
        if best - loss < _CLOSE:
            break
        weights, best = weights - share * step, loss
    return weights


def _loss(groups: Groups, right: npt.NDArray[np.int64], penalty: float, weights: Floats) -> float:
    p = np.maximum(chances(groups, weights)[right], 1e-300)
    return float(penalty * (weights @ weights) / 2 - np.log(p).sum())


def fit_binary(rows: Floats, right: npt.NDArray[np.bool_], penalty: float) -> Floats:
    """Fit a logistic regression: a conditional logit of each row against zeros; the intercept is a feature of 1."""
    both = np.zeros((2 * len(rows), rows.shape[1]))
    both[::2] = rows
    offsets = np.arange(len(rows) + 1, dtype=np.int64) * 2
    return fit(Groups(both, offsets), offsets[:-1] + ~right, penalty)


def sigmoid(values: Floats) -> Floats:
    """Convert log-odds to probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -50, 50))), dtype=np.float64)


def log_odds(values: Floats) -> Floats:
    """Convert probabilities to log-odds, clipped to [1e-6, 1 - 1e-6]."""
    inside = np.clip(values, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside / (1 - inside)), dtype=np.float64)
