"""Handlers of questions where a text, a class or words name the answer."""

from __future__ import annotations

import re

import attrs

from srtk_framework.text import fold
from srtk_framework.values import Question, Step
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import arithmetic_of
from srtk_plugin_answers.choices import other_words, unknown_names
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.number_handlers import calculated
from srtk_plugin_answers.question_classes import name_of, stems_of, word_set
from srtk_plugin_answers.question_kinds import AUXILIARY, QuestionKind, is_yes_no, unnamed_text
from srtk_plugin_answers.question_orders import ORDERING, ORDINALS
from srtk_plugin_answers.unlinked import UnlinkedSets

_ORDER = "|".join(sorted({*ORDERING, *ORDINALS} - {"most", "fewest", "least"}))
_MAKER = re.compile(
    rf"(?:who|(?:which|what) (?P<noun>[^\W\d_]+)) (?!(?:{'|'.join(sorted(AUXILIARY))})\b)"
    rf"(?P<verb>[^\W\d_]{{3,}}(?: (?:about|against|at|for|over|with))?) the (?P<thing>(?:{_ORDER}) .+)",
    re.IGNORECASE,
)
_VALUE = re.compile(
    rf"(?:what(?:'s| is| was) )?(?:the )?(?:[^\W\d_]+ )?(?:{'|'.join(sorted(ORDERING))})"
    r" (?P<noun>[^\W\d_]+(?: [^\W\d_]+)?)"
)
"""A question for the greatest value itself: *what is the highest salary*."""
_HAVING = word_set(
    "achieved charged drew earned gained got had has have held made paid reached received recorded scored"
)
"""Verbs of somebody who has a value."""
_PLAIN_MARKS = "?.,;:!'’-()/%&$€£"
_MOST = 1000
"""Members from which on a class that is linked is not read whole."""


def by_text(sources: Sources, case: Case) -> Draft | None:
    """Answer with the nodes that have a text of the question; refuse names that no node has."""
    question = case.question
    unknown = unknown_names(question, sources.relation_words) or other_words(sources.graph, question)
    if (unknown or _has_sign(question)) and (lead := sources.sets.of_value(question)) is not None:
        if is_yes_no(unnamed_text(question)):
            truth = not question.links or any(link.entity in lead.answers for link in question.links)
            return Draft(case.kind, truth=truth, proof=lead.proof, complete=True)
        number = len(lead.answers) if case.kind == "count" else None
        return attrs.evolve(Draft.of_lead(case.kind, lead), number=number)
    if unknown:
        return Draft(case.kind, missing=f"nothing of the graph is called {', '.join(unknown)}")
    return None


def by_class(sources: Sources, case: Case) -> Draft:
    """Answer by class, values and words, where nothing is linked."""
    sets = sources.sets
    if case.operated.scores.unit != sets.values.scores.unit:
        sets = attrs.evolve(sets, values=attrs.evolve(sets.values, scores=case.operated.scores))
    kind = case.operated.kind
    if kind.kind == "difference" and kind.greatest is not None:
        kind = attrs.evolve(kind, kind="superlative")  # the cheapest that is not organic
    if kind.kind in ("superlative", "ordinal") and (draft := _by_maker(sources, sets, case, kind)) is not None:
        return draft
    asked, is_said = _without_verb(sources, case.question)
    lead, missing = sets.lead(asked, kind)
    if missing:
        return Draft(case.kind, missing=missing)
    if not is_said:
        lead = attrs.evolve(lead, facts={**lead.facts, "likened": True})
    if (operation := arithmetic_of(case.question.text)) and lead.values:
        return calculated(sources, operation, lead)
    draft = Draft.of_lead(case.kind, lead)
    found = _VALUE.match(fold(case.question.text).strip(" ?.!"))
    if found and lead.values and name_of(sources.likeness.label(lead.facts["relation"])) == found["noun"]:
        values = dict.fromkeys(lead.values[member].object for member in lead.answers)
        return attrs.evolve(draft, entities=tuple(values))
    return attrs.evolve(draft, number=len(lead.answers)) if case.kind == "count" else draft


def _by_maker(sources: Sources, sets: UnlinkedSets, case: Case, kind: QuestionKind) -> Draft | None:
    """Answer who made the greatest thing: the thing first, and then on by the relation that the verb or the noun names.

    None where no relation has the verb's name, or the order is by a column: *who earned the highest salary*.
    """
    found = _MAKER.match(case.question.text.strip(" ?.!"))
    if found is None or sources.likeness.is_name(found["thing"].split()[-1].casefold()):
        return None
    asked = stems_of(found["noun"] or found["verb"])
    labels = sources.operations.names.labels(sources.operations.schema.relations)
    steps = [Step(relation) for relation, label in labels.items() if asked & stems_of(label)]
    if not steps:
        return None
    lead, missing = sets.lead(attrs.evolve(case.question, text=f"which {found['thing']}"), kind)
    if missing or not lead.answers:
        return None
    [frontier] = sources.graph.frontiers([lead.answers])
    onward = [one for row in sources.graph.triples([frontier] * len(steps), steps, None) for one in row]
    draft = Draft.of_lead(case.kind, lead)
    proof = [*lead.proof, *((one, None) for one in onward)]
    makers = tuple(dict.fromkeys(one.object for one in onward))
    return attrs.evolve(draft, entities=makers, proof=proof) if onward else None


def _without_verb(sources: Sources, question: Question) -> tuple[Question, bool]:
    """Return a question without its verb where a column decides an order, and whether the verb adds nothing.

    Who paid the highest fare has it; who complained about the highest fare may be somebody else.
    """
    text = question.text.strip(" ?.!")
    found = _MAKER.match(text)
    if found is None or not sources.likeness.is_name(found["thing"].split()[-1].casefold()):
        return question, True
    verb = found["verb"].casefold()
    if any(stems_of(verb) & stems_of(label) for label in sources.relation_words):
        return question, True
    told = f"{text[: found.start('verb')]}has{text[found.end('verb') :]}"
    return attrs.evolve(question, text=told), verb in _HAVING


def _has_sign(question: Question) -> bool:
    """Return whether a question quotes something, or has a sign that is no letter, figure or mark."""
    return any(not (char.isalnum() or char.isspace() or char in _PLAIN_MARKS) for char in question.text)


def by_linked_class(sources: Sources, case: Case) -> Draft | None:
    """Answer without the links that are no names but words of a class: *which sunny orchards are there*."""
    question, types = case.question, sources.operations.schema.type_relations
    if not question.links or not types or unnamed_text(question) != question.text:
        return None
    frontiers = sources.graph.frontiers([[link.entity] for link in question.links])
    pairs = [(frontier, Step(relation, True)) for frontier in frontiers for relation in types]
    members = sources.graph.triples([one for one, _ in pairs], [step for _, step in pairs], _MOST)
    # A class of a large graph is not read whole.
    if not any(members) or any(len(row) >= _MOST for row in members):
        return None
    draft = by_class(sources, attrs.evolve(case, question=attrs.evolve(question, links=())))
    return None if draft.missing else draft
