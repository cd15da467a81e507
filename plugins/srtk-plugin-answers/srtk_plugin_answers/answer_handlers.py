"""Handlers of each kind of question: the first with an answer or a refusal counts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold, without_mentions
from srtk_framework.values import Link, Literal, Question, RankedPath, Step, Triple, rounded
from srtk_plugin_answers.choices import Choice, choices, named_value, other_words, unknown_names
from srtk_plugin_answers.counted_steps import not_counted
from srtk_plugin_answers.drafts import Case, Draft, margin_of
from srtk_plugin_answers.graph_names import objects_of
from srtk_plugin_answers.joined_topics import triples_between
from srtk_plugin_answers.literal_values import fits, is_date, is_year, truth_of, value_of
from srtk_plugin_answers.node_sets import Lead, NodeSet, whole_set
from srtk_plugin_answers.operations import Operated, Operations
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import LIKE, SURE, is_clear
from srtk_plugin_answers.question_classes import (
    MENTION,
    PEOPLE,
    STOP_WORDS,
    shared_words,
    singular,
    stems_of,
    word_set,
    words_of,
)
from srtk_plugin_answers.question_kinds import (
    Arithmetic,
    Kind,
    arithmetic_of,
    asked_relation,
    asks_for_age,
    asks_for_things,
    class_modifiers,
    class_words,
    classes_asked,
    counted_order,
    is_negated,
    is_yes_no,
    measured_noun,
    order_clause,
    order_noun,
    unnamed_text,
    value_kind,
)
from srtk_plugin_answers.question_values import ValueConstraint
from srtk_plugin_answers.relation_likeness import NO_NOUNS, RelationLikeness
from srtk_plugin_answers.statement_years import dates_of, ends
from srtk_plugin_answers.unlinked import UnlinkedSets

# Other answers that are shown: enough to see a doubt, few enough to read.
_ALTERNATIVES = 4
# Below the least likeness of a noun (`LIKE`): a difference is counted in a unit, which is rarely a relation's name.
_MEASURE = 0.2
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_OR_NAME = re.compile(r"\bor (?:the )?[A-Z]")
_NOUN_OF = re.compile(r"\b(?P<noun>[^\W\d_]+) of (?:(?:an?|the) )? *¤")
# Where the class itself is linked: which lake has the largest area.
_WHICH_HAS = re.compile(r"^(?:which|who)\b(?! (?:is|are|was|were) the\b)", re.IGNORECASE)
_KIND = ("kind", "type", "sort")
_IS_A = ("is a", "isa", "kind of", "type of", "subclass of", "sub class of", "subtype of")
_ASKS = word_set(
    "what which who whos whats how many name list give show find tell count me all the a an is are was were there exist"
)
"""Words beside a noun that say no more than that it is asked for."""
_PLAIN_MARKS = "?.,;:!'’-()/%&$€£"
_TWO_NAMES = "the question compares or joins two things, and fewer than two names of the graph were found in it"
_NO_RELATION = "the graph has no relation like {noun!r} of what the question names"
_BEYOND = "the set has no place {rank}: {count} of it have a value of {name!r}"
_NO_VALUE = "the graph has no number or date called {noun!r} for what the question names"
_NOT_WITHIN = "nothing of the set has a value of {name!r} within {within}"
_NOT_EXCLUDED = "all that the question excludes is known, and not all of its class"
_NOT_MODIFIED = "nothing of what the question asks for is known to be {words}"
_LEFT_OUT = "nothing of the graph is called {words}, and it was left out"
_OVER = "what the question names has no {noun} of its own; the answer goes over {over}"
_NO_YEAR = "the graph has a column for each of several years, and not a single one for {years}"
_NOT_KNOWN = "whether it is so is not known: the graph has no relation like what the question asks of what it names"
_TWO_VALUES = "the graph has no relation with a number or a date for each of the things that are compared"


@attrs.define(eq=False)
class AnswerHandlers:
    """Answer a question in ids, by its paths and its operation."""

    graph: KnowledgeGraph
    operations: Operations
    sets: UnlinkedSets
    likeness: RelationLikeness
    relation_words: frozenset[str]

    def draft(self, question: Question, operated: Operated, names: Mapping[str, str]) -> Draft:
        """Answer in ids, by the first handler of the question's kind that does not pass.

        ``names`` are the labels of the subgraph's nodes.
        """
        known = Case(question, operated)
        handlers = (*_NAMES, *(_UNLINKED if not question.links else _OF_KIND.get(operated.kind.kind, _LOOKUP)))
        if question.links:
            paths = operated.found.paths
            labels = self.operations.names.labels({path.steps[-1].relation for path in paths if path.steps})
            found = self._held_first(
                operated, self._things_first(question, operated, choices(question, operated, labels)), names
            )
            known = Case(question, self._with_held(self._with_things(question, operated), names), found, labels)
        for handler in handlers:
            draft: Draft | None = handler(self, known)
            if draft is not None:
                return self._modified(question, known, self._complement(question, operated, _polar(question, draft)))
        return Draft(operated.kind.kind, missing="no path leads to an answer")

    def _complement(self, question: Question, one: Operated, draft: Draft) -> Draft:
        """Return all others of the class, where a question with *not* found those that it excludes.

        Nodes of which the graph does not say it are among them.
        """
        path, text = draft.path, unnamed_text(question)
        if draft.kind != "difference" or draft.missing or one.bounds or not is_negated(text):
            return draft
        if "without" in one.lead.facts:
            return draft
        whole = self.sets.class_set(without_mentions(question, question.links, {}, MENTION))
        left = [] if whole is None else [member for member in whole.instances if member not in draft.entities]
        if whole is None or path is None or len(path.steps) > 1 or not whole.instances.keys() >= set(draft.entities):
            return Draft(draft.kind, missing=_NOT_EXCLUDED)
        proof = [pair for member in left for pair in whole.values[member]]
        return attrs.evolve(draft, entities=tuple(left), proof=proof, complete=draft.complete and not whole.cut)

    def _modified(self, question: Question, case: Case, draft: Draft) -> Draft:
        """Keep the answers that have what stands before the noun of their class: *blue* films.

        Where the graph has no such name or text, the answer is not sure.
        """
        kinds = ("lookup", "count", "superlative", "ordinal", "time-bound", "difference")
        if draft.missing or draft.truth is not None or draft.kind not in kinds or not question.links:
            return draft
        # The class itself may be linked.
        links = [one for one in question.links if not self._is_class(one, draft.path)]
        before, noun = class_modifiers(without_mentions(question, links, {}, MENTION))
        relations = {step.relation for step in (draft.path.steps if draft.path else ())}
        told = stems_of(" ".join(self.likeness.label(one) for one in relations))
        words = {word for word in before - STOP_WORDS if not word.isdigit() and not stems_of(word) & told}
        nodes = [one for one in draft.entities if not isinstance(one, Literal)]
        if not words or not nodes:
            return draft
        words -= self._words_of_classes(nodes, noun)
        if not words:
            return draft
        one, named = self.sets.narrowed(NodeSet(None, dict.fromkeys(nodes, ())), words, noun)
        left = words - named - {noun}
        if left and not any(self.graph.find(sorted(left))) and not self.sets.is_text(left):
            return attrs.evolve(draft, likened=True, notice=_LEFT_OUT.format(words=" ".join(sorted(left))))
        if left or not one.instances or (draft.kind == "ordinal" and len(one.instances) < len(nodes)):
            return Draft(draft.kind, missing=_NOT_MODIFIED.format(words=" ".join(sorted(words))))
        kept = [node for node in draft.entities if node in one.instances]
        shown = [pair for node in kept for pair in one.values.get(node, ())]
        number = draft.number if draft.number is None or draft.counts else len(kept)
        return attrs.evolve(draft, entities=tuple(kept), proof=[*draft.proof, *shown], number=number)

    def _words_of_classes(self, nodes: Sequence[str], noun: str) -> set[str]:
        """Return the words of the nodes' classes that have a noun: of *autonomous district* both."""
        schema, names = self.operations.schema, self.operations.names
        types = objects_of(self.graph, self.graph.frontiers([nodes]), schema.type_relations)
        classes = names.of_classes(sorted({one for row in types.values() for one in row}))
        labels = (words_of(label) for row in classes.values() for label in row)
        return {word for row in labels if noun in row for word in row}

    # Handlers: each answers, or refuses, or leaves the case to the next one

    def _by_count(self, case: Case) -> Draft | None:
        """Answer an order by counts without the links that are no names but words of the question."""
        question = case.question
        if case.kind not in ("superlative", "ordinal") or not question.links or unnamed_text(question) != question.text:
            return None
        if counted_order(question.text) is None:
            return None
        draft = self._by_class(attrs.evolve(case, question=attrs.evolve(question, links=())))
        return None if draft.missing else draft

    def _by_text(self, case: Case) -> Draft | None:
        """Answer with the nodes that have a text of the question; refuse names that no node has."""
        question = case.question
        unknown = unknown_names(question, self.relation_words) or other_words(self.graph, question)
        if (unknown or _has_sign(question)) and (lead := self.sets.of_value(question)) is not None:
            if is_yes_no(unnamed_text(question)):
                truth = not question.links or any(link.entity in lead.answers for link in question.links)
                return Draft(case.kind, truth=truth, proof=lead.proof, complete=True)
            number = len(lead.answers) if case.kind == "count" else None
            return Draft(case.kind, tuple(lead.answers), proof=lead.proof, complete=True, number=number)
        if unknown:
            return Draft(case.kind, missing=f"nothing of the graph is called {', '.join(unknown)}")
        return None

    def _by_year(self, case: Case) -> Draft | None:
        """Answer with the column that is called as the year of a question: *the population of X in 2015*."""
        names, links = self.operations.names, {link.entity for link in case.question.links}
        text = without_mentions(case.question, case.question.links, {}, MENTION)
        asked = dict.fromkeys(_YEAR.findall(text))
        if case.kind not in ("lookup", "time-bound", "count") or len(links) != 1 or not (asked and names.years()):
            return None
        if case.operated.bounds and not any(one.date for one in case.operated.bounds):
            return None
        noun = asked_relation(case.question.text)
        noun = noun or next((one for one in case.operated.phrases if one not in PEOPLE), "")
        told = names.of_year(text, noun)
        if asks_for_things(text) or (not told and (not noun or self.likeness.is_name(noun))):
            return None
        if len(told) != 1:
            return Draft(case.kind, missing=_NO_YEAR.format(years=" and ".join(asked)))
        [link], [relation] = links, told
        [row] = self.graph.triples(self.graph.frontiers([[link]]), [Step(relation)], None)
        if not row:
            return Draft(case.kind, missing=_NO_VALUE.format(noun=self.likeness.label(relation)))
        path = RankedPath(link, (Step(relation),), 0.0)
        values = tuple(triple.object for triple in row)
        draft = Draft(case.kind, values, [(triple, path) for triple in row], True, path=path, operated=False)
        number = value_of(values[0]) if case.kind == "count" else None
        return attrs.evolve(draft, number=number, likened=not (noun and names.is_measure(noun, relation)))

    def _by_class(self, case: Case) -> Draft:
        """Answer by class, values and words, where nothing is linked."""
        sets = self.sets
        if case.operated.scores.unit != sets.values.scores.unit:
            sets = attrs.evolve(sets, values=attrs.evolve(sets.values, scores=case.operated.scores))
        lead, missing = sets.lead(case.question, case.operated.kind)
        if missing:
            return Draft(case.kind, missing=missing)
        if (operation := arithmetic_of(case.question.text)) and lead.values:
            return self._calculated(operation, lead)
        draft = Draft.of_lead(case.kind, lead)
        return attrs.evolve(draft, number=len(lead.answers)) if case.kind == "count" else draft

    def _by_join(self, case: Case) -> Draft | None:
        """Answer yes or no by a relation between two links, by a truth value, or by a value that the question names."""
        if case.operated.bounds or not is_yes_no(unnamed_text(case.question)):
            return None
        return self._confirmed(case.question, case.operated, case.found)

    def _by_bound(self, case: Case) -> Draft | None:
        """Answer yes or no by whether a value is within bounds."""
        lead, bounds = case.operated.lead, case.operated.bounds
        if not (bounds and is_yes_no(unnamed_text(case.question))):
            return None
        if not lead.members:
            return Draft(case.kind, missing=_no_value(bounds))
        # Of several links all are meant, as far as they have a value.
        truth = set(lead.answers) == set(lead.members)
        return attrs.evolve(Draft.of_lead(case.kind, lead), entities=(), truth=truth)

    def _by_empty(self, case: Case) -> Draft | None:
        """Answer none, or refuse, where nothing is within the bounds of a question, or nothing has such a value."""
        lead, bounds = case.operated.lead, case.operated.bounds
        if lead.answers or not bounds:
            return None
        if "bounds" not in lead.facts:
            return Draft(case.kind, missing=_no_value(bounds)) if any(one.noun for one in bounds) else None
        if case.kind == "count":
            return attrs.evolve(Draft.of_lead(case.kind, lead), number=0)
        label = self.likeness.label(lead.facts["bounds"][-1]["relation"])
        return Draft(case.kind, missing=_NOT_WITHIN.format(name=label, within=lead.facts["bounds"][-1]["within"]))

    def _by_order_noun(self, case: Case) -> Draft | None:
        """Refuse an order by a noun that no number has: *the largest code*."""
        noun = order_noun(order_clause(unnamed_text(case.question), class_words(case.question.text))[1])
        if case.operated.lead.answers or not noun or not class_words(case.question.text):
            return None
        return Draft(case.kind, missing=_NO_VALUE.format(noun=noun))

    def _by_arithmetic(self, case: Case) -> Draft | None:
        """Answer with a sum, an average or a distance."""
        lead, text = case.operated.lead, unnamed_text(case.question)
        operation = arithmetic_of(text)
        if operation is None or not lead.values:
            return None
        noun = measured_noun(text) if operation == "distance" else None
        if noun is not None and not self.likeness.is_like(case.operated, noun, Step(lead.facts["relation"]), _MEASURE):
            return Draft(operation, missing=f"the graph has no number of {noun} for what the question names")
        return self._calculated(operation, lead)

    def _by_ordering_relation(self, case: Case) -> Draft | None:
        """Answer a superlative by a relation that itself orders, as *largest city*."""
        if not case.found or not self.likeness.orders_itself(case.question, case.operated, case.found[0]):
            return None
        if (noun := self.likeness.unordered(case.operated, case.found[0])) is not None:
            return Draft(case.kind, missing=_NO_RELATION.format(noun=noun))
        return self._looked_up(case, "lookup", case.found)

    def _by_counted_noun(self, case: Case) -> Draft | None:
        """Refuse an order by counts where nothing can be counted, and no number is meant."""
        order = counted_order(case.question.text)
        if case.operated.lead.answers or order is None or not order.noun:
            return None
        return Draft(case.kind, missing=not_counted(order))

    def _by_place(self, case: Case) -> Draft | None:
        """Refuse a place in an order that is beyond the set."""
        facts = case.operated.lead.facts
        if case.operated.lead.answers or "rank" not in facts:
            return None
        missing = _BEYOND.format(
            rank=facts["rank"], count=facts["with_value"], name=self.likeness.label(facts["relation"])
        )
        return Draft(case.kind, missing=missing)

    def _by_comparison(self, case: Case) -> Draft | None:
        """Refuse a comparison of things without values, or of fewer than two."""
        several = len(case.question.links) > 1
        if case.operated.lead.answers or not (several or not case.found or _OR_NAME.search(case.question.text)):
            return None
        return Draft(case.kind, missing=_TWO_VALUES if several else _TWO_NAMES)

    def _by_date(self, case: Case) -> Draft | None:
        """Answer when: by the dates of a statement, or where a path ends in dates."""
        if value_kind(unnamed_text(case.question)) != "date":
            return None
        if (dated := self._of_statement(case.question)) is not None:
            return dated
        if not any(fits(end, "date") for choice in case.found for end in choice.ends):
            return Draft(case.kind, missing="the graph has no date of what the question names")
        return self._looked_up(case, "lookup", case.found)

    def _by_number(self, case: Case) -> Draft | None:
        """Answer how many by a number that the graph has, such as a population."""
        one = case.operated
        best = None if one.bounds or one.named else _best_number(case.found, one.lead)
        if best is None:
            return None
        if (noun := self.likeness.unlike(case, best)) is not None:
            return Draft(case.kind, missing=_NO_RELATION.format(noun=noun))
        return attrs.evolve(self._looked_up(case, case.kind, [best]), number=value_of(next(iter(best.ends))))

    def _by_set(self, case: Case) -> Draft | None:
        """Answer with the result of the operation; refuse to count what neither a class nor a relation is called."""
        one = case.operated
        if not one.lead.answers or one.held > 0:
            return None
        if case.kind == "count" and (noun := self.likeness.uncounted(case)) is not None:
            return Draft(case.kind, missing=_NO_RELATION.format(noun=noun))
        return self._of_lead(case.question, one)

    def _by_value(self, case: Case) -> Draft | None:
        """Refuse a number where no path ends in one, and an age without a date, a year or an *age* one step away."""
        if value_kind(unnamed_text(case.question)) != "number" or not case.found:
            return None
        if not asks_for_age(case.question.text):
            if any(fits(end, "number") for choice in case.found for end in choice.ends):
                return None
            return Draft(case.kind, missing="the graph has no number of what the question names")
        ages = [choice for choice in case.found if len(choice.path.steps) == 1 and self._is_age(case.operated, choice)]
        if not ages:
            return Draft(case.kind, missing="the graph has no age of what the question names")
        return self._looked_up(case, case.kind, [*ages, *(choice for choice in case.found if choice not in ages)])

    def _is_age(self, one: Operated, choice: Choice) -> bool:
        if all(fits(end, "date") for end in choice.ends):
            return True
        is_number = all(fits(end, "number") for end in choice.ends)
        return is_number and self.likeness.is_like(one, "age", choice.path.steps[-1], LIKE)

    def _by_path(self, case: Case) -> Draft | None:
        """Answer with where the best path ends."""
        if not case.found:
            return None
        if (noun := self.likeness.unlike(case, case.found[0], margin_of(case.found))) is not None:
            return Draft(case.kind, missing=_NO_RELATION.format(noun=noun))
        draft = self._looked_up(case, case.kind, case.found)
        over = self.likeness.relations_between(case.question, case.found[0])
        notice = _OVER.format(noun=asked_relation(case.question.text), over=", ".join(over)) if over else ""
        return attrs.evolve(draft, likened=bool(over) or not self.likeness.is_close(case, case.found[0]), notice=notice)

    def _by_noun_of(self, case: Case) -> Draft | None:
        """Answer *the parts of X* by the relation *part of*, against its direction, where nothing else is asked."""
        text = fold(without_mentions(case.question, case.question.links, {}, MENTION))
        found = _NOUN_OF.search(text)
        link = case.question.links[0].entity
        if found is None or len({one.entity for one in case.question.links}) > 1:
            return None
        noun, rest = singular(found["noun"]), f"{text[: found.start()]} {text[found.end() :]}"
        if words_of(rest) - _ASKS:
            return None
        [frontier] = self.graph.frontiers([[link]])
        [steps] = self.graph.steps([frontier], True)
        back = [step for step in steps if step.inverse]
        labels = [fold(self.likeness.label(step.relation)) for step in back]
        told = next((step for step, name in zip(back, labels, strict=True) if _says(noun, name)), None)
        if told is None:
            return None
        sets = self.operations.read_sets(case.operated.reads, case.question, [RankedPath(link, (told,), 0.0)])
        draft = Draft.of_lead(case.kind, whole_set(sets))
        return attrs.evolve(draft, number=len(draft.entities)) if case.kind == "count" else draft

    # What the handlers share

    def _leads_beyond(self, question: Question, one: Operated, path: RankedPath | None) -> bool:
        """Return whether a path goes on behind the answer: *which films* are before their genre.

        The graph has no class of those nodes; but the question names the relation that leads to them, against its
        direction, and not the last relation. A search that is sure of the longer path knows better.
        """
        # The types of films are behind them.
        nouns = [noun for noun in one.phrases if noun not in PEOPLE and noun.split()[-1] not in NO_NOUNS]
        if not nouns or one.named or one.roles or path is None or len(path.steps) < 2:
            return False
        before, last = path.steps[-2:]
        if not before.inverse or last.inverse or is_clear(path, one.found.paths, SURE):
            return False
        told, beyond = (stems_of(self.likeness.label(step.relation)) for step in (before, last))
        asked = stems_of(question.text)
        return bool(told & asked) and not beyond & asked

    def _things_first(self, question: Question, one: Operated, found: list[Choice]) -> list[Choice]:
        """Put the path to the answer before the paths that go on from there."""
        if not found:
            return found
        path = found[0].path
        asked = classes_asked(question.text)
        is_typed = any(shared_words(asked, link.name or "") and self._is_class(link, path) for link in question.links)
        if is_typed:
            begun = (path.entity, path.steps[:1])
        elif self._leads_beyond(question, one, path):
            begun = (path.entity, path.steps[:-1])
        else:
            return found
        return sorted(found, key=lambda choice: (choice.path.entity, choice.path.steps) != begun)

    def _is_class(self, link: Link, path: RankedPath | None) -> bool:
        """Return whether a path begins at a linked class, with its members."""
        if path is None or path.entity != link.entity or not path.steps:
            return False
        return path.steps[0].inverse and path.steps[0].relation in self.operations.schema.type_relations

    def _with_things(self, question: Question, one: Operated) -> Operated:
        """Count the answers, where the set goes on behind them."""
        path = one.lead.path
        if one.kind.kind != "count" or one.bounds or path is None or not self._leads_beyond(question, one, path):
            return one
        sets = self.operations.read_sets(one.reads, question, [attrs.evolve(path, steps=path.steps[:-1])])
        return attrs.evolve(one, lead=whole_set(sets)) if sets else one

    def _held_first(self, one: Operated, found: list[Choice], names: Mapping[str, str]) -> list[Choice]:
        """Put the content of nodes with a meaningless name before them: authors before an *authors list*."""
        if not found or self.sets.shared.are_meaningful(found[0].ends, names):
            return found
        best, paths = found[0], self._held(one, found[0].path, list(found[0].ends))
        held = []
        for path, triples in paths:
            ends: dict[str, tuple[Triple, ...]] = {}
            for triple in triples:
                ends.setdefault(triple.object, (*best.ends[triple.subject], triple))
            held.append(Choice(path, ends))
        return [*held, *found]

    def _with_held(self, one: Operated, names: Mapping[str, str]) -> Operated:
        """Take the content of nodes with a meaningless name for the set."""
        path = one.lead.path
        if one.kind.kind not in ("count", "lookup") or one.bounds or path is None:
            return one
        if self.sets.shared.are_meaningful(one.lead.answers, names):
            return one
        for onward, triples in self._held(one, path, one.lead.answers)[:1]:
            members = list(dict.fromkeys(triple.object for triple in triples))
            proof = [*one.lead.proof, *((triple, onward) for triple in triples)]
            facts = {"members": len(members), "complete": bool(one.lead.facts.get("complete"))}
            lead = Lead(facts=facts, answers=members, members=members, proof=proof, path=onward, score=path.score)
            return attrs.evolve(one, lead=lead)
        return one

    def _held(self, one: Operated, path: RankedPath, nodes: Sequence[str]) -> list[tuple[RankedPath, list[Triple]]]:
        """Return the paths on from the ends of a path, the likest to the question first, with their last triples."""
        onward = {
            attrs.evolve(path, steps=(*path.steps, step)): triples
            for step, triples in self.sets.shared.onward(nodes, path.entity).items()
        }
        return sorted(onward.items(), key=lambda pair: -one.likeness(pair[0]))

    def _of_lead(self, question: Question, one: Operated) -> Draft:
        """Answer with the result of the operation: a number, yes or no, values or nodes."""
        lead, kind = one.lead, one.kind.kind
        draft = Draft.of_lead(kind, lead)
        if kind == "count":
            return attrs.evolve(draft, number=len(lead.answers))
        if is_yes_no(unnamed_text(question)):
            first = next((link.entity for link in question.links), None)
            return attrs.evolve(draft, entities=(), truth=list(lead.answers) == [first])
        if (
            kind in ("superlative", "ordinal")
            and lead.values
            and "counts" not in lead.facts
            and self._asks_for_value(question, one)
        ):
            # The highest temperature is a value.
            values = dict.fromkeys(lead.values[member].object for member in lead.answers)
            return attrs.evolve(draft, entities=tuple(values))
        return draft

    def _asks_for_value(self, question: Question, one: Operated) -> bool:
        """Return whether a superlative asks for the value itself: *the highest temperature*, and no class."""
        label = self.likeness.label(one.lead.facts["relation"])
        if one.phrases:
            return bool(shared_words(one.phrases, label))
        if _WHICH_HAS.match(question.text):
            return False
        return bool(words_of(label) & words_of(question.text))

    def _confirmed(self, question: Question, one: Operated, found: Sequence[Choice]) -> Draft:
        """Answer yes or no: by a relation between links, a truth value, or a value that the question names."""
        lead, kind = one.lead, one.kind.kind
        if lead.facts:
            return attrs.evolve(Draft.of_lead(kind, lead), entities=(), truth=bool(lead.answers))
        if not found:
            return Draft(kind, missing=_TWO_NAMES)
        best = found[0]
        ends_, truths = best.ends, {truth_of(end) for end in best.ends}
        if truths in ({True}, {False}):
            if not self.likeness.is_near(one, question, best):
                return Draft(kind, missing="the graph has no relation like what the question asks of it")
            truth = truths == {True}
        else:
            named = named_value(question, best)
            if named is None and (truths != {None} or not _has_figure(question, one)):
                return Draft(kind, missing=_TWO_NAMES)
            truth, ends_ = named is not None, ends_ if named is None else {named: ends_[named]}
        proof = [(triple, best.path) for way in ends_.values() for triple in way]
        return Draft(kind, truth=truth, proof=proof, complete=True, score=best.path.score)

    def _of_statement(self, question: Question) -> Draft | None:
        """Answer when a statement between two links began or ended, by the dates of its qualifiers."""
        dates = dates_of(self.graph, triples_between(self.graph, question), ends(question.text))
        if not dates:
            return None
        values = tuple(dict.fromkeys(date for _, date in dates))
        return Draft("lookup", values, [(triple, None) for triple, _ in dates], complete=True)

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
            unit=unit or self.likeness.label(lead.facts["relation"]),
        )

    def _looked_up(self, case: Case, kind: str, found: Sequence[Choice]) -> Draft:
        best, *others = found
        whole, complete = self._whole(case.operated.reads, best)
        return Draft(
            kind,
            tuple(whole),
            proof=[(triple, best.path) for way in whole.values() for triple in way],
            complete=complete,
            number=len(whole) if kind == "count" else None,
            margin=margin_of(found),
            score=best.path.score,
            operated=False,
            path=best.path,
            others=others[:_ALTERNATIVES],
        )

    def _whole(self, reads: PathReads, choice: Choice) -> tuple[Mapping[str, tuple[Triple, ...]], bool | None]:
        """Read all nodes where a path ends, with those in the subgraph first, and whether these are all.

        Of ends of one class or year only the subgraph's are returned, and None, since others may be left out.
        """
        if choice.narrowed:
            return choice.ends, None
        [read] = reads.of([choice.path])
        whole = dict(choice.ends)
        for one in read.instances:
            if one.end != choice.path.entity and len(set(one.triples)) == len(one.triples):
                whole.setdefault(one.end, one.triples)
        return whole, not read.cut


