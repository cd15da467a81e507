"""The ``paths`` reader: the answer from the best path or from the question's operation, with what proves it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.roles import KnowledgeGraph, PathScorer, Reader
from srtk_framework.text import link_topics, without_mentions
from srtk_framework.values import (
    Alternative,
    Answer,
    Budget,
    Link,
    Literal,
    Pattern,
    Question,
    RankedPath,
    Step,
    Subgraph,
    Triple,
    positive,
    rounded,
)
from srtk_plugin_answers.certainty import Evidence
from srtk_plugin_answers.choices import (
    Choice,
    choices,
    named_ends,
    named_value,
    other_names,
    other_words,
    unknown_names,
)
from srtk_plugin_answers.literal_values import fits, is_date, is_missing, is_year, truth_of, value_of
from srtk_plugin_answers.node_sets import Lead, Row, whole_set
from srtk_plugin_answers.operations import Operated, Operations
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.question_classes import MENTION, PEOPLE, shared_words, singular
from srtk_plugin_answers.question_kinds import (
    Arithmetic,
    Kind,
    arithmetic_of,
    asked_relation,
    classes_asked,
    is_yes_no,
    measured_noun,
    order_phrase,
    ordering_words,
    value_kind,
)
from srtk_plugin_answers.result_order import with_proof
from srtk_plugin_answers.statement_years import dates_of, ends
from srtk_plugin_answers.unlinked import UnlinkedSets, stems_of, words_of

_NAMED = 10
"""Names that a text has; the others are counted."""
_ALTERNATIVES = 4
_LIKE = 0.33
"""Least likeness of a noun and a relation, as a part of the relation's likeness with its own name."""
_FAR = 0.08
"""The same for the whole question and a path."""
_ORDERED = 0.4
"""The same for what is ordered and a relation that orders by itself."""
_DOUBTED = 0.5
"""The same for a noun where another path is as near."""
_MEASURE = 0.2
"""The same for what a difference is counted in, which is a unit rather than a name."""
_NO_NOUNS = frozenset(["kind", "name", "sort", "type"])
"""Nouns that say nothing of a relation: *what is the name of*."""
_NEAR = 5.0
"""Least score of a path that is clearly like a question."""
_CLEAR = 0.5
"""Distance of the next path's score from which on it is not as near."""
_OR_NAME = re.compile(r"\bor (?:the )?[A-Z]")
_PLAIN_MARKS = "?.,;:!'’-()/%&$€£"
_TWO_NAMES = "the question compares or joins two things, and fewer than two names of the graph were found in it"
_NO_RELATION = "the graph has no relation like {noun!r} of what the question names"
_BEYOND = "the set has no place {rank}: {count} of it have a value of {name!r}"
_NO_VALUE = "the graph has no value of that; it says {text!r}"
_TWO_VALUES = "the graph has no relation with a number or a date for each of the things that are compared"


