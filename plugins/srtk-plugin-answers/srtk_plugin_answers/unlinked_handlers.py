"""Handlers of questions where a text, a class or words name the answer."""

from __future__ import annotations

import attrs

from srtk_framework.values import Question, Step
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import arithmetic_of
from srtk_plugin_answers.choices import other_words, unknown_names
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.number_handlers import calculated
from srtk_plugin_answers.question_kinds import is_yes_no, unnamed_text

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
    lead, missing = sets.lead(case.question, case.operated.kind)
    if missing:
        return Draft(case.kind, missing=missing)
    if (operation := arithmetic_of(case.question.text)) and lead.values:
        return calculated(sources, operation, lead)
    draft = Draft.of_lead(case.kind, lead)
    return attrs.evolve(draft, number=len(lead.answers)) if case.kind == "count" else draft


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
