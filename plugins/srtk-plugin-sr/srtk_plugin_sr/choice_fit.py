"""Fit of the weights that choose among whole paths, to questions whose answers are known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import DriverError, Question
from srtk_plugin_sr.path_choice import PathChoice
from srtk_plugin_sr.path_features import Floats
from srtk_plugin_sr.supervision import f1

# Questions that the weights before count as, in a fit to own ones: of 0.3 to 30 chosen on the first halves of the sets
# of ``benchmarks/answers/choice.py``. Choosing it by folds did no better.
DRAWN = 3.0
_FOLDS = 5
_NEAR = 0.1
"""Distance of F1 from the best path's at which a path's share of the target is a factor e less."""
# Keeps the logarithm of a share finite.
_LEAST = 1e-12
# Bounds on the signs cut Newton's steps; a fit that has not settled by then does not settle.
_MOST_ROUNDS = 100
_CLOSE = 1e-9


@attrs.frozen(eq=False)
class FoundPaths:
    """The paths that a search returned for a question.

    Attributes:
        features: Features of each path, of shape [paths, features].
        f1: F1 of each path's ends, of shape [paths].
        kept: Whether the question keeps the order of the search, as those with an operation do.
    """

    features: Floats
    f1: Floats
    kept: bool = False

    @property
    def teaches(self) -> bool:
        """Whether weights choose among its paths, and the paths differ."""
        return not self.kept and len(self.f1) > 0 and float(self.f1.min()) < float(self.f1.max())

    @property
    def target(self) -> Floats:
        """Share of each path in the target; the best have most."""
        shares = np.exp((self.f1 - self.f1.max()) / _NEAR) * (self.f1 > 0)
        found: Floats = shares / shares.sum()
        return found

    def chosen_f1(self, weights: Floats) -> float:
        """Return F1 of the path that weights choose; 0 without a path."""
        if not len(self.f1):
            return 0.0
        return float(self.f1[0 if self.kept else int(np.argmax(self.features @ weights))])


def f1_of(question: Question, ends: Collection[str]) -> float:
    """Return F1 of the ends of a path; a question's own entities are never right."""
    return f1(set(ends) - {link.entity for link in question.links}, question.answers or ())


def fit_choice(questions: Sequence[FoundPaths], before: PathChoice) -> tuple[PathChoice, dict[str, float]]:
    """Fit weights to own questions, drawn to the weights before.

    Args:
        questions: The paths that the search found for each question.
        before: The weights before.

    Returns:
        The weights, and figures: the number of questions that teach, and the F1 of the chosen path by the weights
        before and by weights that were fitted on the other folds.

    Raises:
        DriverError: If no question has both right and wrong paths.
    """
    prior = before.row
    teaching = sum(one.teaches for one in questions)
    if not teaching:
        raise DriverError(
            f"nothing teaches which path is right: for none of {len(questions)} questions did the search return both a"
            " path to an answer and a path to something else; check that answers and links are ids of this graph"
        )
    folds = [own_weights([one for i, one in enumerate(questions) if i % _FOLDS != at], prior) for at in range(_FOLDS)]
    chosen = [one.chosen_f1(folds[i % _FOLDS]) for i, one in enumerate(questions)]
    figures = {
        "questions": float(teaching),
        "path_f1_before": sum(one.chosen_f1(prior) for one in questions) / len(questions),
        "path_f1": sum(chosen) / len(questions),
    }
    return PathChoice.of(own_weights(questions, prior)), figures


def own_weights(questions: Sequence[FoundPaths], prior: Floats) -> Floats:
    """Return weights fitted to questions and drawn to the weights before, which stay if no question teaches."""
    teaching = [one for one in questions if one.teaches]
    if not teaching:
        return prior
    return fit_weights(teaching, prior=prior, ridge=DRAWN / len(teaching))


