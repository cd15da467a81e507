"""Steps whose ends are counted: of the most neighbours each country's neighbours, and which relation a noun means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import spaced
from srtk_framework.values import Literal, Step, Triple
from srtk_plugin_answers.answer_types import classes_asked
from srtk_plugin_answers.end_classes import of_class, of_role
from srtk_plugin_answers.graph_names import GraphNames, words_of_role
from srtk_plugin_answers.literal_values import value_of
from srtk_plugin_answers.node_sets import NodeSet
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import CLOSE, PathScores
from srtk_plugin_answers.question_classes import is_of_agent, shared_words, singular, stems_of, words_of
from srtk_plugin_answers.question_orders import CountedOrder

_TRIED = 1000
"""Members that show which steps a set has, and members whose ends are read at once."""
_LEAST_ENDS = 8
"""Least number of ends of a step whose class is read."""
# Not each node of a class has a relation that names it, so nearly all stand for all.
_ALL = 0.9
# Pasts of verbs that begin otherwise than their participles, as relations have them: *written by*.
_PAST = {"wrote": "written", "sang": "sung", "drew": "drawn", "chose": "chosen", "drove": "driven", "spoke": "spoken"}
_MOST = 200_000
"""Triples that are counted for one order."""


Ended = tuple[str, str, Triple]
"""Start and end of a step over a triple."""


@attrs.frozen(order=True)
class Decider:
    """A step that may decide an order, by the values of its relation or, if it ``counts``, by the number of ends."""

    step: Step
    counts: bool = False


@attrs.frozen
class Fit:
    """How the words of an order fit a step that may decide it.

    Attributes:
        words: Words of its noun and its verb that fit.
        is_agent: Whether the relation has its object do something that the question has a word of: *director*,
            directed by.
        is_asked: Whether the relation calls its ends by the class that is asked for, not by the counted noun.
    """

    words: int
    is_agent: bool
    is_asked: bool


@attrs.frozen
class Counted:
    """How many ends of a step members have.

    Attributes:
        numbers: Number and triples of each member that has some.
        cut: Members that were left out, since too many triples were read.
        is_sure: Whether all ends are counted that may be asked for.
    """

    numbers: Mapping[str, tuple[float, tuple[Triple, ...]]]
    cut: int
    is_sure: bool


@attrs.frozen(eq=False)
class CountedSteps:
    """Find the step of a set that an order by counts means, and count its ends."""

    graph: KnowledgeGraph
    names: GraphNames

    def candidates(
        self, order: CountedOrder, sets: Sequence[NodeSet], scores: PathScores
    ) -> tuple[list[tuple[int, Decider]], bool]:
        """Return the steps that an order may mean, each with the place of its set, and whether its words fit them.

        Where no words fit, steps like the noun are returned. A verb alone, as in *lost the most*, must fit a step;
        else it orders by a value.
        """
        offered = self._offered(sets, scores) if sets else []
        fits = self._fits(order, sets, offered)
        most = max((fit.words for fit in fits), default=0)
        best = [(place, one, fit) for (place, one, _), fit in zip(offered, fits, strict=True) if fit.words == most]
        if not most:
            likeness = self._likeness(order, [one.step for _, one, _ in best], scores)
            best = [
                row
                for row, like in zip(best, likeness, strict=True)
                if (like >= CLOSE if order.noun else not row[1].counts)
            ]
        best = [row for row in best if row[2].is_agent] or best
        # Which actor starred in the most films: of both directions the one to films.
        known = {(place, one.step) for place, one, _ in best}
        return [
            (place, one)
            for place, one, fit in best
            if not (fit.is_asked and (place, Step(one.step.relation, not one.step.inverse)) in known)
        ], bool(most)

    def _offered(self, sets: Sequence[NodeSet], scores: PathScores) -> list[tuple[int, Decider, list[str]]]:
        """Return the relations with numbers and the steps with some of their ends, each with its set's place."""
        # Of ids in order the first ones are often of one kind.
        members = [sorted(one.instances) for one in sets]
        frontiers = self.graph.frontiers([row[:: -(-len(row) // _TRIED)] for row in members])
        rows = [scores.without_noise(row) for row in self.graph.steps(frontiers, True)]
        # Of a relation without direction one step stands for both.
        rows = [list(dict.fromkeys(self._ways(step)[0] for step in row)) for row in rows]
        pairs = [(place, step) for place, row in enumerate(rows) for step in row]
        ways = [(place, step, way) for place, step in pairs for way in self._ways(step)]
        read = self.graph.triples([frontiers[place] for place, _, _ in ways], [way for *_, way in ways], 2)
        found: list[tuple[int, Decider, list[str]]] = []
        things = years_with_facts(self.graph, read)
        joined: dict[tuple[int, Step], list[Ended]] = {pair: [] for pair in pairs}
        for (place, step, way), over in zip(ways, read, strict=True):
            joined[place, step] += _ended(over, way)
        for (place, step), row in joined.items():
            triples = [triple for *_, triple in row]
            nodes = Counter(member for member, *_ in row)
            if not step.inverse and all(
                value_of(triple.object) is not None and triple.object not in things for triple in triples
            ):
                if len(nodes) > 1:
                    found.append((place, Decider(step), []))
            elif max(nodes.values(), default=0) > 1:
                ends = dict.fromkeys(end for _, end, _ in row)
                found.append((place, Decider(step, counts=True), [one for one in ends if not isinstance(one, Literal)]))
        most = max(_LEAST_ENDS, _TRIED // max(1, len(found)))
        return [(place, one, ends[:most]) for place, one, ends in found]

    def _fits(
        self, order: CountedOrder, sets: Sequence[NodeSet], offered: Sequence[tuple[int, Decider, Sequence[str]]]
    ) -> list[Fit]:
        """Return how each step fits the words of an order.

        The noun fits a step whose ends have its class or are called so, and a relation with numbers of its name. Where
        the noun is also asked for (*which neighbour has the most neighbours*), it fits the relation that leads to the
        set. A verb fits a relation that has its stem.
        """
        noun = _phrases(order)
        labels = self.names.labels(one.step.relation for _, one, _ in offered)
        typed, called = self._classes(noun, [ends for _, _, ends in offered])
        asked_for = classes_asked(order.text) or classes_asked(f"which {order.text}")
        classes = {word for phrase in asked_for for word in words_of(phrase)}
        verbs = verb_stems(" ".join(words_of(order.text) - words_of(order.noun) - classes))
        asked = bool(classes.intersection(*(phrase.split() for phrase in noun))) and bool(noun)
        rated = []
        for (place, one, _), own, roles in zip(offered, typed, called, strict=True):
            label, path = labels[one.step.relation], sets[place].steps
            # Words of the path to the set do not name the counted step.
            of_set = stems_of(" ".join(self.names.labels(step.relation for step in (*path, *sets[0].steps)).values()))
            from_end = Step(one.step.relation, not one.step.inverse)
            if one.counts:
                words = max(bool(own or roles), words_of_role(self.names.schema, noun, from_end, label))
                words = max(words, int(asked and bool(path) and path[-1].relation == one.step.relation))
            else:
                words = int(bool(stems_of(order.noun) & stems_of(label)))
            rated.append(
                Fit(
                    words=words + bool((verbs - of_set) & stems_of(label)),
                    is_agent=is_of_agent(label) and bool((stems_of(order.text) - of_set) & stems_of(label)),
                    is_asked=not (asked or own or roles)
                    and bool(words_of_role(self.names.schema, asked_for, from_end, label)),
                )
            )
        return rated

    def is_named(self, order: CountedOrder, step: Step, label: str) -> bool:
        """Return whether a step's name fits the noun of an order, or its verb: *who wrote*, written by."""
        if step.inverse and is_of_agent(label) and verb_stems(order.text) & stems_of(label):
            return True
        return bool(words_of_role(self.names.schema, _phrases(order), Step(step.relation, not step.inverse), label))

    def _classes(
        self, noun: Sequence[str], nodes: Sequence[Sequence[str]]
    ) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        """Return the nodes that have the class of a noun, by a type or their table, and those that are called so."""
        reads, asked = PathReads(self.graph, _TRIED), [noun] * len(nodes)
        tables = {name for name in self.names.schema.tables if shared_words(noun, spaced(name))}
        # Of several tables each row's id begins with its table's name.
        rows = [frozenset(node for node in row if node.partition(":")[0] in tables) for row in nodes]
        typed = of_class(reads, self.names, asked, nodes)
        typed = [some or other for some, other in zip(typed, rows, strict=True)]
        return typed, of_role(reads, self.names, asked, nodes)

    def _likeness(self, order: CountedOrder, steps: Sequence[Step], scores: PathScores) -> list[float]:
        """Return how like an order is to each relation, as a part of the relation's likeness with its own name."""
        labels = self.names.labels(step.relation for step in steps)
        texts = [text for step in steps for text in (order.noun or order.text, order.text, labels[step.relation])]
        rows = iter(scores.numbers(texts, [()] * len(texts), [[step] for step in steps for _ in range(3)]))
        found = [(next(rows)[0], next(rows)[0], next(rows)[0]) for _ in steps]
        return [max(noun, whole) / own if own > 0 else math.inf for noun, whole, own in found]

    def counted(self, one: NodeSet, step: Step, order: CountedOrder) -> Counted:
        """Count the ends of a step of each member that has some, of several classes those that are asked for."""
        members, read, cut = sorted(one.instances), 0, 0
        found: dict[str, dict[str, Triple]] = {}
        ways = self._ways(step)
        for start in range(0, len(members), _TRIED):
            [block] = self.graph.frontiers([members[start : start + _TRIED]])
            rows = self.graph.triples([block] * len(ways), ways, _MOST - read)
            read += sum(map(len, rows))
            if read >= _MOST:  # of the members of this block some may have lost triples
                cut = len(members) - start
                break
            for way, row in zip(ways, rows, strict=True):
                for member, end, triple in _ended(row, way):
                    found.setdefault(member, {}).setdefault(end, triple)
        ends = sorted({end for row in found.values() for end in row})
        kept, is_sure = self._asked(order, step, [end for end in ends if not isinstance(end, Literal)])
        if kept:
            found = {member: {end: one for end, one in row.items() if end in kept} for member, row in found.items()}
        numbers = {member: (float(len(row)), tuple(row.values())) for member, row in found.items() if row}
        return Counted(numbers, cut, is_sure)

    def _ways(self, step: Step) -> list[Step]:
        """Return both directions of a relation that has none, and a step of any other relation alone."""
        relation = step.relation
        return [Step(relation), Step(relation, True)] if relation in self.names.schema.symmetric else [step]

    def _asked(self, order: CountedOrder, step: Step, ends: Sequence[str]) -> tuple[frozenset[str], bool]:
        """Return the ends of the counted noun's class, none for all, and whether no ends of other classes count."""
        noun, labels = _phrases(order), self.names.labels([step.relation])
        from_end = Step(step.relation, not step.inverse)
        if not noun or words_of_role(self.names.schema, noun, from_end, labels[step.relation]):
            return frozenset(), True
        [typed], [called] = self._classes(noun, [ends])
        # Not each node of a class has a relation that says so.
        return typed, bool(typed) or not called or len(called) >= _ALL * len(ends)


def years_with_facts(graph: KnowledgeGraph, rows: Iterable[Sequence[Triple]]) -> set[str]:
    """Return the ends of triples that are called as a year and have facts of their own: a row 1001 is no year."""
    ends = {triple.object for row in rows for triple in row}
    years = sorted(one for one in ends if not isinstance(one, Literal) and value_of(one) is not None)
    offered = graph.steps(graph.frontiers([[one] for one in years]), False) if years else ()
    return {one for one, steps in zip(years, offered, strict=True) if steps}


def _phrases(order: CountedOrder) -> list[str]:
    *first, last = order.noun.split() or [""]
    return [" ".join([*first, singular(last)])] if last else []


def verb_stems(text: str) -> set[str]:
    """Return the stems of a text's words, of verbs as relations have them."""
    return stems_of(" ".join(_PAST.get(word, word) for word in words_of(text)))


def not_counted(order: CountedOrder) -> str:
    """Return why an order by counts has no answer."""
    return f"the graph has no relation or number like {order.noun or order.text!r} by which things could be ordered"


def _ended(row: Iterable[Triple], step: Step) -> list[Ended]:
    """Return where a step over each triple begins and ends."""
    return [(one.object, one.subject, one) if step.inverse else (one.subject, one.object, one) for one in row]
