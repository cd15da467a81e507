"""Similarity of templates."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Literal

from srtk_framework.values import best_first

Metric = Literal["words", "characters", "sets"]
# The longest matching blocks of the words, or of the characters; or the words that both have, of those of either.
METRICS: tuple[Metric, ...] = ("words", "characters", "sets")


def similarity(one: str, other: str, metric: Metric) -> float:
    """Return how similar two templates are, from 0 to 1."""
    if metric == "sets":
        words, others = set(one.split()), set(other.split())
        return len(words & others) / len(words | others) if words | others else 1.0
    return _matcher(one, other, metric).ratio()


def similar(one: str, other: str, most: float, metric: Metric) -> bool:
    """Return whether the similarity is greater than ``most``."""
    if metric == "sets":
        return similarity(one, other, metric) > most
    matcher = _matcher(one, other, metric)
    # Upper bounds of the ratio, which are quicker to compute.
    return matcher.real_quick_ratio() > most and matcher.quick_ratio() > most and matcher.ratio() > most


def _matcher(one: str, other: str, metric: Metric) -> SequenceMatcher[str]:
    # The blocks that are found depend on the order, so that a fixed one is taken: the longer text first.
    first, second = best_first((one, other), len)
    if metric == "words":
        return SequenceMatcher(None, first.split(), second.split(), autojunk=False)
    return SequenceMatcher(None, list(first), list(second), autojunk=False)