def fit_weights(
    questions: Sequence[FoundPaths],
    shares: Sequence[float] | None = None,
    prior: Floats | None = None,
    ridge: float = 0.01,
    signs: Sequence[int] | None = None,
) -> Floats:
    """Fit the weights of a softmax over the paths of a question, by Newton's method, projected on the signs.

    Args:
        questions: Questions that teach.
        shares: Weight of each question; by default the same.
        prior: Weights from which the squared distance is penalised, each in deviations of its feature; by default 0.
        ridge: Half of this times that distance is added to the mean cross-entropy.
        signs: Sign that each weight may have, 0 for a weight of 0; by default any.

    Returns:
        The weights, of shape [features].
    """
    features = np.concatenate([one.features for one in questions])
    scale = features.std(axis=0)
    # A feature that is the same for all paths would divide by 0.
    scale[scale < _CLOSE] = 1.0
    loss = _Loss.of(questions, features / scale, shares, ridge, None if prior is None else prior * scale)
    low, high = np.full(len(scale), -np.inf), np.full(len(scale), np.inf)
    if signs is not None:
        low[np.array(signs) >= 0], high[np.array(signs) <= 0] = 0.0, 0.0
    weights = np.clip(loss.centre, low, high)
    best = loss.value(weights)
    for _ in range(_MOST_ROUNDS):
        slope, bend = loss.slope_and_bend(weights)
        free = ~(((weights <= low) & (slope >= 0)) | ((weights >= high) & (slope <= 0)))
        step = np.zeros(len(scale))
        step[free] = np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        share = 1.0
        while (value := loss.value(np.clip(weights - share * step, low, high))) > best and share > _CLOSE:
            share /= 2
        if best - value < _CLOSE:
            break
        weights, best = np.clip(weights - share * step, low, high), value
    found: Floats = weights / scale
    return found


@attrs.frozen(eq=False)
class _Loss:
    """Mean cross-entropy of the softmax over the paths of each question, and the penalty.

    ``rows`` are the scaled features of all paths [paths, features], and ``starts`` the first row of each question. Each
    row has its question (``owner``), its share in the target, and the weight of its question (``counts``). ``centre``
    are the weights without a penalty.
    """

    rows: Floats
    starts: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    target: Floats
    counts: Floats
    ridge: float
    centre: Floats

    @classmethod
    def of(
        cls,
        questions: Sequence[FoundPaths],
        rows: Floats,
        shares: Sequence[float] | None,
        ridge: float,
        centre: Floats | None,
    ) -> _Loss:
        sizes = [len(one.f1) for one in questions]
        counts = np.array([1.0] * len(sizes) if shares is None else shares)
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return cls(
            rows,
            np.cumsum([0, *sizes[:-1]]),
            owner,
            np.concatenate([one.target for one in questions]),
            (counts / counts.sum())[owner],
            ridge,
            np.zeros(rows.shape[1]) if centre is None else centre,
        )

    def value(self, weights: Floats) -> float:
        entropy = -(self.counts * self.target) @ np.log(self._chances(weights) + _LEAST)
        away = weights - self.centre
        return float(entropy + self.ridge * (away @ away) / 2)

    def slope_and_bend(self, weights: Floats) -> tuple[Floats, Floats]:
        chances = self._chances(weights)
        slope = self.rows.T @ (self.counts * (chances - self.target)) + self.ridge * (weights - self.centre)
        means = np.add.reduceat(self.rows * chances[:, None], self.starts, axis=0)
        apart = self.rows - means[self.owner]
        bend: Any = apart.T @ (apart * (self.counts * chances)[:, None]) + self.ridge * np.eye(len(weights))
        return slope, bend

    def _chances(self, weights: Floats) -> Floats:
        values = self.rows @ weights
        raised = np.exp(values - np.maximum.reduceat(values, self.starts)[self.owner])
        found: Floats = raised / np.add.reduceat(raised, self.starts)[self.owner]
        return found
