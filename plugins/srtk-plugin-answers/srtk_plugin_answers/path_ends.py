"""Where the paths of a subgraph lead within it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from srtk_framework.values import Literal, Path, RankedPath, Subgraph

Way = tuple[int, ...]
"""Places of the triples that lead to a node, in the order of the steps."""


def turns_back(way: Way) -> bool:
    """Return whether a triple leads forth and back."""
    return len(set(way)) < len(way)


@attrs.define(eq=False)
class PathEnds:
    """Follow the paths of a subgraph in its own triples; beginnings that paths share are followed once.

    Ways to a node that go forth and back over one triple count last. Relations that are ``symmetric`` are followed in
    both directions.
    """

    found: Subgraph
    symmetric: Collection[str] = ()
    _onward: dict[tuple[str, str, bool], list[tuple[str, int]]] = attrs.field(init=False, factory=dict, repr=False)
    _levels: dict[tuple[str, Path], Mapping[str, Way]] = attrs.field(init=False, factory=dict, repr=False)
    _reached: dict[str, Way] | None = attrs.field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        onward = self._onward
        for place, (subject, relation, object_) in enumerate(self.found.triples):
            onward.setdefault((subject, relation, False), []).append((object_, place))
            onward.setdefault((object_, relation, True), []).append((subject, place))
            if relation in self.symmetric:
                onward.setdefault((subject, relation, True), []).append((object_, place))
                onward.setdefault((object_, relation, False), []).append((subject, place))

    def of(self, path: RankedPath) -> Mapping[str, Way]:
        """Return where a path ends, literals too, with the places of the triples that lead there."""
        return self._level(path.entity, path.steps)

    def reached(self) -> dict[str, Way]:
        """Return the nodes behind any step of the paths, first first, each with the places of the triples to it."""
        if self._reached is None:
            ways: dict[str, Way] = {}
            begun = dict.fromkeys(
                (path.entity, path.steps[:size]) for path in self.found.paths for size in range(1, len(path.steps) + 1)
            )
            for entity, steps in begun:
                for end, way in self._level(entity, steps).items():
                    if not isinstance(end, Literal) and (end not in ways or way[-1] < ways[end][-1]):
                        ways[end] = way
            starts = {path.entity for path in self.found.paths}
            self._reached = {
                end: ways[end] for end in sorted(ways, key=lambda end: ways[end][::-1]) if end not in starts
            }
        return self._reached

    def _level(self, entity: str, steps: Path) -> Mapping[str, Way]:
        if not steps:
            return {entity: ()}
        if (known := self._levels.get((entity, steps))) is not None:
            return known
        level: dict[str, Way] = {}
        relation, inverse = steps[-1]
        for node, way in self._level(entity, steps[:-1]).items():
            if not isinstance(node, Literal):
                for end, place in self._onward.get((node, relation, inverse), ()):
                    if end not in level or (turns_back(level[end]) and not turns_back((*way, place))):
                        level[end] = (*way, place)
        self._levels[entity, steps] = level
        return level
