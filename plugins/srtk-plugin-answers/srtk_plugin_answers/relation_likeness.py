"""Likeness of the relations of paths to the nouns of a question, by shared words and by the path scorer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

import attrs

from srtk_framework.text import fold
from srtk_framework.values import Literal, Question, Step
from srtk_plugin_answers.answer_types import asked_relation, verb_of_who
from srtk_plugin_answers.choices import Choice, returns
from srtk_plugin_answers.drafts import Case
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.literal_values import is_date, is_year, value_of
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.path_scores import CLOSE, LIKE
from srtk_plugin_answers.question_classes import (
    PEOPLE,
    STOP_WORDS,
    name_of,
    shared_words,
    singular,
    stems_of,
    without_names,
    word_set,
    words_of,
)
from srtk_plugin_answers.question_orders import order_phrase, ordering_words

_FAR = 0.08
"""The same for the whole question and a path."""
_ORDERED = 0.4
"""The same for what is ordered and a relation that orders by itself."""
_DOUBTED = 0.5
"""The same for a noun where another path is as near."""
_NAMED = 0.45
"""The same for a noun and the only relation of a path: an *email* is no phone number."""
_HAS = re.compile(r"^how many [\w -]+ (?:do|does|did) ¤ have\b")
_VERB_OF_WHEN = re.compile(r"\b(?:did|was|were|does|is|has|have|had)(?: the)? *¤ +(?P<verb>[^\W\d_]{3,})\W*$")
_ROOT = 4
_DATED = word_set("on date year time")
_FORMS = ("", "d", "ed", "s", "es", "n", "en")
_VERB = 0.3
"""The same for a verb of who, and a path."""
NO_NOUNS = frozenset(["kind", "name", "sort", "type"])
"""Nouns that say nothing of a relation: *what is the name of*."""
_PLACES = word_set("city continent country county district province region state town village")
"""Places that may lie in each other: where somebody lives may be a city or a country."""
_NEAR = 5.0
"""Least score of a path that is clearly like a question."""
_CLEAR = 0.5
"""Distance of the next path's score from which on it is not as near."""


_ALIKE = word_set("same other also too share like")
"""Words of a question that goes to other nodes which are alike."""


