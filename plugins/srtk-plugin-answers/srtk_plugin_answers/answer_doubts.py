"""Doubts about the answer of a draft: words of the question that it leaves out, and choices that it does not make."""

from __future__ import annotations

import re

import attrs

from srtk_framework.values import Question
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import value_kind
from srtk_plugin_answers.choices import returns
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.literal_values import fits, is_date, is_time, truth_of
from srtk_plugin_answers.question_classes import is_told, without_names, words_of
from srtk_plugin_answers.question_kinds import is_polar, marked_text, unnamed_text
from srtk_plugin_answers.question_orders import WORD
from srtk_plugin_answers.question_values import value_constraints
from srtk_plugin_answers.yes_no_handlers import NO_CHOICE

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*s?(?![\w-])")
_SAME = re.compile(r"\bsame (?P<noun>[^\W\d_]+(?: [^\W\d_]+)?) as\b")
_UNIT = re.compile(r"\bper [^\W\d_]+")
_LEFT_OUT = "{words} of the question decided nothing, and was left out"
_NO_NAME = "the graph has a number or a date, and no name, of what the question asks who or where it is"
_NOT_ALIKE = "nothing else of the graph was found that has the same {noun}"


def doubted(sources: Sources, case: Case, draft: Draft) -> Draft:
    """Refuse an answer that is none of the names to choose from, and doubt one that leaves a number or a unit out.

    A question that begins as one for yes or no and joins names by *or* asks which of them it is. What has the same
    *park as X* is found over that park, and is not the park.
    """
    question = case.question
    if draft.missing or draft.truth is not None:
        return draft
    text = unnamed_text(question)
    plain = marked_text(question)
    links = {link.entity for link in question.links}
    if (
        is_polar(WORD.findall(text.casefold()))
        and " or " in plain
        and draft.kind != "comparison"
        and not _is_named(sources, question, draft)
    ):
        return Draft(draft.kind, missing=NO_CHOICE)
    if (found := _SAME.search(plain)) and links and (draft.path is None or not returns(draft.path.steps)):
        return Draft(draft.kind, missing=_NOT_ALIKE.format(noun=found["noun"]))
    if value_kind(text) == "name" and draft.kind != "count" and not _has_names(draft):
        return Draft(draft.kind, missing=_NO_NAME)
    if _is_of_one_column(sources, question, draft):
        draft = attrs.evolve(draft, likened=True)
    if left := _left_unit(sources, plain) or _left_numbers(sources, question, case, draft):
        notice = "; ".join([*filter(None, [draft.notice]), _LEFT_OUT.format(words=left)])
        return attrs.evolve(draft, likened=True, notice=notice)
    return draft


def _is_of_one_column(sources: Sources, question: Question, draft: Draft) -> bool:
    """Return whether an answer is over one of two columns that a link is in, and the question does not name it.

    Who plays *home* may play *away* too.
    """
    path = draft.path
    if path is None or not path.steps or not path.steps[0].inverse:
        return False
    relation = path.steps[0].relation
    beside = {one for row in sources.operations.schema.tables.values() if relation in row for one in row} - {relation}
    if not beside or sources.likeness.names_in(question, [relation]):
        return False
    [steps] = sources.graph.steps(sources.graph.frontiers([[path.entity]]), True)
    return any(step.inverse and step.relation in beside for step in steps)


def _is_named(sources: Sources, question: Question, draft: Draft) -> bool:
    """Return whether a single thing or value answers that the question names."""
    if len(draft.entities) != 1:
        return False
    [label] = sources.graph.labels(draft.entities)
    links = {link.entity for link in question.links}
    shown = next((one.relation for one, _ in draft.proof if one.object == draft.entities[0]), None)
    relation = "" if shown is None else sources.likeness.label(shown)
    return draft.entities[0] in links or is_told(label, words_of(question.text), relation)


def _has_names(draft: Draft) -> bool:
    """Return whether an answer has something that is no number and no date: who is a name."""
    if draft.number is not None:
        return False
    values = [
        one
        for one in draft.entities
        if fits(one, "number") or is_date(one) or is_time(one) or truth_of(one) is not None
    ]
    return not draft.entities or len(values) < len(draft.entities)


def _left_unit(sources: Sources, text: str) -> str:
    """Return the unit of a value where no relation is of one: the price *per bottle*."""
    found = _UNIT.search(text)
    return "" if found is None or "per" in sources.relation_words else found.group()


def _left_numbers(sources: Sources, question: Question, case: Case, draft: Draft) -> str:
    """Return a number, or a bound, that decided nothing: *in the 1930s or 1940s* has a second one."""
    if not any(map(str.isdigit, question.text)):
        return ""
    bounds = value_constraints(question.text)
    is_bounded = "bounds" in case.operated.lead.facts or not case.operated.bounds
    text = without_names(question) if question.links else question.text
    for one in reversed(value_constraints(text)):
        text = f"{text[: one.start]} {text[one.end :]}"
    ids = {end for triple, _ in draft.proof for end in triple}
    told = " ".join(sources.graph.labels(sorted(ids))) if _NUMBER.search(text) else ""
    kind = case.operated.kind
    left: list[str] = [
        one for one in _NUMBER.findall(text) if one not in told and one not in (str(kind.places), str(kind.year))
    ]
    if left:
        return str(left[0])
    if bounds and not is_bounded and case.operated.held == 0 and question.links:
        return question.text[bounds[0].start : bounds[0].end]
    return ""
