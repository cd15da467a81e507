"""Questions without a linked entity: by the class, the values and the words of the answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import permutations

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import spaced
from srtk_framework.values import Literal, Pattern, Question, Schema, Step, Triple
from srtk_plugin_answers.answer_types import arithmetic_of, class_modifiers, class_words, classes_asked, value_kind
from srtk_plugin_answers.counted_steps import not_counted, verb_stems
from srtk_plugin_answers.deciding_values import DecidingValues
from srtk_plugin_answers.graph_names import words_of_role
from srtk_plugin_answers.literal_values import fits, truth_of
from srtk_plugin_answers.node_sets import Lead, NodeSet, Row
from srtk_plugin_answers.question_classes import (
    PEOPLE,
    STOP_WORDS,
    kinds_of_people,
    name_of,
    shared_words,
    singular,
    stems_of,
    without_names,
    word_set,
    words_of,
)
from srtk_plugin_answers.question_kinds import NEITHER, NOT_CLEAR, QuestionKind, excluded_text
from srtk_plugin_answers.question_orders import CountedOrder, counted_order, order_clause
from srtk_plugin_answers.question_values import clauses, value_constraints
from srtk_plugin_answers.shared_names import SharedNames

# A value or a class already means these words, so they may be left over.
_DONE = word_set(
    """
    came come comes out made make makes released release appear appeared published produced produce founded found built
    born died dated date year years happened happen take took taken place set held start started begin began open opened
    last lasted run runs cost costs weigh weighs measure measures earn earns work works live lives exist exists
    according total number sum average mean overall together more less fewer least most than over under
    get gets got gotten receive receives received obtain obtained
    different distinct table data dataset database file graph
    """
)
_LACKING = "the graph has no value of {noun!r} for these, which may not be known"
_ROWS = word_set("row record entry item")
_NUMBER_OF = word_set("number count total amount sum no nr num of the")
_CONTRACTED = re.compile(r"n['’]t\b")
# The noun of what a number is added up over: the total freight of all unpaid orders.
_BEHIND = (
    "above|at|below|between|by|for|from|in|of|on|over|than|that|to|under|where|which|who|whose|with|without|not|is|are"
)
_OVER = re.compile(
    rf"\b(?:of|over|for|across|from) (?:(?!(?:{_BEHIND})\b)[\w'’-]+ )*?(?P<noun>(?!(?:{_BEHIND})\b)[^\W\d_]+)"
    rf"(?= (?:{_BEHIND})\b|\W*$)",
    re.IGNORECASE,
)
_QUOTES = '"“”‘«»'
_MARKS = f"{_QUOTES}',;:?.!"
_LIFE = {"born": {*stems_of("born birth"), "dob"}, "died": {*stems_of("died death dead deceased"), "dod"}}
"""Verbs of ``_DONE`` that need not be true of all members, with words and stems of relations that tell their day.

