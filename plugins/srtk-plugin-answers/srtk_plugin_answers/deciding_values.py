"""Numbers, dates and counts that decide: which of a set is the greatest, and which of it lies within bounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold, link_shares
from srtk_framework.values import Question, Step, Triple, rounded
from srtk_plugin_answers.answer_types import class_words
from srtk_plugin_answers.counted_steps import CountedSteps, Decider, years_with_facts
from srtk_plugin_answers.literal_values import is_date, is_year, unit_of, value_of
from srtk_plugin_answers.node_sets import PATHS, SETS, Lead, NodeSet, Row, margin
from srtk_plugin_answers.path_scores import CLOSE, LIKE, PathScores
from srtk_plugin_answers.question_classes import shared_words, singular, stems_of, words_of
from srtk_plugin_answers.question_kinds import QuestionKind
from srtk_plugin_answers.question_orders import (
    TIMES,
    CountedOrder,
    is_of_age,
    is_of_length,
    is_of_speed,
    long_meant,
    measures_of,
    order_noun,
    order_phrase,
    value_stems,
)
from srtk_plugin_answers.question_values import ValueConstraint, clauses, compared_noun, compared_verb, unit_of_label

_SAMPLE = 8
"""Members whose values show whether a relation has numbers or dates."""
# A link's share of 0 has no logarithm.
_LEAST_SHARE = 1e-6


Rated = tuple[float, int, str, int]
"""A relation that may decide: the negative score, the length of the path, the relation, and the set's place."""


