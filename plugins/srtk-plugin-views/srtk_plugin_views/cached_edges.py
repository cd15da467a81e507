"""Edges of a view, read in batches and cached, next to the edges of the graph that they are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Literal, Qualifier, Step, Triple

Edges = Mapping[str, Sequence[str]]
"""Neighbours by relation, sorted."""
NONE: Edges = {}

# Edges that the cache holds, so that a hub does not fill the memory; it is emptied when it is full.
MEMORY = 2_000_000


class CachedEdges(ABC):
    """The edges of nodes in a graph without the nodes that only hold others together, each read once.

    Args:
        graph: Graph with these nodes.
        patterns: Patterns of their ids.
        unnamed: Whether only nodes without a label are left out.
        hidden: Patterns of relations to leave out.
        types: Type relations, which are never hidden.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        patterns: Sequence[str],
        unnamed: bool,
        hidden: Sequence[str] = (),
        types: Sequence[str] = (),
    ) -> None:
        self._graph = graph
        self._patterns = tuple(patterns)
        self._unnamed = unnamed
        self._hidden = tuple(hidden)
        self._types = frozenset(types)
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
        fitting = [node for node in unsure if fits(node, self._patterns)]
        names = self._graph.labels(fitting) if self._unnamed and fitting else fitting
        # Where ids are names, a snapshot shows m.0_abc with a blank.
        self._mediators.update(
            {node: name in (node, node.replace("_", " ")) for node, name in zip(fitting, names, strict=True)}
        )
        self._kept += len(unsure)

    def _is_mediator(self, node: str) -> bool:
        return not isinstance(node, Literal) and self._mediators[node]

    def _is_hidden(self, relation: str) -> bool:
        return relation not in self._types and fits(relation, self._hidden)

    @abstractmethod
    def load(self, nodes: Iterable[str], inverse: bool) -> None:
        """Load the edges of nodes in one direction."""

    def called(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities of the graph with each name; some may not be in the view."""
        return self._graph.find(names)

    @abstractmethod
    def leading_to(self, literal: str) -> list[Triple]:
        """Find the triples whose object is a literal, sorted."""

    @abstractmethod
    def qualifiers(self, subject: str, halves: tuple[str, ...], object_: str) -> Sequence[Qualifier]:
        """Return the qualifiers of a composite triple with a loaded subject."""

    @abstractmethod
    def ways(self, triple: Triple) -> Sequence[Sequence[Triple]]:
        """Return the triples of the graph that a triple with a loaded subject stands for, once for each way."""

    def ends(self, node: str, inverse: bool) -> Edges:
        """Return the joined edges of a loaded node."""
        return self._joined[inverse].get(node, NONE)

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


def fits(text: str, patterns: Sequence[str]) -> bool:
    """Return whether a text fits any of some patterns."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)