@attrs.define(eq=False)
class PathsReader(Reader):
    """Answer from the best path of a subgraph, or from what the operation of the question needs.

    Attributes:
        graph: Graph from which whole sets are read.
        scorer: Chooses the relation that decides.
        budget: Limits on the subgraph with what is read besides.
        members: Maximum number of instances of a path that are read.
        scale: Difference of the scorer's numbers that is one natural-log unit, where the scorer does not say it and the
            search has it in `search.scale`; null to measure it.
    """

    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget = attrs.field(factory=Budget)
    members: int = attrs.field(default=1000, validator=attrs.validators.ge(1))
    scale: float | None = attrs.field(default=None, validator=attrs.validators.optional(positive))
    _operations: Operations = attrs.field(init=False, repr=False)
    _sets: UnlinkedSets = attrs.field(init=False, repr=False)
    _relation_words: frozenset[str] = attrs.field(init=False, repr=False)

    def open(self) -> None:
        """Read the graph's schema."""
        self._operations = Operations(
            self.graph, self.scorer, self.budget, members=self.members, by_role=True, scale=self.scale
        )
        relations = self._operations.schema.relations
        labels = self._operations.names.labels(relations)
        self._relation_words = frozenset(word for label in labels.values() for word in words_of(label))
        self._sets = UnlinkedSets(self.graph, self._operations.schema, self._operations.values)

    def needs_links(self) -> bool:
        """Return False: a class, a value or words may say what is asked for."""
        return False

    def refuses(self) -> bool:
        """Return True: a subgraph in which no path ends is refused."""
        return True

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Answer each question by its operation, else by where the best path ends."""
        nodes = [sorted({end for t in s.triples for end in (t.subject, t.object)}) for s in subgraphs]
        every = sorted({node for row in nodes for node in row if not isinstance(node, Literal)})
        names = dict(zip(every, self.graph.labels(every), strict=True)) if every else {}
        linked, questions = questions, self._with_named_ends(questions, nodes, names)
        operated = self._operations.of(questions, subgraphs)
        drafts = [self._draft(*row) for row in zip(questions, operated, strict=True)]
        ids = sorted({id_ for draft in drafts for id_ in draft.ids()} - names.keys())
        names.update(zip(ids, self.graph.labels(ids), strict=True) if ids else ())
        return [
            self._answer(question, question.links[len(before.links) :], draft, subgraph, names, one.scores.unit.lift)
            for before, question, draft, subgraph, one in zip(
                linked, questions, drafts, subgraphs, operated, strict=True
            )
        ]

    def _with_named_ends(
        self, questions: Sequence[Question], nodes: Sequence[Sequence[str]], names: Mapping[str, str]
    ) -> list[Question]:
        """Link what a question names besides its links, if a subgraph has it or it is next to a link.

        A search may do without such a link; as an end it is a condition and not an answer.
        """
        more = [
            _with_links(question, named_ends(question, row, names))
            for question, row in zip(questions, nodes, strict=True)
        ]
        return [_with_links(one, self._neighbours(one)) for one in more]

    def _neighbours(self, question: Question) -> list[Link]:
        """Link what is named outside of the links' mentions and joined to one of them."""
        runs = other_names(question) if question.links else []
        linked = list(dict.fromkeys(link.entity for link in question.links))
        classes = {word for phrase in classes_asked(question.text) for word in (phrase, *phrase.split())}
        found = {
            entity: run
            for run, row in zip(runs, self.graph.find(runs), strict=True)
            for entity in row
            if entity not in linked and run not in classes
        }
        patterns = [pair for one in found for at in linked for pair in (Pattern(at, None, one), Pattern(one, None, at))]
        joined = (
            {end for row in self.graph.match(patterns) for t in row for end in (t.subject, t.object)}
            if patterns
            else ()
        )
        text = question.text.casefold()
        return [
            Link(one, start=(start := max(0, text.find(run))), end=start + len(run), name=run)
            for one, run in found.items()
            if one in joined
        ]

    def _draft(self, question: Question, one: Operated) -> Draft:
        """Answer in ids, by the first handler of the question's kind that has something to say."""
        known = Case(question, one)
        handlers = (*_NAMES, *(_UNLINKED if not question.links else _OF_KIND.get(one.kind.kind, _LOOKUP)))
        if question.links:
            paths = one.found.paths
            labels = self._operations.names.labels({path.steps[-1].relation for path in paths if path.steps})
            found = self._things_first(question, one, choices(question, one, labels))
            known = Case(question, self._with_things(question, one), found, labels)
        for handler in handlers:
            draft: Draft | None = handler(self, known)
            if draft is not None:
                return draft
        return Draft(one.kind.kind, missing="no path leads to an answer")

    # Handlers: each answers, or refuses, or leaves the case to the next one

    def _by_text(self, case: Case) -> Draft | None:
        """Answer with what has a text that is written in the question; refuse names that nothing has."""
        question = case.question
        unknown = unknown_names(question, self._relation_words) or other_words(self.graph, question)
        if (unknown or _has_sign(question)) and (lead := self._sets.of_value(question)) is not None:
            return Draft(case.kind, tuple(lead.answers), proof=lead.proof, complete=True)
        if unknown:
            return Draft(case.kind, missing=f"nothing of the graph is called {', '.join(unknown)}")
        return None

    def _by_class(self, case: Case) -> Draft:
        """Answer by class, values and words, where nothing is linked."""
        sets = self._sets
        if case.one.scores.unit != sets.values.scores.unit:
            sets = attrs.evolve(sets, values=attrs.evolve(sets.values, scores=case.one.scores))
        lead, missing = sets.lead(case.question, case.one.kind)
        if missing:
            return Draft(case.kind, missing=missing)
        if (operation := arithmetic_of(case.question.text)) and lead.values:
            return self._calculated(operation, lead)
        draft = _of(case.kind, lead)
        return attrs.evolve(draft, number=len(lead.answers)) if case.kind == "count" else draft

    def _by_join(self, case: Case) -> Draft | None:
        """Answer yes or no by what joins two links, by a value that says so, or by one that the question names."""
        if case.one.bounds or not is_yes_no(case.question.text):
            return None
        return self._confirmed(case.question, case.one, case.found)

    def _by_bound(self, case: Case) -> Draft | None:
        """Answer yes or no by whether a value is within bounds."""
        lead = case.one.lead
        if not (case.one.bounds and lead.facts and is_yes_no(case.question.text)):
            return None
        return attrs.evolve(_of(case.kind, lead), entities=(), truth=bool(lead.answers))

    def _by_arithmetic(self, case: Case) -> Draft | None:
        """Answer with a sum, an average or a distance."""
        lead, text = case.one.lead, case.question.text
        operation = arithmetic_of(text)
        if operation is None or not lead.values:
            return None
        noun = measured_noun(text) if operation == "distance" else None
        if noun is not None and not self._is_like(case.one, noun, Step(lead.facts["relation"]), _MEASURE):
            return Draft(operation, missing=f"the graph has no number of {noun} for what the question names")
        return self._calculated(operation, lead)

    def _by_ordering_relation(self, case: Case) -> Draft | None:
        """Answer a superlative by a relation that itself orders, as *largest city*."""
        if not case.found or not self._is_relation(case.question, case.one, case.found[0]):
            return None
        if (noun := self._unordered(case.one, case.found[0])) is not None:
            return Draft(case.kind, missing=_NO_RELATION.format(noun=noun))
        return self._looked_up(case, "lookup", case.found)

    def _by_place(self, case: Case) -> Draft | None:
        """Refuse a place in an order that is beyond the set."""
        facts = case.one.lead.facts
        if case.one.lead.answers or "rank" not in facts:
            return None
        missing = _BEYOND.format(rank=facts["rank"], count=facts["with_value"], name=self._label(facts["relation"]))
        return Draft(case.kind, missing=missing)

    def _by_comparison(self, case: Case) -> Draft | None:
        """Refuse a comparison of things without values, or of fewer than two."""
        several = len(case.question.links) > 1
        if case.one.lead.answers or not (several or not case.found or _OR_NAME.search(case.question.text)):
            return None
        return Draft(case.kind, missing=_TWO_VALUES if several else _TWO_NAMES)

    def _by_date(self, case: Case) -> Draft | None:
        """Answer when: by the dates of a statement, or where a path ends in dates."""
        if value_kind(case.question.text) != "date":
            return None
        if (dated := self._of_statement(case.question)) is not None:
            return dated
        if not any(fits(end, "date") for choice in case.found for end in choice.ends):
            return Draft(case.kind, missing="the graph has no date of what the question names")
        return self._looked_up(case, "lookup", case.found)

    def _by_number(self, case: Case) -> Draft | None:
        """Answer how many by a number that the graph has, such as a population."""
        one = case.one
        best = None if one.bounds or one.is_classed else _best_number(case.found, one.lead)
        if best is None:
            return None
        if (noun := self._unlike(case, best)) is not None:
            return Draft(case.kind, missing=_NO_RELATION.format(noun=noun))
        return attrs.evolve(self._looked_up(case, case.kind, [best]), number=value_of(next(iter(best.ends))))

    def _by_set(self, case: Case) -> Draft | None:
        """Answer with what the operation gave."""
        return self._of_lead(case.question, case.one) if case.one.lead.answers and case.one.held <= 0 else None

    def _by_path(self, case: Case) -> Draft | None:
        """Answer with where the best path ends."""
        if not case.found:
            return None
        if (noun := self._unlike(case, case.found[0], _margin(case.found))) is not None:
            return Draft(case.kind, missing=_NO_RELATION.format(noun=noun))
        return self._looked_up(case, case.kind, case.found)

    # What the handlers share

    def _likeness(self, one: Operated, phrase: str, step: Step) -> float:
        """Return how like a phrase is to a step's relation, as a part of the relation's likeness with its own name.

        A relation that is not like its own name says nothing, and is taken for like.
        """
        asked, own = one.scores.numbers([phrase, self._label(step.relation)], [(), ()], [[step], [step]])
        return float(asked[0] / own[0]) if own[0] > 0 else math.inf

    def _is_like(self, one: Operated, noun: str, step: Step, least: float) -> bool:
        """Return whether a noun has the name of a relation, or is like it."""
        return bool(shared_words([noun], self._label(step.relation))) or self._likeness(one, noun, step) >= least

    def _is_relation(self, question: Question, one: Operated, best: Choice) -> bool:
        """Return whether a relation of the best path itself orders, as *largest city*, better than any value would."""
        step = next((step for step in best.path.steps if ordering_words(self._label(step.relation))), None)
        if step is None:
            return False
        if "relation" not in one.lead.facts:
            return True
        phrase = order_phrase(question.text)
        return self._likeness(one, phrase, step) > self._likeness(one, phrase, Step(one.lead.facts["relation"]))

    def _leads_beyond(self, question: Question, one: Operated, path: RankedPath | None) -> bool:
        """Return whether a path goes on from what is asked for: *which films* are before their genre.

        Nothing tells the class of those nodes; but the question names the relation that leads to them, against its
        direction, and not the one that goes on.
        """
        nouns = [phrase for phrase in one.phrases if phrase not in PEOPLE]
        if not nouns or one.is_classed or one.roles or path is None or len(path.steps) < 2:
            return False
        before, last = path.steps[-2:]
        if not before.inverse or last.inverse:
            return False
        told, beyond = (stems_of(self._label(step.relation)) for step in (before, last))
        asked = stems_of(question.text)
        return bool(told & asked) and not beyond & asked

    def _things_first(self, question: Question, one: Operated, found: list[Choice]) -> list[Choice]:
        """Put the path to what is asked for before those that go on from there."""
        if not found or not self._leads_beyond(question, one, found[0].path):
            return found
        begun = (found[0].path.entity, found[0].path.steps[:-1])
        return sorted(found, key=lambda choice: (choice.path.entity, choice.path.steps) != begun)

    def _with_things(self, question: Question, one: Operated) -> Operated:
        """Count what is asked for, where the set goes on from there."""
        path = one.lead.path
        if one.kind.kind != "count" or one.bounds or path is None or not self._leads_beyond(question, one, path):
            return one
        sets = self._operations.read_sets(one.reads, question, [attrs.evolve(path, steps=path.steps[:-1])])
        return attrs.evolve(one, lead=whole_set(sets)) if sets else one

    def _of_lead(self, question: Question, one: Operated) -> Draft:
        """Answer with what the operation gave."""
        lead, kind = one.lead, one.kind.kind
        draft = _of(kind, lead)
        if kind == "count":
            return attrs.evolve(draft, number=len(lead.answers))
        if is_yes_no(question.text):
            first = next((link.entity for link in question.links), None)
            return attrs.evolve(draft, entities=(), truth=list(lead.answers) == [first])
        if kind in ("superlative", "ordinal") and lead.values and self._asks_for_value(question, one):
            # The highest temperature is a value.
            values = dict.fromkeys(lead.values[member].object for member in lead.answers)
            return attrs.evolve(draft, entities=tuple(values))
        return draft

    def _asks_for_value(self, question: Question, one: Operated) -> bool:
        """Return whether a superlative asks for the value itself: *the highest temperature*, and no class."""
        label = self._label(one.lead.facts["relation"])
        if one.phrases:
            return bool(shared_words(one.phrases, label))
        return bool(words_of(label) & words_of(question.text))

    def _confirmed(self, question: Question, one: Operated, found: Sequence[Choice]) -> Draft:
        """Answer yes or no: by what joins two links, by a value that says so, or by a value that the question names."""
        lead, kind = one.lead, one.kind.kind
        if lead.facts:
            return attrs.evolve(_of(kind, lead), entities=(), truth=bool(lead.answers))
        said = [choice for choice in found if all(truth_of(end) is not None for end in choice.ends)]
        if found and said[:1] == found[:1]:
            truths = {truth_of(end) for end in found[0].ends}
            proof = [(triple, found[0].path) for way in found[0].ends.values() for triple in way]
            if len(truths) == 1 and not self._is_near(one, question, found[0]):
                return Draft(kind, missing="the graph has no relation like what the question asks of it")
            if len(truths) == 1:
                return Draft(kind, truth=truths.pop(), proof=proof, complete=True, score=found[0].path.score)
        if found and _has_figure(question, one) and not any(truth_of(end) is not None for end in found[0].ends):
            named = named_value(question, found[0])
            ends_ = found[0].ends if named is None else {named: found[0].ends[named]}
            proof = [(triple, found[0].path) for way in ends_.values() for triple in way]
            return Draft(kind, truth=named is not None, proof=proof, complete=True, score=found[0].path.score)
        if found and (named := named_value(question, found[0])) is not None:
            proof = [(triple, found[0].path) for triple in found[0].ends[named]]
            return Draft(kind, truth=True, proof=proof, complete=True, score=found[0].path.score)
        return Draft(kind, missing=_TWO_NAMES)

    def _of_statement(self, question: Question) -> Draft | None:
        """Answer when a statement between two links began or ended, by the dates of its qualifiers."""
        links = list(dict.fromkeys(link.entity for link in question.links))
        patterns = [Pattern(one, None, other) for one in links for other in links if one != other]
        joined = [triple for row in self.graph.match(patterns) for triple in row] if patterns else []
        dates = dates_of(self.graph, joined, ends(question.text))
        if not dates:
            return None
        values = tuple(dict.fromkeys(date for _, date in dates))
        return Draft("lookup", values, [(triple, None) for triple, _ in dates], complete=True)

    def _is_near(self, one: Operated, question: Question, choice: Choice) -> bool:
        """Return whether a question has a word of a path's relations, or is clearly like it."""
        near = choice.path.score + one.scores.unit.lift >= _NEAR
        return near or self._names(question, [step.relation for step in choice.path.steps])

    def _unordered(self, one: Operated, best: Choice) -> str | None:
        """Return the noun of a superlative that a relation which itself orders, as *largest city*, does not order."""
        nouns = [phrase.split()[-1] for phrase in one.phrases if phrase not in PEOPLE]
        if not nouns or one.fit or any(end in one.roles for end in best.ends):
            return None
        return None if any(self._is_like(one, noun, best.path.steps[-1], _ORDERED) for noun in nouns) else nouns[0]

    def _unlike(self, case: Case, best: Choice, margin: float = math.inf) -> str | None:
        """Return the noun of a question that asks for the relation to something, if the best path has none like it.

        In a question of several steps the noun may be that of any of them, and a path that is clearly like the question
        needs no noun.
        """
        one, steps = case.one, best.path.steps
        score = best.path.score + one.scores.unit.lift
        noun = asked_relation(case.question.text) or next((one for one in one.phrases if one not in PEOPLE), None)
        if one.fit or one.roles or one.held > 0 or (noun in one.phrases and steps[-1].inverse):
            return None
        if noun is None or singular(noun.split()[-1]) in _NO_NOUNS:
            label = self._label(steps[-1].relation)
            [own] = one.scores.rows([label], [()], [steps[-1:]])
            # Log-probabilities are at most 0, and say nothing of how like a path is to a question.
            return case.question.text.strip(" ?") if own[0] > 0 and score < _FAR * own[0] else None
        if margin < _CLEAR and noun not in one.phrases and self._is_doubted(one, noun, steps[-1], case.labels):
            return None if self._is_like(one, noun, steps[-1], _DOUBTED) else noun
        is_like = score >= _NEAR or any(self._is_like(one, noun, step, _LIKE) for step in steps)
        return None if is_like else noun

    def _is_doubted(self, one: Operated, noun: str, step: Step, labels: Mapping[str, str]) -> bool:
        """Return whether a noun is more like another relation than that of a step."""
        relations = dict.fromkeys([step.relation, *self._operations.schema.relations, *labels])
        steps = [Step(relation) for relation in relations]
        [scores] = one.scores.rows([noun], [()], [steps])
        return bool(max(scores) > scores[0])

    def _calculated(self, operation: Arithmetic, lead: Lead) -> Draft:
        """Add values up, or take them from each other; dates are apart by years."""
        dated = all(is_date(triple.object) for triple in lead.values.values())
        numbers = [value for triple in lead.values.values() if (value := value_of(triple.object)) is not None]
        if operation == "distance":
            first, second = (int(value) if dated else value for value in numbers[:2])
            number, unit = abs(first - second), "years" if dated else ""
        else:
            number, unit = math.fsum(numbers) / (len(numbers) if operation == "average" else 1), ""
        return Draft(
            operation,
            tuple(lead.values),
            proof=lead.proof,
            complete=bool(lead.facts.get("complete")),
            score=lead.score,
            margin=lead.margin,
            path=lead.path,
            relation=lead.facts["relation"],
            number=rounded(number),
            unit=unit or self._label(lead.facts["relation"]),
        )

    def _looked_up(self, case: Case, kind: str, found: Sequence[Choice]) -> Draft:
        best, *others = found
        whole, complete = self._whole(case.one.reads, best)
        return Draft(
            kind,
            tuple(whole),
            proof=[(triple, best.path) for way in whole.values() for triple in way],
            complete=complete,
            number=len(whole) if kind == "count" else None,
            margin=_margin(found),
            score=best.path.score,
            operated=False,
            path=best.path,
            others=others[:_ALTERNATIVES],
        )

    def _whole(self, reads: PathReads, choice: Choice) -> tuple[Mapping[str, tuple[Triple, ...]], bool | None]:
        """Read all of where a path ends; what the subgraph has comes first. Tell whether that is all there is.

        Ends of one class or year are those of the subgraph alone, of which nothing is told.
        """
        if choice.narrowed:
            return choice.ends, None
        [read] = reads.of([choice.path])
        whole = dict(choice.ends)
        for one in read.instances:
            if one.end != choice.path.entity and len(set(one.triples)) == len(one.triples):
                whole.setdefault(one.end, one.triples)
        return whole, not read.cut

    def _evidence(self, question: Question, draft: Draft, lift: float) -> Evidence:
        """Compare the relations and nodes of an answer's proof with the words and the links of its question."""
        topics = link_topics(question.links)
        nodes = {end for triple, _ in draft.proof for end in (triple.subject, triple.object)}
        met = {topic for entity, topic in topics.items() if entity in nodes}
        # Where nothing joins two links no link is the end of a proof, and of two that are compared another of the name
        # may have the value.
        unused = 0 if draft.truth is not None or draft.kind == "comparison" else len(set(topics.values()) - met)
        relations = {triple.relation for triple, _ in draft.proof}
        return Evidence(
            None if draft.score is None else draft.score + lift,
            draft.margin,
            self._names(question, relations),
            unused,
            joined=draft.truth is True or draft.kind not in ("lookup", "yes-no"),
            operated=draft.operated,
        )

    def _label(self, relation: str) -> str:
        return self._operations.names.labels([relation])[relation]

    def _names(self, question: Question, relations: Iterable[str]) -> bool:
        """Return whether a question has a word of one of the relations, outside of its links' mentions."""
        asked = stems_of(without_mentions(question, question.links, {}, MENTION))
        return any(asked & stems_of(label) for label in self._operations.names.labels(relations).values())

    def _answer(
        self,
        question: Question,
        added: Sequence[Link],
        draft: Draft,
        subgraph: Subgraph,
        names: Mapping[str, str],
        lift: float,
    ) -> Answer:
        """Write an answer in words, with its proof in the subgraph."""
        trace: dict[str, Any] = {}
        if added:
            trace["links"] = [{"entity": link.entity, "name": link.name} for link in added]
        if choice := draft.choice():
            trace["choice"] = choice
        if draft.missing:
            pass
        elif draft.entities and draft.truth is None and all(is_missing(names.get(one, one)) for one in draft.entities):
            draft = Draft(draft.kind, missing=_NO_VALUE.format(text=_listed(draft.entities, names)))
        if draft.missing:
            return Answer(enough=False, missing=draft.missing, trace=trace, operation=draft.kind)
        proof = dict.fromkeys(triple for triple, _ in draft.proof)
        changed = subgraph
        if not proof.keys() <= set(subgraph.triples):
            changed = with_proof(self.graph, subgraph, draft.proof, self.budget)
        place = {triple: i for i, triple in enumerate(changed.triples)}
        evidence = self._evidence(question, draft, lift)
        certainty = evidence.certainty
        return Answer(
            text=_text(draft, names),
            entities=draft.entities,
            support=tuple(sorted(place[triple] for triple in proof if triple in place)),
            operation=draft.kind,
            number=draft.number,
            unit=draft.unit,
            truth=draft.truth,
            # Of a path that may not be the one that is asked for, nothing is said to be complete.
            complete=None if draft.complete and not evidence.is_complete else draft.complete,
            certainty=certainty,
            alternatives=tuple(_alternative(choice, names, changed.paths) for choice in draft.others),
            subgraph=None if changed is subgraph else changed,
            trace=trace,
        )


