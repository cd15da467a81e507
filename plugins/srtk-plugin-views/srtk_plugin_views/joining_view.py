"""Views that join several triples of a graph to a single triple, and leave out the nodes between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from srtk_framework.roles import GraphView, KnowledgeGraph, not_open
from srtk_framework.values import (
    DriverError,
    Frontier,
    Literal,
    NodeSet,
    Origin,
    Pattern,
    Qualifier,
    Schema,
    Step,
    Triple,
)
from srtk_plugin_views import composites
from srtk_plugin_views.cached_edges import CachedEdges
from srtk_plugin_views.stepwise import StepwiseView


@attrs.define(eq=False)
class ChosenReader(GraphView):
    """A view whose ``open`` chooses its reader: the graph itself, or a view that changes its triples."""

    _reader: KnowledgeGraph | None = attrs.field(init=False, default=None, repr=False)

    def close(self) -> None:
        """Release the cached edges."""
        self._reader = None

    @property
    def answering(self) -> KnowledgeGraph:
        """The chosen reader."""
        if self._reader is None:
            raise not_open(self)
        return self._reader


@attrs.define(eq=False)
class JoiningView(StepwiseView):
    """A view that reads cached edges over a graph with the nodes that are left out.

    Attributes:
        edges: The joined edges.
    """

    edges: CachedEdges

    @property
    def _open(self) -> CachedEdges:
        """The edges, whose cache was emptied if it was full."""
        self.edges.forget()
        return self.edges

    def schema(self) -> Schema:
        """Return the schema of the graph without mediators."""
        known = self.graph.schema()
        return attrs.evolve(
            known,
            type_relations=tuple(map(composites.escape, known.type_relations)),
            subclass_relations=tuple(map(composites.escape, known.subclass_relations)),
            # They are no nodes here, and a view on top must not join them again.
            mediators=(),
        )

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Make one frontier of each set of ids, without mediators."""
        known = self._open.exist(id_ for ids in node_sets for id_ in ids)
        return [NodeSet(id_ for id_ in ids if id_ in known and not isinstance(id_, Literal)) for ids in node_sets]

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> list[list[Step]]:
        """Read the distinct steps that leave each frontier, sorted."""
        edges = self._open
        nodes = [frontier.ids() for frontier in frontiers]
        directions = (False, True) if inverse else (False,)
        for back in directions:
            edges.load((id_ for ids in nodes for id_ in ids), back)
        return [
            sorted({Step(r, back) for id_ in ids for back in directions for r in edges.ends(id_, back)})
            for ids in nodes
        ]

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Follow each step to the entities at its end; a limit counts all neighbours, literals included."""
        answers: list[Frontier] = []
        for rows in self._walk(frontiers, steps):
            reached = (end for _, ends in rows for end in ends[:limit] if not isinstance(end, Literal))
            answers.append(NodeSet(reached, cut=sum(len(ends) - len(ends[:limit]) for _, ends in rows)))
        return answers

    def triples(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        """Read the triples along each step, literals included."""
        return [
            [
                Triple(end, step.relation, start) if step.inverse else Triple(start, step.relation, end)
                for start, ends in rows
                for end in ends[:limit]
            ]
            for step, rows in zip(steps, self._walk(frontiers, steps), strict=True)
        ]

    def _walk(self, frontiers: Sequence[Frontier], steps: Sequence[Step]) -> list[list[tuple[str, Sequence[str]]]]:
        """Return each node of each frontier with its neighbours along the step."""
        edges = self._open
        pairs = list(zip([frontier.ids() for frontier in frontiers], steps, strict=True))
        for back in (False, True):
            edges.load((id_ for ids, step in pairs if step.inverse == back for id_ in ids), back)
        return [[(id_, edges.neighbours(id_, step)) for id_ in ids] for ids, step in pairs]

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        """Find the triples of each pattern, sorted.

        A pattern of a relation alone reads the whole of its first part in the graph.

        Raises:
            DriverError: If a pattern has neither subject nor object nor relation, or the graph lists no whole relation.
        """
        edges = self._open
        # Without any of them, the edges of the whole graph would have to be joined for one answer.
        for pattern in patterns:
            if pattern.subject is None and pattern.object is None and pattern.relation is None:
                raise DriverError(f"{pattern} has neither subject nor object; give at least one of them")
        edges.load((p.subject for p in patterns if p.subject is not None), False)
        edges.load((p.object for p in patterns if p.subject is None and p.object is not None), True)
        return [
            sorted(t for t in _around(edges, p) if p.relation in (None, t.relation) and p.object in (None, t.object))
            if p.subject is not None or p.object is not None
            else self._whole(edges, str(p.relation))
            for p in patterns
        ]

    def _whole(self, edges: CachedEdges, relation: str) -> list[Triple]:
        """Return all triples of a relation, which begin at the ends of its first part."""
        [row] = self.graph.match([Pattern(None, part, None) for part in composites.parts(relation)[:1]]) or [()]
        ends = sorted({end for t in row for end in (t.subject, t.object) if not isinstance(end, Literal)})
        edges.load(ends, False)
        return sorted(t for end in ends for t in _around(edges, Pattern(end)) if t.relation == relation)

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Return the label of each id; a composite has the labels of its parts."""
        names = {id_: composites.parts(id_) for id_ in ids if not isinstance(id_, Literal)}
        joined = self._joined(id_ for id_, parts in names.items() if len(parts) > 1)
        asked = [id_ for id_ in ids if id_ not in joined]
        asked = list(dict.fromkeys([*asked, *(name for parts in names.values() for name in parts)]))
        found = dict(zip(asked, self.graph.labels(asked), strict=True)) | {id_: id_ for id_ in joined}
        return [composites.label_of(id_, names.get(id_, ()), found) for id_ in ids]

    def _joined(self, ids: Iterable[str]) -> set[str]:
        """Return the ids in the form of a composite that are no entities: an entity may have any id."""
        every = list(ids)
        frontiers = self.graph.frontiers([[id_] for id_ in every]) if every else []
        return {id_ for id_, frontier in zip(every, frontiers, strict=True) if not frontier.size}

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the entities with each name."""
        edges = self._open
        found = edges.called(names)
        known = edges.exist(id_ for ids in found for id_ in ids)
        return [[id_ for id_ in ids if id_ in known] for ids in found]

    def qualifiers(self, triples: Sequence[Triple]) -> list[tuple[Qualifier, ...]]:
        """Read the qualifiers of each triple, sorted: the other triples of all its mediators."""
        edges = self._open
        edges.load((triple.subject for triple in triples), False)
        there = [t.object in edges.neighbours(t.subject, Step(t.relation)) for t in triples]
        halves = [composites.parts(triple.relation) for triple in triples]
        single = [
            t._replace(relation=names[0])
            for t, fact, names in zip(triples, there, halves, strict=True)
            if fact and len(names) == 1
        ]
        known = dict(zip(single, self.graph.qualifiers(single), strict=True)) if single else {}
        return [
            ()
            if not fact
            else tuple(known[triple._replace(relation=names[0])])
            if len(names) == 1
            else tuple(edges.qualifiers(triple.subject, names, triple.object))
            for triple, fact, names in zip(triples, there, halves, strict=True)
        ]

    def origins(self, triples: Sequence[Triple]) -> list[Origin]:
        """Return the origin of each triple; a joined triple has the origin of its least confident part.

        If several mediators lead to the same triple, the mediator with the more confident parts counts.
        """
        edges = self._open
        edges.load((triple.subject for triple in triples), False)
        ways = [edges.ways(triple) for triple in triples]
        asked = list(dict.fromkeys(half for row in ways for way in row for half in way))
        known = dict(zip(asked, self.graph.origins(asked), strict=True)) if asked else {}
        plain = Origin(self.source())
        return [
            max((min((known[half] for half in way), key=_confidence) for way in row), key=_confidence, default=plain)
            for row in ways
        ]


def _confidence(origin: Origin) -> float:
    return origin.confidence


def _around(edges: CachedEdges, pattern: Pattern) -> list[Triple]:
    """Return the triples at the bound end of a pattern."""
    if pattern.subject is not None:
        node = pattern.subject
        return [Triple(node, r, end) for r, ends in edges.ends(node, False).items() for end in ends]
    node = str(pattern.object)
    if isinstance(pattern.object, Literal):
        return edges.leading_to(pattern.object)
    return [Triple(end, r, node) for r, ends in edges.ends(node, True).items() for end in ends]
