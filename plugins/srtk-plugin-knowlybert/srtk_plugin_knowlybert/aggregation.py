"""Scores of labels: over the tokens of a label, and over the templates that found it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Mean = Literal["probability", "logarithm", "running"]

Stability = Literal["difference", "sum", "none"]


def label_score(logarithms: Sequence[float], mean: Mean) -> float:
    """Return the score of a label from the log-probabilities of its tokens, as a probability.

    Args:
        logarithms: Of each token, in order.
        mean: ``probability``: the mean of the probabilities, as published. ``logarithm``: the mean of the logarithms.
            ``running``: the mean of the running mean and the next logarithm, as the published code has it.
    """
    if mean == "probability":
        return math.fsum(map(math.exp, logarithms)) / len(logarithms)
    if mean == "logarithm":
        return math.exp(math.fsum(logarithms) / len(logarithms))
    value = logarithms[0]
    for one in logarithms[1:]:
        value = (value + one) / 2
    return math.exp(value)


def is_stable(least: float, greatest: float, stability: Stability, limit: float) -> bool:
    """Return whether a label's scores in the templates that found it agree.

    Args:
        least: Its least score.
        greatest: Its greatest score.
        stability: ``difference`` refuses a label whose scores differ by more than the limit, as published. ``sum``
            refuses a sum of at most the limit, as the published code does. ``none`` refuses nothing.
        limit: The limit.
    """
    if stability == "difference":
        return greatest - least <= limit
    return stability == "none" or greatest + least > limit
