"""The ``operations`` expander: the whole set that a question counts, compares or takes from, and what decides."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from srtk_framework.graph import Instance, finish, instances, path_order
from srtk_framework.roles import Expander, KnowledgeGraph, PathScorer
from srtk_framework.text import link_shares, link_topics, unnamed_entities, without_mentions
from srtk_framework.values import (
    Budget,
    Literal,
    Path,
    Pattern,
    Question,
    RankedPath,
    Schema,
    Step,
    Subgraph,
    Triple,
    rounded,
)
from srtk_plugin_views.end_classes import of_class
from srtk_plugin_views.literal_values import is_date, value_of
from srtk_plugin_views.question_classes import MENTION, asked_classes
from srtk_plugin_views.question_kinds import QuestionKind, kind_of
from srtk_plugin_views.question_values import ValueConstraint, clauses, value_constraints

_SAMPLE = 8
"""Members whose values show whether a relation has numbers or dates."""
_PART = 0.5
"""Part of the budget for a set that does not fit into all of it."""
_JOIN = 2
"""Maximum number of steps from one link over the set to another."""
_LEAST_SHARE = 1e-6
"""Replaces a link's share of 0, which has no logarithm."""
_START = frozenset(["start", "since", "from", "begin", "beginning"])
_END = frozenset(["end", "until", "till", "to"])
"""Words in the names of qualifiers that give the first or the last date of a statement."""
_WORD = re.compile(r"[a-z]+")
_YEARS = (1000, 2100)
"""Whole numbers that may be years, where no datatype says so."""

Row = Sequence[tuple[Triple, RankedPath | None]]
"""The triples of one member of a set, each with the path that led to it."""


@attrs.frozen
class _Set:
    """Nodes that one path reaches, or the linked entities themselves.

    Attributes:
        path: The path; None for the linked entities.
        instances: Its instances by member; none for the linked entities.
        cut: Nodes that limits left out.
        values: The triple with the value of each member that a constraint allows, with its path.
        rest: What does not fit the constraints: the triples of each such node, those without a value first.
        behind: Number of nodes that come behind its members, by reason: another `class`, a `value` out of bounds, or
            `no value`.
        bounds: Relation and interval of each constraint that its members meet.
    """

    path: RankedPath | None
    instances: Mapping[str, tuple[Instance, ...]]
    cut: int = 0
    values: Mapping[str, Row] = attrs.field(factory=dict)
    rest: Sequence[Row] = ()
    behind: Mapping[str, int] = attrs.field(factory=dict)
    bounds: Sequence[Mapping[str, str]] = ()

    @property
    def steps(self) -> Path:
        """The steps of the path."""
        return self.path.steps if self.path else ()


@attrs.frozen
class _Lead:
    """What comes first in the result.

    Attributes:
        rows: The triples of each member, in order, each with the path that led to it.
        facts: What the record says of the set.
        others: What is asked for of other sets that may be meant.
        before: Number of rows that come before the others.
        nodes: The node that the class of the question is asked of, for each of the first rows.
    """

    rows: Sequence[Row] = ()
    facts: Mapping[str, Any] = attrs.field(factory=dict)
    others: Sequence[Row] = ()
    before: int = 1
    nodes: Sequence[str] = ()


