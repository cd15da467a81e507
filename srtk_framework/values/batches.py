"""Batches of a stream, and the answers of a batch with failing items."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from srtk_framework.values.errors import BatchError, DriverError

T = TypeVar("T")
R = TypeVar("R")

Replay = Callable[[], AbstractContextManager[object]]
"""Makes a context in which the calls of a batch are repeated for a part of it."""


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of ``size`` items; the last list may be shorter."""
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def answered(
    items: Sequence[T], ask: Callable[[Sequence[T]], Sequence[R]], replay: Replay = nullcontext
) -> list[R | DriverError]:
    """Ask about a batch; an item that fails costs no other its answer.

    Where the error names the failed items, nothing is asked again. Where a driver raised for the whole batch, the
    batch is halved until the items that fail are alone; where both halves fail, their items are asked one by one.

    Args:
        items: The batch.
        ask: Asks about some of the items; a ``BatchError`` that it raises has the answers of these.
        replay: Context of all calls after the first call.

    Returns:
        The answer or the error of each item.
    """
    if not items:
        return []
    found = _attempt(items, ask)
    if not isinstance(found, DriverError):
        return found
    with replay():
        return _divided(items, ask, found)


def _divided(
    items: Sequence[T], ask: Callable[[Sequence[T]], Sequence[R]], error: DriverError
) -> list[R | DriverError]:
    """Ask about the halves of a batch that failed as a whole."""
    if len(items) == 1:
        return [error]
    middle = len(items) // 2
    halves = [items[:middle], items[middle:]]
    found = [_attempt(half, ask) for half in halves]
    done: list[R | DriverError] = []
    if all(isinstance(one, DriverError) for one in found) and len(items) > 2:
        for item in items:
            alone = _attempt([item], ask)
            done += [alone] if isinstance(alone, DriverError) else alone
        return done
    for half, one in zip(halves, found, strict=True):
        done += _divided(half, ask, one) if isinstance(one, DriverError) else one
    return done


def _attempt(items: Sequence[T], ask: Callable[[Sequence[T]], Sequence[R]]) -> list[R | DriverError] | DriverError:
    """Return the answers, with errors in the place of some; or the error that concerns all items."""
    try:
        return list(ask(items))
    except BatchError as error:
        return list(error.answers)  # type: ignore[arg-type]
    except DriverError as error:
        return error
