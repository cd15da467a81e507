"""Instances of a path from one entity: the inner nodes of the walks along its steps, for queries that name them.

Prefix instances are found from the start alone. Gold instances need the end that a query asks for, and exist to
reproduce experiments that knew it (Zhou and Nastase, KBCOM 2018).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from srtk_framework.graph import TripleTable
from srtk_framework.values import Path, Step

Inner = tuple[str, ...]  # Inner nodes of an instance: one fewer than the path has steps.


def prefix_instances(table: TripleTable, start: str, path: Path, most: int | None = 10) -> list[Inner]:
    """Find the walks along all steps of a path but the last, which may not exist yet.

    Args:
        table: The triples.
        start: Entity at which the path starts.
        path: Its steps; at least one.
        most: Most instances, the first in order of the ids of their nodes; None for all.

    Returns:
        The inner nodes of each instance, in order; no node is visited twice. One empty instance for a path of one step.
    """
    return [walk[1:] for walk in islice(_walks(table, start, path[:-1]), most)]


def gold_instances(table: TripleTable, start: str, path: Path, end: str, most: int | None = 10) -> list[Inner]:
    """Find the walks along all steps of a path to a given end; see ``prefix_instances``.

    A query must not know the end that it asks for: this only reproduces the published experiments.
    """
    # The nodes from which the rest of the path leads to the end: a walk elsewhere is given up at once.
    allowed = [{end}]
    for step in reversed(path[1:]):
        back = Step(step.relation, not step.inverse)
        allowed.append({node for one in allowed[-1] for node in ends_of(table, one, back)})
    return [walk[1:-1] for walk in islice(_walks(table, start, path, allowed[::-1]), most)]


def ends_of(table: TripleTable, node: str, step: Step) -> list[str]:
    """Return the entities to which a step leads from a node, sorted; none if the table lacks the node or relation."""
    number, relation = table.entity_numbers.get(node), table.relation_numbers.get(step.relation)
    if number is None or relation is None:
        return []
    return [table.entities[end] for end in table.fillers(number, relation, step.inverse).tolist()]


def _walks(
    table: TripleTable, start: str, steps: Sequence[Step], allowed: Sequence[Collection[str]] | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield the nodes of all walks along steps that visit no node twice, in order, reading only as far as needed."""

    def further(walk: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        at = len(walk) - 1
        if at == len(steps):
            yield walk
            return
        for node in ends_of(table, walk[-1], steps[at]):
            if node not in walk and (allowed is None or node in allowed[at]):
                yield from further((*walk, node))

    return further((start,))
