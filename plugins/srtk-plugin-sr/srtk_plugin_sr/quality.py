"""How well the entities that a path reaches fit the answers of its question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

Measure = Callable[[Collection[str], Collection[str]], float]


def _shared(reached: Collection[str], answers: Collection[str]) -> int:
    return len(set(reached) & set(answers))


def precision(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the share of the reached entities that are answers; SRTK calls this Jaccard."""
    return _shared(reached, answers) / len(set(reached)) if reached else 0.0


def recall(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the share of the answers that are reached."""
    return _shared(reached, answers) / len(set(answers)) if answers else 0.0


def f1(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the harmonic mean of precision and recall."""
    both = len(set(reached)) + len(set(answers))
    return 2 * _shared(reached, answers) / both if both else 0.0


def jaccard(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the size of the intersection over that of the union."""
    union = len(set(reached) | set(answers))
    return _shared(reached, answers) / union if union else 0.0


MEASURES: Mapping[str, Measure] = {"f1": f1, "jaccard": jaccard, "precision": precision, "recall": recall}
