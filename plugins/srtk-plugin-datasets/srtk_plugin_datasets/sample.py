"""Samples of questions that depend only on their ids and a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def sample(items: Iterable[T], id_of: Callable[[T], str], limit: int | None, seed: int | None) -> Iterable[T]:
    """Return the ``limit`` items with the smallest hash of seed and id, in their order; without a seed, the first."""
    if limit is None:
        return items
    if seed is None:
        return islice(items, limit)

    def rank(i: int) -> tuple[bytes, int]:
        return hashlib.sha256(f"{seed}:{id_of(every[i])}".encode()).digest(), i

    every = list(items)
    return [every[i] for i in sorted(sorted(range(len(every)), key=rank)[:limit])]
