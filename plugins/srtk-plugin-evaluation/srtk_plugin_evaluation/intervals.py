"""Intervals and paired tests over per-question values.

Shares, whose values are all 0 or 1, have the exact interval of the binomial (Clopper and Pearson 1934). All others have
a seeded percentile bootstrap (Efron and Tibshirani 1993, chapter 13) with two corrections. Its tails are those of
Student's t (Hesterberg 2015, section 3.2, "expanded percentile interval"), since plain percentiles are too narrow for
few questions. Values from 0 to 1, and their differences, are resampled with both ends of the range added,
as if two further questions had been asked (Agresti and Caffo 2000; Bonett and Price 2012 for differences), so that
equal values do not make the interval collapse.

There is no interval, ``low`` and ``high`` are None, of one question, and of equal values without a known range.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from math import isclose
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import rounded

SEED = 20240101  # Fixed, so that equal scores give equal intervals.
RESAMPLES = 1000  # So the least p-value is 1 / 1001.
LEVEL = 0.95
_CELLS = 1_000_000  # Maximum number of cells of a block of resamples; bounds the memory.
_HELD = 250_000  # Number of values up to which columns are resampled together.

# ``mean`` (None without values), ``low`` and ``high`` (None without an interval), and ``n``, the number of values.
Estimate = dict[str, Any]

_Floats = npt.NDArray[np.float64]


class Computed:
    """A column that is computed whenever it is read, so that many long columns do not fill the memory.

    Args:
        size: Number of questions.
        compute: Returns the values, [size]; NaN if one is missing.
    """

    def __init__(self, size: int, compute: Callable[[], _Floats]) -> None:
        self._size, self._compute = size, compute

    def __len__(self) -> int:
        return self._size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> _Floats:
        return self._compute()


# One value per question; None, or NaN in an array, if it is missing.
Values = Sequence[float | None] | _Floats | Computed


def bootstrap(values: Values) -> Estimate:
    """Estimate a mean with its 95 % interval: exact for values of 0 and 1, else by bootstrap.

    Args:
        values: One value per question; None, which ``n`` does not count, if the metric does not apply.
    """
    [estimate] = bootstrap_many([values])
    return estimate


def bootstrap_many(columns: Sequence[Values], sizes: Collection[int] = ()) -> list[Estimate]:
    """Apply ``bootstrap`` to many columns; columns with values for the same questions share their resamples.

    Args:
        columns: The values of each metric.
        sizes: Places of metrics that have no greatest value, even where theirs are within 0 and 1.
    """
    within = [place not in sizes and _within(column) for place, column in enumerate(columns)]
    return _of_columns(columns, within, (0.0, 1.0))


def _within(values: Values) -> bool:
    """Return whether all values that are not missing are from 0 to 1."""
    known = _array(values)
    return bool((np.isnan(known) | ((known >= 0) & (known <= 1))).all())


def _of_columns(columns: Sequence[Values], within: Sequence[bool], ends: tuple[float, float]) -> list[Estimate]:
    """Estimate means; ``within`` says whether ``ends`` are the range of a column's values."""
    found: list[Estimate] = [_NOTHING] * len(columns)
    for members, matrix in _groups(columns):
        bounded = np.array([within[i] for i in members])
        share = bounded & (ends[0] == 0) & ((matrix == 0) | (matrix == 1)).all(axis=0)
        bounds = np.empty((matrix.shape[1], 2))
        bounds[share] = np.transpose(_exact(matrix[:, share].sum(axis=0), len(matrix)))
        for some, added in ((bounded & ~share, ends), (~bounded, None)):
            if some.any():
                bounds[some] = _means(matrix if some.all() else matrix[:, some], added)
        for i, mean, (low, high) in zip(members, matrix.mean(axis=0).tolist(), bounds.tolist(), strict=True):
            found[i] = _estimate(mean, low, high, len(matrix), len(matrix))
    return [dict(estimate) for estimate in found]


def rates(columns: Sequence[Values]) -> list[Estimate]:
    """Estimate items per second from the seconds of each item: n over their sum, with bootstrap intervals."""
    found: list[Estimate] = [_NOTHING] * len(columns)
    for members, matrix in _groups(columns):
        means, bounds = matrix.mean(axis=0).tolist(), _means(matrix, None).tolist()
        for i, mean, (low, high) in zip(members, means, bounds, strict=True):
            if low > 0:
                found[i] = _estimate(1 / mean, 1 / high, 1 / low, len(matrix), len(matrix))
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


def paired_many(pairs: Sequence[tuple[Values, Values]], sizes: Collection[int] = ()) -> list[Estimate]:
    """Apply ``paired`` to many pairs; for ``sizes`` see ``bootstrap_many``."""
    for a, b in pairs:
        if len(a) != len(b):
            raise ValueError(f"paired values must be aligned, but there are {len(a)} and {len(b)}")
    columns = [Computed(len(a), functools.partial(_difference, a, b)) for a, b in pairs]
    within = [place not in sizes and _within(a) and _within(b) for place, (a, b) in enumerate(pairs)]
    found = _of_columns(columns, within, (-1.0, 1.0))
    for estimate in found:
        estimate["p"] = None
    for members, matrix in _groups(columns):
        for i, p in zip(members, _sign_p(matrix), strict=True):
            found[i]["p"] = p
    return found


def _difference(a: Values, b: Values) -> _Floats:
    return _array(a) - _array(b)


Counts = Sequence[tuple[float, float]] | _Floats  # The (numerator, denominator) of each question.


def ratios(columns: Iterable[Counts], sizes: Collection[int] = ()) -> list[Estimate]:
    """Estimate micro-averaged ratios, such as precision, with intervals over the questions.

    The interval is exact where each question counts 0 or 1, else by bootstrap. Where no numerator is above its
    denominator, two questions with the mean denominator are added: one with ratio 1, one with 0.

    Args:
        columns: The counts of each metric; all have the same questions.
        sizes: See ``bootstrap_many``.

    Returns:
        One estimate per column; ``n`` is the sum of denominators. Resamples with a sum of 0 are ignored.
    """
    found: list[Estimate] = []
    held: list[_Floats] = []
    for column in columns:
        held.append(np.array(column, dtype=np.float64).reshape(-1, 2))
        if held[-1].size * len(held) > _HELD:
            found += _ratios(held, [place - len(found) for place in sizes])
            held = []
    return found + _ratios(held, [place - len(found) for place in sizes])


def _ratios(columns: Sequence[_Floats], sizes: Collection[int]) -> list[Estimate]:
    """Estimate some ratios together."""
    if not any(column[:, 1].any() for column in columns):
        return [dict(_NOTHING) for _ in columns]
    counts = np.array(columns)
    sums, asked = counts.sum(axis=1), np.count_nonzero(counts[:, :, 1], axis=1)
    shares = np.array([place not in sizes for place in range(len(columns))])
    bounded = shares & (counts[:, :, 0] <= counts[:, :, 1]).all(axis=1)
    single = bounded & np.isin(counts, (0, 1)).all(axis=(1, 2))
    found: list[Estimate] = [dict(_NOTHING) for _ in columns]
    for i in np.flatnonzero(single & (asked > 0)).tolist():
        low, high = _exact(*sums[i])
        found[i] = _estimate(sums[i, 0] / sums[i, 1], float(low), float(high), round(sums[i, 1]), int(asked[i]))
    for some, padded in ((bounded & ~single & (asked > 0), True), (~bounded & (asked > 0), False)):
        places = np.flatnonzero(some)
        flat = np.moveaxis(counts[places], 1, 0).reshape(counts.shape[1], -1)
        usual = np.repeat(sums[places, 1] / asked[places], 2)
        extra = np.stack([usual, usual * np.tile([0.0, 1.0], len(places))]) if padded else None
        drawn = _resampled(flat, extra) if places.size else flat
        for i, over, below in zip(places.tolist(), drawn.T[::2], drawn.T[1::2], strict=True):
            found[i] = _ratio(sums[i, 0] / sums[i, 1], over, below, sums[i, 1], int(asked[i]))
    return found


