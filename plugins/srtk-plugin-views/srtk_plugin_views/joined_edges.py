"""Edges joined through the mediators of a graph, read in batches and cached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Literal, Pattern, Qualifier, Step, Triple
from srtk_plugin_views import composites

Edges = Mapping[str, Sequence[str]]
"""Neighbours by relation, sorted."""
_NONE: Edges = {}

MEMORY = 2_000_000
"""Capacity of the cache in edges; it is emptied when it is full."""


class JoinedEdges:
    """The edges of nodes in the joined graph, each read once.

    Args:
        graph: Graph with mediators as nodes.
        patterns: Patterns of the ids of mediators.
        unnamed: Whether only nodes without a label are mediators.
        to_literals: Whether a joined step may end in a literal.
        hidden: Patterns of relations to leave out.
        types: Type relations, which are never hidden and never half of a composite.
        noise: Patterns of further relations that are never half of a composite.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        patterns: Sequence[str],
        unnamed: bool,
        to_literals: bool,
        hidden: Sequence[str],
        types: Sequence[str],
        noise: Sequence[str],
    ) -> None:
        self._graph = graph
        self._patterns = tuple(patterns)
        self._unnamed = unnamed
        self._to_literals = to_literals
        self._hidden = tuple(hidden)
        self._types = frozenset(types)
        self._noise = tuple(noise)
        self._mediators: dict[str, bool] = {}
        self._raw: tuple[dict[str, Edges], dict[str, Edges]] = ({}, {})
        self._joined: tuple[dict[str, Edges], dict[str, Edges]] = ({}, {})
        self._kept = 0

    def forget(self) -> None:
        """Empty the cache if it is full; called between reads."""
        if self._kept > MEMORY:
            for kept in (self._mediators, *self._raw, *self._joined):
                kept.clear()
            self._kept = 0

    # The graph with mediators

    def _read(self, nodes: Iterable[str], inverse: bool) -> None:
        """Read the outgoing or incoming edges of nodes in the graph with mediators."""
        table = self._raw[inverse]
        missing = [node for node in dict.fromkeys(nodes) if node not in table]
        if not missing:
            return
        frontiers = self._graph.frontiers([[node] for node in missing])
        rows = self._graph.steps(frontiers, inverse)
        pairs = [
            (place, step)
            for place, row in enumerate(rows)
            for step in row
            if step.inverse == inverse and not self._is_hidden(step.relation)
        ]
        read = self._graph.triples([frontiers[place] for place, _ in pairs], [step for _, step in pairs], None)
        found: dict[str, dict[str, Sequence[str]]] = {node: {} for node in missing}
        for (place, step), triples in zip(pairs, read, strict=True):
            found[missing[place]][step.relation] = [t.subject if inverse else t.object for t in triples]
            self._kept += len(triples)
        table.update(found)
        self._kept += len(missing)

    def _judge(self, nodes: Iterable[str]) -> None:
        """Determine which nodes are mediators."""
        unsure = [n for n in dict.fromkeys(nodes) if n not in self._mediators and not isinstance(n, Literal)]
        self._mediators.update(dict.fromkeys(unsure, False))
        fitting = [node for node in unsure if _fits(node, self._patterns)]
        names = self._graph.labels(fitting) if self._unnamed and fitting else fitting
        self._mediators.update({node: name == node for node, name in zip(fitting, names, strict=True)})
        self._kept += len(unsure)

    def _is_mediator(self, node: str) -> bool:
        return not isinstance(node, Literal) and self._mediators[node]

    def may_join(self, relation: str) -> bool:
        """Return whether a relation may be half of a composite."""
        return relation not in self._types and not _fits(relation, self._noise)

    def _is_hidden(self, relation: str) -> bool:
        return relation not in self._types and _fits(relation, self._hidden)

    # The joined graph

    def load(self, nodes: Iterable[str], inverse: bool) -> None:
        """Load the joined edges of nodes in one direction, in three reads of the graph."""
        table = self._joined[inverse]
        missing = [node for node in dict.fromkeys(nodes) if node not in table and not isinstance(node, Literal)]
        self._judge(missing)
        table.update(dict.fromkeys(missing, _NONE))
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
                    for second, ends in self._onward(middle, inverse).items():
                        name = composites.join(second, first) if inverse else composites.join(first, second)
                        reached = [end for end in ends if end != node]
                        if reached:
                            found.setdefault(name, set()).update(reached)
        self._kept += sum(map(len, found.values()))
        return {relation: sorted(ends) for relation, ends in found.items()}

    def _onward(self, middle: str, inverse: bool) -> Edges:
        """Return the edges that leave a mediator in the same direction."""
        return {
            relation: [
                end
                for end in ends
                if not self._is_mediator(end) and (self._to_literals or not isinstance(end, Literal))
            ]
            for relation, ends in self._raw[inverse][middle].items()
            if self.may_join(relation)
        }

    def ends(self, node: str, inverse: bool) -> Edges:
        """Return the joined edges of a loaded node."""
        return self._joined[inverse].get(node, _NONE)

    def neighbours(self, node: str, step: Step) -> Sequence[str]:
        """Return the neighbours of a loaded node along a step."""
        return self.ends(node, step.inverse).get(step.relation, ())

    def exist(self, nodes: Iterable[str]) -> set[str]:
        """Return the nodes that occur in a joined triple."""
        every = [node for node in dict.fromkeys(nodes) if not isinstance(node, Literal)]
        self.load(every, False)
        unsure = [node for node in every if not self.ends(node, False)]
        self.load(unsure, True)
        return {node for node in every if self.ends(node, False) or self.ends(node, True)}

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

    def mediators(self, subject: str, halves: tuple[str, str], object_: str) -> list[str]:
        """Return the mediators, sorted, through which a joined triple with a loaded subject leads."""
        first, second = halves
        return [
            middle
            for middle in self._raw[False].get(subject, _NONE).get(first, ())
            if self._is_mediator(middle) and object_ in self._raw[False][middle].get(second, ())
        ]

    def qualifiers(self, subject: str, halves: tuple[str, str], object_: str) -> list[Qualifier]:
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


def _fits(text: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)
