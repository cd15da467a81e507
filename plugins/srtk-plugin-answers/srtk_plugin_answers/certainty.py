"""The probability of an answer, by a logistic model over its path that knows no graph."""

from __future__ import annotations

import math

import attrs

WEIGHTS = {
    "one": 0.61,
    "margin": 0.74,
    "alone": 1.52,
    "named": 0.03,
    "unused": -1.62,
    "operated": -0.8,
    "share": 0.61,
    "classed": 0.94,
    "first": -0.92,
}
"""Weights of ``Evidence.features``, fitted by ``benchmarks/answers/probability.py``."""
# Least probability of an answer that is sure, or likely: chosen on the demo's questions by kind (seeds 11 and 12) and
# on ``benchmarks/answers/certainty.jsonl``.
SURE, LIKELY = 0.7, 0.5
# Beyond this distance of the next path no more is known.
_MOST = 4.0
# Least share of a path, and of all others together: the only path that was found is not surely right.
_LEAST = 0.02
# Just below `SURE`: what no word of the question names is likely at most.
_LIKENED = 0.69
# Distance of the next set from which on a likely set of an operation is the one that is asked for.
_CLEAR = 1.0


@attrs.frozen
class Evidence:
    """Evidence for the path of an answer.

    Attributes:
        margin: Distance of its score from the next one's with another answer.
        share: Probability of the path among all paths; a half where no path was chosen.
        first: Whether it is the best path.
        named: Whether the question has a word of one of its relations.
        unused: Linked topics of the question that are not in the proof.
        operated: Whether an operation chose the set.
        likened: Whether no word of the question fits the relation: such an answer is at most likely, and never
            complete.
        classed: Whether the graph, or the name of a relation, has something of the class that the question names.
    """

    margin: float = math.inf
    share: float = 0.5
    first: bool = False
    named: bool = True
    unused: int = 0
    operated: bool = False
    classed: bool = False
    likened: bool = False

    @property
    def features(self) -> dict[str, float]:
        """The features, by name."""
        alone = math.isinf(self.margin)
        share = min(max(self.share, _LEAST), 1 - _LEAST)
        return {
            "one": 1.0,
            "margin": 0.0 if alone else min(self.margin, _MOST),
            # That little else was found says nothing where a part of the question was not used.
            "alone": float(alone and not self.unused),
            "named": float(self.named),
            "unused": float(self.unused > 0),
            "operated": float(self.operated),
            "share": 0.0 if self.unused else math.log(share / (1 - share)),
            "classed": float(self.classed),
            "first": float(self.first),
        }

    @property
    def probability(self) -> float:
        """Probability that the answer is right as a whole."""
        probability = 1 / (1 + math.exp(-sum(WEIGHTS[name] * value for name, value in self.features.items())))
        return min(probability, _LIKENED) if self.likened else probability

    @property
    def certainty(self) -> str:
        """Return ``sure``, ``likely`` or ``unsure``."""
        return "sure" if self.probability >= SURE else "likely" if self.probability >= LIKELY else "unsure"

    @property
    def is_complete(self) -> bool:
        """Return whether a set that was read whole is certain enough to be called complete."""
        clear = self.operated and self.margin >= _CLEAR and not self.likened
        return self.probability >= (LIKELY if clear else SURE)