def paired_ratios(
    pairs: Iterable[tuple[Counts, Counts]],
    sizes: Collection[int] = (),
) -> list[Estimate]:
    """Compare micro-averaged ratios of two methods on the same questions; for ``sizes`` see ``bootstrap_many``.

    Returns:
        The difference of the ratios with its bootstrap interval; ``n`` is the greater sum of denominators. ``p`` is the
        two-sided p-value of approximate randomisation (Noreen 1989), which exchanges the methods' counts question by
        question; None if a method has no counts.
    """
    found = []
    for place, (a, b) in enumerate(pairs):
        both = np.array([a, b], dtype=np.float64).reshape(2, len(a), 2)
        below = both.sum(axis=1)[:, 1]
        if not below.all():
            found.append({**_NOTHING, "p": None})
            continue
        extra, asked = None, int(np.count_nonzero(both[:, :, 1].any(axis=0)))
        if place not in sizes and (both[:, :, 0] <= both[:, :, 1]).all():
            one, other = below / asked
            extra = np.array([[one, one, 0.0, other], [0.0, one, other, other]])
        drawn = _resampled(np.concatenate([both[0], both[1]], axis=1), extra)
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
        observed = float(both[0, :, 0].sum() / below[0] - both[1, :, 0].sum() / below[1])
        estimate = _ratio(observed, apart, np.ones_like(apart), float(below.max()), asked)
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
    return _ratio(float(mean), drawn, np.ones_like(drawn), size, int(np.count_nonzero(matrix.any(axis=1))))


def _ratio(mean: float, over: _Floats, below: _Floats, size: float, asked: int) -> Estimate:
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = over / below
    low, high = np.quantile(drawn[np.isfinite(drawn)], _tails(asked))
    return _estimate(mean, float(low), float(high), round(size), asked)


def _resampled(matrix: _Floats, extra: _Floats | None) -> _Floats:
    """Sum [questions, columns] over resamples of the questions: [resamples, columns].

    With two extra questions each resample is also summed with both exchanged, which doubles their number: so the two
    methods of a comparison, and right and wrong, are treated alike.
    """
    size = len(matrix)
    found, turned = [], []
    for weights in _resamples(size if extra is None else size + 2):
        found.append(weights[:, :size] @ matrix)
        if extra is not None:
            found[-1] += weights[:, size:] @ extra
            turned.append(found[-1] + np.outer(weights[:, -2] - weights[:, -1], extra[1] - extra[0]))
        del weights  # before the next block is drawn
    return np.concatenate(found + turned)


def _tails(size: int) -> _Floats:
    """Return the shares of resamples below the ends of an interval of the mean of so many values."""
    from scipy.special import ndtr, stdtrit  # type: ignore[import-untyped]

    if size < 2:
        return np.array([0.0, 1.0])
    tail = float(ndtr(stdtrit(size - 1, (1 - LEVEL) / 2) * np.sqrt(size / (size - 1))))
    return np.array([tail, 1 - tail])


def _exact(right: _Floats | float, of: _Floats | float) -> tuple[_Floats, _Floats]:
    """Return the ends of the interval of shares (Clopper and Pearson 1934), which covers at least ``LEVEL``."""
    from scipy.special import betaincinv

    good, wrong = np.asarray(right, dtype=np.float64), np.asarray(of, dtype=np.float64) - right
    tail = (1 - LEVEL) / 2
    low = np.where(good > 0, betaincinv(np.maximum(good, 1), wrong + 1, tail), 0.0)
    high = np.where(wrong > 0, betaincinv(good + 1, np.maximum(wrong, 1), 1 - tail), 1.0)
    return low, high


def _exchange_p(both: _Floats, observed: float) -> float:
    """Return the p-value of the difference of two methods' ratios; ``both`` is [2, questions, 2]."""
    generator = np.random.default_rng(SEED)
    total, apart = both.sum(axis=(0, 1)), both[0] - both[1]
    extreme = 0
    for count in _blocks(len(apart)):
        one = (total + _signs(generator, count, len(apart)) @ apart) / 2
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


