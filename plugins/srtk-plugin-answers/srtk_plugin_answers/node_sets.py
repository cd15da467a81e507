"""Sets of nodes that a question may be about, and their triples that come first in the result."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import Instance, path_order
from srtk_framework.values import Literal, Path, Question, RankedPath, Triple
from srtk_plugin_answers.question_kinds import QuestionKind

Row = Sequence[tuple[Triple, RankedPath | None]]
"""The triples of one member of a set, each with the path that led to it."""


# Best paths of a search that may lead to the set; each costs a read of its nodes' values or classes.
PATHS = 10
# The best set may not be the right set, so the first member of this many sets comes first.
SETS = 3


@attrs.frozen
class NodeSet:
    """Nodes that one path reaches, or the linked entities themselves.

    Attributes:
        path: The path; None for the linked entities.
        instances: Its instances by member; none for the linked entities.
        cut: Nodes that limits left out.
        values: The triple with the value of each member that a constraint allows, with its path.
        rest: The triples of each node that does not fit the constraints, nodes without a value first.
        behind: Number of nodes that come behind its members, by reason: another `class`, a `value` out of bounds, or
            `no value`.
        bounds: Relation and interval of each constraint that its members meet.
        likened: Whether no word of the question names the relation of a constraint, and others might be meant.
    """

    path: RankedPath | None
    instances: Mapping[str, tuple[Instance, ...]]
    cut: int = 0
    values: Mapping[str, Row] = attrs.field(factory=dict)
    rest: Sequence[Row] = ()
    behind: Mapping[str, int] = attrs.field(factory=dict)
    bounds: Sequence[Mapping[str, str]] = ()
    likened: bool = False

    @property
    def steps(self) -> Path:
        """The steps of the path."""
        return self.path.steps if self.path else ()

    @classmethod
    def at_ends(cls, path: RankedPath, some: Sequence[Instance], links: Container[str], cut: int) -> NodeSet:
        """Gather the instances of a path by their end entity, without links and without ways back over one triple."""
        by_end: dict[str, list[Instance]] = {}
        for one in some:
            turns = len(set(one.triples)) < len(one.triples)
            if not (turns or isinstance(one.end, Literal) or one.end in links):
                by_end.setdefault(one.end, []).append(one)
        return cls(path, {end: tuple(all_) for end, all_ in by_end.items()}, cut)

    @classmethod
    def of_links(cls, question: Question) -> NodeSet:
        """Return the linked entities."""
        return cls(None, dict.fromkeys(dict.fromkeys(link.entity for link in question.links), ()))

    def chain(self, member: str, most: int | None = 1) -> list[tuple[Triple, RankedPath | None]]:
        """Return the triples of the first instances that lead to a member, and the triples with its values."""
        chain = [(triple, self.path) for some in self.instances[member][:most] for triple in some.triples]
        return [*chain, *self.values.get(member, ())]

    def is_known(self) -> bool:
        """Return whether constraints found a value of each member."""
        return "no value" not in self.behind

    def facts(self) -> dict[str, Any]:
        """Return the set's part of the record."""
        facts: dict[str, Any] = {"members": len(self.instances)}
        if self.path is not None:
            facts = {"entity": self.path.entity, "path": [str(step) for step in self.path.steps], **facts}
        if self.bounds:
            facts["bounds"] = list(self.bounds)
        if self.likened:
            facts["likened"] = True
        if self.behind:
            facts["behind"] = dict(self.behind)
        return {**facts, "cut": self.cut} if self.cut else facts


@attrs.frozen
class Lead:
    """The triples that come first in the result.

    Attributes:
        rows: The triples of each member, in order, each with the path that led to it.
        facts: The set's part of the record.
        others: The first rows of further sets that may be meant.
        before: Number of rows before ``others``.
        nodes: For each of the first rows, the node that may have the class of the question.
        answers: The members of a set, or the members at the place of an order that the question names.
        values: The triple with the value that decided, by member.
        path: The path that leads to the set; None where links are compared.
        members: All members of the set.
        proof: The triples that prove the answer, each with the path that led to it.
        score: Score of the path and of the relation that decided; None where nothing was chosen.
        margin: Distance of that score from the next one's with another answer.
    """

    rows: Sequence[Row] = ()
    facts: Mapping[str, Any] = attrs.field(factory=dict)
    others: Sequence[Row] = ()
    before: int = 1
    nodes: Sequence[str] = ()
    answers: Sequence[str] = ()
    values: Mapping[str, Triple] = attrs.field(factory=dict)
    path: RankedPath | None = None
    members: Sequence[str] = ()
    proof: Row = ()
    score: float | None = None
    margin: float = math.inf

    def among(self, sets: Sequence[NodeSet], typed: frozenset[str] = frozenset()) -> Lead:
        """Take into account the distance from the best of the sets that have other members by other relations.

        A value that decided was chosen together with its set, and untyped sets are no rivals of a typed set.
        """
        if self.path is None or self.score is None or self.values or "bounds" in self.facts:
            return self
        of_type = set(self.members) <= typed
        relations = {step.relation for step in self.path.steps}
        others = [
            one.path.score
            for one in sets
            if one.path is not None
            and {step.relation for step in one.steps} != relations
            and one.instances.keys() != set(self.members)
            and (not of_type or one.instances.keys() & typed)
        ]
        margin = self.path.score - max(others) if others else math.inf
        return attrs.evolve(self, margin=min(self.margin, margin))

    def class_first(self, fit: frozenset[str]) -> Lead:
        """Put the rows whose node is of the class asked for first, among those that answer."""
        if not fit:
            return self
        order = sorted(range(len(self.nodes)), key=lambda i: self.nodes[i] not in fit)
        rows = [*(self.rows[i] for i in order), *self.rows[len(order) :]]
        answers = [one for one in self.answers if one in fit] or self.answers
        return attrs.evolve(self, rows=rows, facts={**self.facts, "of_class": len(fit)}, answers=answers)


