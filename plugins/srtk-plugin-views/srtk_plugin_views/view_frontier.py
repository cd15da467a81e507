"""Frontiers of views: those of the inner graph, with what the view itself left out."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.values import Frontier


class ViewFrontier(Frontier):
    """A frontier of the inner graph with another count of nodes left out.

    Args:
        inner: Frontier of the inner graph.
        cut: Number of nodes omitted because of a limit.
    """

    __slots__ = ("cut", "inner")

    def __init__(self, inner: Frontier, cut: int) -> None:
        self.inner = inner
        self.cut = cut

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
