"""Ranks of right answers among scored candidates, with ties at expectation: MRR, Hits@k, average precision, AUC.

Candidates with equal scores are in no order of their own. Every metric here is its expectation over all orders of the
ties, each equally likely (McSherry and Najork 2008). So it depends neither on ids nor on the order of the input. The
reciprocal of a mean rank would be lower: 1 / 1.5 instead of (1 + 1/2) / 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


class TiedRanks(NamedTuple):
    """Ranks of right answers; each place of the arrays is an answer.

    Attributes:
        better: Number of other candidates with a higher score.
        tied: Number of other candidates with the same score.
    """

    better: _Ints
    tied: _Ints


def filtered_ranks(scores: npt.NDArray[Any], right: npt.ArrayLike, known: Sequence[npt.ArrayLike]) -> TiedRanks:
    """Rank one right answer per query among all candidates, without other answers known to be true.

    This is the filtered setting of link prediction (Bordes et al. 2013, section 4.2).

    Args:
        scores: Score of each candidate, [queries, candidates]; higher is better. It is not changed.
        right: Column of the right answer of each query, [queries].
        known: Per query, columns of all answers known to be true, which are no competitors; distinct, and the right
            answer may be among them.

    Returns:
        The rank of the right answer of each query.

    Raises:
        ValueError: If the queries of the arguments are not aligned, or a score is NaN.
    """
    wanted = np.asarray(right, dtype=np.int64)
    count = len(scores)
    if len(wanted) != count or len(known) != count:
        raise ValueError(f"{count} rows of scores, {len(wanted)} right answers and {len(known)} rows of known ones")
    if np.isnan(scores).any():
        raise ValueError("a score is NaN; give candidates without a score the score -inf")
    own = scores[np.arange(count), wanted]
    better = (scores > own[:, None]).sum(axis=1, dtype=np.int64)
    tied = (scores == own[:, None]).sum(axis=1, dtype=np.int64) - 1
    columns = [np.asarray(some, dtype=np.int64) for some in known]
    rows = np.repeat(np.arange(count), [len(some) for some in columns])
    places = np.concatenate([*columns, np.empty(0, dtype=np.int64)])
    others = places != wanted[rows]
    rows, places = rows[others], places[others]
    theirs = scores[rows, places]
    better -= np.bincount(rows, theirs > own[rows], count).astype(np.int64)
    tied -= np.bincount(rows, theirs == own[rows], count).astype(np.int64)
    return TiedRanks(better, tied)


def reciprocal_ranks(ranks: TiedRanks) -> _Floats:
    """Return the expected reciprocal rank of each right answer; its mean is the MRR.

    With b better and t tied candidates the rank is b + 1 to b + t + 1, each with probability 1 / (t + 1).
    """
    first, size = ranks.better + 1, ranks.tied + 1
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int((ranks.better + size).max(initial=0)) + 1))])
    several = (harmonic[ranks.better + size] - harmonic[ranks.better]) / size
    return np.where(size == 1, 1 / first, several)


def hits(ranks: TiedRanks, k: int) -> _Floats:
    """Return the probability that each right answer is among the first ``k``; its mean is Hits@k."""
    found: _Floats = np.clip((k - ranks.better) / (ranks.tied + 1), 0.0, 1.0)
    return found


def average_precision(groups: Sequence[tuple[int, int]], right: int) -> float:
    """Return the expected average precision of one ranking.

    Args:
        groups: Per group of tied candidates, best first: the number of candidates, and of right ones among them.
        right: Number of right answers, ranked or not; at least 1.
    """
    before = seen = 0
    total = 0.0
    for size, good in groups:
        if good:
            places = np.arange(size)
            # At each place of the group: right ones expected before it, given that a right one is there.
            others = places * ((good - 1) / (size - 1)) if size > 1 else np.zeros(1)
            total += good / size * float(((seen + 1 + others) / (before + 1 + places)).sum())
        before, seen = before + size, seen + good
    return total / right


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


def auc(scores: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """Return the probability that a right item scores above a wrong item, ties as half (area under the ROC curve).

    Args:
        scores: Score of each item.
        right: Whether each item is right; some are and some are not.

    Raises:
        ValueError: If all items are right, or none is.
    """
    values, good = np.asarray(scores, dtype=np.float64), np.asarray(right, dtype=bool)
    if good.all() or not good.any():
        raise ValueError("the AUC needs right and wrong items")
    wrong = np.sort(values[~good])
    below, up_to = (np.searchsorted(wrong, values[good], side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(wrong)))
