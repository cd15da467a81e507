"""Handlers of superlatives, places in an order and comparisons."""

from __future__ import annotations

import re

import attrs

from srtk_framework.values import Question
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import class_words
from srtk_plugin_answers.counted_steps import not_counted
from srtk_plugin_answers.drafts import NO_RELATION, NO_VALUE, TWO_NAMES, Case, Draft, looked_up
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.question_classes import shared_words, words_of
from srtk_plugin_answers.question_kinds import unnamed_text
from srtk_plugin_answers.question_orders import counted_order, order_clause, order_noun
from srtk_plugin_answers.unlinked_handlers import by_class

_OR_NAME = re.compile(r"\bor (?:the )?[A-Z]")
# Where the class itself is linked: which lake has the largest area.
_WHICH_HAS = re.compile(r"^(?:which|who)\b(?! (?:is|are|was|were) the\b)", re.IGNORECASE)
_BEYOND = "the set has no place {rank}: {count} of it have a value of {name!r}"
_TWO_VALUES = "the graph has no relation with a number or a date for each of the things that are compared"


def by_count(sources: Sources, case: Case) -> Draft | None:
    """Answer an order by counts without the links that are no names but words of the question."""
    question = case.question
    if case.kind not in ("superlative", "ordinal") or not question.links or unnamed_text(question) != question.text:
        return None
    if counted_order(question.text) is None:
        return None
    draft = by_class(sources, attrs.evolve(case, question=attrs.evolve(question, links=())))
    return None if draft.missing else draft


def by_order_noun(sources: Sources, case: Case) -> Draft | None:
    """Refuse an order by a noun that no number has: *the largest code*."""
    noun = order_noun(order_clause(unnamed_text(case.question), class_words(case.question.text))[1])
    if case.operated.lead.answers or not noun or not class_words(case.question.text):
        return None
    return Draft(case.kind, missing=NO_VALUE.format(noun=noun))


def by_ordering_relation(sources: Sources, case: Case) -> Draft | None:
    """Answer a superlative by a relation that itself orders, as *largest city*."""
    if not case.found or not sources.likeness.orders_itself(case.question, case.operated, case.found[0]):
        return None
    if (noun := sources.likeness.unordered(case.operated, case.found[0])) is not None:
        return Draft(case.kind, missing=NO_RELATION.format(noun=noun))
    return looked_up(case, "lookup", case.found)


def by_counted_noun(sources: Sources, case: Case) -> Draft | None:
    """Refuse an order by counts where nothing can be counted, and no number is meant."""
    order = counted_order(case.question.text)
    if case.operated.lead.answers or order is None or not order.noun:
        return None
    return Draft(case.kind, missing=not_counted(order))


def by_place(sources: Sources, case: Case) -> Draft | None:
    """Refuse a place in an order that is beyond the set."""
    facts = case.operated.lead.facts
    if case.operated.lead.answers or "rank" not in facts:
        return None
    missing = _BEYOND.format(
        rank=facts["rank"], count=facts["with_value"], name=sources.likeness.label(facts["relation"])
    )
    return Draft(case.kind, missing=missing)


def by_comparison(sources: Sources, case: Case) -> Draft | None:
    """Refuse a comparison of things without values, or of fewer than two."""
    several = len(case.question.links) > 1
    if case.operated.lead.answers or not (several or not case.found or _OR_NAME.search(case.question.text)):
        return None
    return Draft(case.kind, missing=_TWO_VALUES if several else TWO_NAMES)


def asks_for_value(sources: Sources, question: Question, one: Operated) -> bool:
    """Return whether a superlative asks for the value itself: *the highest temperature*, and no class."""
    label = sources.likeness.label(one.lead.facts["relation"])
    if one.phrases:
        return bool(shared_words(one.phrases, label))
    if _WHICH_HAS.match(question.text):
        return False
    return bool(words_of(label) & words_of(question.text))
