"""Reads for the operation of a question: a whole set, the values that decide, nodes of a class."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import attrs

from srtk_framework.graph import path_order
from srtk_framework.roles import KnowledgeGraph, PathScorer, SearchSettings
from srtk_framework.text import link_topics, unnamed_entities, without_mentions
from srtk_framework.values import Budget, Question, RankedPath, Schema, Subgraph
from srtk_plugin_answers.answer_types import arithmetic_of, asked_relation, asks_for_things, class_words, classes_asked
from srtk_plugin_answers.counted_steps import CountedSteps
from srtk_plugin_answers.deciding_values import DecidingValues
from srtk_plugin_answers.end_classes import of_class, of_role, of_rows
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.joined_topics import JoinedTopics
from srtk_plugin_answers.node_sets import Lead, NodeSet, classed, set_paths, whole_set, without_detours
from srtk_plugin_answers.path_ends import PathEnds
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import PathScores, is_clear, scores_of_questions
from srtk_plugin_answers.question_classes import asks_for_several, name_of, without_names, words_of
from srtk_plugin_answers.question_kinds import QuestionKind, kind_of, marked_text, unnamed_text
from srtk_plugin_answers.question_orders import counted_order, order_clause, ordering_words
from srtk_plugin_answers.question_values import ValueConstraint, clauses, value_constraints
from srtk_plugin_answers.result_order import of_class_first
from srtk_plugin_answers.statement_years import in_year

_OF_QUALITY = re.compile(r"how many ¤ [^\W\d_]+ (?:is|are|was|were) there\b")
PART = 0.5
"""Part of the budget for a set that does not fit into all of it."""
# Only so many classes are read: on a server they cost more than all else, and nodes behind them are counted in `cut`.
_TYPED = 1000


@attrs.define(eq=False)
class Operated:
    """A question of a batch, with all that has been read for its operation.

    Attributes:
        question: The question.
        kind: Its kind.
        found: Its subgraph, with nodes of the class or statements of the year that it names before the rest.
        held: Number of first triples that held in that year; -1 where dates exclude all of them.
        ends: Where the paths lead in the subgraph.
        reads: Reads of the graph, shared by the batch.
        scores: Scores paths in the unit of this question.
        text: Text of the question for the scorer.
        bounds: Constraints on values that the question names.
        phrases: Phrases that may name the class of the answer.
        sets: Sets that the question may be about, best path first.
        named: The sets with members of that class.
        fit: Nodes of that class, as far as their classes were read.
        cut: Number of nodes whose classes were not read.
        roles: Nodes that relations call by the class, where no node has it.
        lead: Triples that come first in the result.
    """

    question: Question
    kind: QuestionKind
    found: Subgraph
    held: int
    ends: PathEnds
    reads: PathReads
    scores: PathScores
    text: str
    bounds: Sequence[ValueConstraint]
    phrases: Sequence[str]
    sets: Sequence[NodeSet] = ()
    named: Sequence[NodeSet] = ()
    fit: frozenset[str] = frozenset()
    cut: int = 0
    roles: frozenset[str] = frozenset()
    lead: Lead = attrs.field(factory=Lead)

    def likeness(self, path: RankedPath) -> float:
        """Return the scorer's own score of a path, whatever ranked the paths."""
        [score] = self.scores.of([path.steps], self.text)
        return score + self.scores.unit.lift

    def is_sure(self) -> bool:
        """Return whether the search is sure of the path to the first set of the class."""
        return bool(self.named) and is_clear(self.named[0].path, self.found.paths)


