"""Frontiers of views over frontiers of the inner graph, and limits of neighbours over triples along a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from srtk_framework.values import Frontier, Step, Triple


def start_of(triple: Triple, step: Step) -> str:
    """Return the end of a triple at which a step starts."""
    return triple.object if step.inverse else triple.subject


def end_of(triple: Triple, step: Step) -> str:
    """Return the end of a triple to which a step leads."""
    return triple.subject if step.inverse else triple.object


def first_of_each(triples: Iterable[Triple], step: Step, limit: int | None) -> list[Triple]:
    """Keep the first triples of each node at which a step starts, at most ``limit``."""
    counts: dict[str, int] = {}
    kept = []
    for triple in triples:
        start = start_of(triple, step)
        counts[start] = counts.get(start, 0) + 1
        if limit is None or counts[start] <= limit:
            kept.append(triple)
    return kept


class ViewFrontier(Frontier):
    """A frontier of the inner graph with other counts of nodes.

    Args:
        inner: Frontier of the inner graph.
        cut: Number of nodes omitted because of a limit.
        fan: Number of nodes that certain triples lead to; by default the sum of nodes and omitted nodes.
    """

    __slots__ = ("_fan", "cut", "inner")

    def __init__(self, inner: Frontier, cut: int, fan: int | None = None) -> None:
        self.inner = inner
        self.cut = cut
        self._fan = fan

    @property
    def fan(self) -> int:
        """Number of nodes that certain triples lead to, including nodes beyond a limit."""
        return self.size + self.cut if self._fan is None else self._fan

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.inner.size

    def ids(self) -> Sequence[str]:
        """Ids of the nodes, sorted by code point."""
        return self.inner.ids()


def inner_frontiers(frontiers: Sequence[Frontier]) -> list[Frontier]:
    """Return the frontiers of the inner graph, the same object for the same frontier."""
    return [one.inner if isinstance(one, ViewFrontier) else one for one in frontiers]
