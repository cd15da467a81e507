"""Frontiers of views: those of the inner graph, with what the view itself left out."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.values import Frontier


class ViewFrontier(Frontier):
    """A frontier of the inner graph with other counts of what leads to it.

    Args:
        inner: Frontier of the inner graph.
        cut: Number of nodes omitted because of a limit.
        fan: Number of nodes that certain triples lead to; by default the nodes and those omitted.
    """

    __slots__ = ("_fan", "cut", "inner")

    def __init__(self, inner: Frontier, cut: int, fan: int | None = None) -> None:
        self.inner = inner
        self.cut = cut
        self._fan = fan

    @property
    def fan(self) -> int:
        """Number of nodes that certain triples lead to, those that a limit left out included."""
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