def whole_set(sets: Sequence[NodeSet]) -> Lead:
    """Return the whole best set; where values are within bounds, also the first member of each further set."""
    if not sets:
        return Lead()
    best, *more = sets
    rows = [best.chain(member, None) for member in best.instances]
    others = [one.chain(member) for one in more if one.values for member in list(one.instances)[:1]]
    facts = {**best.facts(), "complete": not best.cut and best.is_known()}
    members = list(best.instances)
    return Lead(
        [*rows, *best.rest],
        facts,
        others,
        len(rows),
        answers=members,
        path=best.path,
        members=members,
        proof=[pair for member in members for pair in best.chain(member)],
        score=None if best.path is None else best.path.score,
    ).among(more)


def margin(first: Lead, others: Sequence[Lead]) -> float:
    """Return the distance of a lead's score from the best score with another answer."""
    scores = [one.score for one in others if one.score is not None and set(one.answers) != set(first.answers)]
    return first.score - max(scores) if first.score is not None and scores else math.inf


_CALLED = 0.25
"""Least share of a set's members that relations call by a class, for the set to be of it."""


def classed(
    sets: Sequence[NodeSet], fit: frozenset[str], roles: frozenset[str], tables: Container[str] = ()
) -> list[NodeSet]:
    """Return the sets of a class: sets with members that have it, and sets whose members relations call so.

    Args:
        sets: Sets, best first.
        fit: The nodes that have the class; of their sets they alone are kept.
        roles: The nodes that relations call by it; their sets stay whole, but for the rows of other tables.
        tables: Names of several tables of the graph; an id of their rows begins with it.
    """
    kept = []
    for one in sets:
        instances = {member: some for member, some in one.instances.items() if member in fit}
        left = len(one.instances) - len(instances)
        if instances:
            kept.append(attrs.evolve(one, instances=instances, behind={"class": left} if left else {}))
        elif sum(node in roles for node in one.instances) >= max(1, _CALLED * len(one.instances)):
            own = {node.partition(":")[0] for node in one.instances if node in roles}
            others = [node for node in one.instances if (name := node.partition(":")[0]) in tables and name not in own]
            kept.append(_without(one, others) if others else one)
    return kept


def _without(one: NodeSet, others: Sequence[str]) -> NodeSet:
    """Leave out members: the concerts of an artist are no albums."""
    instances = {member: some for member, some in one.instances.items() if member not in others}
    return attrs.evolve(one, instances=instances, behind={"class": len(others)})


def without_detours(sets: Sequence[NodeSet]) -> list[NodeSet]:
    """Leave out sets whose path goes on behind another set, where the answer was reached before."""
    begun = {(one.path.entity, one.path.steps) for one in sets if one.path is not None}
    return [
        one
        for one in sets
        if one.path is None
        or not any((one.path.entity, one.steps[:size]) in begun for size in range(1, len(one.steps)))
    ]


def set_paths(kind: QuestionKind, bounded: bool, named: bool, paths: Sequence[RankedPath]) -> list[RankedPath]:
    """Return the paths that may lead to the set: the best, and where a value decides also without the last step.

    Args:
        kind: Kind of the question.
        bounded: Whether it has a constraint on values.
        named: Whether it asks for all of a class.
        paths: Paths of its subgraph.
    """
    by_value = bounded or kind.kind in ("superlative", "ordinal")
    if kind.kind in ("comparison", "yes-no") or not (by_value or named or kind.kind in ("count", "difference")):
        return []
    best = [path for path in sorted(paths, key=path_order) if path.steps][:PATHS]
    if not by_value:
        return best
    # The last step may lead to the value that decides.
    some = [*best, *(attrs.evolve(path, steps=path.steps[:-1]) for path in best if len(path.steps) > 1)]
    first: dict[tuple[str, Path], RankedPath] = {}
    for path in some:
        first.setdefault((path.entity, path.steps), path)
    return list(first.values())
