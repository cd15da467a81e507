"""Instances of a path from one entity: the inner nodes of the ways along its steps, for queries that name them.

Prefix instances are found from the start alone. Gold ones need the end that a query asks for, and exist to
reproduce experiments that knew it (Zhou and Nastase, KBCOM 2018).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from srtk_framework.values import Frontier, Path, Step

_BATCH = 16

Inner = tuple[str, ...]
"""Inner nodes of an instance: one fewer than the path has steps."""


class Walkable(Protocol):
    """What is asked of a graph; a ``KnowledgeGraph`` has more."""

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier per set of ids."""

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Return the neighbours of each frontier along its step."""


def prefix_instances(
    graph: Walkable, start: str, path: Path, most: int | None = 10, limit: int | None = None
) -> list[Inner]:
    """Find the ways along all steps of a path but the last, which may not exist yet.

    Args:
        graph: An open graph.
        start: Entity at which the path starts.
        path: At least one step.
        most: Most instances, the first in order of the ids of their nodes; None for all.
        limit: Most neighbours read for one node; None for all.

    Returns:
        The inner nodes of each instance, in order; no node is visited twice. One empty instance for a path of one step.
    """
    return [walk[1:] for walk in itertools.islice(_walks(graph, start, path[:-1], limit), most)]


def gold_instances(graph: Walkable, start: str, path: Path, end: str, most: int | None = 10) -> list[Inner]:
    """Find the ways along all steps of a path to a given end; see ``prefix_instances``.

    A query must not know the end that it asks for: this only reproduces what was published.
    """
    # The nodes from which the rest of the path leads to the end: a walk elsewhere is given up at once.
    (frontier,) = graph.frontiers([[end]])
    allowed = [frozenset(frontier.ids())]
    for step in reversed(path[1:]):
        (frontier,) = graph.follow([frontier], [Step(step.relation, not step.inverse)], None)
        allowed.append(frozenset(frontier.ids()))
    walks = _walks(graph, start, path, None, allowed[::-1])
    return [walk[1:-1] for walk in itertools.islice(walks, most)]


def _walks(
    graph: Walkable,
    start: str,
    steps: Sequence[Step],
    limit: int | None,
    allowed: Sequence[frozenset[str]] | None = None,
) -> Iterator[tuple[str, ...]]:
    """Yield the nodes of all walks along steps that visit no node twice, in order, reading only as far as needed."""

    def go(walks: Iterable[tuple[str, ...]], at: int) -> Iterator[tuple[str, ...]]:
        if at == len(steps):
            yield from walks
            return
        for part in _batches(walks):
            frontiers = graph.frontiers([[walk[-1]] for walk in part])
            for walk, found in zip(part, graph.follow(frontiers, [steps[at]] * len(part), limit), strict=True):
                fresh = (node for node in found.ids() if node not in walk)
                yield from go([(*walk, node) for node in fresh if allowed is None or node in allowed[at]], at + 1)

    return go([(start,)], 0)


def _batches(walks: Iterable[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    left = iter(walks)
    while part := list(itertools.islice(left, _BATCH)):
        yield part