@attrs.frozen(eq=False)
class DecidingValues:
    """Choose the relation whose values decide, and order or narrow sets by it."""

    graph: KnowledgeGraph
    scores: PathScores
    counted: CountedSteps

    def compared(
        self,
        question: Question,
        kind: QuestionKind,
        sets: Sequence[NodeSet],
        text: str,
        order: str | CountedOrder | None = None,
    ) -> Lead:
        """Return the set with the values or counts that decide, those asked for first.

        Args:
            question: The question.
            kind: The order that it asks for.
            sets: The sets that may be meant.
            text: Text for the scorer, for the paths to the sets.
            order: Its text for the relation that decides, or an order that may be by counts; None for ``text``, with
                the path.
        """
        sets = [one for one in sets if len(one.instances) > 1]
        by_words = True
        if isinstance(order, CountedOrder):
            rated, by_words = self._counting(question, sets, text, order)
        else:
            # Of "tallest dog" the noun is the class.
            noun = order_noun(order) if order and class_words(question.text) else ""
            every = self._deciding(question, sets, text, clause=order, noun=noun)
            by_words = True
            labels = self.counted.names.labels({relation for _, _, relation, _ in every})
            if not noun and order:
                # Of an age and the day of a start the oldest is told by the age.
                measures = measures_of(order)
                every = [one for one in every if measures & words_of(labels[one[2]])] or every
            if not noun and is_of_length(question.text):
                meant, by_words = long_meant(question.text, labels)
                every = [one for one in every if one[2] in meant] or every
            rated = [(score, length, Decider(Step(relation)), place) for score, length, relation, place in every]
            # What *the greatest tower* orders by is open; the tallest has a height.
            by_words = by_words and not (every and order and self._is_likened(every, order, noun))
        leads: dict[frozenset[Triple], Lead] = {}
        for score, _, decider, place in rated:
            lead = attrs.evolve(self._ordered(kind, sets[place], decider, question.text, order), score=-score)
            # Sets that differ in their paths alone are one.
            leads.setdefault(frozenset(triple for row in lead.rows for triple, _ in row[-1:]), lead)
            if len(leads) == SETS:
                break
        if not leads:
            return Lead()
        first, *others = leads.values()
        asked = [lead.rows[0] for lead in others]
        # Of links that are compared, the answer is none without the other.
        before = 1 if sets[0].path else len(first.rows)
        if not by_words:
            first = attrs.evolve(first, facts={**first.facts, "likened": True})
        return attrs.evolve(first, others=asked, before=before, margin=margin(first, others))

    def compared_links(
        self, question: Question, kind: QuestionKind, text: str, namesakes: Mapping[str, Sequence[str]]
    ) -> Lead:
        """Compare the linked entities, or entities of the same name where a linked entity has no value.

        Args:
            question: The question.
            kind: The order that it asks for.
            text: Text for the scorer.
            namesakes: For each linked entity the entities that its name may mean, itself first.

        Returns:
            The values of one relation that all have, in order; nothing where there is none.
        """
        every = NodeSet(None, {one: () for row in namesakes.values() for one in row})
        if len(namesakes) < 2:
            return Lead()
        # Another relation than the one that is asked for compares something else.
        noun = compared_noun(question.text)
        rated = self._deciding(question, [every], text, noun=noun, verb=compared_verb(question.text))
        for score, _, relation, _ in rated[:1]:
            values = self._values(every, relation, kind.greatest)
            meant = [next((one for one in row if one in values), None) for row in namesakes.values()]
            if None not in meant:
                chosen = NodeSet(None, {one: () for one in meant if one})
                lead = self._ordered(kind, chosen, Decider(Step(relation)), question.text)
                if noun and self._is_likened(rated, "", noun):
                    lead = attrs.evolve(lead, facts={**lead.facts, "likened": True})
                return attrs.evolve(lead, score=-score, margin=rated[1][0] - score if rated[1:] else math.inf)
        return Lead()

    def _ordered(
        self,
        kind: QuestionKind,
        chosen: NodeSet,
        decider: Decider,
        text: str,
        told: str | CountedOrder | None = None,
    ) -> Lead:
        """Return a set by the values or counts of a step, those asked for first, those without a value last."""
        counted = None
        values: Mapping[str, tuple[float, tuple[Triple, ...]]]
        if decider.counts and isinstance(told, CountedOrder):
            counted = self.counted.counted(chosen, decider.step, told)
            greatest, values = kind.greatest is not False, counted.numbers
        else:
            greatest, values = self._by_value(kind, chosen, decider.step.relation, text)
        order = sorted(values, key=lambda member: (-values[member][0] if greatest else values[member][0], member))
        first, last = kind.rank - 1, kind.rank - 1 + kind.places
        asked = [values[member][0] for member in order[first:last]]
        order = [*order[first:last], *order[:first], *order[last:]]
        lacking = sorted(chosen.instances.keys() - values.keys())
        path = chosen.path
        further = None if path is None else attrs.evolve(path, steps=(*path.steps, decider.step))
        rows: list[Row] = [
            [*chosen.chain(member), *((triple, further) for triple in values[member][1])] for member in order
        ]
        rows += [chosen.chain(member) for member in lacking]
        rows += chosen.rest
        # Those with the same value share a place.
        answers = [member for member in order if asked and min(asked) <= values[member][0] <= max(asked)]
        facts = {
            "relation": decider.step.relation,
            "order": "descending" if greatest else "ascending",
            "rank": kind.rank,
            **chosen.facts(),
            "with_value": len(order),
        }
        complete, proved = not chosen.cut and not lacking and chosen.is_known(), len(order)
        if counted is not None:
            # What has none is not the most; whether it has the fewest the graph does not tell.
            complete = not (chosen.cut or counted.cut) and counted.is_sure and (greatest or not lacking)
            facts |= {"counted": str(decider.step), "counts": [int(values[member][0]) for member in answers]}
            if counted.cut:
                facts["cut"] = chosen.cut + counted.cut
            proved = len(answers) + 1  # those asked for, and the next one
        return Lead(
            rows,
            {**facts, "complete": complete},
            answers=answers,
            values={member: values[member][1][0] for member in order},
            path=path,
            members=list(chosen.instances),
            proof=[pair for row in rows[: min(proved, len(order))] for pair in row],
        )

    def _by_value(
        self, kind: QuestionKind, chosen: NodeSet, relation: str, text: str
    ) -> tuple[bool, dict[str, tuple[float, tuple[Triple, ...]]]]:
        """Return whether the greatest value is asked for, and each member's value with its triple."""
        aged, long = is_of_age(text), is_of_length(text)
        values = self._values(chosen, relation, kind.greatest)
        # What is first in time is the earliest, what is first in number the greatest.
        label = self.counted.names.labels([relation])[relation]
        by_number = f" by {fold(label)}" in fold(text) or f" in {fold(label)}" in fold(text)
        timed = _dated(values) or (not by_number and all(is_year(value) for value, _ in values.values()))
        greatest = kind.greatest if kind.greatest is not None else not timed
        if is_of_speed(text) and TIMES & words_of(label):
            greatest = not greatest
            values = self._values(chosen, relation, greatest)
        if long and _dated(values):
            # What has lasted the longest began first.
            greatest = not greatest
            values = self._values(chosen, relation, greatest)
        if aged and not _dated(values) and not all(is_year(value) for value, _ in values.values()):
            greatest = not greatest
            values = self._values(chosen, relation, greatest)
        return greatest, {member: (value, (triple,)) for member, (value, triple) in values.items()}

    def _counting(
        self, question: Question, sets: Sequence[NodeSet], text: str, order: CountedOrder
    ) -> tuple[list[tuple[float, int, Decider, int]], bool]:
        """Rate the steps and relations that an order by counts may mean, the best first.

        Returns:
            For each the negative score, the length of the path, the step, and the set's place; and whether words fit.
        """
        found, by_words = self.counted.candidates(order, sets, self.scores)
        paths = [sets[place].steps for place, _ in found]
        begun = self.scores.of(paths, text)
        if order.noun:
            texts = [order.noun, order.text]
        else:
            # A verb that nothing to count fits orders by a value, which its clause names: sleep the least.
            texts = [order.text if any(one.counts for _, one in found) else order_phrase(question.text)]
        rows = [self.scores.rows([one] * len(found), paths, [[one.step] for _, one in found]) for one in texts]
        means = [sum(row[i][0] for row in rows) / len(rows) for i in range(len(found))]
        weights = self._weights(question, sets)
        rated = sorted(
            (-rounded(start + mean + weights[place]), len(path), one, place)
            for start, mean, path, (place, one) in zip(begun, means, paths, found, strict=True)
        )
        return rated, by_words

    def _weights(self, question: Question, sets: Sequence[NodeSet]) -> list[float]:
        """Return the logarithm of the share of the link that each set begins at."""
        shares: dict[str, float] = {}
        for link, share in zip(question.links, link_shares(question.links), strict=True):
            shares[link.entity] = max(share, shares.get(link.entity, _LEAST_SHARE))
        return [0.0 if one.path is None else math.log(shares.get(one.path.entity, 1.0)) for one in sets]

    def _deciding(
        self,
        question: Question,
        sets: Sequence[NodeSet],
        text: str,
        bound: ValueConstraint | None = None,
        clause: str | None = None,
        noun: str = "",
        verb: str = "",
    ) -> list[Rated]:
        """Rate each relation with numbers or dates of each set, as the last step of the set's path.

        Args:
            question: The question.
            sets: Sets whose members may have a value.
            text: Text for the scorer.
            bound: Constraint for whose values the relations must be fit: dates or numbers.
            clause: Text for the scorer, for the relation alone.
            noun: The value's name in the question. The relations that it names decide, or none; where it names none,
                the relations that are like it.
            verb: A participle; relations that are called so decide, or none.

        Returns:
            Sort keys, the best first: the negative score, the length of the path, the relation, and the set's place.
        """
        frontiers = self.graph.frontiers([sorted(one.instances)[:_SAMPLE] for one in sets])
        offered = [self.scores.without_noise(row) for row in self.graph.steps(frontiers, False)]
        noun = "" if words_of(noun) <= class_words(question.text) else noun
        labels = self.counted.names.labels(dict.fromkeys(step.relation for row in offered for step in row))
        # A value that another member has, and these lack, is no reason to take another relation.
        known = {**self.counted.names.labels(self.counted.names.schema.relations), **labels}
        told = self.counted.names.of_year(question.text, noun)
        told = told or _told(noun, known) or _told_by_verb(bound.verb if bound else verb, known)
        if told:
            offered = [[step for step in row if step.relation in told] for row in offered]
        at = [frontier for frontier, row in zip(frontiers, offered, strict=True) for _ in row]
        every = self.graph.triples(at, [step for row in offered for step in row], None)
        things = years_with_facts(self.graph, every)
        read = iter([one for one in row if one.object not in things] for row in every)
        valued = [(place, step, next(read)) for place, row in enumerate(offered) for step in row]
        pairs = [(place, step) for place, step, triples in valued if _decides(triples, bound)]
        if bound is not None and bound.date and not bound.plain:
            # A number such as 1500 may be a year only where nothing has a date.
            dates = [(place, step) for place, step, triples in valued if any(is_date(one.object) for one in triples)]
            pairs = [pair for pair in pairs if pair in dates] or pairs
        if noun and not told:
            pairs = [(i, step) for i, step in pairs if self.scores.likeness(noun, labels[step.relation], step) >= LIKE]
        if clause is None:
            scores = self.scores.of([(*sets[place].steps, step) for place, step in pairs], text)
        else:
            begun = self.scores.of([sets[place].steps for place, _ in pairs], text)
            rows = self.scores.rows(
                [clause] * len(pairs), [sets[place].steps for place, _ in pairs], [[step] for _, step in pairs]
            )
            scores = [first + row[0] for first, row in zip(begun, rows, strict=True)]
        weights = self._weights(question, sets)
        return sorted(
            (-rounded(score + weights[place]), len(sets[place].steps), step.relation, place)
            for (place, step), score in zip(pairs, scores, strict=True)
        )

    def _is_likened(self, rated: Sequence[Rated], text: str, noun: str, counted: str = "") -> bool:
        """Return whether no word of a question names the relation that decides, and another might be meant."""
        relation = rated[0][2]
        label = self.counted.names.labels([relation])[relation]
        if noun and relation in self.counted.names.years():
            return not self.counted.names.is_measure(noun, relation)
        if not noun and (len({one for _, _, one, _ in rated}) < 2 or value_stems(text) & stems_of(label)):
            return False
        phrase = noun or counted
        is_like = phrase and self.scores.likeness(phrase, label, Step(relation)) >= CLOSE
        return not (is_like or _told(phrase, {relation: label}))

    def _values(self, one: NodeSet, relation: str, greatest: bool | None) -> dict[str, tuple[float, Triple]]:
        """Return each member's value with its triple: the greatest of several, or the least."""
        [row] = self.graph.triples(self.graph.frontiers([sorted(one.instances)]), [Step(relation)], None)
        best: dict[str, tuple[float, Triple]] = {}
        for triple, value in _in_unit(row):
            known = best.get(triple.subject)
            if known is None or (value > known[0] if greatest else value < known[0]):
                best[triple.subject] = (value, triple)
        return best

    # Constraints on values

    def bounded(
        self, question: Question, sets: Sequence[NodeSet], bounds: Sequence[ValueConstraint], text: str
    ) -> list[NodeSet]:
        """Return the sets with members whose values are within bounds, those members alone, the best choice first.

        Where no value of the relation that decides is within a bound, the set has no members. Where nothing has a value
        of the name that a bound has, no set is returned.
        """
        chosen: list[NodeSet] = []
        _, parts = clauses(text)
        told = parts if len(parts) == len(bounds) else [text] * len(bounds)
        for bound, clause in zip(bounds, told, strict=True):
            rated = self._deciding(question, chosen or sets, text, bound, clause, bound.noun)[:PATHS]
            if bound.noun and not rated:
                return []
            likened = bool(rated) and self._is_likened(rated, clause, bound.noun, bound.behind)
            within: dict[int, NodeSet] = {}
            none: list[NodeSet] = []
            for _, _, relation, place in rated:
                if place in within:
                    continue
                one = self._within((chosen or sets)[place], relation, bound)
                one = attrs.evolve(one, likened=one.likened or likened)
                # What is counted (more than three prizes) has no value of which none is too small.
                if one.instances and (one.behind.get("value") or bound.noun or not bound.is_small):
                    within[place] = one
                elif not one.instances and (bound.noun or not bound.is_small):
                    none.append(one)
                if len(within) == SETS:
                    break
            if none and not within:
                return none[:1]
            chosen = list(within.values()) or chosen
        return chosen

    def _within(self, one: NodeSet, relation: str, bound: ValueConstraint) -> NodeSet:
        """Return a set without the members whose value of a relation is not within bounds, or not known."""
        [row] = self.graph.triples(self.graph.frontiers([sorted(one.instances)]), [Step(relation)], None)
        path = None if one.path is None else attrs.evolve(one.path, steps=(*one.path.steps, Step(relation)))
        own = unit_of_label(self.counted.names.labels([relation])[relation])
        values = [] if own and bound.unit and own != bound.unit.casefold() else _in_unit(row, bound.unit)
        if not all(is_date(triple.object) or is_year(value) for triple, value in values):
            bound = bound.of_numbers()
        best: dict[str, tuple[bool, Triple]] = {}
        for triple, value in values:
            if not best.get(triple.subject, (False,))[0]:
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
                *(one.chain(member) for member in unknown),
                *([*one.chain(m), *valued[m]] for m in other),
                *one.rest,
            ],
            behind={name: count for name, count in behind.items() if count},
            bounds=[*one.bounds, {"relation": relation, "within": str(bound)}],
        )

    def valued(self, question: Question, text: str, bounds: Sequence[ValueConstraint]) -> Lead:
        """Return the values of the links on which the question sets bounds.

        Returns:
            Links that meet all bounds, or one of them where *or* joins them, as ``answers``, and the links with a value
            for each as ``members``; nothing where no relation decides.
        """
        linked = NodeSet.of_links(question)
        found: list[NodeSet] = []
        score, away, likened = 0.0, math.inf, False
        for bound in bounds:
            rated = self._deciding(question, [linked], text, bound, noun=bound.noun)
            if not rated:
                return Lead()
            found.append(self._within(linked, rated[0][2], bound))
            score, away = score - rated[0][0], min([away, *(other[0] - rated[0][0] for other in rated[1:2])])
            likened = likened or self._is_likened(rated, text, bound.noun, bound.behind)
        met = any if "or" in question.text.casefold().split() else all
        known = [link for link in linked.instances if all(link in _valued(one) for one in found)]
        rows = [row for one in found for row in (*one.values.values(), *one.rest) if row]
        facts = {
            "members": len(linked.instances),
            "bounds": [row for one in found for row in one.bounds],
            "complete": len(known) == len(linked.instances),
        }
        return Lead(
            rows,
            {**facts, "likened": True} if likened else facts,
            answers=[link for link in known if met(link in one.instances for one in found)],
            members=known,
            proof=[pair for row in rows for pair in row],
            score=score,
            margin=away,
        )