Without a bound on that day, or an order by it, they are conditions.
"""
_DAY = word_set("date day month time when year")
_PARTICIPLES = ("ed", "ing")
_SHORT = 4
"""Letters of words that are rather nouns: red, bed, king."""
_NO_VALUE = "the question names no value that the graph has of {words}"
_NUMBERS = "the graph has a number of {noun!r} for each of several, and not how many there are; ask for the sum of them"
_NOTHING_DECIDES = "the graph has no number or date that decides"
_WORDS = 3
"""Words of a text that is looked for, at most."""
_MOST = 100_000
"""Members of a class that are read."""


@attrs.frozen(eq=False)
class UnlinkedSets:
    """Read the set that a question without a linked entity asks for."""

    graph: KnowledgeGraph
    schema: Schema
    values: DecidingValues
    shared: SharedNames

    def lead(self, question: Question, kind: QuestionKind) -> tuple[Lead, str]:
        """Return the answers to a question, or why nothing fits."""
        if (lead := self.of_value(question)) is not None:
            return lead, ""
        phrases = classes_asked(question.text)
        order = counted_order(question.text) if kind.kind in ("superlative", "ordinal") else None
        found = self._class_sets(phrases, order)
        whole, named_class = next(found, (None, frozenset()))
        if arithmetic_of(question.text) and (over := _OVER.search(question.text)):
            phrases = (*phrases, singular(over["noun"].lower()))
            if whole is None:
                found = self._class_sets(phrases[-1:], order)
                whole, named_class = next(found, (None, frozenset()))
        if whole is None:
            return Lead(), "no entity of the graph was found in the question, and no class of entities"
        of_class = bool(named_class)
        if kind.kind == "count" and not of_class and (noun := self._counted_noun(phrases)):
            return Lead(), _NUMBERS.format(noun=noun)
        if order is not None and kinds_of_people({singular(order.noun)}) and not self._has_column(order.noun):
            return Lead(), not_counted(order)
        told = _CONTRACTED.sub(" not", self.values.counted.names.without_years(question.text))
        excluding = excluded_text(told)
        if excluding == "":
            return Lead(), NOT_CLEAR
        rest, bounded = clauses(told)
        # Of a single table whatever noun is asked for means its rows.
        covered = set(named_class) or {phrase.split()[-1] for phrase in phrases} - {*_LIFE}
        of_bounds = {word for clause in bounded for word in words_of(clause)}
        covered |= of_bounds - {*_LIFE}
        # The verb of an order by counts names what is counted: served, used for.
        verbs = {word for word in words_of(rest) if word.endswith(_PARTICIPLES)}
        of_order = set() if order is None else words_of(order.noun) | verbs
        # The noun may be a value of some rows: the pets of a table of animals.
        words = words_of(rest) - of_order - (set() if self._only_columns() and not of_class else covered)
        denied = words_of(excluding or "")
        kinds = [] if of_class else kinds_of_people(words)
        whole, named = self.narrowed(whole, words.union(*kinds) - denied)
        for one in kinds:
            covered, named = (covered, named | one) if one & named else (covered - one, named)
        lacking = ""
        if excluding is not None:
            without, excluded = self.narrowed(whole, words & denied)
            if not excluded:
                # Flats without a tenant have no such value, as far as the graph knows.
                without, excluded = self._with_column(whole, denied)
                lacking = _LACKING.format(noun=" ".join(sorted(excluded)))
            if not excluded:
                return Lead(), "nothing of the class has what the question excludes"
            having = {*without.instances}
            if NEITHER.search(question.text):
                having = {one for triples in self._conditions(whole, words & denied).values() for one in triples}
            left = [member for member in whole.instances if member not in having]
            whole, named = attrs.evolve(whole, instances=dict.fromkeys(left, ())), named | excluded
        covered |= of_order | named
        if not whole.instances:
            return Lead(), "nothing of the class has all that the question names"
        bounds = value_constraints(told)
        sets = self.values.bounded(question, [whole], bounds, told) or [whole]
        if not sets[0].instances and kind.kind != "count":
            return Lead(), "nothing of the class is within the bounds that the question names"
        if bounds and not sets[0].bounds:
            return Lead(), "the graph has no number or date that the question's bound is about"
        covered |= {word for one in sets[0].bounds for word in words_of(self.graph.labels([one["relation"]])[0])}
        if order is not None and not (named or bounds):
            sets = [*sets, *(one for one, _ in found)]
        # Who was born in 1990 is not who was hired then.
        rest = " ".join([rest, *sorted(of_bounds & {*_LIFE})])
        lead, missing = self._answered(question, kind, sets, rest, covered, bool(named or bounds), order)
        # Where nothing but an unknown noun says which rows are meant, all rows may be too many: the drummers of a band.
        is_whole = kind.kind in ("count", "lookup") and not (named or bounds) and not {*phrases} <= {*PEOPLE, *_ROWS}
        if not of_class and (order is not None or is_whole):
            lead = attrs.evolve(lead, facts={**lead.facts, "likened": True})
        if lacking:
            lead = attrs.evolve(lead, facts={**lead.facts, "likened": True, "notice": lacking})
        return lead, missing

    def _has_column(self, noun: str) -> bool:
        labels = self.values.counted.names.labels(self.schema.relations).values()
        return any(words_of(noun) & words_of(label) for label in labels)

    def _counted_noun(self, phrases: Sequence[str]) -> str | None:
        """Return the name of a column of numbers that is counted: *how many votes*."""
        labels = self.values.counted.names.labels(self.schema.relations)
        told = [one for one, label in labels.items() if any(_counts(label, noun) for noun in {*phrases} - {*PEOPLE})]
        for relation, row in zip(told, self.graph.match([Pattern(None, one, None) for one in told]), strict=True):
            if row and all(fits(triple.object, "number") for triple in row):
                return labels[relation]
        return None

    def _with_column(self, whole: NodeSet, words: set[str]) -> tuple[NodeSet, set[str]]:
        """Return the members that have a relation that some words name, and these words; of a number none lacks it."""
        labels = self.values.counted.names.labels(self.schema.relations)
        told = {one: named for one, label in labels.items() if (named := words_of(name_of(label))) and named <= words}
        one = self._subjects(list(told))
        is_known = one is not None and not self.is_number(" ".join(sorted(words)))
        if one is None or not is_known or whole.instances.keys().isdisjoint(one.instances):
            return NodeSet(None, {}), set()
        return one, set().union(*told.values())

    def is_number(self, noun: str) -> bool:
        """Return whether a relation of numbers is called as a noun."""
        return self._counted_noun([" ".join(map(singular, noun.casefold().split()))]) is not None

    def is_text(self, words: Iterable[str]) -> bool:
        """Return whether something of the graph has one of some words as a text."""
        texts = [Literal.make(form) for word in sorted(words) for form in (word, word.capitalize())]
        return any(self.graph.match([Pattern(None, None, text) for text in texts]))

    def has_text(self, words: Collection[str], relation: str) -> bool:
        """Return whether something has a text or a name of up to three words by a relation."""
        runs = [" ".join(run) for run in permutations(sorted(words))] if len(words) <= _WORDS else []
        ends = [Literal.make(form) for run in runs for form in (run, run.capitalize(), run.title())]
        nodes = [node for row in self.graph.find(runs) for node in row] if runs else []
        return any(self.graph.match([Pattern(None, relation, end) for end in [*ends, *nodes]])) if runs else False

    def of_value(self, question: Question) -> Lead | None:
        """Return the nodes with a text of the question: a code, a sign, a name of people.

        Texts of several words may be in small letters in the question. A node with a name that many share stands for
        its owner. Of several texts the nodes with all of them are meant, if there are any, else the nodes with the
        longest. Where those nodes have a column of the class that is asked for, its values are the answer.
        """
        found = self._with_texts(question)
        if not found:
            return None
        sets = [self._things_of(row) for row in found]
        members = [one for one in sets[0] if all(one in other for other in sets[1:])] or list(sets[0])
        proof = [(triple, None) for other in sets for member in members for triple in other.get(member, ())]
        [frontier] = self.graph.frontiers([members[:_MOST]])
        [steps] = self.graph.steps([frontier], False)
        labels = self.graph.labels([step.relation for step in steps])
        phrases = classes_asked(question.text)
        asked = [step for step, label in zip(steps, labels, strict=True) if shared_words(phrases, label)]
        onward = [triple for row in self.graph.triples([frontier] * len(asked), asked, None) for triple in row]
        if onward:
            members = list(dict.fromkeys(triple.object for triple in onward))
            proof += [(triple, None) for triple in onward]
        facts = {"members": len(members), "complete": True}
        if not onward and value_kind(question.text) is not None and self._leaves_words(question, proof):
            facts["likened"] = True  # who supplies order O-7 asks for no order
        return Lead(facts=facts, answers=members, members=members, proof=proof)

    def _leaves_words(self, question: Question, proof: Row) -> bool:
        """Return whether a question has words, outside of its links, that a proof has not."""
        told = self.graph.labels([one for triple, _ in proof for one in (triple.relation, triple.object)])
        words = words_of(without_names(question)) - words_of(" ".join(told))
        return bool(words - STOP_WORDS - class_words(question.text))

    def _with_texts(self, question: Question) -> list[Sequence[Triple]]:
        """Return the triples of each text that the question names, longest first; a part of a longer text is none."""
        text = question.text
        for one in reversed(value_constraints(text)):
            # More than 66 % is not the text "66 %".
            text = text if one.date else f"{text[: one.start]} {text[one.end :]}"
        words = text.strip(" ?.!").split()
        spans = [" ".join(words[i : i + n]) for n in range(1, 4) for i in range(1, len(words) - n + 1)]
        written = {text.strip(_MARKS) for text in spans if _is_written(text)} - {""}
        found = self._having_text(sorted(written))
        if not found:
            small = [text.strip(_MARKS) for text in spans if " " in text and text == text.lower()]
            found = self._having_text(sorted({form for text in small for form in (text.title(), text.capitalize())}))
        return [row for text, row in found if not any(text != other and text in other for other, _ in found)]

    def _having_text(self, texts: Sequence[str]) -> list[tuple[str, Sequence[Triple]]]:
        rows = self.graph.match([Pattern(None, None, Literal.make(text)) for text in texts]) if texts else []
        found = [(text, row) for text, row in zip(texts, rows, strict=True) if row]
        return sorted(found, key=lambda one: (-len(one[0]), one[0]))

    def _things_of(self, row: Sequence[Triple]) -> dict[str, list[Triple]]:
        """Return the subjects of triples, or their owners, each with the triples that show it."""
        things: dict[str, list[Triple]] = {}
        for triple in row[:_MOST]:
            things.setdefault(triple.subject, []).append(triple)
        relation = self.shared.leading(list(things))
        if relation is None:
            return things
        owned: dict[str, list[Triple]] = {}
        for triple in self.shared.owners(list(things), relation):
            owned.setdefault(triple.subject, []).extend([triple, *things[triple.object]])
        return owned or things

    def _answered(
        self,
        question: Question,
        kind: QuestionKind,
        sets: Sequence[NodeSet],
        rest: str,
        covered: set[str],
        narrowed: bool,
        counted: CountedOrder | None,
    ) -> tuple[Lead, str]:
        """Apply the operation, unless words are left that nothing explains."""
        if kind.kind in ("superlative", "ordinal"):
            text, order = order_clause(rest, class_words(question.text))
            lead = self.values.compared(question, kind, sets, text, counted or order)
            if not lead.answers:
                return Lead(), _NOTHING_DECIDES if counted is None else not_counted(counted)
            relation = self.graph.labels([lead.facts["relation"]])[0]
            # Where no word orders, as in *total cost of used cars*, only the name of what is added up is explained.
            covered = covered | words_of(relation) | (words_of(order) if order != rest else set())
            if counted is not None:
                covered |= {word for word in words_of(rest) if verb_stems(word) & stems_of(relation)}
            rest, narrowed, deciding = text, True, [relation]
        elif kind.kind in ("count", "lookup", "time-bound") or (kind.kind == "difference" and excluded_text(rest)):
            one = sets[0]
            members, deciding = list(one.instances), [*self.graph.labels([bound["relation"] for bound in one.bounds])]
            proof = [pair for member in members for pair in one.values.get(member, ())]
            facts = {**one.facts(), "complete": not one.cut and one.is_known()}
            lead = Lead(facts=facts, answers=members, members=members, proof=proof)
        else:
            return Lead(), "no entity of the graph was found in the question"
        told = [{*words_of(label), *stems_of(label)} for label in map(spaced, deciding)]
        done = _DONE - {verb for verb, own in _LIFE.items() if not any(own & one or one <= _DAY for one in told)}
        # A participle before the noun narrows as an adjective does: painted doors.
        before = class_modifiers(question.text)[0]
        left = sorted(
            word
            for word in words_of(rest) - covered - STOP_WORDS - done
            if not (
                word.isdigit()
                or (narrowed and word not in {*before, *_LIFE} and len(word) > _SHORT and word.endswith(_PARTICIPLES))
            )
        )
        if left:
            labels = self.values.counted.names.labels(self.schema.relations).values()
            others = [word for word in left if not any(stems_of(word) & stems_of(label) for label in labels)]
            missing = f"nothing of the graph is called {', '.join(others)}"
            return Lead(), missing if others else _NO_VALUE.format(words=", ".join(left))
        return lead, ""

    def class_set(self, text: str) -> NodeSet | None:
        """Return all of the class that a question names; None where nothing has it."""
        whole, named = next(self._class_sets(classes_asked(text), None), (None, None))
        return whole if named else None

    def _class_sets(
        self, phrases: Sequence[str], order: CountedOrder | None
    ) -> Iterator[tuple[NodeSet, frozenset[str]]]:
        """Yield each set that may have the class, with the words that name it; else the rows of a table.

        For an order by counts, the nodes with counted ends and the agents of its verb are sets too: *who wrote*,
        written by.
        """
        found = False
        for find in (self._typed, self._of_tables, self._of_relations):
            one, words = find(phrases)
            if one is not None:
                found = True
                yield one, words
        if order is not None and not found:
            one, is_told = self._having(phrases, order)
            if one is not None:
                found = True
                yield one, frozenset(word for phrase in phrases for word in words_of(phrase) if is_told)
        columns = self._only_columns()
        if not found and columns and (rows := self._subjects(columns)) is not None:
            yield rows, frozenset()

    def _only_columns(self) -> Sequence[str]:
        """Return the columns of a graph of a single table, else none."""
        tables = [columns for columns in self.schema.tables.values() if columns]
        return tables[0] if len(tables) == 1 else ()

    def _having(self, phrases: Sequence[str], order: CountedOrder) -> tuple[NodeSet | None, bool]:
        """Return the nodes with counted ends, and the agents of an order's verb, by names of relations.

        Returned with them is whether a relation also names the class, or people are asked for.
        """
        labels = self.values.counted.names.labels(self.schema.relations)
        steps = [
            step
            for relation, label in labels.items()
            for step in (Step(relation), Step(relation, True))
            if self.values.counted.is_named(order, step, label)
        ]
        shared = stems_of(" ".join(phrases)) & stems_of(" ".join(labels[step.relation] for step in steps))
        # Who is told by a verb of the order: not each thing with books has written some.
        words = " ".join(words_of(order.text) - words_of(order.noun))
        verbs = verb_stems(words) & {stem for step in steps for stem in stems_of(labels[step.relation])}
        return self._at_steps(steps), bool(shared or (set(PEOPLE) & set(phrases) and verbs))

    def _at_steps(self, steps: Sequence[Step]) -> NodeSet | None:
        """Return the nodes that have one of some steps."""
        rows = self.graph.match([Pattern(None, step.relation, None) for step in steps]) if steps else []
        return _set(
            (triple.object if step.inverse else triple.subject, triple)
            for step, row in zip(steps, rows, strict=True)
            for triple in row
        )

    def _typed(self, phrases: Sequence[str]) -> tuple[NodeSet | None, frozenset[str]]:
        """Return the nodes of a type that a phrase names, or where none does, that its last words name."""
        parts = [phrase.split() for phrase in phrases] if self.schema.type_relations else []
        for start in range(max(map(len, parts), default=0)):
            names = [" ".join(words[start:]) for words in parts if words[start:]]
            found = dict(zip(names, self.graph.find(names), strict=True))
            classes = sorted({one for row in found.values() for one in row})
            patterns = [Pattern(None, relation, one) for relation in self.schema.type_relations for one in classes]
            rows = self.graph.match(patterns) if patterns else []
            if (one := _set((triple.subject, triple) for row in rows for triple in row)) is not None:
                return one, frozenset(word for name, row in found.items() if row for word in words_of(name))
        return None, frozenset()

    def _of_tables(self, phrases: Sequence[str]) -> tuple[NodeSet | None, frozenset[str]]:
        shared = {name: shared_words(phrases, spaced(name)) for name in self.schema.tables}
        best = max(shared, key=lambda name: (shared[name], name), default=None)
        if best is None or not shared[best]:
            return None, frozenset()
        labels = self.values.counted.names.labels(self.schema.tables[best])
        if any(singular(name_of(label)) in phrases for label in labels.values()) and not {*phrases} & {*PEOPLE}:
            return None, frozenset()  # of stops of lines the column *line* has the lines
        named = [phrase for phrase in phrases if shared_words([phrase], spaced(best)) == shared[best]]
        return self._subjects(self.schema.tables[best]), _last_words(named, shared[best])

    def _of_relations(self, phrases: Sequence[str]) -> tuple[NodeSet | None, frozenset[str]]:
        """Return the ends of the relations whose names give them the class."""
        if not phrases or not self.schema.relations:
            return None, frozenset()
        labels = self.values.counted.names.labels(self.schema.relations)
        steps = [Step(relation, way) for relation in self.schema.relations for way in (True, False)]
        words = {step: words_of_role(self.schema, phrases, step, labels[step.relation]) for step in steps}
        most = max(words.values(), default=0)
        one = self._at_steps([step for step in steps if most and words[step] == most])
        return one, _last_words(phrases, most)

    def _subjects(self, relations: Sequence[str]) -> NodeSet | None:
        return self._at_steps([Step(relation) for relation in relations])

    def narrowed(self, one: NodeSet, words: set[str], known: str = "") -> tuple[NodeSet, set[str]]:
        """Keep the members with a step to each name or text that the question names; return also the words of these.

        Such a triple shows a member better than the triple that made it of the class. A name may have the ``known``
        word too, but not it alone: the class *big city*.
        """
        named: set[str] = set()
        for parts, triples in self._conditions(one, {*words, known} - {""}).items():
            if parts <= {known}:
                continue
            shown = one.values if named else {}
            one = attrs.evolve(
                one,
                instances={member: () for member in one.instances if member in triples},
                values={member: (*shown.get(member, ()), (triple, None)) for member, triple in triples.items()},
            )
            named |= parts
        return one, named

    def _conditions(self, one: NodeSet, words: set[str]) -> dict[frozenset[str], dict[str, Triple]]:
        """Find the names and texts that members lead to in one step, and that the question names.

        A column of yes and no has them as its name: *organic*.

        Returns:
            For the words of each, in singular, the triple of each member that has it.
        """
        words = words - STOP_WORDS - _DONE
        if not words:
            return {}
        [frontier] = self.graph.frontiers([sorted(one.instances)])
        [steps] = self.graph.steps([frontier], False)
        rows = self.graph.triples([frontier] * len(steps), steps, None)
        ends = sorted({triple.object for row in rows for triple in row if triple.object not in one.instances})
        names = dict(zip(ends, self.graph.labels(ends), strict=True))
        of_end = {end: frozenset(words_of(names[end])) for end in ends}
        named = {end for end, parts in of_end.items() if parts and parts <= words}
        longest = {end for end in named if not any(of_end[end] < of_end[other] for other in named)}
        found: dict[tuple[str, frozenset[str]], dict[str, Triple]] = {}
        for step, row in zip(steps, rows, strict=True):
            for triple in row:
                if triple.object in longest:
                    found.setdefault((step.relation, of_end[triple.object]), {})[triple.subject] = triple
        # One name may stand in several columns: the one that most members have is meant.
        labels = self.values.counted.names.labels({relation for relation, _ in found})
        told = {relation: frozenset(words_of(label) & words) for relation, label in labels.items()}
        best: dict[frozenset[str], dict[str, Triple]] = {}
        rank: dict[frozenset[str], tuple[int, int]] = {}
        for (relation, parts), triples in found.items():
            if len("".join(parts)) == 1 and not told[relation]:
                continue  # the letter of a code
            if (own := (len(told[relation]), len(triples))) > rank.get(parts, (0, 0)):
                best[parts], rank[parts] = triples, own
        for (relation, parts), triples in found.items():
            if best.get(parts) is triples and told[relation] and all(map(str.isdigit, parts)):
                best[parts | told[relation]] = best.pop(parts)  # in zone 1
        told_by: dict[frozenset[str], int] = {}
        for row, label in zip(rows, self.graph.labels([step.relation for step in steps]), strict=True):
            parts = frozenset(words_of(label) - STOP_WORDS - _DONE)  # in colour, sold out
            truths = {triple.subject: truth_of(triple.object) for triple in row}
            fit = frozenset(one for one in words if one in parts or stems_of(one) & stems_of(label))
            # Metals are those of the column metal, and not of metalloid.
            exact = len(fit & parts)
            if (
                parts
                and len(fit) >= len(parts)
                and row
                and None not in truths.values()
                and exact >= told_by.get(fit, 0)
            ):
                best[fit] = {triple.subject: triple for triple in row if truths[triple.subject]}
                told_by[fit] = exact
        return best


def _counts(label: str, noun: str) -> bool:
    """Return whether a relation's name is a noun, or the number of it: *votes*, *number of votes*, *vote count*."""
    told, asked = words_of(name_of(label)), words_of(noun)
    return asked <= told and told - asked <= _NUMBER_OF


def _set(shown: Iterable[tuple[str, Triple]]) -> NodeSet | None:
    """Gather nodes, each with the first triple that shows it; None if there are none."""
    first: dict[str, Triple] = {}
    for node, triple in shown:
        if not isinstance(node, Literal):
            first.setdefault(node, triple)
    members = sorted(first)[:_MOST]
    shows: dict[str, Row] = {node: ((first[node], None),) for node in members}
    return NodeSet(None, dict.fromkeys(members, ()), len(first) - len(members), values=shows) if members else None


def _last_words(phrases: Sequence[str], count: int) -> frozenset[str]:
    """Return the last words of each phrase, which name a class; *blue* of *blue film* does not."""
    return frozenset(word for phrase in phrases for word in words_of(" ".join(phrase.split()[-count:])))


def _is_written(text: str) -> bool:
    """Return whether a text is written as a value: with a capital, a figure or a sign, or in quotation marks."""
    quoted = text != text.strip(_QUOTES)
    return quoted or any(
        char.isupper() or char.isdigit() or not (char.isalnum() or char in " -'’.,?!") for char in text
    )
