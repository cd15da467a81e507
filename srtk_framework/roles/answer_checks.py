"""Checks that ports make on the answers of drivers; the hooks of the roles name them.

They raise ``DriverError`` at the first fault.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from srtk_framework.values import DriverError, Ragged, shortened

Check = Callable[[Any, Mapping[str, Any], str], Any]


def truth(answer: Any, arguments: Mapping[str, Any], driver: str) -> bool:
    """Refuse anything but True and False."""
    if isinstance(answer, bool):
        return answer
    # numpy's truth values are no bool.
    if getattr(getattr(answer, "dtype", None), "kind", "") == "b" and not answer.shape:
        return bool(answer)
    raise DriverError(f"{shown(answer)} was returned; return True or False")


def is_list_like(kind: type[Any]) -> bool:
    """Return whether a type has its items in order, as lists and arrays have them; texts, sets and mappings do not."""
    return hasattr(kind, "__getitem__") and not issubclass(kind, str | bytes | Mapping)


def shown(value: Any) -> str:
    """Return a value for a message."""
    return shortened(repr(value))


def all_of(hook: str, kind: type[Any] | tuple[type[Any], ...], what: str) -> Check:
    """Make a check that each item of the answer has a type.

    Args:
        hook: Name of the hook, for messages.
        kind: The type, or several.
        what: The wanted kind of item, in words.
    """

    def check(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
        refuse_others(hook, answer, kind, what)
        return answer

    return check


def rows_of(hook: str, kind: type[Any], what: str, rises: bool = False, most: str = "") -> Check:
    """Make a check that each item of the answer is a list of one type.

    Args:
        hook: Name of the hook, for messages.
        kind: The type.
        what: The wanted kind of item, in words.
        rises: Whether each list is sorted and nothing comes twice.
        most: Argument with the most items of a list; empty for no limit.
    """

    def check(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
        check_rows(hook, answer, kind, what)
        for row in answer:
            if rises and len(row) > 1:
                check_rises(hook, row)
            if most and len(row) > arguments[most]:
                raise DriverError(f"{hook} returned {len(row)} items, {shown(row)}; {most} is {arguments[most]}")
        return answer

    return check


def refuse_others(hook: str, items: Iterable[Any], kind: type[Any] | tuple[type[Any], ...], what: str) -> None:
    """Refuse items of another type; one pass in C."""
    wrong = tuple(one for one in set(map(type, items)) if not issubclass(one, kind))
    if wrong:
        first = next(item for item in items if type(item) in wrong)
        raise DriverError(f"{hook} returned {shown(first)}; return {what}")


def check_rows(hook: str, rows: Any, kind: type[Any], what: str) -> None:
    """Refuse rows that are no lists, and items of another type."""
    if isinstance(rows, Ragged):
        refuse_others(hook, rows.values, kind, what)
        return
    for row_kind in set(map(type, rows)):
        if not is_list_like(row_kind):
            first = next(row for row in rows if type(row) is row_kind)
            raise DriverError(f"{hook} returned {shown(first)} for one item; return a list, of {what}")
    kinds = set(map(type, itertools.chain.from_iterable(rows)))
    if not all(issubclass(one, kind) for one in kinds):
        for row in rows:
            refuse_others(hook, row, kind, what)


def check_rises(hook: str, row: Sequence[Any]) -> None:
    """Refuse a row that is not sorted, or has an item twice."""
    if all(map(operator.lt, row, itertools.islice(row, 1, None))):
        return
    one, other = next(pair for pair in itertools.pairwise(row) if not pair[0] < pair[1])
    if one == other or len(set(row)) < len(row):
        twice = next(item for i, item in enumerate(row) if item in row[:i])
        raise DriverError(f"{hook} returned {shown(twice)} twice; return each once")
    raise DriverError(f"{hook} returned {shown(other)} after {shown(one)}; return them sorted")


def check_falls(hook: str, keys: Iterable[tuple[Any, ...]], order: str) -> None:
    """Refuse keys that are not sorted, or not distinct."""
    for one, other in itertools.pairwise(keys):
        if not one < other:
            fault = "the same item twice" if one == other else "items out of order"
            raise DriverError(f"{hook} returned {fault}, at {shown(other)}; {order}")


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number of at least 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def counts(hook: str) -> Check:
    """Make a check that each item of the answer is a whole number of at least 0; numpy's are converted."""

    def check(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
        found = answer.tolist() if hasattr(answer, "dtype") else answer
        if set(map(type, found)) <= {int} and min(found, default=0) >= 0:
            return found
        found = [one.item() if hasattr(one, "dtype") and not one.shape else one for one in found]
        if wrong := [one for one in found if not is_count(one)]:
            raise DriverError(f"{hook} returned {shown(wrong[0])}; return whole numbers of at least 0")
        return found

    return check


def check_numbers(hook: str, rows: Any, counts: list[int], of: str) -> None:
    """Refuse rows without exactly one finite number per item.

    Args:
        hook: Name of the hook, for the message.
        rows: The answer of the driver: per item of the batch a list of numbers, or an array.
        counts: How many numbers each row must have.
        of: Owners of the numbers, in the plural.

    Raises:
        DriverError: For another length, or anything but finite numbers.
    """
    # A batch may have thousands of rows: first the fast checks of all rows in C, then the search for the wrong one.
    unfit = tuple(kind for kind in set(map(type, rows)) if not is_list_like(kind))
    if not unfit and _lengths(rows) == counts and _sum_is_finite(rows):
        return
    for row, count in zip(rows, counts, strict=True):
        if isinstance(row, unfit) or not hasattr(row, "__len__"):
            raise DriverError(f"{hook} returned {shown(row)} for {count} {of}; return a list with one number for each")
        if len(row) != count:
            padded = "; the row may be padded" if len(row) > count and len(set(map(len, rows))) == 1 else ""
            raise DriverError(
                f"{hook} got {count} {of} and returned {len(row)} numbers; it must return one for each{padded}"
            )
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
        if any(getattr(row, "ndim", 0) != 1 for row in rows):
            return False
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
