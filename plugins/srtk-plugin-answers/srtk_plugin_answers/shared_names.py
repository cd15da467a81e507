"""Nodes with a meaningless name: nodes without a name, and nodes whose name many have, as *authors list*."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Frontier, Literal, Schema, Step, Triple

_MANY = 10
"""Fewest nodes of a name that tells nothing."""
_NAMES = 5
"""Different names of which none tells anything, of nodes that are looked at together."""
_SEEN = 50
"""Nodes of a name that are looked at."""
_NEARLY = 0.9
"""Least share of them that one relation leads to, each from a node of its own."""
_KEPT = 10_000
"""Names that are remembered."""


@attrs.define(eq=False)
class SharedNames:
    """Find the nodes without a name, or with a name that many have, with their content and their owners.

    Many means ten nodes or more behind one relation, each from a node of its own.
    """

    graph: KnowledgeGraph
    schema: Schema
    _known: dict[str, str | None] = attrs.field(init=False, factory=dict, repr=False)

    def are_meaningful(self, nodes: Collection[str], names: Mapping[str, str]) -> bool:
        """Return whether nodes have a name with a meaning: several names do, and a node that ``names`` lacks does."""
        if not nodes or any(isinstance(node, Literal) or node not in names for node in nodes):
            return True
        if all(_is_bare(node, names[node]) for node in nodes):
            return False
        found = {names[node] for node in nodes}
        # A node that is called by its id shares no name, and in a graph without labels all are.
        return len(found) > 1 or found <= {*nodes} or self._leading(found.pop()) is None

    def leading(self, nodes: Sequence[str]) -> str | None:
        """Return the relation that leads to nodes with few and meaningless names; None if a name has a meaning."""
        names = dict(zip(nodes, self.graph.labels(list(nodes[:_SEEN])), strict=False))
        if names and all(_is_bare(*one) for one in names.items()):
            steps = [step for step, row in self._back(list(names)).items() if row]
            return steps.pop().relation if len(steps) == 1 else None
        found = sorted(set(names.values()))
        relations = {self._leading(name) for name in found} if len(found) <= _NAMES else set()
        return relations.pop() if len(relations) == 1 else None

    def _leading(self, name: str) -> str | None:
        if name not in self._known:
            if len(self._known) == _KEPT:
                self._known.clear()
            self._known[name] = self._leading_to(name)
        return self._known[name]

    def _leading_to(self, name: str) -> str | None:
        [alike] = self.graph.find([name])
        if len(alike) < _MANY:
            return None
        alike = alike[:_SEEN]
        for step, row in self._back(alike, len(alike) + 1).items():
            owners = {triple.subject for triple in row}
            if _NEARLY * len(alike) <= len(owners) == len(row) == len({triple.object for triple in row}):
                return step.relation
        return None

    def _back(self, nodes: Sequence[str], most: int | None = None) -> dict[Step, Sequence[Triple]]:
        """Return the triples that lead to nodes, but for classes, by step."""
        [frontier] = self.graph.frontiers([list(nodes)])
        [steps] = self.graph.steps([frontier], True)
        return self._read(frontier, [step for step in steps if step.inverse], most)

    def _read(self, frontier: Frontier, steps: Sequence[Step], most: int | None) -> dict[Step, Sequence[Triple]]:
        steps = [step for step in steps if step.relation not in self.schema.type_relations]
        rows = self.graph.triples([frontier] * len(steps), steps, most)
        return dict(zip(steps, rows, strict=True))

    def owners(self, nodes: Sequence[str], relation: str) -> list[Triple]:
        """Return the triples of a relation that lead to nodes."""
        [row] = self.graph.triples(self.graph.frontiers([list(nodes)]), [Step(relation, True)], None)
        return list(row)

    def onward(self, nodes: Sequence[str], without: str) -> dict[Step, list[Triple]]:
        """Return the triples that lead on from nodes, by step, but for classes and those that end in one node."""
        [frontier] = self.graph.frontiers([list(nodes)])
        [steps] = self.graph.steps([frontier], False)
        read = self._read(frontier, steps, None)
        kept = {step: [triple for triple in row if triple.object != without] for step, row in read.items()}
        return {step: row for step, row in kept.items() if row}


def _is_bare(node: str, name: str) -> bool:
    """Return whether a node has no name but its IRI."""
    return name == node and "://" in node
