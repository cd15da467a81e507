"""Average precision over given candidates, some right and some wrong, as PRA, DeepPath and MINERVA are measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from srtk_plugin_evaluation.rank_metrics import TiedRanks, average_precision


def candidate_precision(scores: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the average precision of a ranking of candidates by score, in expectation over random orders of ties.

    Args:
        scores: Score of each candidate; higher is better.
        right: Whether each candidate is right.

    Returns:
        A value above 0 and at most 1; None if no candidate is right.

    Raises:
        ValueError: If the arguments are not parallel, or a score is NaN.
    """
    if len(scores) != len(right):
        raise ValueError(f"{len(scores)} scores and {len(right)} labels of candidates; give one of each per candidate")
    if any(score != score for score in scores):
        raise ValueError("a score is NaN; give candidates without a score the score -inf")
    size, good = Counter(scores), Counter(score for score, is_right in zip(scores, right, strict=True) if is_right)
    if not good:
        return None
    groups = [(size[score], good[score]) for score in sorted(size, reverse=True)]
    return average_precision(groups, good.total())


def candidate_ranks(scores: Sequence[float], right: Sequence[bool]) -> TiedRanks:
    """Rank each right candidate among the wrong ones; other right candidates are no competitors.

    Args:
        scores: Score of each candidate; higher is better.
        right: Whether each candidate is right.

    Returns:
        The ranks of the right candidates, in their order.
    """
    wrong = np.sort([score for score, is_right in zip(scores, right, strict=True) if not is_right])
    own = [score for score, is_right in zip(scores, right, strict=True) if is_right]
    low, high = (np.searchsorted(wrong, own, side=side) for side in ("left", "right"))
    return TiedRanks((len(wrong) - high).astype(np.int64), (high - low).astype(np.int64))


class CandidateMeans(NamedTuple):
    """Mean average precision (MAP) over queries with given candidates.

    Attributes:
        every: Mean over all queries with a right candidate; None without any.
        queries: Number of these queries.
        with_negatives: Mean over those of them that have a wrong candidate too; None without any. The others have the
            average precision 1 whatever the ranking.
        queries_with_negatives: Number of these queries.
    """

    every: float | None
    queries: int
    with_negatives: float | None
    queries_with_negatives: int


def mean_average_precision(queries: Sequence[tuple[Sequence[float], Sequence[bool]]]) -> CandidateMeans:
    """Return the MAP over queries, each with the scores of its candidates and whether they are right."""
    found = [
        (precision, not all(right))
        for scores, right in queries
        if (precision := candidate_precision(scores, right)) is not None
    ]
    every = [precision for precision, _ in found]
    mixed = [precision for precision, has_wrong in found if has_wrong]
    return CandidateMeans(
        sum(every) / len(every) if every else None, len(every), sum(mixed) / len(mixed) if mixed else None, len(mixed)
    )