@attrs.frozen
class Draft:
    """An answer in ids.

    Attributes:
        kind: Kind of the question.
        entities: The answer's entities and values.
        proof: Triples that prove it, each with its path.
        complete: Whether all was read; None where that means nothing.
        number: The number asked for.
        unit: What it measures.
        truth: Yes or no.
        margin: Distance of the score of the choice from the next one's.
        score: Score of the choice; None where nothing was chosen.
        operated: Whether an operation chose it.
        path: Path to the answer, or to the set that the operation is about.
        relation: Relation whose values decided.
        others: Other choices.
        missing: Why there is no answer.
    """

    kind: str
    entities: tuple[str, ...] = ()
    proof: Row = ()
    complete: bool | None = None
    number: float | None = None
    unit: str = ""
    truth: bool | None = None
    margin: float = float("inf")
    score: float | None = None
    operated: bool = True
    path: RankedPath | None = None
    relation: str | None = None
    others: Sequence[Choice] = ()
    missing: str = ""

    def choice(self) -> dict[str, Any]:
        """Return what the record says of the choice: path, relation that decided, score and distance."""
        chosen: dict[str, Any] = {}
        if self.path is not None:
            chosen |= {"entity": self.path.entity, "path": [str(step) for step in self.path.steps]}
        if self.relation is not None:
            chosen["relation"] = self.relation
        if self.score is not None:
            chosen["score"] = rounded(self.score)
        return {**chosen, "margin": rounded(self.margin)} if chosen and math.isfinite(self.margin) else chosen

    def ids(self) -> set[str]:
        """Return the ids that the text needs names of."""
        return {*self.entities, *(end for choice in self.others for end in choice.ends)}


