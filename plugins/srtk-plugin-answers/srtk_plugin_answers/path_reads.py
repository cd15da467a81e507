"""Frontiers and instances of paths that the questions of one batch read of a graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import attrs

from srtk_framework.graph import Instance, PathKey, instances
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Budget, Frontier, RankedPath, Step


@attrs.frozen
class PathRead:
    """The instances of one path, and the number of nodes and instances that limits left out."""

    instances: Sequence[Instance]
    cut: int


@attrs.define(eq=False)
class PathReads:
    """Read each frontier and each path of a batch of questions once, with one call for many.

    Attributes:
        graph: Graph that is read.
        members: Maximum number of instances of a path that are read.
        links: Linked entities of the questions, whose frontiers the first call reads too.
        symmetric: Relations that are followed in both directions.
    """

    graph: KnowledgeGraph
    members: int
    links: Sequence[str] = ()
    symmetric: Collection[str] = ()
    _frontiers: dict[tuple[str, ...], Frontier] = attrs.field(init=False, factory=dict, repr=False)
    _paths: dict[PathKey, PathRead] = attrs.field(init=False, factory=dict, repr=False)

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Return the frontier of each set of nodes."""
        keys = [tuple(row) for row in node_sets]
        new = [key for key in dict.fromkeys(keys) if key not in self._frontiers]
        if new:
            if not self._frontiers:
                new = list(dict.fromkeys([*new, *((link,) for link in self.links)]))
            self._frontiers.update(zip(new, self.graph.frontiers(new), strict=True))
        return [self._frontiers[key] for key in keys]

    def of(self, paths: Sequence[RankedPath]) -> list[PathRead]:
        """Return the instances of each path, in both directions of its symmetric relations."""
        keys = [(path.entity, path.steps) for path in paths]
        new = {key: path for key, path in zip(keys, paths, strict=True) if key not in self._paths}
        if new:
            ways = [(key, way) for key, path in new.items() for way in both_ways(path, self.symmetric)]
            paths = [path for _, path in ways]
            starts = self.frontiers([[path.entity] for path in paths])
            known: list[Mapping[PathKey, Frontier]] = [
                {(path.entity, ()): start} for path, start in zip(paths, starts, strict=True)
            ]
            cuts: list[dict[str, int]] = [{} for _ in paths]
            limits = Budget(triples=self.members + 1, hub=self.members, nodes=self.members)
            read = instances(self.graph, paths, known, limits, cuts)
            for (key, _), some, cut in zip(ways, read, cuts, strict=True):
                before = self._paths.get(key, PathRead((), 0))
                every = [*before.instances, *some] if before.instances else some
                left = before.cut + sum(cut.values()) + (len(every) > self.members)
                self._paths[key] = PathRead(every[: self.members], left)
        return [self._paths[key] for key in keys]


def both_ways(path: RankedPath, symmetric: Collection[str]) -> list[RankedPath]:
    """Return a path in each direction of its symmetric relations, as it is first."""
    steps = [
        (step, Step(step.relation, not step.inverse)) if step.relation in symmetric else (step,) for step in path.steps
    ]
    return [attrs.evolve(path, steps=way) for way in product(*steps)]