@attrs.define(eq=False)
class Operations:
    """Read sets, values and classes for the operations of questions, beyond the subgraphs that a search found.

    Attributes:
        graph: Graph that is read.
        scorer: Chooses the relation that decides.
        budget: Limits on the result.
        members: Maximum number of instances of a path that are read.
        types: Whether a class that the question names decides the order.
        by_role: Whether relations name the class of nodes without a type, and yes or no, comparisons and arithmetic are
            read for an answer. The reader `paths` needs it; the expander `operations` does without.
        scale: Difference of the scorer's numbers that is one natural-log unit, where the scorer suggests none; None to
            measure it for each question.
    """

    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget
    members: int = 1000
    types: bool = True
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
        self.values = DecidingValues(self.graph, scores, CountedSteps(self.graph, self.names))
        self._topics = JoinedTopics(self.graph, scores, self.members, self.schema.tables, self.schema.symmetric)

    def kind(self, question: Question) -> QuestionKind:
        """Return the kind of a question; numbers are ordered before they are added up or subtracted."""
        text = self._without_orders(unnamed_text(question))
        arithmetic = arithmetic_of(text) if self.by_role else None
        if arithmetic is None:
            return kind_of(text)
        return QuestionKind("comparison" if arithmetic == "distance" else "superlative", True)

    def _without_orders(self, text: str) -> str:
        """Return a question without the name of a relation that orders by itself, where it asks for it or bounds it.

        *What is the lowest temperature of X* is a look-up where a column is called so.
        """
        nouns = {one.noun for one in value_constraints(text)} | {asked_relation(text) or ""}
        nouns = {noun for noun in nouns if ordering_words(noun)}
        if not nouns:
            return text
        labels = {name_of(label) for label in self.names.labels(self.schema.relations).values()}
        for noun in nouns & labels:
            text = re.sub(re.escape(noun), "value", text, flags=re.IGNORECASE)
        return text

    def of(self, questions: Sequence[Question], found: Sequence[Subgraph]) -> list[Operated]:
        """Read sets, values and classes for the operation of each question, from its paths and links."""
        links = list(dict.fromkeys(link.entity for question in questions for link in question.links))
        reads = PathReads(self.graph, self.members, links, self.schema.symmetric)
        every = self._begun(reads, questions, found)
        self._read_sets(reads, every)
        self._find_classes(reads, every)
        rivals = [one.named for one in every]
        if self.by_role:
            self._read_near(reads, every)
        for one, row in zip(every, rivals, strict=True):
            one.lead = self._lead(one).among(row, one.fit)
        further, _ = self._of_class(reads, every, [one.lead.nodes for one in every])
        for one, fit in zip(every, further, strict=True):
            one.lead = one.lead.class_first(fit)
            before = one.found
            one.found = of_class_first(one.ends, one.phrases if self.schema.type_relations else (), one.fit, one.cut)
            if one.found.triples != before.triples:
                one.ends = PathEnds(one.found, self.schema.symmetric)
        return every

    def _begun(self, reads: PathReads, questions: Sequence[Question], found: Sequence[Subgraph]) -> list[Operated]:
        """Read the words of questions, and put the statements of the year that they name first."""
        kinds = [self.kind(question) for question in questions]
        dated = [
            in_year(self.graph, row, one.year if one.kind == "time-bound" else None)
            for row, one in zip(found, kinds, strict=True)
        ]
        unnamed = unnamed_entities(questions)
        names = dict(zip(unnamed, self.graph.labels(unnamed), strict=True)) if unnamed else {}
        settings = self.scorer.search_settings() or SearchSettings()
        texts = self._texts(questions, names)
        scale = self.scale if settings.scale is None else settings.scale
        symmetric = self.schema.symmetric
        scores = scores_of_questions(self.values.scores, scale, reads, self.schema, questions, texts)
        return [
            Operated(one, kind, row, held, ends, reads, own, text, *self._conditions(one, kind, held, names))
            for one, kind, (row, held), ends, own, text in zip(
                questions, kinds, dated, (PathEnds(row, symmetric) for row, _ in dated), scores, texts, strict=True
            )
        ]

    def _texts(self, questions: Sequence[Question], names: Mapping[str, str]) -> list[str]:
        """Return the texts of questions for the scorer; ``names`` are the labels of links without a name."""
        settings = self.scorer.search_settings() or SearchSettings()
        mask = settings.mention
        return [one.text if mask is None else without_mentions(one, one.links, names, mask) for one in questions]

    def of_parts(self, whole: Operated, parts: Sequence[Question]) -> list[Operated]:
        """Read sets, values and classes for parts of a question, from its paths with the scores of each part."""
        found = []
        for part, text in zip(parts, self._texts(parts, {}), strict=True):
            linked = {link.entity for link in part.links}
            paths = [path for path in whole.found.paths if path.entity in linked]
            scores = whole.scores.of([path.steps for path in paths], text)
            scored = [attrs.evolve(path, score=score) for path, score in zip(paths, scores, strict=True)]
            found.append(attrs.evolve(whole.found, paths=tuple(scored)))
        return self.of(parts, found)

    def _conditions(
        self, question: Question, kind: QuestionKind, held: int, names: Mapping[str, str]
    ) -> tuple[Sequence[ValueConstraint], Sequence[str]]:
        """Return a question's constraints on values, and the phrases that may name the class of its answer."""
        # Where the statements have dates, a year is theirs.
        told = question.text if held else self.names.without_years(question.text)
        bounds: Sequence[ValueConstraint] = () if held else value_constraints(told)
        by_class = self.types and (self.by_role or bool(self.schema.type_relations))
        if not (by_class or bounds):
            return bounds, ()
        text = without_names(question, names)
        by_class = by_class and kind.kind not in ("comparison", "yes-no")
        bounds = value_constraints(self.names.without_years(text)) if bounds else ()
        return bounds, classes_asked(text) if by_class else ()

    # Sets and classes

    def read_sets(self, reads: PathReads, question: Question, paths: Sequence[RankedPath]) -> list[NodeSet]:
        """Read where paths of one question lead."""
        links = {link.entity for link in question.links}
        found = zip(paths, reads.of(paths), strict=True)
        sets = [NodeSet.at_ends(path, one.instances, links, one.cut) for path, one in found]
        return [one for one in sets if one.instances]

    def _lists(self, question: Question) -> bool:
        """Return whether a lookup is of a whole class, so that sets are read for it."""
        return not self.by_role or asks_for_several(question.text)

    def _read_sets(self, reads: PathReads, every: Sequence[Operated]) -> None:
        """Read the sets that each question may be about."""
        wanted = [
            set_paths(one.kind, bool(one.bounds), bool(one.phrases) and self._lists(one.question), one.found.paths)
            for one in every
        ]
        reads.of([path for row in wanted for path in row])
        for one, row in zip(every, wanted, strict=True):
            one.sets = self.read_sets(reads, one.question, row)

    def _of_class(
        self, reads: PathReads, every: Sequence[Operated], nodes: Sequence[Sequence[str]]
    ) -> tuple[list[frozenset[str]], list[int]]:
        """Find each question's nodes that have the class that it names, and count those that were not looked at."""
        distinct = [list(dict.fromkeys(row)) for row in nodes]
        asked = [one.phrases for one in every]
        found = of_class(reads, self.names, asked, [row[:_TYPED] for row in distinct])
        return found, [max(0, len(row) - _TYPED) for row in distinct]

    def _tables(self) -> Collection[str]:
        """Return the names of the graph's tables, if it has several."""
        return self.schema.tables if len(self.schema.tables) > 1 else ()

    def _of_roles(
        self,
        reads: PathReads,
        every: Sequence[Operated],
        fit: Sequence[frozenset[str]],
        nodes: Sequence[Sequence[str]],
    ) -> list[frozenset[str]]:
        """Find the nodes that relations or tables call by the class; a noun that names no column means the rows."""
        if not self.by_role:
            return [frozenset() for _ in nodes]
        roles = of_role(reads, self.names, [one.phrases for one in every], nodes)
        of_things = [
            row if self._means_rows(one) and not own and not role else ()
            for one, own, role, row in zip(every, fit, roles, nodes, strict=True)
        ]
        rows = of_rows(reads, self.schema, of_things)
        return [some or other for some, other in zip(roles, rows, strict=True)]

    def _means_rows(self, one: Operated) -> bool:
        """Return whether a question asks for things by a noun that names no column."""
        if not one.phrases or not (asks_for_things(unnamed_text(one.question)) or _counts_things(one.question)):
            return False
        labels = [words_of(label) for label in self.names.labels(self.schema.relations).values()]
        # The contact of a customer is in the column *contact name*.
        return not any(words_of(phrase) <= label for phrase in one.phrases for label in labels)

    def _find_classes(self, reads: PathReads, every: Sequence[Operated]) -> None:
        """Find the nodes of each question that have the class that it names, and the sets with such members."""
        nodes = [
            [*one.ends.reached(), *(member for some in one.sets for member in some.instances)] if one.phrases else []
            for one in every
        ]
        fits, cuts = self._of_class(reads, every, nodes)
        roles = self._of_roles(reads, every, fits, nodes)
        for one, fit, cut, role in zip(every, fits, cuts, roles, strict=True):
            one.fit, one.cut, one.roles = fit, cut, role
            of_class = classed(one.sets, fit, role, self._tables())
            # A detour may still be the path of which the search is sure.
            sure = [some for some in of_class if self.by_role and is_clear(some.path, one.found.paths)]
            one.named = [*sure, *(some for some in without_detours(of_class) if some not in sure)]

    def _read_near(self, reads: PathReads, every: Sequence[Operated]) -> None:
        """Take sets of the class that single steps from the links lead to, where several nodes are asked for.

        A search that looks for words of relations may not have followed such a step; a search that is sure of a path to
        the class did without it.
        """
        sets = [self._near_sets(one) if self._wants_near(one) else [] for one in every]
        # Few nodes of a class are found among many others: the small sets come first, since only so many are typed.
        nodes = [
            [member for some in sorted(row, key=lambda some: len(some.instances)) for member in some.instances]
            for row in sets
        ]
        fits, _ = self._of_class(reads, every, nodes)
        for one, row, fit, role in zip(every, sets, fits, self._of_roles(reads, every, fits, nodes), strict=True):
            near = classed(row, fit, role, self._tables())
            one.named = [some for some in near if len(some.instances) > 1] or near or one.named

    def _wants_near(self, one: Operated) -> bool:
        """Return whether sets of the class that a question asks for are to be read next to its links."""
        best = one.named[0] if one.named else None
        listed = best is not None and len(best.steps) == 1 and len(best.instances) > 1
        several = one.kind.kind in ("count", "superlative", "ordinal") or (self._lists(one.question) and not listed)
        return bool(one.phrases and several and one.question.links) and not one.is_sure()

    def _near_sets(self, one: Operated) -> list[NodeSet]:
        """Read where single steps from a question's links lead, the best steps first."""
        links = list(dict.fromkeys(link.entity for link in one.question.links))
        frontiers = one.reads.frontiers([[link] for link in links])
        near = [
            (link, (step,))
            for link, steps in zip(links, self.graph.steps(frontiers, True), strict=True)
            for step in self.values.scores.without_noise(steps)
        ]
        scores = one.scores.of([steps for _, steps in near], one.text)
        ranked = [RankedPath(*path, score) for path, score in zip(near, scores, strict=True)]
        return self.read_sets(one.reads, one.question, sorted(ranked, key=path_order))

    # Leads

    def _lead(self, one: Operated) -> Lead:
        """Return the triples that come first for a question, with scores in its own unit."""
        values = attrs.evolve(self.values, scores=one.scores)
        topics = attrs.evolve(self._topics, scores=one.scores)
        question, kind = one.question, one.kind.kind
        if kind in ("comparison", "yes-no"):
            if kind == "comparison":
                lead = self._compared(one, values)
            elif self.by_role:
                lead = Lead() if one.bounds else topics.confirmed(question, one.text)
            else:
                lead = topics.joining(question)
            return lead if lead.rows or not one.bounds else values.valued(question, one.text, one.bounds)
        several_topics = len(set(link_topics(question.links).values())) > 1
        if self.by_role and several_topics and arithmetic_of(unnamed_text(question)):
            return values.compared(question, one.kind, [NodeSet.of_links(question)], one.text)
        if kind in ("superlative", "ordinal"):
            lead = _first_of(one, values, one.named) if one.named else Lead()
            return lead if lead.rows else _first_of(one, values, one.sets)
        return self._of_set(one, values, topics)

    def _compared(self, one: Operated, values: DecidingValues) -> Lead:
        """Return the values of the links that are compared; for an answer also of entities with the same names."""
        if not self.by_role:
            return values.compared(one.question, one.kind, [NodeSet.of_links(one.question)], one.text)
        linked = {link.entity: link.name for link in one.question.links}
        found = self.graph.find([name or entity for entity, name in linked.items()])
        namesakes = {
            entity: [entity, *(other for other in row if other not in linked)]
            for entity, row in zip(linked, found, strict=True)
        }
        return values.compared_links(one.question, one.kind, one.text, namesakes)

    def _of_set(self, one: Operated, values: DecidingValues, topics: JoinedTopics) -> Lead:
        """Return the set that a question counts, narrows or lists."""
        question, sets = one.question, one.named or one.sets
        several = [some for some in sets if len(some.instances) > 1] if asks_for_several(question.text) else []
        bounded = values.bounded(question, several or sets, one.bounds, one.text)
        if bounded and not bounded[0].instances:
            return whole_set(bounded)
        if one.kind.kind == "count":
            return whole_set(bounded or sets)
        if one.kind.kind == "difference":
            return topics.excluding(question, bounded or sets, one.text)
        lead = topics.intersecting(question, one.found, one.text) if one.kind.kind == "lookup" else Lead()
        return lead if lead.rows else whole_set(bounded) if bounded else self._whole(one)

    def _whole(self, one: Operated) -> Lead:
        """Return the whole set of the class that a path leads to, if it leaves room for other triples.

        The path is the first in the inner expander's result that leads to nodes of the class, or the sure path.
        """
        if self.by_role and one.is_sure():
            return whole_set(one.named[:1])
        members = {member for some in one.named for member in some.instances}
        first = next((node for node in one.ends.reached() if node in members), None)
        lead = whole_set([some for some in one.named if first is None or first in some.instances][:1])
        size = len({triple for row in lead.rows for triple, _ in row})
        most = self.budget.triples
        return lead if self.by_role or most is None or size <= int(most * PART) else Lead()


def _counts_things(question: Question) -> bool:
    """Return whether a question asks how many things with a quality there are: *how many easy trails are there*."""
    return question.text.casefold().startswith("how many") and bool(_OF_QUALITY.match(marked_text(question)))


def _first_of(one: Operated, values: DecidingValues, sets: Sequence[NodeSet]) -> Lead:
    """Return a set by the values of a relation; a set within bounds also where it has a single member."""
    question = one.question
    bounded = values.bounded(question, sets, one.bounds, one.text)
    text = values.counted.names.without_years(one.text)
    unbounded = clauses(text)[0] if bounded else text
    rest, order = order_clause(unbounded, class_words(question.text))
    counted, plain = counted_order(question.text), counted_order(unbounded)
    if counted is not None and plain is not None:
        # Without the mentions; but the noun stays a noun, also where something has its name.
        counted = attrs.evolve(counted, text=plain.text)
    lead = values.compared(question, one.kind, bounded or sets, rest, counted or order)
    return lead if lead.rows or not bounded else whole_set(bounded)