@attrs.frozen
class Case:
    """A question with what was found for it.

    Attributes:
        question: The question.
        one: What its operation gave.
        found: What its paths lead to, best first.
        labels: Labels of the last relations of its paths.
    """

    question: Question
    one: Operated
    found: Sequence[Choice] = ()
    labels: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def kind(self) -> Kind:
        """The kind of the question."""
        return self.one.kind.kind


Handler = Callable[[PathsReader, Case], Draft | None]

_NAMES: Sequence[Handler] = (PathsReader._by_text,)
_UNLINKED: Sequence[Handler] = (PathsReader._by_class,)
_LOOKUP: Sequence[Handler] = (
    PathsReader._by_arithmetic,
    PathsReader._by_date,
    PathsReader._by_set,
    PathsReader._by_path,
)
_OF_KIND: Mapping[Kind, Sequence[Handler]] = {
    "yes-no": (PathsReader._by_join, PathsReader._by_bound, *_LOOKUP),
    "comparison": (
        PathsReader._by_bound,
        PathsReader._by_arithmetic,
        PathsReader._by_comparison,
        *_LOOKUP[1:],
    ),
    "superlative": (PathsReader._by_arithmetic, PathsReader._by_ordering_relation, *_LOOKUP[1:]),
    "ordinal": (PathsReader._by_arithmetic, PathsReader._by_place, *_LOOKUP[1:]),
    "count": (
        PathsReader._by_arithmetic,
        PathsReader._by_date,
        PathsReader._by_number,
        *_LOOKUP[2:],
    ),
}
"""The handlers of each kind of question, first first; look-ups and the other kinds have those of look-ups."""