@attrs.define(eq=False)
class OperationsExpander(Expander):
    """Put first what the question's operation needs: a whole set, and for a comparison the values that decide.

    The kind of the question (``kind_of``) and, of the set, its path, size and completeness are in the trace.

    - `count`: all that the best path of the inner expander leads to.
    - `superlative`, `ordinal`: all that a path leads to, each with the number or date of one relation, those asked for
      first. Path and relation are chosen together: the inner expander's score of the path plus the path scorer's of
      the relation as its next step, among relations with numbers or dates.
    - `comparison`: such a value for each linked entity.
    - `difference`: all that the best path from one link leads to, without what a path from another link leads to first.
    - `yes-no`: the triples that join two links.
    - `lookup` with several topics: what joins two of them, by the best paths over a node, of those that the inner
      expander found.
    - `time-bound`: statements whose qualifiers allow the year before the others, those that contradict it last.

    All else follows as the inner expander has it. Besides:

    - *Classes.* Where the schema has type relations and the question names a class (*which city*), what has that class
      comes before the rest; in sets it alone is counted and compared.
    - *Values.* Where the question bounds a number or a date (*with more than two million inhabitants*), the members of
      a set whose value is within come first, each with it; the relation is chosen as for a superlative.

    Attributes:
        inner: Expander that finds the paths.
        graph: Graph from which the sets are read.
        scorer: Chooses the relation that decides.
        budget: Limits on the result.
        paths: Best paths of the inner expander that may lead to the set.
        sets: Sets of which the member that is asked for comes first; of the best of them all members follow. For
            topics that are joined, the paths of which a node comes first; of the best of them all nodes do.
        members: Maximum number of instances of a path that are read.
        mention: Replaces the linked entities' mentions in the text that the scorer reads; null leaves them, and `auto`
            is what suits the scorer.
        types: Whether a class that the question names decides what comes first.
        typed: Maximum number of nodes of a question whose classes are read.
    """

    inner: Expander
    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget = attrs.field(factory=Budget)
    paths: int = 10
    sets: int = 3
    members: int = 1000
    mention: str | None = "auto"
    types: bool = True
    typed: int = 1000
    _schema: Schema = attrs.field(init=False, factory=Schema, repr=False)

    def __attrs_post_init__(self) -> None:
        for name in ("paths", "sets", "members", "typed"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")

    def open(self) -> None:
        """Read the graph's schema."""
        self._schema = self.graph.schema()

    def needs_links(self) -> bool:
        """Return what the inner expander returns."""
        return self.inner.needs_links()

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Expand with the inner expander, and put first what each question's operation needs."""
        if not questions:
            return []
        found = self.inner.expand(questions)
        kinds = [kind_of(question.text) for question in questions]
        found, decided = self._in_years(kinds, found)
        texts = self._texts(questions)
        bounds, asked = self._conditions(questions, kinds, decided)
        sets = self._sets(questions, kinds, bounds, asked, found)
        nodes = [
            [*_reached(subgraph), *(member for one in some for member in one.instances)] if phrases else []
            for subgraph, some, phrases in zip(found, sets, asked, strict=True)
        ]
        classed, cuts = self._of_class(asked, nodes)
        leads = [
            self._lead(question, kind, subgraph, some, _narrowed(some, fit), text, limits)
            for question, kind, subgraph, some, fit, text, limits in zip(
                questions, kinds, found, sets, classed, texts, bounds, strict=True
            )
        ]
        further, _ = self._of_class(asked, [lead.nodes for lead in leads])
        ranked = []
        for subgraph, kind, lead, phrases, fit, cut, more in zip(
            found, kinds, leads, asked, classed, cuts, further, strict=True
        ):
            ranked.append(self._led(_of_class_first(subgraph, phrases, fit, cut), kind, _reordered(lead, more)))
        return finish(self.graph, ranked, self.budget)

    def _lead(
        self,
        question: Question,
        kind: QuestionKind,
        found: Subgraph,
        sets: Sequence[_Set],
        named: Sequence[_Set],
        text: str,
        bounds: Sequence[ValueConstraint],
    ) -> _Lead:
        if kind.kind == "comparison":
            lead = self._compared(question, kind, [_linked(question)], text)
            return lead if lead.rows or not bounds else self._valued(question, text, bounds[0])
        if kind.kind == "yes-no":
            lead = self._joining(question)
            return lead if lead.rows or not bounds else self._valued(question, text, bounds[0])
        if kind.kind in ("superlative", "ordinal"):
            lead = self._first_of(question, kind, named, text, bounds) if named else _Lead()
            return lead if lead.rows else self._first_of(question, kind, sets, text, bounds)
        bounded = self._bounded(question, named or sets, bounds, text)
        if kind.kind == "count":
            return _counted(bounded or named or sets)
        if kind.kind == "difference":
            return self._excluding(question, bounded or named or sets, text)
        lead = self._intersecting(question, found, text) if kind.kind == "lookup" else _Lead()
        return lead if lead.rows else _counted(bounded) if bounded else self._whole(found, named)

    def _first_of(
        self,
        question: Question,
        kind: QuestionKind,
        sets: Sequence[_Set],
        text: str,
        bounds: Sequence[ValueConstraint],
    ) -> _Lead:
        """Return a set by the values of a relation; of one within bounds also where it has a single member."""
        bounded = self._bounded(question, sets, bounds, text)
        lead = self._compared(question, kind, bounded or sets, clauses(text)[0] if bounded else text)
        return lead if lead.rows or not bounded else _counted(bounded)

    # Classes

    def _conditions(
        self, questions: Sequence[Question], kinds: Sequence[QuestionKind], decided: Sequence[bool]
    ) -> tuple[list[Sequence[ValueConstraint]], list[Sequence[str]]]:
        """Return each question's constraints on values, and the phrases that may name the class of what it asks for."""
        typed = self.types and bool(self._schema.type_relations)
        # Where the statements have dates, a year is theirs.
        bounds: list[Sequence[ValueConstraint]] = [
            () if told else value_constraints(question.text) for question, told in zip(questions, decided, strict=True)
        ]
        asked: list[Sequence[str]] = [() for _ in questions]
        places = [place for place, row in enumerate(bounds) if row or typed]
        unnamed = unnamed_entities([questions[place] for place in places])
        labels = dict(zip(unnamed, self.graph.labels(unnamed), strict=True)) if unnamed else {}
        for place in places:
            question = questions[place]
            text = without_mentions(question, question.links, labels, MENTION)
            bounds[place] = value_constraints(text) if bounds[place] else ()
            if typed and kinds[place].kind not in ("comparison", "yes-no"):
                asked[place] = asked_classes(text)
        return bounds, asked

    def _of_class(
        self, asked: Sequence[Sequence[str]], nodes: Sequence[Sequence[str]]
    ) -> tuple[list[frozenset[str]], list[int]]:
        """Find the nodes that have the class asked for, and count those that were not looked at."""
        distinct = [list(dict.fromkeys(row)) for row in nodes]
        found = of_class(self.graph, self._schema, asked, [row[: self.typed] for row in distinct])
        return found, [max(0, len(row) - self.typed) for row in distinct]

    def _whole(self, found: Subgraph, named: Sequence[_Set]) -> _Lead:
        """Return all of the class asked for that a path leads to, if they leave room for others.

        The path is the best that leads to what has the class and comes first in the inner expander's result.
        """
        members = {member for one in named for member in one.instances}
        first = next((node for node in _reached(found) if node in members), None)
        lead = _counted([one for one in named if first is None or first in one.instances][:1])
        size = len({triple for row in lead.rows for triple, _ in row})
        most = self.budget.triples
        return lead if most is None or size <= int(most * _PART) else _Lead()

    # Sets

    def _sets(
        self,
        questions: Sequence[Question],
        kinds: Sequence[QuestionKind],
        bounds: Sequence[Sequence[ValueConstraint]],
        asked: Sequence[Sequence[str]],
        found: Sequence[Subgraph],
    ) -> list[list[_Set]]:
        """Read the sets that each question may be about, best path first."""
        wanted = [
            self._set_paths(kind, bool(row), bool(phrases), subgraph.paths)
            for kind, row, phrases, subgraph in zip(kinds, bounds, asked, found, strict=True)
        ]
        flat = [path for row in wanted for path in row]
        cuts: list[dict[str, int]] = [{} for _ in flat]
        limits = Budget(triples=self.members + 1, hub=self.members, nodes=self.members)
        read = iter(zip(instances(self.graph, flat, [{}] * len(flat), limits, cuts), cuts, strict=True))
        sets: list[list[_Set]] = []
        for question, row in zip(questions, wanted, strict=True):
            links = {link.entity for link in question.links}
            sets.append([])
            for path in row:
                some, cut = next(read)
                left = sum(cut.values()) + (len(some) > self.members)
                one = _grouped(path, some[: self.members], links, left)
                if one.instances:
                    sets[-1].append(one)
        return sets

    def _set_paths(
        self, kind: QuestionKind, bounded: bool, named: bool, paths: Sequence[RankedPath]
    ) -> list[RankedPath]:
        """Return the paths that may lead to the set: the best, and where a value decides those without a last step."""
        best = [path for path in sorted(paths, key=path_order) if path.steps][: self.paths]
        if kind.kind in ("comparison", "yes-no"):
            return []
        if not bounded and kind.kind not in ("superlative", "ordinal"):
            return best if named or kind.kind in ("count", "difference") else []
        # The last step may lead to the value that decides.
        some = [*best, *(attrs.evolve(path, steps=path.steps[:-1]) for path in best if len(path.steps) > 1)]
        first: dict[tuple[str, Path], RankedPath] = {}
        for path in some:
            first.setdefault((path.entity, path.steps), path)
        return list(first.values())

    # Values

    def _compared(self, question: Question, kind: QuestionKind, sets: Sequence[_Set], text: str) -> _Lead:
        """Return the set with the values that decide, those asked for first."""
        sets = [one for one in sets if len(one.instances) > 1]
        rated = self._deciding(question, sets, text)
        if not rated:
            return _Lead()
        leads: dict[frozenset[Triple], _Lead] = {}
        for _, _, relation, place in sorted(rated):
            lead = self._ordered(kind, sets[place], relation)
            # Sets that differ in their paths alone are one.
            leads.setdefault(frozenset(triple for row in lead.rows for triple, _ in row[-1:]), lead)
            if len(leads) == self.sets:
                break
        first, *others = leads.values()
        asked = [lead.rows[0] for lead in others]
        # Of links that are compared, the answer is none without the other.
        return _Lead(first.rows, first.facts, asked, 1 if sets[0].path else len(first.rows))

    def _ordered(self, kind: QuestionKind, chosen: _Set, relation: str) -> _Lead:
        """Return a set by the values of a relation, the member asked for first, those without a value last."""
        values = self._values(chosen, relation, kind.greatest)
        # What is first in time is the earliest, what is first in number the greatest.
        greatest = kind.greatest if kind.greatest is not None else not _dated(values)
        order = sorted(values, key=lambda member: (-values[member][0] if greatest else values[member][0], member))
        order = [*order[kind.rank - 1 : kind.rank], *order[: kind.rank - 1], *order[kind.rank :]]
        lacking = sorted(chosen.instances.keys() - values.keys())
        path = chosen.path
        further = None if path is None else attrs.evolve(path, steps=(*path.steps, Step(relation)))
        rows: list[Row] = [[*_chain(chosen, member), (values[member][1], further)] for member in order]
        rows += [_chain(chosen, member) for member in lacking]
        rows += chosen.rest
        facts = {
            "relation": relation,
            "order": "descending" if greatest else "ascending",
            "rank": kind.rank,
            **_described(chosen),
            "with_value": len(order),
        }
        return _Lead(rows, {**facts, "complete": not chosen.cut and not lacking and _known(chosen)})

    def _deciding(
        self,
        question: Question,
        sets: Sequence[_Set],
        text: str,
        bound: ValueConstraint | None = None,
        clause: str | None = None,
    ) -> list[tuple[float, int, str, int]]:
        """Rate each relation with numbers or dates of each set, as the last step of the set's path.

        Args:
            question: The question.
            sets: Sets of which one member or more has a value.
            text: What the scorer reads.
            bound: Constraint for whose values the relations must be fit: dates or numbers.
            clause: What the scorer reads for the relation alone.

        Returns:
            Sort keys, the best least: the negative score, the length of the path, the relation, and the set's place.
        """
        frontiers = self.graph.frontiers([sorted(one.instances)[:_SAMPLE] for one in sets])
        offered = [self._clear(row) for row in self.graph.steps(frontiers, False)]
        at = [frontier for frontier, row in zip(frontiers, offered, strict=True) for _ in row]
        read = iter(self.graph.triples(at, [step for row in offered for step in row], None))
        pairs = [(place, step) for place, row in enumerate(offered) for step in row if _decides(next(read), bound)]
        if clause is None:
            scores = self._path_scores([(*sets[place].steps, step) for place, step in pairs], text)
        else:
            begun = self._path_scores([sets[place].steps for place, _ in pairs], text)
            rows = self.scorer.score(
                [clause] * len(pairs), [sets[place].steps for place, _ in pairs], [[step] for _, step in pairs]
            )
            scores = [first + row[0] for first, row in zip(begun, rows, strict=True)]
        shares: dict[str, float] = {}
        for link, share in zip(question.links, link_shares(question.links), strict=True):
            shares[link.entity] = max(share, shares.get(link.entity, _LEAST_SHARE))
        rated = []
        for (place, step), score in zip(pairs, scores, strict=True):
            path = sets[place].path
            weight = 0.0 if path is None else math.log(shares.get(path.entity, 1.0))
            rated.append((-rounded(score + weight), len(sets[place].steps), step.relation, place))
        return rated

    def _clear(self, steps: Sequence[Step]) -> list[Step]:
        """Leave out noise relations."""
        return [
            step for step in steps if not any(fnmatchcase(step.relation, pattern) for pattern in self._schema.noise)
        ]

    def _values(self, one: _Set, relation: str, greatest: bool | None) -> dict[str, tuple[float, Triple]]:
        """Return each member's value with its triple: the greatest of several, or the least."""
        [row] = self.graph.triples(self.graph.frontiers([sorted(one.instances)]), [Step(relation)], None)
        best: dict[str, tuple[float, Triple]] = {}
        for triple in row:
            value = value_of(triple.object)
            if value is None:
                continue
            known = best.get(triple.subject)
            if known is None or (value > known[0] if greatest else value < known[0]):
                best[triple.subject] = (value, triple)
        return best

    # Constraints on values

    def _bounded(
        self, question: Question, sets: Sequence[_Set], bounds: Sequence[ValueConstraint], text: str
    ) -> list[_Set]:
        """Return the sets with members whose values are within bounds, those members alone, the best choice first."""
        chosen: list[_Set] = []
        _, parts = clauses(text)
        told = parts if len(parts) == len(bounds) else [text] * len(bounds)
        for bound, clause in zip(bounds, told, strict=True):
            rated = sorted(self._deciding(question, chosen or sets, text, bound, clause))[: self.paths]
            within: dict[int, _Set] = {}
            for _, _, relation, place in rated:
                if place in within:
                    continue
                one = self._within((chosen or sets)[place], relation, bound)
                # What is counted (more than three prizes) has no value of which none is too small.
                if one.instances and (one.behind.get("value") or not bound.is_small):
                    within[place] = one
                if len(within) == self.sets:
                    break
            chosen = list(within.values()) or chosen
        return chosen

    def _within(self, one: _Set, relation: str, bound: ValueConstraint) -> _Set:
        """Return a set without the members whose value of a relation is not within bounds, or not known."""
        [row] = self.graph.triples(self.graph.frontiers([sorted(one.instances)]), [Step(relation)], None)
        path = None if one.path is None else attrs.evolve(one.path, steps=(*one.path.steps, Step(relation)))
        best: dict[str, tuple[bool, Triple]] = {}
        for triple in row:
            value = value_of(triple.object)
            if value is not None and not best.get(triple.subject, (False,))[0]:
                best[triple.subject] = (bound.allows(value), triple)
        kept = [member for member in one.instances if best.get(member, (False,))[0]]
        unknown = [member for member in one.instances if member not in best]
        other = [member for member in best if not best[member][0]]
        valued = {member: [*one.values.get(member, ()), (triple, path)] for member, (_, triple) in best.items()}
        counts = {"value": len(other), "no value": len(unknown)}
        behind = {name: one.behind.get(name, 0) + counts.get(name, 0) for name in ("class", *counts)}
        return attrs.evolve(
            one,
            instances={member: one.instances[member] for member in kept},
            values={member: valued[member] for member in kept},
            rest=[
                *(_chain(one, member) for member in unknown),
                *([*_chain(one, m), *valued[m]] for m in other),
                *one.rest,
            ],
            behind={name: count for name, count in behind.items() if count},
            bounds=[*one.bounds, {"relation": relation, "within": str(bound)}],
        )

    def _valued(self, question: Question, text: str, bound: ValueConstraint) -> _Lead:
        """Return the values of the links on which the question sets a bound."""
        linked = _linked(question)
        rated = sorted(self._deciding(question, [linked], text, bound))
        if not rated:
            return _Lead()
        one = self._within(linked, rated[0][2], bound)
        rows = [*one.values.values(), *(row for row in one.rest if row)]
        return _Lead(rows, {**_described(one), "complete": _known(one)})

    # What another link leaves out

    def _excluding(self, question: Question, sets: Sequence[_Set], text: str) -> _Lead:
        """Return the whole set between two links, the part that is not joined to the one mentioned last first."""
        paths, last = self._joining_paths(question, text)
        for path in paths:
            whole, joining = self._parted(path, last, question)
            only = [member for member in whole.instances if member not in joining]
            if only and joining:
                rows = [_all_chains(whole, member) for member in only] + _joined(whole, joining, path)
                facts = {**_described(whole), "without": _join(path, last), "left": len(only)}
                return _Lead(rows, {**facts, "complete": not whole.cut}, nodes=only)
        return _counted(sets)

    def _intersecting(self, question: Question, found: Subgraph, text: str) -> _Lead:
        """Return what joins two topics by the best paths between them, of those that the inner expander found."""
        if len(set(link_topics(question.links).values())) < 2:
            return _Lead()
        paths, last = self._joining_paths(question, text)
        known = {(path.entity, path.steps) for path in found.paths}
        leads: list[_Lead] = []
        for path in paths:
            if (path.entity, path.steps) not in known and (last, _reversed(path.steps)) not in known:
                continue
            whole, joining = self._parted(path, last, question)
            # What limits left out may be asked for.
            if joining and not whole.cut and len(leads) < self.sets:
                rows = _joined(whole, joining, path)
                facts = {**_described(whole), "with": _join(path, last), "left": len(rows), "complete": True}
                leads.append(_Lead(rows, facts, nodes=[member for member in whole.instances if member in joining]))
        if not leads:
            return _Lead()
        first, *others = leads
        return attrs.evolve(first, others=[lead.rows[0] for lead in others], before=len(first.rows))

    def _joining_paths(self, question: Question, text: str) -> tuple[list[RankedPath], str]:
        """Return the best paths over a node from the other topics to the link mentioned last, and that link."""
        linked = _as_mentioned(question, self._names(question))
        topics = link_topics(question.links)
        last = linked[-1] if linked else ""
        starts = [one for one in linked if topics[one] != topics[last]]
        limits = Budget(nodes=self.members, hub=self.members)
        found = self.graph.paths([[one] for one in starts], [[last]] * len(starts), _JOIN, limits, False, True)
        paths = [
            (start, path)
            for start, row in zip(starts, found, strict=True)
            for path in row
            if len(path) > 1 and len(self._clear(path)) == len(path)
        ]
        scores = self._path_scores([path for _, path in paths], text)
        ranked = [RankedPath(start, path, score) for (start, path), score in zip(paths, scores, strict=True)]
        return sorted(ranked, key=path_order)[: self.paths], last

    def _parted(self, path: RankedPath, last: str, question: Question) -> tuple[_Set, dict[str, Triple]]:
        """Return what a path without its last step leads to, and the triples with which that step leads to a node."""
        begun = attrs.evolve(path, steps=path.steps[:-1])
        cut: dict[str, int] = {}
        limits = Budget(triples=self.members + 1, hub=self.members, nodes=self.members)
        [some] = instances(self.graph, [begun], [{}], limits, [cut])
        links = {link.entity for link in question.links}
        whole = _grouped(begun, some[: self.members], links, sum(cut.values()) + (len(some) > self.members))
        step = path.steps[-1]
        members, nodes = self.graph.frontiers([sorted(whole.instances), [last]])
        [row] = self.graph.triples([members], [step], None)
        joining: dict[str, Triple] = {}
        for triple in row:
            member, end = (triple.object, triple.subject) if step.inverse else (triple.subject, triple.object)
            if end in nodes.ids():
                joining.setdefault(member, triple)
        return whole, joining

    def _path_scores(self, paths: Sequence[Path], text: str) -> list[float]:
        """Return the sum of the scorer's scores along each path."""
        begun = list(dict.fromkeys(path[: i + 1] for path in paths for i in range(len(path))))
        rows = self.scorer.score([text] * len(begun), [path[:-1] for path in begun], [[path[-1]] for path in begun])
        score = {path: row[0] for path, row in zip(begun, rows, strict=True)}
        return [rounded(sum(score[path[: i + 1]] for i in range(len(path)))) for path in paths]

    def _names(self, question: Question) -> dict[str, str]:
        entities = list(dict.fromkeys(link.entity for link in question.links))
        return dict(zip(entities, self.graph.labels(entities), strict=True))

    # Links, and the text

    def _joining(self, question: Question) -> _Lead:
        """Return the triples that join two of the links."""
        entities = list(dict.fromkeys(link.entity for link in question.links))
        patterns = [Pattern(one, None, other) for one in entities for other in entities if one != other]
        joined = [triple for row in self.graph.match(patterns) for triple in row] if patterns else []
        return _Lead(
            [[(triple, None)] for triple in joined], {"members": len(joined), "complete": True} if joined else {}
        )

    def _texts(self, questions: Sequence[Question]) -> list[str]:
        """Return the texts that the scorer reads."""
        mention = self.scorer.search_settings().get("mention") if self.mention == "auto" else self.mention
        if mention is None:
            return [question.text for question in questions]
        unnamed = unnamed_entities(questions)
        labels = dict(zip(unnamed, self.graph.labels(unnamed), strict=True)) if unnamed else {}
        return [without_mentions(question, question.links, labels, mention) for question in questions]

    # The result

    def _led(self, found: Subgraph, kind: QuestionKind, lead: _Lead) -> Subgraph:
        """Put the lead before the inner expander's triples."""
        trace: dict[str, Any] = {**found.trace, "kind": kind.kind}
        if not lead.rows:
            return attrs.evolve(found, trace=trace)
        triples: dict[Triple, RankedPath | None] = {}
        most = self._room(lead)
        shown = 0
        for row in [*lead.rows[: lead.before], *lead.others, *lead.rows[lead.before :]]:
            new = {triple: path for triple, path in row if triple not in triples}
            if most is not None and len(triples) + len(new) > most:
                break
            triples.update(new)
            shown += row not in lead.others
        trace["set"] = {**lead.facts, "shown": shown}
        return _merged(found, triples, trace)

    def _room(self, lead: _Lead) -> int | None:
        """Return how many triples the lead may have: all, or a part of the budget if it does not fit."""
        most = self.budget.triples
        size = len({triple for row in (*lead.rows, *lead.others) for triple, _ in row})
        return None if most is None or size <= most else max(1, int(most * _PART))

    def _in_years(self, kinds: Sequence[QuestionKind], found: Sequence[Subgraph]) -> tuple[list[Subgraph], list[bool]]:
        """Put statements that held in the year of their question first; return also whether any has such dates."""
        changed, decided = [], []
        for kind, subgraph in zip(kinds, found, strict=True):
            held = [0]
            if kind.kind == "time-bound" and kind.year is not None:
                subgraph, held = self._in_year(subgraph, kind.year)
            changed.append(subgraph)
            decided.append(any(held))
        return changed, decided

    def _in_year(self, found: Subgraph, year: int) -> tuple[Subgraph, list[int]]:
        """Put statements that held in a year first, and those that did not last."""
        rows = found.qualifiers or tuple(tuple(row) for row in self.graph.qualifiers(found.triples))
        names = sorted({relation for row in rows for relation, _ in row})
        words = {
            relation: frozenset(_WORD.findall(f"{relation} {label}".casefold()))
            for relation, label in zip(names, self.graph.labels(names), strict=True)
        }
        held = [_held(row, words, year) for row in rows]
        order = sorted(range(len(held)), key=lambda i: (-held[i], i))
        return _in_order(found, order, sum(one > 0 for one in held)), held


def _in_order(found: Subgraph, order: Sequence[int], first: int) -> Subgraph:
    """Put triples in another order; the first ones get the best score, the others no better one than those before."""
    top = found.scores[0] if found.scores else 0.0
    changed = found.ordered(order)
    scores: list[float] = []
    for place, score in enumerate(changed.scores):
        least = scores[-1] if scores else top
        scores.append(top if place < first else min(least, score))
    return attrs.evolve(changed, scores=tuple(scores))


def _reached(found: Subgraph) -> dict[str, tuple[int, ...]]:
    """Return the nodes that the paths of a subgraph reach, first first, each with the places of the triples to it."""
    following: dict[tuple[str, Step], list[tuple[str, int]]] = {}
    for place, triple in enumerate(found.triples):
        following.setdefault((triple.subject, Step(triple.relation)), []).append((triple.object, place))
        following.setdefault((triple.object, Step(triple.relation, True)), []).append((triple.subject, place))
    ways: dict[str, tuple[int, ...]] = {}
    for path in found.paths:
        level: dict[str, tuple[int, ...]] = {path.entity: ()}
        for step in path.steps:
            beyond: dict[str, tuple[int, ...]] = {}
            for node, way in level.items():
                for end, place in following.get((node, step), ()):
                    if not isinstance(end, Literal):
                        beyond.setdefault(end, (*way, place))
            for end, way in beyond.items():
                if end not in ways or way[-1] < ways[end][-1]:
                    ways[end] = way
            level = beyond
    starts = {path.entity for path in found.paths}
    return {end: ways[end] for end in sorted(ways, key=lambda end: ways[end][::-1]) if end not in starts}


def _of_class_first(found: Subgraph, asked: Sequence[str], fit: frozenset[str], cut: int) -> Subgraph:
    """Put the paths to nodes of the class asked for before the others, and count what comes behind."""
    if not asked:
        return found
    ways = _reached(found)
    first = [end for end in ways if end in fit]
    facts: dict[str, Any] = {"asked": list(asked), "nodes": len(ways), "of_class": len(first)}
    if first:
        facts["behind"] = len(ways) - len(first)
        order = dict.fromkeys(place for end in first for place in ways[end])
        rest = [place for place in range(len(found.triples)) if place not in order]
        found = _in_order(found, [*order, *rest], len(order))
    return attrs.evolve(found, trace={**found.trace, "class": {**facts, **({"cut": cut} if cut else {})}})


def _narrowed(sets: Sequence[_Set], fit: frozenset[str]) -> list[_Set]:
    """Return the sets with members of the class asked for, those members alone."""
    kept = []
    for one in sets:
        instances = {member: some for member, some in one.instances.items() if member in fit}
        left = len(one.instances) - len(instances)
        if instances:
            kept.append(attrs.evolve(one, instances=instances, behind={"class": left} if left else {}))
    return kept


def _reordered(lead: _Lead, fit: frozenset[str]) -> _Lead:
    """Put the rows whose node is of the class asked for first, among those that answer."""
    if not fit:
        return lead
    order = sorted(range(len(lead.nodes)), key=lambda i: lead.nodes[i] not in fit)
    rows = [*(lead.rows[i] for i in order), *lead.rows[len(order) :]]
    return attrs.evolve(lead, rows=rows, facts={**lead.facts, "of_class": len(fit)})


def _decides(triples: Iterable[Triple], bound: ValueConstraint | None) -> bool:
    """Return whether triples of a relation have values that can be ordered, or that a constraint is about."""
    valued = [(triple, value) for triple in triples if (value := value_of(triple.object)) is not None]
    if bound is None:
        return len({triple.subject for triple, _ in valued}) > 1
    if bound.date:
        return bool(valued) and all(is_date(triple.object) or _is_year(value) for triple, value in valued)
    return any(not is_date(triple.object) for triple, _ in valued)


def _is_year(value: float) -> bool:
    return value == int(value) and _YEARS[0] <= value < _YEARS[1]


def _known(one: _Set) -> bool:
    """Return whether constraints found a value of each member."""
    return "no value" not in one.behind


def _merged(found: Subgraph, lead: Mapping[Triple, RankedPath | None], trace: Mapping[str, Any]) -> Subgraph:
    """Put triples first, with the best score, and their paths before the others."""
    top = max((*found.scores[:1], *(path.score for path in lead.values() if path is not None)), default=0.0)
    known = {(path.entity, path.steps): place for place, path in enumerate(found.paths)}
    fresh = list(
        dict.fromkeys(path for path in lead.values() if path is not None and (path.entity, path.steps) not in known)
    )
    paths = sorted([*fresh, *found.paths], key=path_order)
    place_of = {(path.entity, path.steps): place for place, path in enumerate(paths)}
    moved = [place_of[path.entity, path.steps] for path in found.paths]
    rest = found.ordered([place for place, triple in enumerate(found.triples) if triple not in lead])
    path_of = [-1 if path is None else place_of[path.entity, path.steps] for path in lead.values()]
    return Subgraph(
        triples=(*lead, *rest.triples),
        scores=(*([rounded(top)] * len(lead)), *rest.scores),
        paths=tuple(paths),
        path_of=(*path_of, *(moved[rank] if rank >= 0 else -1 for rank in rest.path_of)),
        trace=trace,
        answer=None if found.answer is None else found.answer.moved(found.triples, (*lead, *rest.triples)),
    )


def _chain(one: _Set, member: str) -> list[tuple[Triple, RankedPath | None]]:
    """Return the triples of the first instance that leads to a member."""
    chain = [(triple, one.path) for some in one.instances[member][:1] for triple in some.triples]
    return [*chain, *one.values.get(member, ())]


def _all_chains(one: _Set, member: str) -> list[tuple[Triple, RankedPath | None]]:
    chains = [(triple, one.path) for some in one.instances[member] for triple in some.triples]
    return [*chains, *one.values.get(member, ())]


def _joined(one: _Set, joining: Mapping[str, Triple], path: RankedPath) -> list[Row]:
    """Return the triples of each member that a path's last step leads on from, with that step."""
    return [[*_chain(one, member), (joining[member], path)] for member in one.instances if member in joining]


def _reversed(steps: Path) -> Path:
    return tuple(Step(step.relation, not step.inverse) for step in reversed(steps))


def _join(path: RankedPath, entity: str) -> dict[str, str]:
    return {"step": str(path.steps[-1]), "entity": entity}


def _described(one: _Set) -> dict[str, Any]:
    facts: dict[str, Any] = {"members": len(one.instances)}
    if one.path is not None:
        facts = {"entity": one.path.entity, "path": [str(step) for step in one.path.steps], **facts}
    if one.bounds:
        facts["bounds"] = list(one.bounds)
    if one.behind:
        facts["behind"] = dict(one.behind)
    return {**facts, "cut": one.cut} if one.cut else facts


def _counted(sets: Sequence[_Set]) -> _Lead:
    """Return the whole of the best set, and of sets whose values are within bounds also the first of the others."""
    if not sets:
        return _Lead()
    best, *more = sets
    rows = [_all_chains(best, member) for member in best.instances]
    others = [_chain(one, member) for one in more if one.values for member in list(one.instances)[:1]]
    facts = {**_described(best), "complete": not best.cut and _known(best)}
    return _Lead([*rows, *best.rest], facts, others, len(rows))


def _grouped(path: RankedPath, some: Sequence[Instance], links: Container[str], cut: int) -> _Set:
    """Gather the instances of a path by the entity in which they end; links are no members."""
    by_end: dict[str, list[Instance]] = {}
    for one in some:
        if not isinstance(one.end, Literal) and one.end not in links:
            by_end.setdefault(one.end, []).append(one)
    return _Set(path, {end: tuple(all_) for end, all_ in by_end.items()}, cut)


def _linked(question: Question) -> _Set:
    return _Set(None, dict.fromkeys(dict.fromkeys(link.entity for link in question.links), ()))


def _dated(values: Mapping[str, tuple[float, Triple]]) -> bool:
    return any(is_date(triple.object) for _, triple in values.values())


def _as_mentioned(question: Question, labels: Mapping[str, str]) -> list[str]:
    """Return the linked entities in the order of their mentions; those without a place in the text keep their order."""
    text = question.text.casefold()
    places: dict[str, int] = {}
    for link in question.links:
        name = (link.name or labels.get(link.entity, "")).casefold()
        place = link.start if link.start is not None else text.find(name) if name else -1
        places.setdefault(link.entity, place)
    return sorted(places, key=lambda entity: places[entity])


def _held(qualifiers: Iterable[tuple[str, str]], words: Mapping[str, frozenset[str]], year: int) -> int:
    """Return 1 if the qualifiers' dates allow a year, -1 if they exclude it, 0 without dates."""
    known = False
    for relation, value in qualifiers:
        date = value_of(value)
        starts, ends = bool(words[relation] & _START), bool(words[relation] & _END)
        if date is None or starts == ends:
            continue
        known = True
        if (ends and date < year) or (starts and date >= year + 1):
            return -1
    return 1 if known else 0
