"""Path search between two sets of entities, from both ends, on any graph and in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from srtk_framework.errors import DriverError
from srtk_framework.path_search import Search, Side, grow_and_meet
from srtk_framework.types import Budget, FoundPaths, Frontier, NodeSet, Path
from srtk_framework.walking import follow_within

if TYPE_CHECKING:
    from srtk_framework.specs import KnowledgeGraph


def path_text(path: Path) -> tuple[int, tuple[str, ...]]:
    """Order paths by length, then by the text of their steps."""
    return len(path), tuple(str(step) for step in path)


def find_paths(
    graph: KnowledgeGraph,
    starts: Sequence[Sequence[str]],
    ends: Sequence[Sequence[str]],
    hops: int,
    budget: Budget,
    shortest: bool = True,
    inverse: bool = True,
) -> list[FoundPaths]:
    """Find the relation paths that lead from some entity of ``starts[i]`` to some entity of ``ends[i]``.

    A path is found when walking its steps from the starts reaches an end; a walk may pass a node twice. The
    search goes from both ends and meets in the middle, so that three hops read one hop around each end. A
    limit that leaves neighbours out at one end does no harm where the other end can be read whole.

    Args:
        graph: Where to search; ids that it lacks, and literals, are passed over.
        starts: One set of entities for each search.
        ends: As many sets. An end that is a start too is reached by walking back to it only.
        hops: Most steps of a path, at least 1.
        budget: ``hub`` and ``nodes`` apply.
        shortest: Only the paths of the least length; otherwise all up to ``hops``.
        inverse: Also walk against the direction of relations.

    Raises:
        DriverError: If the arguments do not fit together.
    """
    if len(starts) != len(ends):
        raise DriverError(f"find_paths got {len(starts)} sets of starts and {len(ends)} of ends; give pairs")
    if hops < 1:
        raise DriverError(f"find_paths got {hops} hops; give at least 1")
    made = list(graph.frontiers([*starts, *ends]))
    searches = [
        Search(Side(start, False, inverse), Side(end, True, inverse))
        for start, end in zip(made[: len(starts)], made[len(starts) :], strict=True)
    ]
    for length in range(1, hops + 1):
        going = [s for s in searches if s.forward.size and s.backward.size and not (shortest and s.found)]
        first = [(search, search.splits(length)[0]) for search in going]
        grow_and_meet(graph, first, budget)
        # Where a level was cut on the one side, the other side may show what is missing.
        again = [(s, s.splits(length)[1]) for s, split in first if len(s.splits(length)) > 1 and s.level_cut(split)]
        grow_and_meet(graph, again, budget)
        redone = {id(search): split for search, split in again}
        for search, split in first:
            search.count([split, redone[id(search)]] if id(search) in redone else [split])
    return [FoundPaths(tuple(sorted(s.found, key=path_text)), s.cut()) for s in searches]


def follow_path(
    graph: KnowledgeGraph, starts: Sequence[Sequence[str]], paths: Sequence[Path], budget: Budget
) -> list[NodeSet]:
    """Walk ``paths[i]`` from all of ``starts[i]`` and return the entities reached.

    Starts and beginnings of paths that are equal are walked once.

    Returns:
        One set for each pair; its ``cut`` counts the neighbours and nodes that the budget left out on the way.
    """
    if len(starts) != len(paths):
        raise DriverError(f"follow_path got {len(starts)} sets of starts and {len(paths)} paths; give pairs")
    sources = [tuple(sorted(set(ids))) for ids in starts]
    distinct = sorted(set(sources))
    at: dict[tuple[tuple[str, ...], Path], tuple[Frontier, int]] = {
        (source, ()): (frontier, 0) for source, frontier in zip(distinct, graph.frontiers(distinct), strict=True)
    }
    for depth in range(1, max(map(len, paths), default=0) + 1):
        wanted = sorted(
            {(source, path[:depth]) for source, path in zip(sources, paths, strict=True) if len(path) >= depth}
        )
        before = [at[source, path[:-1]] for source, path in wanted]
        reached = follow_within(graph, [frontier for frontier, _ in before], [path[-1] for _, path in wanted], budget)
        for key, (_, missed), (frontier, hub, nodes) in zip(wanted, before, reached, strict=True):
            at[key] = (frontier, missed + hub + nodes)
    found = (at[source, tuple(path)] for source, path in zip(sources, paths, strict=True))
    return [NodeSet(frontier.ids(), cut=cut) for frontier, cut in found]