def _of(kind: str, lead: Lead) -> Draft:
    """Return a draft of what an operation gave."""
    complete = bool(lead.facts.get("complete"))
    return Draft(
        kind,
        tuple(lead.answers),
        proof=lead.proof,
        complete=complete,
        score=lead.score,
        margin=lead.margin,
        path=lead.path,
        relation=lead.facts.get("relation"),
    )


def _with_links(question: Question, more: Sequence[Link]) -> Question:
    return attrs.evolve(question, links=(*question.links, *more)) if more else question


def _has_sign(question: Question) -> bool:
    """Return whether a question quotes something, or has a sign that is no letter, figure or mark."""
    return any(not (char.isalnum() or char.isspace() or char in _PLAIN_MARKS) for char in question.text)


def _has_figure(question: Question, one: Operated) -> bool:
    """Return whether a question that bounds nothing has a word with a figure, such as a version."""
    return not one.bounds and any(char.isdigit() for char in question.text)


def _best_number(found: Sequence[Choice], lead: Lead) -> Choice | None:
    """Return the best path if it ends in one number, such as a population, and is nearer than what could be counted."""
    best = max(found, key=lambda choice: choice.path.score, default=None)
    if best is None or len(best.ends) != 1 or (lead.path is not None and lead.path.score > best.path.score):
        return None
    [end] = best.ends
    return best if fits(end, "number") and not is_year(value_of(end) or 0.0) else None


def _margin(found: Sequence[Choice]) -> float:
    """Return how far the first choice's score is from the next one's."""
    return found[0].path.score - found[1].path.score if len(found) > 1 else math.inf


def _text(draft: Draft, names: Mapping[str, str]) -> str:
    if draft.truth is not None:
        return "Yes" if draft.truth else "No"
    if draft.number is not None:
        return f"{draft.number:.4f}".rstrip("0").rstrip(".")
    return _listed(draft.entities, names)


def _alternative(choice: Choice, names: Mapping[str, str], paths: Sequence[RankedPath]) -> Alternative:
    at = next((i for i, path in enumerate(paths) if path == choice.path), -1)
    return Alternative(_listed(choice.ends, names), tuple(choice.ends), at)


def _listed(ids: Iterable[str], names: Mapping[str, str]) -> str:
    texts = list(dict.fromkeys(one.lexical if isinstance(one, Literal) else names.get(one, one) for one in ids))
    if len(texts) > _NAMED:
        return f"{', '.join(texts[:_NAMED])} and {len(texts) - _NAMED} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
