"""The paths that searches of a snapshot meet most often, counted by relations without a search."""

from __future__ import annotations

import numpy as np

from srtk_framework.values import Path, Step
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.csr import Ints, spread

# A few seconds and a few hundred megabytes, whatever the size of the graph.
_NODES = 1 << 18
_PATHS = 1 << 24
_BLOCK = 1 << 21


def frequent_paths(snapshot: Snapshot, count: int) -> tuple[list[Path], int]:
    """Return all paths of one step, then paths of two and of three steps, the most frequent of each length first.

    The frequency of a path is the number of edges along its first step whose end has the second; of three steps, one
    end of the second step must have the third. It is exact for two steps where a graph is small enough for it. Else
    every n-th node stands for all; nodes with very many paths are left out. Ties are broken by the order of the steps.

    Args:
        snapshot: The graph.
        count: Most paths of two and three steps.

    Returns:
        The paths, and the number of nodes that are left out.
    """
    nodes = np.arange(0, snapshot.size, -(-snapshot.size // _NODES) or 1)
    nodes = nodes[~snapshot.is_literal(nodes)]
    steps = [Step(relation, inverse) for relation in snapshot.relations for inverse in (False, True)]
    paths: list[Path] = [(step,) for step in steps]
    dense = 0
    # A search scores two steps of each question before it knows which three it needs.
    for length in (2, 3):
        left = count + len(steps) - len(paths)
        if left > 0:
            rows, dense = _most_frequent(snapshot, nodes, len(steps), length)
            paths += [tuple(steps[n] for n in row) for row in rows[:left]]
    return paths, dense  # A node that is too dense for two steps is so for three.


def _most_frequent(snapshot: Snapshot, nodes: Ints, steps: int, length: int) -> tuple[list[list[int]], int]:
    """Count the paths of 2 or 3 steps whose first step ends in one of the nodes.

    Returns:
        Their step numbers, best first, and the number of nodes that are left out.
    """
    sizes = _sizes(snapshot, nodes, length)
    dense = int(np.count_nonzero(sizes > _BLOCK))
    nodes, sizes = nodes[sizes <= _BLOCK], sizes[sizes <= _BLOCK]
    every = -(-int(sizes.sum()) // _PATHS) or 1
    nodes, total = nodes[::every], int(sizes[::every].sum())
    keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for block in np.array_split(nodes, -(-total // _BLOCK) or 1):
        found, edges = _paths_through(snapshot, block, steps, length)
        keys, places = np.unique(np.concatenate([keys, found]), return_inverse=True)
        # Sums of whole numbers below 2**53 are exact in float64.
        counts = np.bincount(places, np.concatenate([counts, edges]), len(keys)).astype(np.int64)
    best = keys[np.argsort(-counts, kind="stable")]
    rows: list[list[int]] = np.stack([best // steps**n % steps for n in range(length - 1, -1, -1)], axis=1).tolist()
    return rows, dense


def _sizes(snapshot: Snapshot, nodes: Ints, length: int) -> Ints:
    """Count the paths whose first step ends in each node."""
    own = _steps_of(snapshot, nodes)
    if length == 2:
        return own * own
    place, _, _, ends = _groups(snapshot, nodes)
    return own * np.bincount(place, _steps_of(snapshot, ends), len(nodes)).astype(np.int64)


def _steps_of(snapshot: Snapshot, nodes: Ints) -> Ints:
    """Count the steps that leave each node."""
    bounds = [side.groups(nodes) for side in (snapshot.forward, snapshot.inverse)]
    return sum((last - first for first, last in bounds), np.zeros(len(nodes), dtype=np.int64))


def _groups(snapshot: Snapshot, nodes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the place of a node, a step that leaves it, its number of edges and one end, sorted by place."""
    parts = []
    for inverse, side in enumerate((snapshot.forward, snapshot.inverse)):
        groups, offsets = spread(*side.groups(nodes))
        starts, ends = side.runs(groups)
        place = np.repeat(np.arange(len(nodes)), np.diff(offsets))
        middle = side.targets[(starts + ends) // 2].astype(np.int64)
        parts.append((place, 2 * side.relations[groups].astype(np.int64) + inverse, ends - starts, middle))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    place, step, edges, end = (column[order] for column in columns)
    return place, step, edges, end


def _paths_through(snapshot: Snapshot, nodes: Ints, steps: int, length: int) -> tuple[Ints, Ints]:
    """Return the keys of all paths whose first step ends in one of the nodes, and the edges of their first step."""
    place, step, edges, ends = _groups(snapshot, nodes)
    # No search starts at a literal, or goes on from it.
    entity = ~snapshot.is_literal(ends)
    # Edges along a step into a node leave it against the step, which is the neighbouring number.
    first, second, key = _joined(step[entity] ^ 1, place[entity], place, step, steps)
    edges = edges[entity][first]
    if length == 2:
        return key, edges
    further = entity[second]
    distinct, at = np.unique(ends[second[further]], return_inverse=True)
    places, thirds, _, _ = _groups(snapshot, distinct)
    before, _, key = _joined(key[further], at, places, thirds, steps)
    return key, edges[further][before]


def _joined(keys: Ints, at: Ints, places: Ints, added: Ints, steps: int) -> tuple[Ints, Ints, Ints]:
    """Extend each key by each step at its place; return the rows of both sides, and the new keys."""
    right, offsets = spread(np.searchsorted(places, at, side="left"), np.searchsorted(places, at, side="right"))
    left = np.repeat(np.arange(len(at)), np.diff(offsets))
    return left, right, keys[left] * steps + added[right]
