"""What the operation of a question needs of a graph: a whole set, the values that decide, what is of a class."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.graph import path_order
from srtk_framework.roles import KnowledgeGraph, PathScorer, SearchSettings
from srtk_framework.text import link_topics, unnamed_entities, without_mentions
from srtk_framework.values import Budget, Question, RankedPath, Schema, Subgraph
from srtk_plugin_answers.counted_steps import CountedSteps
from srtk_plugin_answers.deciding_values import DecidingValues
from srtk_plugin_answers.end_classes import of_class, of_role, of_rows
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.joined_topics import JoinedTopics
from srtk_plugin_answers.node_sets import Lead, NodeSet, classed, set_paths, whole_set, without_detours
from srtk_plugin_answers.path_ends import PathEnds
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import PathScores, is_clear, scores_of_questions
from srtk_plugin_answers.question_classes import MENTION, asks_for_several
from srtk_plugin_answers.question_kinds import (
    QuestionKind,
    arithmetic_of,
    asks_for_things,
    classes_asked,
    counted_order,
    kind_of,
    order_clause,
    unnamed_text,
)
from srtk_plugin_answers.question_values import ValueConstraint, clauses, value_constraints
from srtk_plugin_answers.result_order import of_class_first
from srtk_plugin_answers.statement_years import in_years

_PART = 0.5
"""Part of the budget for a set that does not fit into all of it."""


@attrs.frozen
class Operated:
    """What the operation of one question gave.

    Attributes:
        kind: The kind of the question.
        found: The subgraph, with what has the class asked for, or held in the year asked for, before the rest.
        lead: What comes before all of it.
        ends: Where the paths lead in the subgraph.
        reads: What was read of the graph for the questions of its batch.
        scores: Scores paths in the unit that was found for the question.
        text: What the scorer reads of the question.
        phrases: The phrases that may name the class of what is asked for.
        fit: The nodes that have it, as far as their classes were read.
        roles: The nodes that relations call by it, where none has it.
        held: How many of the first triples held in the year that the question names.
        bounds: The constraints on values that the question names.
        is_classed: Whether some set is of the class that the question names.
    """

    kind: QuestionKind
    found: Subgraph
    lead: Lead
    ends: PathEnds
    reads: PathReads
    scores: PathScores
    text: str
    phrases: Sequence[str] = ()
    fit: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    held: int = 0
    bounds: Sequence[ValueConstraint] = ()
    is_classed: bool = False

    def likeness(self, path: RankedPath) -> float:
        """Return how like a path is to the question by the scorer alone, whatever ranked the paths."""
        [score] = self.scores.of([path.steps], self.text)
        return score + self.scores.unit.lift


@attrs.define(eq=False)
class Operations:
    """Read what the operations of questions need, beyond the subgraphs that a search found.

    Attributes:
        graph: Graph that is read.
        scorer: Chooses the relation that decides.
        budget: Limits on the result.
        paths: Best paths of a subgraph that may lead to the set.
        sets: Sets of which the member that is asked for comes first; of the best of them all members follow.
        members: Maximum number of instances of a path that are read.
        mention: Replaces the linked entities' mentions in the text that the scorer reads; null leaves them, and `auto`
            is what suits the scorer.
        types: Whether a class that the question names decides what comes first.
        typed: Maximum number of nodes of a question whose classes are read.
        by_role: Whether relations tell the class of nodes that have no type, and yes or no, comparisons and arithmetic
            are read for an answer, as the reader `paths` needs it; the expander `operations` does without.
        scale: Difference of the scorer's numbers that is one natural-log unit, where the scorer does not say it; None
            to measure it for each question.
    """

    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget
    paths: int = 10
    sets: int = 3
    members: int = 1000
    mention: str | None = "auto"
    types: bool = True
    typed: int = 1000
    by_role: bool = False
    scale: float | None = None
    schema: Schema = attrs.field(init=False, repr=False)
    names: GraphNames = attrs.field(init=False, repr=False)
    values: DecidingValues = attrs.field(init=False, repr=False)
    _topics: JoinedTopics = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.schema = self.graph.schema()
        self.names = GraphNames(self.graph, self.schema)
        scores = PathScores(self.scorer, self.schema.noise)
        counted = CountedSteps(self.graph, self.names)
        self.values = DecidingValues(self.graph, scores, counted, self.paths, self.sets)
        self._topics = JoinedTopics(self.graph, scores, self.paths, self.sets, self.members, self.schema.tables)

    def kind(self, question: Question) -> QuestionKind:
        """Return what is done with the facts; numbers are ordered before they are added up or taken from each other."""
        text = unnamed_text(question)
        arithmetic = arithmetic_of(text) if self.by_role else None
        if arithmetic is None:
            return kind_of(text)
        return QuestionKind("comparison" if arithmetic == "distance" else "superlative", True)

    def of(self, questions: Sequence[Question], found: Sequence[Subgraph]) -> list[Operated]:
        """Read what each question's operation needs, of its subgraph's paths and links."""
        kinds = [self.kind(question) for question in questions]
        found, held = in_years(self.graph, [one.year if one.kind == "time-bound" else None for one in kinds], found)
        ends = [PathEnds(subgraph) for subgraph in found]
        links = list(dict.fromkeys(link.entity for question in questions for link in question.links))
        reads = PathReads(self.graph, self.members, links)
        names = self._names(questions)
        settings = self.scorer.search_settings() or SearchSettings()
        texts = self._texts(questions, names, settings)
        scale = self.scale if settings.scale is None else settings.scale
        scores = scores_of_questions(self.values.scores, scale, reads, self.schema, questions, texts)
        bounds, phrases = self._conditions(questions, kinds, held, names)
        asked = phrases if self.schema.type_relations else [()] * len(phrases)
        sets = self._sets(reads, questions, kinds, bounds, phrases, found)
        nodes = [
            [*one.reached(), *(member for some in row for member in some.instances)] if words else []
            for one, row, words in zip(ends, sets, phrases, strict=True)
        ]
        fit, cuts = self._of_class(reads, asked, nodes)
        roles = self._roles(reads, questions, phrases, fit, nodes)
        named = [
            self._direct(subgraph, classed(some, own, role))
            for subgraph, some, own, role in zip(found, sets, fit, roles, strict=True)
        ]
        rivals = named
        if self.by_role:
            near = self._near(reads, questions, kinds, phrases, texts, found, named, scores)
            named = [list(first or rest) for first, rest in zip(near, named, strict=True)]
        leads = [
            self._in(unit)._lead(question, kind, one, some, own, text, limits)
            for question, kind, one, some, own, text, limits, unit in zip(
                questions, kinds, ends, sets, named, texts, bounds, scores, strict=True
            )
        ]
        leads = [lead.among(row, own) for lead, row, own in zip(leads, rivals, fit, strict=True)]
        further, _ = self._of_class(reads, asked, [lead.nodes for lead in leads])
        operated = []
        for i, one in enumerate(ends):
            changed = of_class_first(one, asked[i], fit[i], cuts[i])
            operated.append(
                Operated(
                    kind=kinds[i],
                    found=changed,
                    lead=leads[i].class_first(further[i]),
                    ends=one if changed.triples == one.found.triples else PathEnds(changed),
                    reads=reads,
                    scores=scores[i],
                    text=texts[i],
                    phrases=phrases[i],
                    fit=fit[i],
                    roles=roles[i],
                    held=held[i],
                    bounds=bounds[i],
                    is_classed=bool(named[i]),
                )
            )
        return operated

    def _lead(
        self,
        question: Question,
        kind: QuestionKind,
        ends: PathEnds,
        sets: Sequence[NodeSet],
        named: Sequence[NodeSet],
        text: str,
        bounds: Sequence[ValueConstraint],
    ) -> Lead:
        if self.by_role and kind.kind == "yes-no" and not bounds:
            return self._topics.confirmed(question, text) or Lead()
        if self.by_role and kind.kind == "comparison":
            lead = self.values.compared_links(question, kind, text, self._namesakes(question))
            return lead if lead.rows or not bounds else self.values.valued(question, text, bounds[0])
        if kind.kind == "comparison":
            lead = self.values.compared(question, kind, [NodeSet.of_links(question)], text)
            return lead if lead.rows or not bounds else self.values.valued(question, text, bounds[0])
        if kind.kind == "yes-no":
            lead = self._topics.joining(question)
            return lead if lead.rows or not bounds else self.values.valued(question, text, bounds[0])
        if (
            self.by_role
            and arithmetic_of(unnamed_text(question))
            and len(set(link_topics(question.links).values())) > 1
        ):
            return self.values.compared(question, kind, [NodeSet.of_links(question)], text)
        if kind.kind in ("superlative", "ordinal"):
            nouns = [word for phrase in classes_asked(question.text) for word in phrase.split()]
            lead = self._first_of(question, kind, named, text, bounds, nouns) if named else Lead()
            return lead if lead.rows else self._first_of(question, kind, sets, text, bounds, nouns)
        several = [one for one in named or sets if len(one.instances) > 1] if asks_for_several(question.text) else []
        bounded = self.values.bounded(question, several or named or sets, bounds, text)
        if kind.kind == "count":
            return whole_set(bounded or named or sets)
        if kind.kind == "difference":
            return self._topics.excluding(question, bounded or named or sets, text)
        lead = self._topics.intersecting(question, ends.found, text) if kind.kind == "lookup" else Lead()
        return lead if lead.rows else whole_set(bounded) if bounded else self._whole(ends, named)

    def _namesakes(self, question: Question) -> dict[str, list[str]]:
        """Return the entities that the names of the links may mean, the linked ones first."""
        linked = {link.entity: link.name for link in question.links}
        found = self.graph.find([name or entity for entity, name in linked.items()])
        return {
            entity: [entity, *(one for one in row if one not in linked)]
            for entity, row in zip(linked, found, strict=True)
        }

    def _first_of(
        self,
        question: Question,
        kind: QuestionKind,
        sets: Sequence[NodeSet],
        text: str,
        bounds: Sequence[ValueConstraint],
        nouns: Sequence[str],
    ) -> Lead:
        """Return a set by the values of a relation; of one within bounds also where it has a single member."""
        bounded = self.values.bounded(question, sets, bounds, text)
        told = clauses(text)[0] if bounded else text
        rest, order = order_clause(told, nouns)
        counted, plain = counted_order(question.text), counted_order(told)
        if counted is not None and plain is not None:
            # Without the mentions; but the noun is one, also where something has its name.
            counted = attrs.evolve(counted, text=plain.text)
        lead = self.values.compared(question, kind, bounded or sets, rest, counted or order)
        return lead if lead.rows or not bounded else whole_set(bounded)

    # Classes

    def _conditions(
        self,
        questions: Sequence[Question],
        kinds: Sequence[QuestionKind],
        decided: Sequence[int],
        names: Mapping[str, str],
    ) -> tuple[list[Sequence[ValueConstraint]], list[Sequence[str]]]:
        """Return each question's constraints on values, and the phrases that may name the class of what it asks for."""
        # Where the statements have dates, a year is theirs.
        bounds: list[Sequence[ValueConstraint]] = [
            () if told else value_constraints(question.text) for question, told in zip(questions, decided, strict=True)
        ]
        asked: list[Sequence[str]] = [() for _ in questions]
        classed = self.types and (self.by_role or bool(self.schema.type_relations))
        for place, question in enumerate(questions):
            if not (classed or bounds[place]):
                continue
            text = without_mentions(question, question.links, names, MENTION)
            bounds[place] = value_constraints(text) if bounds[place] else ()
            if classed and kinds[place].kind not in ("comparison", "yes-no"):
                asked[place] = classes_asked(text)
        return bounds, asked

    def _of_class(
        self, reads: PathReads, asked: Sequence[Sequence[str]], nodes: Sequence[Sequence[str]]
    ) -> tuple[list[frozenset[str]], list[int]]:
        """Find the nodes that have the class asked for, and count those that were not looked at."""
        distinct = [list(dict.fromkeys(row)) for row in nodes]
        found = of_class(reads, self.names, asked, [row[: self.typed] for row in distinct])
        return found, [max(0, len(row) - self.typed) for row in distinct]

    def _whole(self, ends: PathEnds, named: Sequence[NodeSet]) -> Lead:
        """Return all of the class asked for that a path leads to, if they leave room for others.

        The path is the best that leads to what has the class and comes first in the inner expander's result, or that of
        which the search is sure.
        """
        if self.by_role and named and is_clear(named[0].path, ends.found.paths):
            return whole_set(named[:1])
        members = {member for one in named for member in one.instances}
        first = next((node for node in ends.reached() if node in members), None)
        lead = whole_set([one for one in named if first is None or first in one.instances][:1])
        size = len({triple for row in lead.rows for triple, _ in row})
        most = self.budget.triples
        return lead if self.by_role or most is None or size <= int(most * _PART) else Lead()

    def _direct(self, found: Subgraph, sets: Sequence[NodeSet]) -> list[NodeSet]:
        """Leave out detours, but not the path of which the search is sure."""
        sure = [one for one in sets if self.by_role and is_clear(one.path, found.paths)]
        return [*sure, *(one for one in without_detours(sets) if one not in sure)]

    def _roles(
        self,
        reads: PathReads,
        questions: Sequence[Question],
        phrases: Sequence[Sequence[str]],
        fit: Sequence[frozenset[str]],
        nodes: Sequence[Sequence[str]],
    ) -> list[frozenset[str]]:
        """Find the nodes that relations or tables call by the class; a noun that names no column means the rows."""
        if not self.by_role:
            return [frozenset() for _ in nodes]
        roles = of_role(reads, self.names, phrases, nodes)
        of_things = [
            row if words and not one and not other and asks_for_things(unnamed_text(question)) else ()
            for question, words, one, other, row in zip(questions, phrases, fit, roles, nodes, strict=True)
        ]
        rows = of_rows(reads, self.schema, of_things)
        return [some or other for some, other in zip(roles, rows, strict=True)]

    def _lists(self, question: Question) -> bool:
        """Return whether a lookup is of a whole class, so that sets are read for it."""
        return not self.by_role or asks_for_several(question.text)

    # Sets

    def _near(
        self,
        reads: PathReads,
        questions: Sequence[Question],
        kinds: Sequence[QuestionKind],
        phrases: Sequence[Sequence[str]],
        texts: Sequence[str],
        found: Sequence[Subgraph],
        named: Sequence[list[NodeSet]],
        units: Sequence[PathScores],
    ) -> list[list[NodeSet]]:
        """Read the sets of the class asked for that single steps from the links lead to, where several are asked for.

        A search that looks for words of relations may not have followed such a step; one that is sure of a path to the
        class did without it.
        """
        sets: list[list[NodeSet]] = [[] for _ in questions]
        for place, (question, kind, row) in enumerate(zip(questions, kinds, phrases, strict=True)):
            known = named[place][:1]
            listed = bool(known) and len(known[0].steps) == 1 and len(known[0].instances) > 1
            several = kind.kind in ("count", "superlative", "ordinal") or (self._lists(question) and not listed)
            links = list(dict.fromkeys(link.entity for link in question.links))
            if not row or not several or not links or (known and is_clear(known[0].path, found[place].paths)):
                continue
            frontiers = reads.frontiers([[link] for link in links])
            paths = [
                RankedPath(link, (step,), 0.0)
                for link, steps in zip(links, self.graph.steps(frontiers, True), strict=True)
                for step in self.values.scores.without_noise(steps)
            ]
            scores = units[place].of([path.steps for path in paths], texts[place])
            ranked = [attrs.evolve(path, score=score) for path, score in zip(paths, scores, strict=True)]
            sets[place] = self.read_sets(reads, question, sorted(ranked, key=path_order))
        # Few nodes of a class are found among many others: the small sets come first, since only so many are typed.
        nodes = [
            [member for one in sorted(row, key=lambda one: len(one.instances)) for member in one.instances]
            for row in sets
        ]
        fit, _ = self._of_class(reads, phrases if self.schema.type_relations else [()] * len(phrases), nodes)
        named = [
            classed(row, own, role)
            for row, own, role in zip(sets, fit, self._roles(reads, questions, phrases, fit, nodes), strict=True)
        ]
        return [[one for one in row if len(one.instances) > 1] or row for row in named]

    def read_sets(self, reads: PathReads, question: Question, paths: Sequence[RankedPath]) -> list[NodeSet]:
        """Read where paths of one question lead."""
        links = {link.entity for link in question.links}
        sets = [
            NodeSet.at_ends(path, one.instances, links, one.cut)
            for path, one in zip(paths, reads.of(paths), strict=True)
        ]
        return [one for one in sets if one.instances]

    def _sets(
        self,
        reads: PathReads,
        questions: Sequence[Question],
        kinds: Sequence[QuestionKind],
        bounds: Sequence[Sequence[ValueConstraint]],
        asked: Sequence[Sequence[str]],
        found: Sequence[Subgraph],
    ) -> list[list[NodeSet]]:
        """Read the sets that each question may be about, best path first."""
        wanted = [
            set_paths(kind, bool(row), bool(phrases) and self._lists(question), subgraph.paths, self.paths)
            for question, kind, row, phrases, subgraph in zip(questions, kinds, bounds, asked, found, strict=True)
        ]
        reads.of([path for row in wanted for path in row])
        return [self.read_sets(reads, question, row) for question, row in zip(questions, wanted, strict=True)]

    def _names(self, questions: Sequence[Question]) -> dict[str, str]:
        """Return the labels of linked entities that come without a name."""
        unnamed = unnamed_entities(questions)
        return dict(zip(unnamed, self.graph.labels(unnamed), strict=True)) if unnamed else {}

    def _texts(self, questions: Sequence[Question], names: Mapping[str, str], settings: SearchSettings) -> list[str]:
        """Return the texts that the scorer reads."""
        mention = settings.mention if self.mention == "auto" else self.mention
        if mention is None:
            return [question.text for question in questions]
        return [without_mentions(question, question.links, names, mention) for question in questions]

    # Units

    def _in(self, scores: PathScores) -> Operations:
        """Return what reads scores in the unit of one question."""
        if scores.unit == self.values.scores.unit:
            return self
        one = copy.copy(self)
        one.values = attrs.evolve(self.values, scores=scores)
        one._topics = attrs.evolve(self._topics, scores=scores)
        return one
