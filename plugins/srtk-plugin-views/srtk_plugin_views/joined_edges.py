"""Edges joined through the mediators of a graph, read in batches and cached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Literal, Pattern, Qualifier, Triple
from srtk_plugin_views import composites
from srtk_plugin_views.cached_edges import NONE, CachedEdges, Edges, fits


class JoinedEdges(CachedEdges):
    """The edges of nodes in the joined graph, each read once.

    Args:
        graph: Graph with mediators as nodes.
        patterns: Patterns of the ids of mediators.
        unnamed: Whether only nodes without a label are mediators.
        hidden: Patterns of relations to leave out.
        types: Type relations, which are never hidden and never half of a composite.
        noise: Patterns of further relations that are never half of a composite.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        patterns: Sequence[str],
        unnamed: bool,
        hidden: Sequence[str],
        types: Sequence[str],
        noise: Sequence[str],
    ) -> None:
        super().__init__(graph, patterns, unnamed, hidden, types)
        self._noise = tuple(noise)

    def may_join(self, relation: str) -> bool:
        """Return whether a relation may be half of a composite."""
        return relation not in self._types and not fits(relation, self._noise)

    def load(self, nodes: Iterable[str], inverse: bool) -> None:
        """Load the joined edges of nodes in one direction, in three reads of the graph."""
        table = self._joined[inverse]
        missing = [node for node in dict.fromkeys(nodes) if node not in table and not isinstance(node, Literal)]
        self._judge(missing)
        table.update(dict.fromkeys(missing, NONE))
        missing = [node for node in missing if not self._mediators[node]]
        self._read(missing, inverse)
        self._judge(end for node in missing for ends in self._raw[inverse][node].values() for end in ends)
        middles = [
            end
            for node in missing
            for relation, ends in self._raw[inverse][node].items()
            if self.may_join(relation)
            for end in ends
            if self._is_mediator(end)
        ]
        self._read(middles, inverse)
        self._judge(end for node in middles for ends in self._raw[inverse][node].values() for end in ends)
        for node in missing:
            table[node] = self._join(node, inverse)

    def _join(self, node: str, inverse: bool) -> Edges:
        found: dict[str, set[str]] = {}
        for first, middles in self._raw[inverse][node].items():
            apart = {end for end in middles if not self._is_mediator(end)}
            if apart:
                found.setdefault(composites.escape(first), set()).update(apart)
            if not self.may_join(first):
                continue
            for middle in middles:
                if self._is_mediator(middle):
                    for second, ends in self._raw[inverse][middle].items():
                        reached = [end for end in ends if end != node and not self._is_mediator(end)]
                        if reached and self.may_join(second):
                            name = composites.join(second, first) if inverse else composites.join(first, second)
                            found.setdefault(name, set()).update(reached)
        self._kept += sum(map(len, found.values()))
        return {relation: sorted(ends) for relation, ends in found.items()}

    def leading_to(self, literal: str) -> list[Triple]:
        """Find the joined triples whose object is a literal."""
        plain = [t for t in self._graph.match([Pattern(object=literal)])[0] if not self._is_hidden(t.relation)]
        self._judge(triple.subject for triple in plain)
        middles = [triple.subject for triple in plain if self._is_mediator(triple.subject)]
        self._read(middles, True)
        starts = [n for middle in middles for ends in self._raw[True][middle].values() for n in ends]
        self._judge(starts)
        nodes = [*(t.subject for t in plain if not self._is_mediator(t.subject)), *starts]
        self.load(nodes, False)
        found = {
            Triple(node, relation, end)
            for node in dict.fromkeys(nodes)
            for relation, ends in self.ends(node, False).items()
            for end in ends
            if isinstance(end, Literal) and end == literal
        }
        return sorted(found)

    def mediators(self, subject: str, halves: tuple[str, ...], object_: str) -> list[str]:
        """Return the mediators, sorted, through which a joined triple with a loaded subject leads."""
        first, second = halves
        return [
            middle
            for middle in self._raw[False].get(subject, NONE).get(first, ())
            if self._is_mediator(middle) and object_ in self._raw[False][middle].get(second, ())
        ]

    def qualifiers(self, subject: str, halves: tuple[str, ...], object_: str) -> list[Qualifier]:
        """Return the qualifiers of a joined triple with a loaded subject: the other triples of its mediators."""
        second = halves[1]
        found: set[Qualifier] = set()
        for middle in self.mediators(subject, halves, object_):
            for relation, ends in self._raw[False][middle].items():
                if self.may_join(relation):
                    found.update(
                        (composites.escape(relation), end)
                        for end in ends
                        if not self._is_mediator(end) and end != subject and (relation, end) != (second, object_)
                    )
        return sorted(found)

    def ways(self, triple: Triple) -> list[tuple[Triple, ...]]:
        """Return the triples of the graph that a triple with a loaded subject stands for, once for each mediator."""
        subject, relation, object_ = triple
        names = composites.split(relation)
        if len(names) == 1:
            return [(triple._replace(relation=names[0]),)]
        if len(names) != 2:
            return []
        return [
            (Triple(subject, names[0], middle), Triple(middle, names[1], object_))
            for middle in self.mediators(subject, names, object_)
        ]