Handler = Callable[[AnswerHandlers, Case], Draft | None]

_NAMES: Sequence[Handler] = (AnswerHandlers._by_count, AnswerHandlers._by_text, AnswerHandlers._by_year)
_UNLINKED: Sequence[Handler] = (AnswerHandlers._by_class,)
_LOOKUP: Sequence[Handler] = (
    AnswerHandlers._by_noun_of,
    AnswerHandlers._by_arithmetic,
    AnswerHandlers._by_date,
    AnswerHandlers._by_set,
    AnswerHandlers._by_value,
    AnswerHandlers._by_path,
)
_OF_KIND: Mapping[Kind, Sequence[Handler]] = {
    "yes-no": (AnswerHandlers._by_join, AnswerHandlers._by_bound, *_LOOKUP),
    "difference": (AnswerHandlers._by_empty, *_LOOKUP),
    "lookup": (AnswerHandlers._by_empty, *_LOOKUP),
    "time-bound": (AnswerHandlers._by_empty, *_LOOKUP),
    "comparison": (
        AnswerHandlers._by_bound,
        AnswerHandlers._by_arithmetic,
        AnswerHandlers._by_comparison,
        *_LOOKUP[2:],
    ),
    "superlative": (
        AnswerHandlers._by_arithmetic,
        AnswerHandlers._by_ordering_relation,
        AnswerHandlers._by_counted_noun,
        AnswerHandlers._by_empty,
        AnswerHandlers._by_order_noun,
        *_LOOKUP[2:],
    ),
    "ordinal": (
        AnswerHandlers._by_empty,
        AnswerHandlers._by_arithmetic,
        AnswerHandlers._by_place,
        AnswerHandlers._by_counted_noun,
        *_LOOKUP[2:],
    ),
    "count": (
        AnswerHandlers._by_empty,
        AnswerHandlers._by_noun_of,
        AnswerHandlers._by_arithmetic,
        AnswerHandlers._by_date,
        AnswerHandlers._by_number,
        *_LOOKUP[3:],
    ),
}
"""The handlers of each kind of question in order; kinds that are not listed have the handlers of look-ups."""


