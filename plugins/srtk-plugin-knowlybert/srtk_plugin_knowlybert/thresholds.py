"""Thresholds of scores: from facts of the graph, and from the gaps between the scores of a query."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

# A gap of at least this share of the largest one cuts before it, if it is no smaller than the mean of those before.
LARGEST_SHARE = 0.5

BEST = 10  # Scores of a query that the dynamic threshold looks at.


def static_threshold(known: Sequence[Sequence[float]]) -> float | None:
    """Return the mean, over queries, of the mean score of known answers (KnowlyBERT, section 3.4).

    Args:
        known: Per query the scores of the answers that the graph holds and the language model returned; queries
            without any are left out.

    Returns:
        The threshold; None without a score.
    """
    means = [sum(scores) / len(scores) for scores in known if len(scores)]
    return sum(means) / len(means) if means else None


def dynamic_threshold(scores: Sequence[float], static: float) -> float:
    """Return the threshold of a query, by the gaps between its best scores; at least the static threshold.

    The scores are cut at the largest gap, or at an earlier gap. This must be at least the mean of the gaps before the
    largest, and greater than half of the largest.

    Args:
        scores: Scores of the query's answers, in any order.
        static: The static threshold.

    Returns:
        The least score that is kept.
    """
    values = sorted(scores, reverse=True)[:BEST]
    if not values or values[0] < static:
        return static
    gaps = [one - other for one, other in itertools.pairwise(values)]
    largest = max(range(len(gaps)), key=gaps.__getitem__) if gaps else 0
    chosen = values[0]
    if largest:
        # A sum of equal gaps may be rounded above them.
        mean = min(sum(gaps[:largest]) / largest, max(gaps[:largest]))
        first = next(i for i, gap in enumerate(gaps) if gap >= mean)
        chosen = values[first] if gaps[first] / gaps[largest] > LARGEST_SHARE else values[largest]
    return max(chosen, static)