@attrs.frozen(eq=False)
class RelationLikeness:
    """Compare the relations of paths with the nouns of a question."""

    names: GraphNames

    def likeness(self, one: Operated, phrase: str, step: Step) -> float:
        """Return how like a phrase is to a step's relation (see ``PathScores.likeness``)."""
        return one.scores.likeness(phrase, self.label(step.relation), step)

    def is_like(self, one: Operated, noun: str, step: Step, least: float) -> bool:
        """Return whether a noun has the name of a relation, or is like it."""
        return bool(shared_words([noun], self.label(step.relation))) or self.likeness(one, noun, step) >= least

    def orders_itself(self, question: Question, one: Operated, best: Choice) -> bool:
        """Return whether a relation of the best path itself orders, as *largest city*, better than any value would."""
        step = next((step for step in best.path.steps if ordering_words(self.label(step.relation))), None)
        if step is None:
            return False
        if "relation" not in one.lead.facts:
            return True
        phrase = order_phrase(question.text)
        return self.likeness(one, phrase, step) > self.likeness(one, phrase, Step(one.lead.facts["relation"]))

    def is_near(self, one: Operated, question: Question, choice: Choice) -> bool:
        """Return whether a question has a word of a path's relations, or is clearly like it."""
        relations = [step.relation for step in choice.path.steps]
        return self.names_in(question, relations) or one.likeness(choice.path) >= _NEAR

    def unordered(self, one: Operated, best: Choice) -> str | None:
        """Return the noun of a superlative that a relation which itself orders, as *largest city*, does not order."""
        nouns = [phrase.split()[-1] for phrase in one.phrases if phrase not in PEOPLE]
        if not nouns or one.fit or any(end in one.roles for end in best.ends):
            return None
        return None if any(self.is_like(one, noun, best.path.steps[-1], _ORDERED) for noun in nouns) else nouns[0]

    def unlike(self, case: Case, best: Choice, margin: float = math.inf) -> str | None:
        """Return the noun of a question that asks for the relation to something, if the best path has none like it.

        In a question of several steps the noun may name any step, and a path that is clearly like the question needs no
        noun.
        """
        one, steps = case.operated, best.path.steps
        noun = asked_relation(case.question.text) or next((one for one in one.phrases if one not in PEOPLE), None)
        if noun is not None and self.is_name(noun):
            # A value that is missing here is neither another value nor the value of another node.
            names = {name_of(self.label(step.relation)) for step in steps}
            is_other = noun not in names | {*map(singular, names)} and (len(steps) == 1 or noun in one.phrases)
            # The rows of a reader are no readers; but whose ground it is are those of the ground.
            is_owned = case.question.text.casefold().startswith("whose")
            is_other = is_other or (noun in one.phrases and not is_owned and self._is_from_cell(noun, steps[-1]))
            if is_other or (returns(steps) and not (_ALIKE & words_of(case.question.text)) - words_of(noun)):
                return noun
        if (verb := self.unnamed_verb(case.question, best)) is not None and not steps[-1].inverse:
            likest = max(self.likeness(one, verb, step) for step in steps)
            # Who is a name: of things in small letters only what the verb is close to.
            if likest < _VERB or (likest < CLOSE and not self._has_capitals(best)):
                return verb
        if one.fit or one.roles or one.held > 0 or (noun in one.phrases and steps[-1].inverse):
            return None
        if noun is None or singular(noun.split()[-1]) in NO_NOUNS:
            label = self.label(steps[-1].relation)
            [own] = one.scores.rows([label], [()], [steps[-1:]])
            # Log-probabilities are at most 0, and say nothing of how like a path is to a question.
            is_far = own[0] > 0 and one.likeness(best.path) < _FAR * own[0]
            return case.question.text.strip(" ?") if is_far else None
        if margin < _CLEAR and noun not in one.phrases and self._is_doubted(one, noun, steps[-1], case.labels):
            return None if self.is_like(one, noun, steps[-1], _DOUBTED) else noun
        is_asked = noun == asked_relation(case.question.text) or _asks_what_has(case.question)
        least = _NAMED if len(steps) == 1 and is_asked else LIKE
        is_like = one.likeness(best.path) >= _NEAR or any(self.is_like(one, noun, step, least) for step in steps)
        return None if is_like else noun

    def _is_from_cell(self, noun: str, step: Step) -> bool:
        """Return whether a step leads from the cells of a column that is called as a noun to their rows."""
        columns = {one for table in self.names.schema.tables.values() for one in table}
        return step.inverse and step.relation in columns and name_of(self.label(step.relation)) == noun

    def uncounted(self, case: Case) -> str | None:
        """Return the noun of *how many does X have*, if neither the ends of the path nor a relation is called so."""
        one, path = case.operated, case.operated.lead.path
        nouns = [phrase for phrase in one.phrases if phrase not in PEOPLE]
        if not _asks_what_has(case.question):
            return None
        if path is None or not nouns or one.bounds or one.fit or one.roles or one.named:
            return None
        relations = [step.relation for step in path.steps]
        is_like = any(self.is_like(one, noun, step, LIKE) for noun in nouns for step in path.steps)
        return None if is_like or self.names_in(case.question, relations) else nouns[0]

    def relations_between(self, question: Question, best: Choice) -> list[str]:
        """Return the relations before the last step of a path, where the question has but the words of the last one.

        *The mayor of Germany* may be asked for, and not the mayor of its capital.
        """
        noun, steps = asked_relation(question.text) or "", best.path.steps
        if len(steps) < 2 or any(step.inverse for step in steps):
            return []
        labels = [self.label(step.relation) for step in steps]
        plain = fold(without_names(question))
        if not noun and stems_of(plain) & stems_of(" ".join(labels[:-1])):
            return []
        told = words_of(" ".join({*re.findall(r"\w+", plain)} - STOP_WORDS)) - words_of(noun)
        rest = {word for word in told if noun or not stems_of(word) & stems_of(labels[-1])}
        is_last = shared_words([noun], labels[-1]) if noun else told
        return [] if rest or not is_last else labels[:-1]

    def is_close(self, case: Case, best: Choice) -> bool:
        """Return whether a path has a relation close to the noun of a question that asks for a relation, if it does."""
        noun, steps = asked_relation(case.question.text), best.path.steps
        verb = None if noun else self.unnamed_verb(case.question, best)
        if verb and not self._has_capitals(best):
            return False
        if noun and self._is_of_other_head(noun, best):
            return False
        if self._is_beside(case, best):
            return False
        told = noun or verb or self._unseen_place(case)
        return told is None or any(self.is_like(case.operated, told, step, CLOSE) for step in steps)

    def _is_of_other_head(self, noun: str, best: Choice) -> bool:
        """Return whether a noun only begins as a number is called: a *population density* is no population."""
        values = [value_of(end) if isinstance(end, Literal) and not is_date(end) else None for end in best.ends]
        if any(value is None or is_year(value) for value in values):
            return False  # a release date may be a release year
        first, _, last = noun.rpartition(" ")
        label = stems_of(self.label(best.path.steps[-1].relation))
        return bool(stems_of(first) & label) and not stems_of(last) & label

    def _is_beside(self, case: Case, best: Choice) -> bool:
        """Return whether a path ends beside the rows or nodes that have the class which a question names."""
        one, nouns = case.operated, [phrase for phrase in case.operated.phrases if phrase not in PEOPLE]
        if not nouns or not one.roles or {*best.ends} & {*one.fit, *one.roles}:
            return False
        return not any(self.is_like(one, noun, best.path.steps[-1], LIKE) for noun in nouns)

    def _unseen_place(self, case: Case) -> str | None:
        """Return the noun of *which country* where nothing of the graph is known to be of that kind of place."""
        one = case.operated
        if case.kind == "count" or one.fit or one.roles or one.named or self.names.schema.type_relations:
            return None
        return next((phrase for phrase in one.phrases if phrase in _PLACES), None)

    def _has_capitals(self, best: Choice) -> bool:
        return any(label[:1] != label[:1].lower() for label in self.names.graph.labels(sorted(best.ends)))

    def unnamed_verb(self, question: Question, best: Choice) -> str | None:
        """Return the verb of *who* in a question, if it is no name of the last relation of the best path."""
        verb = verb_of_who(without_names(question))
        label = self.label(best.path.steps[-1].relation)
        if verb is None or stems_of(verb) & stems_of(label):
            return None
        return None if any(word.startswith(singular(verb)) for word in words_of(label)) else verb

    def called_as(self, question: Question, relations: Iterable[str]) -> set[str]:
        """Return the relations that are called as the verb behind the name of a question and no more: when ¤ *died*."""
        found = _VERB_OF_WHEN.search(fold(without_names(question)))
        verb = found["verb"] if found else ""
        root = verb.removesuffix("ed") if len(verb) > _ROOT else verb
        forms = {f"{root}{end}" for end in _FORMS if root}
        labels = self.names.labels(relations)
        return {
            one for one, name in labels.items() if forms & (told := {*fold(name).split()}) and told <= forms | _DATED
        }

    def is_name(self, noun: str) -> bool:
        """Return whether a relation of the graph has a noun, or its plural, as its name."""
        names = {name_of(label) for label in self.names.labels(self.names.schema.relations).values()}
        return noun in names or noun in map(singular, names)

    def _is_doubted(self, one: Operated, noun: str, step: Step, labels: Mapping[str, str]) -> bool:
        """Return whether a noun is more like another relation than like a step's relation."""
        relations = dict.fromkeys([step.relation, *self.names.schema.relations, *labels])
        steps = [Step(relation) for relation in relations]
        [scores] = one.scores.rows([noun], [()], [steps])
        return bool(max(scores) > scores[0])

    def label(self, relation: str) -> str:
        """Return the label of a relation."""
        return self.names.labels([relation])[relation]

    def names_in(self, question: Question, relations: Iterable[str]) -> bool:
        """Return whether a question has a word of one of the relations, outside of its links' mentions."""
        asked = stems_of(without_names(question))
        return any(asked & stems_of(label) for label in self.names.labels(relations).values())


def _asks_what_has(question: Question) -> bool:
    """Return whether a question asks how many of something a link has."""
    return bool(_HAS.match(" ".join(without_names(question).casefold().split())))
