"""Seeded bootstrap intervals and paired tests over per-question values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import rounded

SEED = 20240101  # Fixed, so that equal scores give equal intervals.
RESAMPLES = 1000  # So the least p-value is 1 / 1001.
LEVEL = 0.95
_CELLS = 1_000_000  # Maximum number of cells of a block of resamples; bounds the memory.

Estimate = dict[str, Any]  # ``mean``, ``low`` and ``high`` (None without values), and ``n``, the number of values.

_Floats = npt.NDArray[np.float64]
Values = Sequence[float | None] | _Floats  # One value per question; None, or NaN in an array, if it is missing.


def bootstrap(values: Values) -> Estimate:
    """Estimate a mean with its 95 % percentile bootstrap interval (Efron and Tibshirani 1993, chapter 13).

    Args:
        values: One value per question; None, which ``n`` does not count, if the metric does not apply.
    """
    [estimate] = bootstrap_many([values])
    return estimate


def bootstrap_many(columns: Sequence[Values]) -> list[Estimate]:
    """Apply ``bootstrap`` to many columns; columns with values for the same questions share their resamples."""
    found: list[Estimate] = [_NOTHING] * len(columns)
    for members, matrix in _groups(columns):
        for i, (mean, low, high) in zip(members, _means(matrix).tolist(), strict=True):
            found[i] = _estimate(mean, low, high, len(matrix))
    return [dict(estimate) for estimate in found]


def rates(columns: Sequence[Values]) -> list[Estimate]:
    """Estimate items per second from the seconds of each item: n over their sum, with bootstrap intervals."""
    found: list[Estimate] = [_NOTHING] * len(columns)
    for members, matrix in _groups(columns):
        for i, (mean, low, high) in zip(members, _means(matrix).tolist(), strict=True):
            if low > 0:
                found[i] = _estimate(1 / mean, 1 / high, 1 / low, len(matrix))
    return [dict(estimate) for estimate in found]


def spread(values: Values) -> dict[str, float | None]:
    """Return ``median`` and ``p95`` of the values that are not missing."""
    known = _array(values)
    known = known[~np.isnan(known)]
    if not known.size:
        return {"median": None, "p95": None}
    median, p95 = np.quantile(known, [0.5, 0.95])
    return {"median": rounded(median), "p95": rounded(p95)}


def paired(a: Values, b: Values) -> Estimate:
    """Compare two methods on the same questions; questions with a missing value are ignored.

    Returns:
        The mean of ``a - b`` with its bootstrap interval and ``n``. ``p`` is the two-sided p-value of Fisher's
        randomisation test (random sign changes, one added to both counts); None without questions.

    Raises:
        ValueError: If ``a`` and ``b`` differ in length.
    """
    [estimate] = paired_many([(a, b)])
    return estimate


def paired_many(pairs: Sequence[tuple[Values, Values]]) -> list[Estimate]:
    """Apply ``paired`` to many pairs; pairs with values for the same questions share their resamples."""
    for a, b in pairs:
        if len(a) != len(b):
            raise ValueError(f"paired values must be aligned, but there are {len(a)} and {len(b)}")
    columns = [_array(a) - _array(b) for a, b in pairs]
    found = bootstrap_many(columns)
    for estimate in found:
        estimate["p"] = None
    for members, matrix in _groups(columns):
        for i, p in zip(members, _sign_p(matrix), strict=True):
            found[i]["p"] = p
    return found


def ratios(columns: Sequence[Sequence[tuple[float, float]]]) -> list[Estimate]:
    """Estimate micro-averaged ratios, such as precision, with bootstrap intervals over the questions.

    Args:
        columns: For each metric the (numerator, denominator) of each question; all have the same questions.

    Returns:
        One estimate per column; ``n`` is the sum of denominators. Resamples with a sum of 0 are ignored.
    """
    if not any(below for column in columns for _, below in column):
        return [dict(_NOTHING) for _ in columns]
    pairs = np.array(columns, dtype=np.float64)
    found = []
    for (over, below), drawn in zip(pairs.sum(axis=1), np.moveaxis(_resampled(pairs), 1, 0), strict=True):
        found.append(_ratio(over / below if below else None, drawn[:, 0], drawn[:, 1], below))
    return found


def paired_ratios(
    pairs: Sequence[tuple[Sequence[tuple[float, float]], Sequence[tuple[float, float]]]],
) -> list[Estimate]:
    """Compare micro-averaged ratios of two methods on the same questions.

    Returns:
        The difference of the ratios with its bootstrap interval; ``n`` is the greater sum of denominators. ``p`` is the
        two-sided p-value of approximate randomisation (Noreen 1989), which exchanges the methods' counts question by
        question; None if a method has no counts.
    """
    found = []
    for a, b in pairs:
        both = np.array([a, b], dtype=np.float64).reshape(2, len(a), 2)
        below = both.sum(axis=1)[:, 1]
        if not below.all():
            found.append({**_NOTHING, "p": None})
            continue
        drawn = _resampled(both)
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = drawn[:, 0, 0] / drawn[:, 0, 1] - drawn[:, 1, 0] / drawn[:, 1, 1]
        observed = float(both[0, :, 0].sum() / below[0] - both[1, :, 0].sum() / below[1])
        estimate = _ratio(observed, apart, np.ones_like(apart), float(below.max()))
        found.append({**estimate, "p": _exchange_p(both, observed)})
    return found


def bootstrap_sums(matrix: _Floats, function: Callable[[_Floats], _Floats], size: int) -> Estimate:
    """Estimate a function of sums over the questions, with its bootstrap interval.

    Args:
        matrix: Counts of each question, [questions, columns].
        function: Maps sums, [n, columns], to values, [n]; NaN where the function has no value.
        size: ``n`` of the estimate; with 0 there is no value.
    """
    if not size:
        return dict(_NOTHING)
    drawn = function(np.concatenate([weights @ matrix for weights in _resamples(len(matrix))]))
    mean = function(matrix.sum(axis=0, keepdims=True))[0]
    return _ratio(float(mean), drawn, np.ones_like(drawn), size)


def _ratio(mean: float | None, over: _Floats, below: _Floats, size: float) -> Estimate:
    if mean is None:
        return dict(_NOTHING)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = over / below
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn[np.isfinite(drawn)], [tail, 1 - tail])
    return _estimate(mean, float(low), float(high), round(size))


def _resampled(pairs: _Floats) -> _Floats:
    """Sum [columns, questions, 2] over resamples of the questions: [resamples, columns, 2]."""
    flat = np.moveaxis(pairs, 1, 0).reshape(pairs.shape[1], 2 * len(pairs))
    return np.concatenate([weights @ flat for weights in _resamples(len(flat))]).reshape(RESAMPLES, len(pairs), 2)


def _exchange_p(both: _Floats, observed: float) -> float:
    """Return the p-value of the difference of two methods' ratios; ``both`` is [2, questions, 2]."""
    generator = np.random.default_rng(SEED)
    total, apart = both.sum(axis=(0, 1)), both[0] - both[1]
    extreme = 0
    for count in _blocks(len(apart)):
        signs = generator.integers(0, 2, (count, len(apart)), dtype=np.int8).astype(np.float64) * 2 - 1
        one = (total + signs @ apart) / 2
        other = total - one
        with np.errstate(invalid="ignore", divide="ignore"):
            seen = np.abs(one[:, 0] / one[:, 1] - other[:, 0] / other[:, 1])
        # The tolerance keeps differences that are apart by rounding alone among the extreme ones.
        extreme += int(np.count_nonzero(seen >= abs(observed) - 1e-12))
    return rounded((extreme + 1) / (RESAMPLES + 1))


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Correct p values for their number (Holm 1979): the chance of any false finding stays below the level.

    Args:
        ps: Of one family of tests; None where there was nothing to test, which does not count.

    Returns:
        The corrected values, at least the raw values and at most 1, in the same order.
    """
    order = sorted((p, i) for i, p in enumerate(ps) if p is not None)
    found: list[float | None] = [None] * len(ps)
    corrected = accumulate((min(1.0, p * (len(order) - place)) for place, (p, _) in enumerate(order)), max)
    for (_, i), p in zip(order, corrected, strict=True):
        found[i] = rounded(p)
    return found


_NOTHING: Estimate = {"mean": None, "low": None, "high": None, "n": 0}


def _estimate(mean: float, low: float, high: float, size: int) -> Estimate:
    return {"mean": rounded(mean), "low": rounded(low), "high": rounded(high), "n": size}


def _groups(columns: Sequence[Values]) -> Iterator[tuple[list[int], _Floats]]:
    """Group the columns with values for the same questions: indexes, and a matrix [questions, columns] without NaN."""
    arrays = [_array(column) for column in columns]
    groups: dict[bytes, tuple[npt.NDArray[np.bool_], list[int]]] = {}
    for i, array in enumerate(arrays):
        known = ~np.isnan(array)
        _, members = groups.setdefault(known.tobytes(), (known, []))
        members.append(i)
    for known, members in groups.values():
        if known.any():
            yield members, np.array([arrays[i][known] for i in members]).T


def _array(values: Values) -> _Floats:
    """Convert values to an array; None becomes NaN."""
    return np.array(values, dtype=np.float64)


def _means(matrix: _Floats) -> _Floats:
    """Return [columns, 3]: the mean of each column and the ends of its interval."""
    size = len(matrix)
    tail = (1 - LEVEL) / 2
    resampled = np.concatenate([weights @ matrix for weights in _resamples(size)]) / size
    return np.vstack([matrix.mean(axis=0), np.quantile(resampled, [tail, 1 - tail], axis=0)]).T


def _resamples(size: int) -> Iterator[_Floats]:
    """Yield blocks [resamples, size] with the number of times that each question is drawn."""
    generator = np.random.default_rng(SEED)
    for count in _blocks(size):
        drawn = generator.integers(0, size, (count, size))
        drawn += np.arange(count)[:, None] * size
        yield np.bincount(drawn.ravel(), minlength=count * size).reshape(count, size).astype(np.float64)


def _sign_p(matrix: _Floats) -> list[float]:
    """Return for each column the p-value of its distance from 0 under random sign changes."""
    generator = np.random.default_rng(SEED)
    # The tolerance counts sums that differ only by rounding as extreme. It grows with the values, not with their sum:
    # values that cancel out have a sum of 0 only up to the rounding of their order.
    observed = np.abs(matrix.sum(axis=0)) - 1e-12 * np.abs(matrix).sum(axis=0)
    extreme = np.zeros(matrix.shape[1], dtype=np.int64)
    for count in _blocks(len(matrix)):
        signs = generator.integers(0, 2, (count, len(matrix)), dtype=np.int8).astype(np.float64) * 2 - 1
        extreme += np.count_nonzero(np.abs(signs @ matrix) >= observed, axis=0)
    return [rounded(p) for p in (extreme + 1) / (RESAMPLES + 1)]


def _blocks(size: int) -> Iterator[int]:
    rows = max(1, min(RESAMPLES, _CELLS // size))
    for start in range(0, RESAMPLES, rows):
        yield min(rows, RESAMPLES - start)
