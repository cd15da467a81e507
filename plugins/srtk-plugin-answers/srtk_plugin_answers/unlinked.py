"""Questions in which no entity is named: by the class, the values and the words of what they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import spaced
from srtk_framework.values import Literal, Pattern, Question, Schema, Step, Triple
from srtk_plugin_answers.counted_steps import not_counted, verb_stems
from srtk_plugin_answers.deciding_values import DecidingValues
from srtk_plugin_answers.graph_names import words_of_role
from srtk_plugin_answers.node_sets import Lead, NodeSet, Row
from srtk_plugin_answers.question_classes import PEOPLE, STOP_WORDS, shared_words, stems_of, word_set, words_of
from srtk_plugin_answers.question_kinds import CountedOrder, QuestionKind, classes_asked, counted_order, order_clause
from srtk_plugin_answers.question_values import clauses, value_constraints
from srtk_plugin_answers.shared_names import SharedNames

_DONE = word_set(
    """
    came come comes out made make makes released release appear appeared published produced produce founded found built
    born died dated date year years happened happen take took taken place set held start started begin began open opened
    last lasted run runs cost costs weigh weighs measure measures earn earns work works live lives exist exists
    according total number sum average mean overall together more less fewer least most than over under
    different distinct table data dataset database file graph
    """
)
"""Words that say nothing that a value or a class does not."""
_QUOTES = '"“”‘«»'
_MARKS = f"{_QUOTES}',;:?.!"
_PARTICIPLES = ("ed", "ing")
_NOTHING_DECIDES = "the graph has no number or date that decides"
_MOST = 100_000
"""Members of a class that are read."""


@attrs.frozen
class Condition:
    """What the members of a set have, and the question names.

    Attributes:
        words: The words of the name, folded and in singular.
        triples: The triple of each member that has it.
    """

    words: frozenset[str]
    triples: Mapping[str, Triple]


@attrs.frozen(eq=False)
class UnlinkedSets:
    """Read the set that a question without a linked entity asks of.

    Attributes:
        graph: Graph that is read.
        schema: Its schema.
        values: Choose the relation whose values decide.
        shared: Knows which names tell nothing.
    """

    graph: KnowledgeGraph
    schema: Schema
    values: DecidingValues
    shared: SharedNames

    def lead(self, question: Question, kind: QuestionKind) -> tuple[Lead, str]:
        """Return what the question asks for, or why nothing fits."""
        if (lead := self.of_value(question)) is not None:
            return lead, ""
        phrases = classes_asked(question.text)
        order = counted_order(question.text) if kind.kind in ("superlative", "ordinal") else None
        found = self._class_sets(phrases, order)
        whole, of_class = next(found, (None, False))
        if whole is None:
            return Lead(), "no entity of the graph was found in the question, and no class of entities"
        rest, told = clauses(question.text)
        # Of a single table whatever noun is asked for means its rows.
        covered = {word for phrase in phrases for word in (words_of(phrase) if of_class else [phrase.split()[-1]])}
        covered |= {word for clause in told for word in words_of(clause)}
        # Unless it is a value of some: the pets of a table of animals.
        words = words_of(rest) - (set() if self._only_columns() and not of_class else covered)
        if order is not None:
            # What has the most of something is told by its verb: served, used for.
            told_by_order = words_of(order.noun) | {word for word in words_of(rest) if word.endswith(_PARTICIPLES)}
            covered |= told_by_order
            words -= told_by_order
        conditions = self._conditions(whole, words)
        for narrowed, condition in enumerate(conditions):
            # A condition shows its members better than what made them of the class.
            whole = attrs.evolve(
                whole,
                instances={member: () for member in whole.instances if member in condition.triples},
                values={
                    m: (*(whole.values.get(m, ()) if narrowed else ()), (t, None)) for m, t in condition.triples.items()
                },
            )
            covered |= condition.words
        if not whole.instances:
            return Lead(), "nothing of the class has all that the question names"
        bounds = value_constraints(question.text)
        sets = self.values.bounded(question, [whole], bounds, question.text) if bounds else [whole]
        if not sets or (bounds and not sets[0].bounds):
            return Lead(), "the graph has no number or date that the question's bound is about"
        covered |= {word for one in sets[0].bounds for word in words_of(self.graph.labels([one["relation"]])[0])}
        if order is not None and not (conditions or bounds):
            sets = [*sets, *(one for one, _ in found)]
        lead, missing = self._answered(question, kind, sets, rest, covered, bool(conditions or bounds), order)
        if order is not None and not of_class:
            lead = attrs.evolve(lead, facts={**lead.facts, "likened": True})
        return lead, missing

    def of_value(self, question: Question) -> Lead | None:
        """Return what has a text that the question names as it is written: a code, a sign, a name of people.

        Several words may be in small letters, though the text is not. What has a name that many share stands for what
        it belongs to. Of several texts what has all of them is meant, if there is any, else what has the longest.
        Where the class that is asked for is a column of what has the text, the values of that column are the answer.
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
        return Lead(facts=facts, answers=members, members=members, proof=proof)

    def _with_texts(self, question: Question) -> list[Sequence[Triple]]:
        """Return the triples of each text that the question names, but for those within a longer one, longest first."""
        words = question.text.strip(" ?.!").split()
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
        """Return the subjects of triples, or what they belong to, each with the triples that show it."""
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
            nouns = [word for phrase in classes_asked(question.text) for word in phrase.split()]
            text, order = order_clause(rest, nouns)
            lead = self.values.compared(question, kind, sets, text, counted or order)
            if not lead.answers:
                return Lead(), _NOTHING_DECIDES if counted is None else not_counted(counted)
            relation = self.graph.labels([lead.facts["relation"]])[0]
            covered = covered | words_of(order) | words_of(relation)
            if counted is not None:
                covered |= {word for word in words_of(rest) if verb_stems(word) & stems_of(relation)}
            rest, narrowed = text, True
        elif kind.kind in ("count", "lookup", "time-bound"):
            one = sets[0]
            members = list(one.instances)
            proof = [pair for member in members for pair in one.values.get(member, ())]
            facts = {**one.facts(), "complete": not one.cut and one.is_known()}
            lead = Lead(facts=facts, answers=members, members=members, proof=proof)
        else:
            return Lead(), "no entity of the graph was found in the question"
        left = sorted(
            word
            for word in words_of(rest) - covered - STOP_WORDS - _DONE
            if not (word.isdigit() or (narrowed and word.endswith(("ed", "ing"))))
        )
        if left:
            return Lead(), f"nothing of the graph is called {', '.join(left)}"
        return lead, ""

    def _class_sets(self, phrases: Sequence[str], order: CountedOrder | None) -> Iterator[tuple[NodeSet, bool]]:
        """Return each set of all that may have the class, and whether a phrase names it; else the rows of a table.

        Of an order by counts, what has the things that are counted is one too, and who does what its verb says: *who
        wrote*, written by.
        """
        found = False
        for find in (self._typed, self._of_tables, self._of_relations):
            if (one := find(phrases)) is not None:
                found = True
                yield one, True
        if order is not None and not found:
            one, is_told = self._having(phrases, order)
            if one is not None:
                found = True
                yield one, is_told
        columns = self._only_columns()
        if not found and columns and (rows := self._subjects(columns)) is not None:
            yield rows, False

    def _only_columns(self) -> Sequence[str]:
        """Return the columns of a graph of a single table, else none."""
        tables = [columns for columns in self.schema.tables.values() if columns]
        return tables[0] if len(tables) == 1 else ()

    def _having(self, phrases: Sequence[str], order: CountedOrder) -> tuple[NodeSet | None, bool]:
        """Return what is joined to things that an order counts, or does what its verb says, by names of relations.

        Whether a relation also tells that it has the class, or people are asked for, is returned with it.
        """
        labels = dict(zip(self.schema.relations, self.graph.labels(self.schema.relations), strict=True))
        steps = [
            step
            for relation, label in labels.items()
            for step in (Step(relation), Step(relation, True))
            if self.values.counted.is_named(order, step, label)
        ]
        rows = self.graph.match([Pattern(None, step.relation, None) for step in steps]) if steps else []
        one = _set(
            (triple.object if step.inverse else triple.subject, triple)
            for step, row in zip(steps, rows, strict=True)
            for triple in row
        )
        told = stems_of(" ".join(phrases)) & stems_of(" ".join(labels[step.relation] for step in steps))
        return one, bool(told or set(PEOPLE) & set(phrases))

    def _typed(self, phrases: Sequence[str]) -> NodeSet | None:
        if not self.schema.type_relations or not phrases:
            return None
        classes = sorted({one for row in self.graph.find(list(phrases)) for one in row})
        patterns = [Pattern(None, relation, one) for relation in self.schema.type_relations for one in classes]
        rows = self.graph.match(patterns) if patterns else []
        return _set((triple.subject, triple) for row in rows for triple in row)

    def _of_tables(self, phrases: Sequence[str]) -> NodeSet | None:
        shared = {name: shared_words(phrases, spaced(name)) for name in self.schema.tables}
        best = max(shared, key=lambda name: (shared[name], name), default=None)
        return None if best is None or not shared[best] else self._subjects(self.schema.tables[best])

    def _of_relations(self, phrases: Sequence[str]) -> NodeSet | None:
        """Return the ends of the relations whose names say that they are of the class."""
        if not phrases or not self.schema.relations:
            return None
        labels = dict(zip(self.schema.relations, self.graph.labels(self.schema.relations), strict=True))
        steps = [Step(relation, way) for relation in self.schema.relations for way in (True, False)]
        words = {step: words_of_role(self.schema, phrases, step, labels[step.relation]) for step in steps}
        most = max(words.values(), default=0)
        fitting = [step for step in steps if most and words[step] == most]
        rows = self.graph.match([Pattern(None, step.relation, None) for step in fitting])
        return _set(
            (triple.object if step.inverse else triple.subject, triple)
            for step, row in zip(fitting, rows, strict=True)
            for triple in row
        )

    def _subjects(self, relations: Sequence[str]) -> NodeSet | None:
        rows = self.graph.match([Pattern(None, relation, None) for relation in relations])
        return _set((triple.subject, triple) for row in rows for triple in row)

    def _conditions(self, one: NodeSet, words: set[str]) -> list[Condition]:
        """Find the names and texts that members lead to in one step, and that the question names."""
        words = words - STOP_WORDS - _DONE
        if not words:
            return []
        [frontier] = self.graph.frontiers([sorted(one.instances)])
        [steps] = self.graph.steps([frontier], False)
        rows = self.graph.triples([frontier] * len(steps), steps, None)
        ends = sorted({triple.object for row in rows for triple in row if triple.object not in one.instances})
        names = dict(zip(ends, self.graph.labels(ends), strict=True))
        of_end = {end: frozenset(words_of(names[end])) for end in ends}
        named = {end for end, parts in of_end.items() if parts and parts <= words and len(parts) < len(words) + 1}
        longest = {end for end in named if not any(of_end[end] < of_end[other] for other in named)}
        found: dict[tuple[str, frozenset[str]], dict[str, Triple]] = {}
        for step, row in zip(steps, rows, strict=True):
            for triple in row:
                if triple.object in longest:
                    found.setdefault((step.relation, of_end[triple.object]), {})[triple.subject] = triple
        # One name may stand in several columns: the one that most members have is meant.
        best: dict[frozenset[str], Condition] = {}
        for (_, parts), triples in found.items():
            known = best.get(parts)
            if known is None or len(triples) > len(known.triples):
                best[parts] = Condition(parts, triples)
        return list(best.values())


def _set(shown: Iterable[tuple[str, Triple]]) -> NodeSet | None:
    """Gather nodes, each with the first triple that shows it; None if there are none."""
    first: dict[str, Triple] = {}
    for node, triple in shown:
        if not isinstance(node, Literal):
            first.setdefault(node, triple)
    members = sorted(first)[:_MOST]
    shows: dict[str, Row] = {node: ((first[node], None),) for node in members}
    return NodeSet(None, dict.fromkeys(members, ()), len(first) - len(members), values=shows) if members else None


def _is_written(text: str) -> bool:
    """Return whether a text is written as a value: with a capital, a figure or a sign, or in quotation marks."""
    quoted = text != text.strip(_QUOTES)
    return quoted or any(
        char.isupper() or char.isdigit() or not (char.isalnum() or char in " -'’.,?!") for char in text
    )
