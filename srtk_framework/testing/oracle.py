"""The contract of KnowledgeGraph written down plainly over one dictionary, for comparison with other graphs."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.testing.sample import SAMPLE, Sample
from srtk_framework.text import fold, own_spellings
from srtk_framework.values import Budget, Frontier, Literal, NodeSet, Origin, Pattern, Qualifier, Schema, Step, Triple


@functools.lru_cache(maxsize=8)
def _neighbours(sample: Sample) -> tuple[dict[tuple[str, Step], list[str]], dict[str, set[Step]]]:
    """Sort the neighbours of each node along each step, and list the steps of each node."""
    ends: dict[tuple[str, Step], set[str]] = {}
    for subject, relation, object_ in sample.triples:
        ends.setdefault((subject, Step(relation)), set()).add(object_)
        if not isinstance(object_, Literal):
            ends.setdefault((object_, Step(relation, True)), set()).add(subject)
    steps: dict[str, set[Step]] = {}
    for node, step in ends:
        steps.setdefault(node, set()).add(step)
    return {key: sorted(found) for key, found in ends.items()}, steps


@functools.lru_cache(maxsize=8)
def _names(sample: Sample) -> list[tuple[str, set[str]]]:
    """Fold the label and the aliases of each entity."""
    return [
        (id_, {fold(name) for name in (sample.labels.get(id_, id_), *sample.aliases.get(id_, ()))})
        for id_ in sample.entities
    ]


@functools.lru_cache(maxsize=8)
def _hash(sample: Sample) -> str:
    parts = (sample.triples, *(sorted(part.items()) for part in (sample.labels, sample.aliases, sample.qualifiers)))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@attrs.define(eq=False)
class OracleGraph(KnowledgeGraph):
    """Answer from a dictionary of (node, step) to sorted neighbours; slow on purpose where that is plainer.

    No method calls another of its methods, so that a fault in one shows in that one alone.

    Attributes:
        sample: The triples, labels, aliases and qualifiers.
    """

    sample: Sample = attrs.field(default=SAMPLE, repr=False)
    _ends: Mapping[tuple[str, Step], list[str]] = attrs.field(init=False, factory=dict, repr=False)
    _steps: Mapping[str, set[Step]] = attrs.field(init=False, factory=dict, repr=False)
    _entities: frozenset[str] = attrs.field(init=False, default=frozenset(), repr=False)
    _names: Sequence[tuple[str, set[str]]] = attrs.field(init=False, factory=list, repr=False)

    def __attrs_post_init__(self) -> None:
        """Fill the dictionaries; not in `open`, so that a driver may be tested over a graph that was never opened."""
        self._ends, self._steps = _neighbours(self.sample)
        self._entities = frozenset(self.sample.entities)
        self._names = _names(self.sample)

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Keep the ids that are entities."""
        return [NodeSet(id_ for id_ in ids if id_ in self._entities) for ids in node_sets]

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> list[list[Step]]:
        """Collect the steps of the nodes."""
        return [
            sorted({s for node in frontier.ids() for s in self._steps.get(node, ()) if inverse or not s.inverse})
            for frontier in frontiers
        ]

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Collect the neighbours that are entities."""
        return [self._follow(frontier, step, limit) for frontier, step in zip(frontiers, steps, strict=True)]

    def _follow(self, frontier: Frontier, step: Step, limit: int | None) -> NodeSet:
        rows = [self._ends.get((node, step), []) for node in frontier.ids()]
        reached = {end for ends in rows for end in ends[:limit] if not isinstance(end, Literal)}
        return NodeSet(reached, cut=sum(len(ends) - len(ends[:limit]) for ends in rows))

    def triples(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        """Write the neighbours as triples."""
        return [self._triples(frontier, step, limit) for frontier, step in zip(frontiers, steps, strict=True)]

    def _triples(self, frontier: Frontier, step: Step, limit: int | None) -> list[Triple]:
        pairs = [(node, end) for node in frontier.ids() for end in self._ends.get((node, step), [])[:limit]]
        return [Triple(b, step.relation, a) if step.inverse else Triple(a, step.relation, b) for a, b in pairs]

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        """Compare each pattern with all triples."""
        return [
            sorted(t for t in self.sample.triples if s in (None, t[0]) and r in (None, t[1]) and o in (None, t[2]))
            for s, r, o in patterns
        ]

    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> list[list[Triple]]:
        """Go hop by hop; within a hop by step, then as ``triples`` does."""
        return [self._neighbourhood(frontier, hops, budget) for frontier in frontiers]

    def _neighbourhood(self, frontier: Frontier, hops: int, budget: Budget) -> list[Triple]:
        found: dict[Triple, None] = {}
        seen = set(frontier.ids())
        current = list(frontier.ids())
        for _ in range(hops):
            at = NodeSet(current)
            reached: set[str] = set()
            for step in sorted({s for node in current for s in self._steps.get(node, ())}):
                found.update(dict.fromkeys(self._triples(at, step, budget.hub)))
                reached.update(self._follow(at, step, budget.hub).ids())
            current = sorted(reached - seen)[: budget.nodes]
            seen.update(current)
        return list(found)[: budget.triples]

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Look labels up; a literal's is its value."""
        return [self.sample.labels.get(id_, id_.lexical if isinstance(id_, Literal) else id_) for id_ in ids]

    def other_names(self, ids: Sequence[str]) -> list[list[str]]:
        """Look aliases up."""
        return [sorted(self.sample.aliases.get(id_, ())) for id_ in ids]

    def own_ids(self, ids: Sequence[str], relations: bool) -> list[str]:
        """Compare every spelling with the ids of the sample."""
        own = {triple.relation for triple in self.sample.triples} if relations else self._entities
        return own_spellings(ids, None, relations, own.intersection)

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Compare each name with the label and the aliases of each entity."""
        wanted = [fold(name) for name in names]
        return [[id_ for id_, known in self._names if name in known] for name in wanted]

    def degrees(self, ids: Sequence[str]) -> list[int]:
        """Count triples; a loop counts once."""
        return [
            sum(id_ in (t.subject, t.object) for t in self.sample.triples) if id_ in self._entities else 0
            for id_ in ids
        ]

    def qualifiers(self, triples: Sequence[Triple]) -> list[tuple[Qualifier, ...]]:
        """Look qualifiers up."""
        return [tuple(self.sample.qualifiers.get(triple, ())) for triple in triples]

    def origins(self, triples: Sequence[Triple]) -> list[Origin]:
        """Name a part of the graph for each relation, so that a subgraph which names the whole for each is noticed."""
        return [Origin(f"{self.source()}/{triple.relation}") for triple in triples]

    def schema(self) -> Schema:
        """Name the one relation that holds a class of thing together."""
        return Schema(noise=("code",))

    def source(self) -> str:
        """Name the kit and a hash of all that the graph holds."""
        return f"oracle:{_hash(self.sample)}"

    def fingerprint(self) -> str:
        """Name the content of the graph."""
        return f"OracleGraph of {_hash(self.sample)}"