def _estimate(mean: float, low: float, high: float, size: int, asked: int) -> Estimate:
    """Return an estimate over so many questions; the interval holds the mean, and is left out if it says nothing."""
    low, high = min(low, mean), max(high, mean)
    if asked < 2 or isclose(low, high):
        return {"mean": rounded(mean), "low": None, "high": None, "n": size}
    return {"mean": rounded(mean), "low": rounded(low), "high": rounded(high), "n": size}


def _groups(columns: Sequence[Values]) -> Iterator[tuple[list[int], _Floats]]:
    """Group the columns with values for the same questions: indexes, and a matrix [questions, columns] without NaN.

    Many long columns come in several groups, whose sizes ``_HELD`` bounds.
    """
    groups: dict[bytes, list[tuple[int, _Floats]]] = {}
    cells = 0
    for i, column in enumerate(columns):
        key, values = _known(column)
        if values.size:
            groups.setdefault(key, []).append((i, values))
            cells += values.size
        del values  # so that only the matrix has them below
        if cells > _HELD or i == len(columns) - 1:
            for key in list(groups):
                yield _joined(groups.pop(key))
            cells = 0


def _known(column: Values) -> tuple[bytes, _Floats]:
    """Return the questions that have a value, as a key, and the values."""
    array = _array(column)
    known = ~np.isnan(array)
    return known.tobytes(), array[known]


def _joined(columns: Sequence[tuple[int, _Floats]]) -> tuple[list[int], _Floats]:
    return [i for i, _ in columns], np.array([values for _, values in columns]).T


def _array(values: Values) -> _Floats:
    """Convert values to an array; None becomes NaN."""
    return np.array(values, dtype=np.float64)


def _means(matrix: _Floats, ends: tuple[float, float] | None) -> _Floats:
    """Return [columns, 2]: the ends of the interval of the mean of each column; ``ends`` are added to the values."""
    extra = None if ends is None else np.repeat([[ends[0]], [ends[1]]], matrix.shape[1], axis=1)
    size = len(matrix) + (0 if ends is None else 2)
    return np.quantile(_resampled(matrix, extra) / size, _tails(size), axis=0).T


def _resamples(size: int) -> Iterator[_Floats]:
    """Yield blocks [resamples, size] with the number of times that each question is drawn."""
    generator = np.random.default_rng(SEED)
    yield from (_times_drawn(generator, count, size) for count in _blocks(size))


def _times_drawn(generator: np.random.Generator, count: int, size: int) -> _Floats:
    drawn = generator.integers(0, size, (count, size))
    drawn += np.arange(count)[:, None] * size
    times = np.bincount(drawn.ravel(), minlength=count * size).reshape(count, size)
    del drawn
    return times.astype(np.float64)


def _sign_p(matrix: _Floats) -> list[float]:
    """Return for each column the p-value of its distance from 0 under random sign changes."""
    generator = np.random.default_rng(SEED)
    # The tolerance counts sums that differ only by rounding as extreme. It grows with the values, not with their sum:
    # values that cancel out have a sum of 0 only up to the rounding of their order.
    observed = np.abs(matrix.sum(axis=0)) - 1e-12 * np.abs(matrix).sum(axis=0)
    extreme = np.zeros(matrix.shape[1], dtype=np.int64)
    for count in _blocks(len(matrix)):
        extreme += np.count_nonzero(np.abs(_signs(generator, count, len(matrix)) @ matrix) >= observed, axis=0)
    return [rounded(p) for p in (extreme + 1) / (RESAMPLES + 1)]


def _signs(generator: np.random.Generator, count: int, size: int) -> _Floats:
    """Draw signs, 1 or -1, [count, size]."""
    signs = generator.integers(0, 2, (count, size), dtype=np.int8).astype(np.float64)
    signs *= 2
    signs -= 1
    return signs


def _blocks(size: int) -> Iterator[int]:
    rows = max(1, min(RESAMPLES, _CELLS // size))
    for start in range(0, RESAMPLES, rows):
        yield min(rows, RESAMPLES - start)