def _valued(one: NodeSet) -> set[str]:
    """Return the links that have a value, within a bound or not."""
    return {*one.instances, *(triple.subject for row in one.rest for triple, _ in row)}


def _told(noun: str, labels: Mapping[str, str]) -> set[str]:
    """Return the relations that a noun names: those with its words, else those whose label ends as it does."""
    words = words_of(noun)
    exact = {relation for relation, label in labels.items() if words and words_of(label) == words}
    *first, last = noun.split() or [""]
    phrase = " ".join([*first, singular(last)])
    return exact or {relation for relation, label in labels.items() if noun and shared_words([phrase], label)}


def _told_by_verb(verb: str, labels: Mapping[str, str]) -> set[str]:
    """Return the relations that are called as a participle alone: *discovered*."""
    return {relation for relation, label in labels.items() if verb and fold(label) == verb}


def _in_unit(triples: Sequence[Triple], unit: str = "") -> list[tuple[Triple, float]]:
    """Return the triples with a value, without units other than the unit, or than the unit of most.

    Units are not converted: what has another unit has no value. A value without a unit may be in any that is given.
    """
    valued = [(triple, value) for triple in triples if (value := value_of(triple.object)) is not None]
    units = Counter(unit_of(triple.object) for triple, _ in valued)
    fit = {unit, ""} if unit else {max(units, key=lambda name: (units[name], name), default="")}
    return [
        (triple, value) for triple, value in valued if unit_of(triple.object).casefold() in {*map(str.casefold, fit)}
    ]


def _decides(triples: Iterable[Triple], bound: ValueConstraint | None) -> bool:
    """Return whether triples of a relation have values that can be ordered, or that a constraint is about."""
    valued = [(triple, value) for triple in triples if (value := value_of(triple.object)) is not None]
    if bound is None:
        return len({triple.subject for triple, _ in valued}) > 1
    if bound.date:
        return bool(valued) and (
            bound.plain or all(is_date(triple.object) or is_year(value) for triple, value in valued)
        )
    return any(not is_date(triple.object) for triple, _ in valued)


def _dated(values: Mapping[str, tuple[float, Triple]]) -> bool:
    return any(is_date(triple.object) for _, triple in values.values())
