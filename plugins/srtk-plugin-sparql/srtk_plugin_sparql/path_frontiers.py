"""Frontiers sent to a server as a path pattern instead of a VALUES list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeGuard

from srtk_plugin_web import RequestError

from srtk_framework.values import Frontier, NodeSet, Step
from srtk_plugin_sparql import path_queries
from srtk_plugin_sparql.path_queries import Trail
from srtk_plugin_sparql.step_reader import StepReader

LONGEST = 3  # Steps of the longest path pattern
NODES_AT_ONCE = 20_000  # Nodes that the path patterns of one query may match together
MEMORY = 10_000  # Path patterns whose steps are kept in memory before all are forgotten


class PathFrontier(NodeSet):
    """A frontier with the path pattern, its trail, that matches these nodes and no others."""

    __slots__ = ("trail",)

    def __init__(self, ids: Iterable[str], trail: Trail) -> None:
        super().__init__(ids)
        self.trail = trail


def remembered(reader: StepReader, origin: Frontier, step: Step, reached: NodeSet) -> Frontier:
    """Give a large frontier that was not cut the path pattern which matches it."""
    if reached.cut or reached.size <= reader.most_named or not reader.walks_relations():
        return reached
    relation = reader.ids.iri(step.relation)
    # A node that no query can name would be walked through here, and nowhere else.
    if relation is None or len(reader.iris(reached.ids())) < reached.size:
        return reached
    if isinstance(origin, PathFrontier) and len(origin.trail.steps) < LONGEST:
        starts, steps = origin.trail
    elif origin.size <= reader.most_named:
        starts, steps = tuple(sorted(reader.iris(origin.ids()).values())), ()
    else:
        return reached
    return PathFrontier(reached.ids(), Trail(starts, (*steps, (relation, step.inverse))))


class _Asked(NamedTuple):
    """A question about the pattern with this number in a query: its steps, or its neighbours along one step."""

    number: int
    frontier: PathFrontier
    step: Step | None
    size: int

    @property
    def trail(self) -> Trail:
        """The path pattern of the frontier."""
        return self.frontier.trail


class PathFrontiers:
    """Steps and neighbours of large frontiers."""

    def __init__(self, reader: StepReader) -> None:
        self.reader = reader
        self._counts: dict[tuple[Trail, bool], dict[Step, int]] = {}
        self._refused: set[Trail] = set()

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> dict[int, list[Step]]:
        """Read the steps of frontiers by their path patterns; frontiers for which this does not pay are left out."""
        if len(self._counts) > MEMORY:
            self._counts.clear()
        large = {place: found for place, found in enumerate(frontiers) if self._pays(found, inverse)}
        unknown = {found.trail: found for found in large.values() if (found.trail, inverse) not in self._counts}
        asked = [_Asked(number, found, None, found.size) for number, found in enumerate(unknown.values())]
        chunks = self._chunks(asked, NODES_AT_ONCE)
        answers = self.reader.together(
            chunks,
            lambda chunk: self.reader.ask(chunk, lambda some: self._onward(some, inverse), "?i ?d ?p", self._note),
        )
        counted: list[dict[Step, int]] = [{} for _ in asked]
        for row in (row for rows in answers for row in rows if "p" in row):
            relation = self.reader.ids.short(row["p"].value)
            if not self.reader.ids.is_hidden(relation):
                place = row.number("i")
                if place >= len(counted):
                    raise row.malformed("a row of the answer is about a path pattern that the query does not name")
                counted[place][Step(relation, row["d"].value == "1")] = row.number("c")
        for one, counts in zip(asked, counted, strict=True):
            if one.trail not in self._refused:
                self._counts[one.trail, inverse] = counts
        return {
            place: sorted(self._counts[found.trail, inverse])
            for place, found in large.items()
            if (found.trail, inverse) in self._counts
        }

    def read(self, frontiers: Sequence[Frontier], steps: Sequence[Step]) -> None:
        """Read the neighbours of large frontiers along steps that were counted, where they are few enough."""
        numbers: dict[Trail, int] = {}
        asked: dict[tuple[Trail, Step], _Asked] = {}
        for frontier, step in zip(frontiers, steps, strict=True):
            if not self._pays(frontier, step.inverse) or self.reader.keeps(frontier.ids(), step):
                continue
            size = self._size(frontier.trail, step)
            if size is not None and size <= self.reader.most_rows:
                number = numbers.setdefault(frontier.trail, len(numbers))
                asked[frontier.trail, step] = _Asked(number, frontier, step, size)
        chunks = self._chunks(list(asked.values()), self.reader.most_rows)
        answers = self.reader.together(
            chunks, lambda chunk: self.reader.ask(chunk, self._beyond, "?d ?n ?p ?o", self._note)
        )
        for chunk, rows in zip(chunks, answers, strict=True):
            self.reader.keep([(one.frontier.ids(), one.step, one.size) for one in chunk if one.step], rows)

    def _pays(self, frontier: Frontier, inverse: bool) -> TypeGuard[PathFrontier]:
        """Return whether a frontier has a path pattern, and more unread nodes than one query can name."""
        return (
            isinstance(frontier, PathFrontier)
            and frontier.trail not in self._refused
            and self.reader.unread(frontier.ids(), inverse) > self.reader.most_named
        )

    def _size(self, trail: Trail, step: Step) -> int | None:
        """Return how many triples lead along a step from the end of a trail, where that was counted."""
        for inverse in (False, True):
            if (inverse or not step.inverse) and (trail, inverse) in self._counts:
                return self._counts[trail, inverse].get(step, 0)
        return None

    def _chunks(self, asked: Sequence[_Asked], most: int) -> list[list[_Asked]]:
        """Put path patterns of one form into queries of a moderate size."""
        chunks: list[list[_Asked]] = []
        form: tuple[bool, ...] = ()
        named = size = 0
        for one in sorted(asked, key=lambda one: (_form(one.trail), one.number)):
            named, size = named + len(one.trail.starts), size + one.size
            if not chunks or _form(one.trail) != form or named > self.reader.most_named or size > most:
                chunks.append([])
                form, named, size = _form(one.trail), len(one.trail.starts), one.size
            chunks[-1].append(one)
        return chunks

    def _onward(self, asked: Sequence[_Asked], inverse: bool) -> str:
        return path_queries.onward(self.reader.queries, _numbered(asked), inverse)

    def _beyond(self, asked: Sequence[_Asked]) -> str:
        written = ((one.number, self.reader.ids.iri(one.step.relation), one.step.inverse) for one in asked if one.step)
        steps = [(number, relation, back) for number, relation, back in written if relation is not None]
        return path_queries.beyond(self.reader.queries, _numbered(asked), steps)

    def _note(self, asked: Sequence[_Asked], error: RequestError) -> bool:
        """Leave a frontier whose path pattern the server refuses to queries that name its nodes."""
        if len(asked) == 1:
            self._refused.add(asked[0].trail)
        return len(asked) == 1


def _numbered(asked: Sequence[_Asked]) -> list[tuple[int, Trail]]:
    return list(dict.fromkeys((one.number, one.trail) for one in asked))


def _form(trail: Trail) -> tuple[bool, ...]:
    """Return the directions of a trail's steps, which one query has in common."""
    return tuple(back for _, back in trail.steps)
