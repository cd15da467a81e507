"""Orders that are the same wherever scores are compared: best first, and equal scores by a fixed key, not by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from srtk_framework.values.entries import Hit
from srtk_framework.values.origins import Completion
from srtk_framework.values.triples import Triple

T = TypeVar("T")


class _Candidate(Protocol):
    """A link, or a candidate for a link."""

    @property
    def score(self) -> float: ...

    @property
    def entity(self) -> str: ...


def best_first(items: Iterable[T], score: Callable[[T], float], tie: Callable[[T], Any] | None = None) -> list[T]:
    """Sort items by a score, the greatest first.

    Args:
        items: The items.
        score: Gives the score of an item.
        tie: Orders items of equal scores; by default the items order themselves.
    """
    return sorted(items, key=lambda item: (-score(item), item if tie is None else tie(item)))


def link_order(link: _Candidate) -> tuple[float, str]:
    """Order links by score, best first; equal scores by entity."""
    return -link.score, link.entity


def hit_order(hit: Hit) -> tuple[float, str]:
    """Order hits by score, best first; equal scores by the id of the entry."""
    return -hit.score, hit.entry.id


def completion_order(completion: Completion) -> tuple[float, Triple]:
    """Order completions by confidence, best first; equal confidences by triple."""
    return -completion.confidence, completion.triple
