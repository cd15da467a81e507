"""Calibration of completers: maps from confidences to probabilities, and conformal cuts, learnt on held-out facts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Step, Triple

LEAST_FACTS = 50  # Held-out facts of a step from which it has a map and a cut of its own.

_STRICT = 0.001  # Share of the original confidence in a probability, which keeps apart what a map makes equal.

_PRIOR = 2.0  # Proposals with the mean probability that are added to each block of the isotonic map, as an m-estimate.

_EDGE = 1e-6  # Keeps the log-odds finite.
_Floats = npt.NDArray[np.float64]


@attrs.frozen
class ProbabilityMap:
    """A map from confidence to probability that keeps the order, linear between its points.

    Attributes:
        confidences: Where the points are, increasing.
        probabilities: The probabilities there, never decreasing.
        slope: For ``platt``, the factor of the log-odds; 0 for a map by points.
        shift: For ``platt``, the summand.
    """

    confidences: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    slope: float = 0.0
    shift: float = 0.0

    def __call__(self, values: npt.ArrayLike) -> _Floats:
        """Return the probabilities of confidences."""
        given = np.asarray(values, dtype=np.float64)
        if self.confidences:
            mapped = np.interp(given, self.confidences, self.probabilities)
        else:
            mapped = 1 / (1 + np.exp(-np.clip(self.slope * log_odds(given) + self.shift, -500, 500)))
        found: _Floats = (1 - _STRICT) * mapped + _STRICT * given
        return found

    @classmethod
    def isotonic(cls, confidences: _Floats, right: _Floats) -> ProbabilityMap:
        """Fit a step function that never decreases (pool adjacent violators; Zadrozny and Elkan 2002).

        The share of right proposals of each block is drawn to the share of all, so that no small block is certain.
        """
        from scipy.optimize import isotonic_regression  # type: ignore[import-untyped]

        values, place = np.unique(confidences, return_inverse=True)
        counts, good = np.bincount(place), np.bincount(place, right)
        blocks = isotonic_regression(good / counts, weights=counts).blocks
        counts, good = np.add.reduceat(counts, blocks[:-1]), np.add.reduceat(good, blocks[:-1])
        shares = (good + _PRIOR * right.mean()) / (counts + _PRIOR)
        shares = isotonic_regression(shares, weights=counts).x  # drawing them together may turn two neighbours round
        firsts, lasts = values[blocks[:-1]], values[blocks[1:] - 1]
        points = np.stack([firsts, lasts], axis=1).ravel()
        kept = np.append(True, points[1:] > points[:-1])
        return cls(tuple(points[kept].tolist()), tuple(np.repeat(shares, 2)[kept].tolist()))

    @classmethod
    def platt(cls, confidences: _Floats, right: _Floats) -> ProbabilityMap:
        """Fit a logistic function of the log-odds of the confidences (Platt 1999, with his smoothed targets)."""
        from scipy.optimize import minimize

        odds, good = log_odds(confidences), right.sum()
        high, low = (good + 1) / (good + 2), 1 / (len(right) - good + 2)
        targets = np.where(right > 0, high, low)

        def loss(parameters: _Floats) -> tuple[float, _Floats]:
            logits = parameters[0] * odds + parameters[1]
            errors = 1 / (1 + np.exp(-logits)) - targets
            return float((np.logaddexp(0, logits) - targets * logits).sum()), np.array([errors @ odds, errors.sum()])

        # A slope below 0 would turn the order round.
        fitted = minimize(loss, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=[(0.0, None), (None, None)])
        return cls(slope=float(fitted.x[0]), shift=float(fitted.x[1]))


@attrs.frozen
class Cut:
    """The bound of answer sets: rates within a set are above it, or equal with a lower draw.

    Attributes:
        rate: Confidence before calibration.
        draw: Number from 0 to 1; see ``draw``.
    """

    rate: float
    draw: float

    def keeps(self, rate: float, triple: Triple) -> bool:
        """Return whether a triple with this rate is in the set."""
        return rate > self.rate or (rate == self.rate and draw(triple) <= self.draw)

    @classmethod
    def of(cls, scores: Sequence[tuple[float, float]], alpha: float) -> Cut:
        """Choose the cut that the right filler passes with probability 1 - alpha or more.

        Split conformal prediction (Vovk et al. 2005; for sets of the most likely labels, Sadinle et al. 2019): of n
        held-out fillers, the filler in place ceil((n + 1) (1 - alpha)) from the highest, that is floor(alpha (n + 1))
        from the lowest, passes just so; nothing is cut where that is 0.

        Args:
            scores: Rate and draw of held-out right fillers.
            alpha: Share of right fillers that may be lost.
        """
        lost = math.floor(alpha * (len(scores) + 1))
        if not lost:
            return cls(-1.0, 1.0)
        rate, negative = sorted((rate, -number) for rate, number in scores)[lost - 1]
        return cls(rate, -negative)


def draw(triple: Triple) -> float:
    """Return a number from 0 to 1 that depends on the triple alone; among equal rates, the lowest draws are kept.

    Conformal sets are exact with ties only if these are broken at random; a hash is random, and always the same.
    """
    return int.from_bytes(hashlib.sha256("\t".join(triple).encode()).digest()[:6], "big") / 2**48


def cuts_of(scores: Mapping[Step, Sequence[tuple[float, float]]], alpha: float) -> tuple[Cut, dict[Step, Cut]]:
    """Choose the cut of rare steps together, and the cuts of steps with ``LEAST_FACTS`` facts.

    A cut holds for facts drawn as its own were (Mondrian sets, Vovk et al. 2005). Completers rate rare relations lower
    than others, so a cut that is learnt from all facts would lose too many of the rare ones.

    Args:
        scores: Rate and draw of the held-out right fillers of each step.
        alpha: Share of right fillers that may be lost.
    """
    rare = [score for row in scores.values() if len(row) < LEAST_FACTS for score in row]
    own = {step: Cut.of(row, alpha) for step, row in sorted(scores.items()) if len(row) >= LEAST_FACTS}
    return Cut.of(rare, alpha), own


@attrs.frozen
class Calibration:
    """Calibration of the confidences of a completer.

    Attributes:
        everywhere: Map for steps without one of their own.
        maps: Maps by step.
        alpha: Share of right fillers that the cuts may lose; None without cuts.
        cut: Cut for steps without one of their own, learnt from their held-out facts alone.
        cuts: Cuts by step.
    """

    everywhere: ProbabilityMap
    maps: Mapping[Step, ProbabilityMap]
    alpha: float | None = None
    cut: Cut | None = None
    cuts: Mapping[Step, Cut] = attrs.field(factory=dict)

    @classmethod
    def learn(
        cls,
        method: str,
        alpha: float | None,
        proposals: Sequence[tuple[Step, float, bool]],
        fillers: Sequence[tuple[Step, float, float]],
    ) -> Calibration:
        """Learn maps and cuts.

        Args:
            method: ``isotonic`` or ``platt``.
            alpha: Share of right fillers that the cuts may lose; None for no cuts.
            proposals: Step, confidence, and whether it is right, of each proposal for held-out facts.
            fillers: Step, rate and draw of each held-out right filler.
        """
        fit = ProbabilityMap.isotonic if method == "isotonic" else ProbabilityMap.platt
        confidences = np.array([rate for _, rate, _ in proposals])
        right = np.array([float(good) for _, _, good in proposals])
        facts: dict[Step, list[tuple[float, float]]] = {}
        for step, rate, number in fillers:
            facts.setdefault(step, []).append((rate, number))
        places: dict[Step, list[int]] = {}
        for place, (step, _, _) in enumerate(proposals):
            places.setdefault(step, []).append(place)
        enough = [step for step in sorted(facts) if len(facts[step]) >= LEAST_FACTS]
        return cls(
            fit(confidences, right),
            {step: fit(confidences[places[step]], right[places[step]]) for step in enough if step in places},
            alpha,
            *((None, {}) if alpha is None else cuts_of(facts, alpha)),
        )

    def probabilities(self, step: Step, rates: npt.ArrayLike) -> _Floats:
        """Return the probabilities of confidences of a step."""
        return self.maps.get(step, self.everywhere)(rates)

    def cut_of(self, step: Step) -> Cut | None:
        """Return the cut of a step; None without cuts."""
        return self.cuts.get(step, self.cut)

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON holds them."""
        return {
            "everywhere": attrs.asdict(self.everywhere),
            "maps": [[*step, attrs.asdict(one)] for step, one in sorted(self.maps.items())],
            "alpha": self.alpha,
            "cut": None if self.cut is None else attrs.asdict(self.cut),
            "cuts": [[*step, attrs.asdict(one)] for step, one in sorted(self.cuts.items())],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """Read the result of ``to_json``."""

        def as_map(values: Mapping[str, Any]) -> ProbabilityMap:
            points = {name: tuple(values[name]) for name in ("confidences", "probabilities")}
            return ProbabilityMap(**points, slope=values["slope"], shift=values["shift"])

        return cls(
            as_map(data["everywhere"]),
            {Step(relation, inverse): as_map(one) for relation, inverse, one in data["maps"]},
            data["alpha"],
            None if data["cut"] is None else Cut(**data["cut"]),
            {Step(relation, inverse): Cut(**one) for relation, inverse, one in data["cuts"]},
        )


def log_odds(values: _Floats) -> _Floats:
    """Return the log-odds of confidences; a millionth and its complement bound them."""
    clipped = np.clip(values, _EDGE, 1 - _EDGE)
    found: _Floats = np.log(clipped / (1 - clipped))
    return found
