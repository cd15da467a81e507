"""Streams of sorted rows merged into one, so that nothing that is sorted is sorted again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_plugin_local.snapshot.csr import Ints, lower_bound

Rows = tuple[npt.NDArray[Any], ...]
"""Columns of numbers, of equal length, in order of the rows that they are of."""


def merged(old: Iterator[Rows], new: Iterator[Rows]) -> Iterator[Rows]:
    """Merge two streams; a part of the merged one has rows.

    Args:
        old: The longer stream, of which a part may be without rows.
        new: A stream of rows with as many columns; each of its parts has rows.
    """
    rest = next(new, None)
    for rows in old:
        while rest is not None and _count(rows):
            cut = _places(rest, tuple(column[-1:] for column in rows)).item()
            if not cut:
                break
            at = _places(rows, tuple(column[:cut] for column in rest))
            end = int(at[-1]) if cut == _count(rest) else _count(rows)
            yield tuple(np.insert(column[:end], at, more[:cut]) for column, more in zip(rows, rest, strict=True))
            rows = tuple(column[end:] for column in rows)
            rest = tuple(column[cut:] for column in rest) if cut < _count(rest) else next(new, None)
        if _count(rows):
            yield rows
    if rest is not None:
        yield rest
    yield from new


def _count(rows: Rows) -> int:
    return len(rows[0])


def _places(rows: Rows, wanted: Rows) -> Ints:
    """Find the first place in sorted rows that is not before each wanted row."""
    low = np.zeros(_count(wanted), dtype=np.int64)
    high = np.full(_count(wanted), _count(rows))
    for column, values in zip(rows[:-1], wanted[:-1], strict=True):
        low, high = lower_bound(column, low, high, values), lower_bound(column, low, high, values, after=True)
    return lower_bound(rows[-1], low, high, wanted[-1])
