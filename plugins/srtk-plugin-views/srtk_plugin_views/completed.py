"""The ``completed`` graph: a view of another graph with the triples that completers add to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs

from srtk_framework.roles import Completer, GraphView, KnowledgeGraph, Role, not_open
from srtk_framework.values import (
    Budget,
    DriverError,
    Frontier,
    Origin,
    Pattern,
    RatedTriples,
    Step,
    Triple,
    at_least,
    not_empty,
    share,
)
from srtk_framework.values import Literal as LiteralValue
from srtk_plugin_views.completions import Completions
from srtk_plugin_views.view_frontier import ViewFrontier, end_of, first_of_each, inner_frontiers, start_of

Rows = Mapping[int, Mapping[Triple, float]]
"""Completed triples, with their confidences, by the place of their frontier in a batch."""


@attrs.define(eq=False)
class CompletedGraph(GraphView):
    """A graph with the triples that completers add to it.

    A triple that the graph lacks is in the completed graph if (subject, relation, ?) yields it, or (?, relation,
    object), as ``ends`` allows. A pattern yields the first ``most`` triples that the completers propose for it with a
    confidence of at least ``least``. Stored triples do not count, nor triples whose ends the graph does not know. So
    whether a triple is in the graph, and its origin, depend on the triple alone.

    A read that is bound at one end completes the other end: a step forward adds the triples of (subject, relation, ?),
    an inverse step the triples of (?, relation, object). A pattern with both ends is answered by either. ``triples``
    rates completed triples in the direction of the read, so that a budget keeps the stored triples first. The ``fan``
    of a frontier counts stored triples alone, and completed triples where none is stored.

    ``match`` without relation, ``neighbourhood``, ``paths``, ``degrees`` and ``find`` read stored triples alone.

    Attributes:
        graph: The stored graph.
        completers: Completers over the stored graph; the most confident completer of a triple counts.
        least: Lowest confidence of a completed triple.
        most: Most triples that complete one pattern.
        ends: Open ends to complete: object (steps forward), subject (inverse steps), or both.
        patterns: Nodes of a frontier that are completed, first in order of id; the others count as cut.
    """

    graph: KnowledgeGraph
    completers: Sequence[Completer] = attrs.field(validator=not_empty("name at least one"))
    least: float = attrs.field(default=0.5, validator=share)
    most: int = attrs.field(default=10, validator=at_least(1))
    ends: Literal["object", "subject", "both"] = "object"
    patterns: int = attrs.field(default=64, validator=at_least(1))
    _completions: Completions | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Check that no completer reads the completed graph itself.

        Raises:
            DriverError: If a completer does.
        """
        for completer in self.completers:
            if any(driver is self for driver in _drivers_in(completer)):
                name = getattr(completer, "name", "") or type(completer).__name__
                raise DriverError(
                    f"the completer {name} reads the completed graph, which would be completed in itself; give it the"
                    " stored graph"
                )
        self._completions = Completions(self.graph, self.completers, self.least, self.most)

    def close(self) -> None:
        """Release the completions."""
        self._completions = None

    @property
    def _open(self) -> Completions:
        if self._completions is None:
            raise not_open(self)
        return self._completions

    def _completes(self, step: Step) -> bool:
        """Return whether the end of a step may be completed."""
        return self.ends in ("subject" if step.inverse else "object", "both")

    # Steps and what they lead to

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier, stored or offered by a completer, sorted."""
        inner = inner_frontiers(frontiers)
        rows = [set(row) for row in self.graph.steps(inner, inverse)]
        sets = [tuple(frontier.ids()[: self.patterns]) for frontier in inner]
        for completer in self.completers:
            for row, offered in zip(rows, completer.offers(sets, inverse), strict=True):
                row.update(step for step in offered if self._completes(step))
        return [sorted(row) for row in rows]

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Follow each step to the entities at its end, stored or completed.

        ``limit`` counts both; ``cut`` also counts the nodes that were not completed.
        """
        inner = inner_frontiers(frontiers)
        added = self._added(inner, steps)
        completed = {place: {start_of(triple, steps[place]) for triple in row} for place, row in added.items()}
        # The nodes without completions are followed in the stored graph; the others are read triple by triple.
        sets = [[id_ for id_ in inner[place].ids() if id_ not in nodes] for place, nodes in completed.items()]
        rest = dict(zip(completed, self.graph.frontiers(sets), strict=True))
        reached = self.graph.follow([rest.get(place, at) for place, at in enumerate(inner)], steps, limit)
        ends = self.graph.frontiers([sorted(nodes) for nodes in completed.values()])
        which = [steps[place] for place in completed]
        stored = self.graph.triples(ends, which, limit)
        over = self.graph.follow(ends, which, limit)
        # Nodes beyond ``patterns`` are not completed, so that something may be missing behind them.
        cuts = [
            one.cut + (max(0, at.size - self.patterns) if self._completes(step) else 0)
            for one, at, step in zip(reached, inner, steps, strict=True)
        ]
        fans = [frontier.fan for frontier in reached]
        sets = []
        for place, row, frontier in zip(completed, stored, over, strict=True):
            step = steps[place]
            every, kept = _merged(row, added[place], step, limit)
            sets.append([*reached[place].ids(), *_entities_behind(kept, step)])
            cuts[place] += frontier.cut + len(every) - len(kept)
            certain = len({*reached[place].ids(), *_entities_behind(row, step)})
            # Where nothing is stored, guesses would else pass for a step that leads to a single entity.
            fans[place] = certain + reached[place].cut + frontier.cut or len(every)
        joined = dict(zip(completed, self.graph.frontiers(sets), strict=True))
        answers = [joined.get(place, frontier) for place, frontier in enumerate(reached)]
        return [
            one if (one.cut, one.fan) == (cut, fan) else ViewFrontier(one, cut, fan)
            for one, cut, fan in zip(answers, cuts, fans, strict=True)
        ]

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples along each step, stored and completed, literals included; ``limit`` counts both."""
        inner = inner_frontiers(frontiers)
        added = self._added(inner, steps)
        stored = self.graph.triples(inner, steps, limit)
        return [
            RatedTriples(_merged(row, added[place], steps[place], limit)[1], added[place]) if place in added else row
            for place, row in enumerate(stored)
        ]

    def _added(self, frontiers: Sequence[Frontier], steps: Sequence[Step]) -> Rows:
        """Return the triples that complete the first nodes of each frontier along its step, if there are any."""
        asked = {
            place: [_pattern(node, step) for node in frontier.ids()[: self.patterns]]
            for place, (frontier, step) in enumerate(zip(frontiers, steps, strict=True))
            if self._completes(step)
        }
        found = self._open.of(pattern for row in asked.values() for pattern in row)
        rows = {
            place: {triple: origin.confidence for pattern in row for triple, origin in found[pattern].items()}
            for place, row in asked.items()
        }
        return {place: row for place, row in rows.items() if row}

    # Patterns

    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Find the triples of each pattern, sorted; also completed triples if it has a relation and a bound end."""
        stored = self.graph.match(patterns)
        half = {
            place: pattern
            for place, pattern in enumerate(patterns)
            if pattern.relation is not None and (pattern.subject is None) != (pattern.object is None)
            if not isinstance(pattern.object, LiteralValue)
            and self._completes(Step(pattern.relation, pattern.subject is None))
        }
        found = self._open.of(half.values())
        whole = {
            place: Triple(subject, relation, object_)
            for place, ((subject, relation, object_), row) in enumerate(zip(patterns, stored, strict=True))
            if subject is not None and relation is not None and object_ is not None and not row
        }
        held = self._completed(list(whole.values()))
        rows: list[Sequence[Triple]] = list(stored)
        for place, pattern in half.items():
            rows[place] = sorted([*stored[place], *found[pattern]])
        for place, triple in whole.items():
            rows[place] = [triple] if triple in held else []
        return rows

    def _completed(self, triples: Sequence[Triple]) -> dict[Triple, Origin]:
        """Return the origins of the completed triples among triples that are not stored."""
        found: dict[Triple, Origin] = {}
        for inverse in (False, True):
            asked = {
                triple: _pattern(triple.object if inverse else triple.subject, Step(triple.relation, inverse))
                for triple in triples
                if triple not in found
                and self._completes(Step(triple.relation, inverse))
                and not isinstance(triple.object, LiteralValue)
            }
            yielded = self._open.of(asked.values())
            found.update({t: yielded[pattern][t] for t, pattern in asked.items() if t in yielded[pattern]})
        return found

    def origins(self, triples: Sequence[Triple]) -> Sequence[Origin]:
        """Return the origin of each triple.

        A completed triple has its origin from (subject, relation, ?) if that yields it, else from the other pattern.
        """
        stored = self.graph.match([Pattern(*triple) for triple in triples])
        completed = self._completed([triple for triple, row in zip(triples, stored, strict=True) if not row])
        rest = [triple for triple in triples if triple not in completed]
        of_graph = dict(zip(rest, self.graph.origins(rest), strict=True))
        return [completed[triple] if triple in completed else of_graph[triple] for triple in triples]

    # Stored triples alone

    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Read the stored triples within ``hops`` of each frontier."""
        return self.graph.neighbourhood(inner_frontiers(frontiers), hops, budget)


def _pattern(node: str, step: Step) -> Pattern:
    return Pattern(None, step.relation, node) if step.inverse else Pattern(node, step.relation)


def _merged(
    stored: Sequence[Triple], added: Iterable[Triple], step: Step, limit: int | None
) -> tuple[list[Triple], list[Triple]]:
    """Order stored and completed triples as ``triples`` does.

    Returns:
        All, and the first ``limit`` of each node.
    """
    every = sorted([*stored, *added], key=lambda triple: (start_of(triple, step), end_of(triple, step)))
    return every, first_of_each(every, step, limit)


def _entities_behind(triples: Iterable[Triple], step: Step) -> Iterator[str]:
    """Yield the entities to which a step leads."""
    ends = (end_of(triple, step) for triple in triples)
    return (end for end in ends if not isinstance(end, LiteralValue))


def _drivers_in(driver: Any) -> Iterator[Any]:
    """Yield the drivers that a driver holds, at any depth, without their ports."""
    left, seen = [driver], set[int]()
    while left:
        one = left.pop()
        one = getattr(one, "driver", one)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if attrs.has(type(one)):
            values = (getattr(one, field.name, None) for field in attrs.fields(type(one)))
            for value in values:
                parts = value if isinstance(value, list | tuple) else [value]
                left += [part for part in parts if isinstance(getattr(part, "driver", part), Role)]
