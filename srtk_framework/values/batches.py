"""Batches of a stream."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of ``size`` items; the last list may be shorter."""
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch
