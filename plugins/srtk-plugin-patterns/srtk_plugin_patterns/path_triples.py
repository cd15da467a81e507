"""Instances of a path: triples of the graph that lead along its steps from one entity to another."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple


def triples_along(table: TripleTable, start: int, path: Sequence[int], end: int) -> tuple[Triple, ...]:
    """Return the triples along a path from one entity to another, from subject to object each.

    A way that visits no entity twice comes first, then the entities with the lowest numbers.

    Args:
        table: The triples.
        start: Number of the entity at which the path starts.
        path: Step numbers; at least one.
        end: Number of the entity at which it ends.

    Returns:
        One triple for each step; none if the path does not lead there.
    """
    # From the end backwards: the entities from which the rest of the path leads to the end.
    before = [{end}]
    for step in reversed(path):
        reached: set[int] = set()
        for node in before[-1]:
            reached.update(table.fillers(node, step // 2, not step % 2).tolist())
        before.append(reached)
    before.reverse()
    if start not in before[0]:
        return ()
    for simple in (True, False):
        if (nodes := _walk(table, [start], path, before, simple)) is not None:
            break
    else:
        return ()
    triples = []
    for step, here, there in zip(path, nodes, nodes[1:], strict=False):
        subject, object_ = (there, here) if step % 2 else (here, there)
        triples.append(Triple(table.entities[subject], table.relations[step // 2], table.entities[object_]))
    return tuple(triples)


def _walk(
    table: TripleTable, nodes: list[int], path: Sequence[int], before: Sequence[set[int]], simple: bool
) -> list[int] | None:
    """Return the entities of the first way from the last of ``nodes`` on, or None."""
    at = len(nodes) - 1
    if at == len(path):
        return nodes
    step = path[at]
    for node in table.fillers(nodes[-1], step // 2, bool(step % 2)).tolist():
        if node in before[at + 1] and not (simple and node in nodes):
            found = _walk(table, [*nodes, node], path, before, simple)
            if found is not None:
                return found
    return None