def _says(noun: str, label: str) -> bool:
    """Return whether a relation calls its subject such a noun of its object."""
    return label == f"{noun} of" or (noun in _KIND and label in _IS_A)


def _polar(question: Question, draft: Draft) -> Draft:
    """Return yes or no for a question that asks for it, or a refusal; a question with *not* is the other way round."""
    text = unnamed_text(question)
    if draft.missing or not is_yes_no(text):
        return draft
    if draft.truth is None:
        return Draft(draft.kind, missing=_NOT_KNOWN)
    return attrs.evolve(draft, truth=not draft.truth) if is_negated(text) else draft


def _no_value(bounds: Sequence[ValueConstraint]) -> str:
    """Return why a bound cannot be judged."""
    noun = next((one.noun for one in bounds if one.noun), "")
    if noun:
        return _NO_VALUE.format(noun=noun)
    return "the graph has no number or date that the question's bound is about for what it names"


def _has_sign(question: Question) -> bool:
    """Return whether a question quotes something, or has a sign that is no letter, figure or mark."""
    return any(not (char.isalnum() or char.isspace() or char in _PLAIN_MARKS) for char in question.text)


def _has_figure(question: Question, one: Operated) -> bool:
    """Return whether a question that bounds nothing has a word with a figure, such as a version."""
    return not one.bounds and any(char.isdigit() for char in question.text)


def _best_number(found: Sequence[Choice], lead: Lead) -> Choice | None:
    """Return the best path if it ends in one number, such as a population, and is better than the path to the set."""
    best = max(found, key=lambda choice: choice.path.score, default=None)
    if best is None or len(best.ends) != 1 or (lead.path is not None and lead.path.score > best.path.score):
        return None
    [end] = best.ends
    return best if fits(end, "number") and not is_year(value_of(end) or 0.0) else None
