"""Checks that ports make on the answers of drivers; the hooks of the roles name them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from srtk_framework.values import DriverError, shortened


def truth(answer: Any, arguments: Mapping[str, Any], driver: str) -> bool:
    """Convert an answer to True or False."""
    return bool(answer)


def check_numbers(hook: str, rows: Any, counts: list[int], of: str) -> None:
    """Refuse rows without exactly one finite number per item.

    Args:
        hook: Name of the hook, for the message.
        rows: What the driver returned: per item of the batch a list of numbers, or an array.
        counts: How many numbers each row must have.
        of: What the numbers belong to, in the plural.

    Raises:
        DriverError: For another length, or anything but finite numbers.
    """
    # A batch may have thousands of rows: first the fast checks of all rows in C, then the search for the wrong one.
    if _lengths(rows) == counts and _sum_is_finite(rows):
        return
    for row, count in zip(rows, counts, strict=True):
        if not hasattr(row, "__len__") or isinstance(row, str):
            raise DriverError(f"{hook} returned {row!r} for {count} {of}; it must return one number for each")
        if len(row) != count:
            raise DriverError(f"{hook} got {count} {of} and returned {len(row)} numbers; it must return one for each")
    for row in rows:
        for item in row.tolist() if hasattr(row, "dtype") else row:
            if not _is_finite(item):
                raise DriverError(
                    f"{hook} returned {shortened(repr(item))} for one of its {of}; it must return finite numbers"
                )


def _lengths(rows: Any) -> list[int] | None:
    try:
        return list(map(len, rows))
    except TypeError:
        return None


def _sum_is_finite(rows: Any) -> bool:
    """Return whether all numbers are finite according to their sum, which is fast; False is inconclusive."""
    if len(rows) and hasattr(rows[0], "dtype"):
        import numpy as np  # here, so that the command line starts without it

        whole = np.concatenate(rows)
        return whole.dtype.kind in "fiu" and bool(np.isfinite(whole).all())
    try:
        return math.isfinite(sum(map(sum, rows)))
    except (TypeError, OverflowError):
        return False


def _is_finite(item: Any) -> bool:
    try:
        return not isinstance(item, str | bytes) and math.isfinite(item)
    except (TypeError, OverflowError):
        return False
