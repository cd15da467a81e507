"""Handlers of questions for yes or no."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from srtk_framework.values import Question, Step
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.choices import Choice, named_value
from srtk_plugin_answers.drafts import NO_VALUE, TWO_NAMES, Case, Draft
from srtk_plugin_answers.literal_values import truth_of
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.question_classes import STOP_WORDS, is_told, name_of, singular, without_names, words_of
from srtk_plugin_answers.question_kinds import is_negated, is_yes_no, marked_text, unnamed_text
from srtk_plugin_answers.question_values import ValueConstraint

_BEGINS = re.compile(r"(?:is|are|was|were) (?:the )?$", re.IGNORECASE)
_OR_VALUE = re.compile(r"(?!or\b|['’]s\b).+ or ", re.IGNORECASE)
NO_CHOICE = "not one of the things that the question joins by 'or' was found to be so; ask for each alone"
_SAME = re.compile(r"\bsame (?P<noun>[^\W\d_]+(?: [^\W\d_]+)?)\W*$")
_NOT_SHARED = "not each of the things that the question names has a value called {noun!r}"
_NOT_KNOWN = "whether it is so is not known: the graph has no relation like what the question asks of what it names"


def by_join(sources: Sources, case: Case) -> Draft | None:
    """Answer yes or no by a relation between two links, by a truth value, or by a value that the question names."""
    if case.operated.bounds or not is_yes_no(unnamed_text(case.question)):
        return None
    return _confirmed(sources, case.question, case.operated, case.found)


def by_bound(sources: Sources, case: Case) -> Draft | None:
    """Answer yes or no by whether a value is within bounds."""
    lead, bounds = case.operated.lead, case.operated.bounds
    if not (bounds and is_yes_no(unnamed_text(case.question))):
        return None
    if not lead.members:
        return Draft(case.kind, missing=no_value(bounds))
    # Of several links all are meant, as far as they have a value.
    truth = set(lead.answers) == set(lead.members)
    return attrs.evolve(Draft.of_lead(case.kind, lead), entities=(), truth=truth)


def by_same(sources: Sources, case: Case) -> Draft | None:
    """Answer whether all linked things have a common value of the relation that is called as the noun behind *same*."""
    links = sorted({link.entity for link in case.question.links})
    found = _SAME.search(marked_text(case.question))
    if found is None or len(links) < 2 or not is_yes_no(unnamed_text(case.question)):
        return None
    labels = sources.operations.names.labels(sources.operations.schema.relations)
    steps = [Step(one) for one, label in labels.items() if name_of(label) in (found["noun"], singular(found["noun"]))]
    [frontier] = sources.graph.frontiers([links])
    shown = [one for row in sources.graph.triples([frontier] * len(steps), steps, None) for one in row] if steps else []
    values = [{one.object for one in shown if one.subject == link} for link in links]
    if not all(values):
        return Draft(case.kind, missing=_NOT_SHARED.format(noun=found["noun"]))
    return Draft(case.kind, truth=bool(set.intersection(*values)), proof=[(one, None) for one in shown], complete=True)


def by_choice(sources: Sources, case: Case) -> Draft | None:
    """Answer which of two values something is: *is the door blue or green*; refuse where it is both."""
    question = case.question
    subject = min(
        (link for link in question.links if link.start is not None), key=lambda link: link.start or 0, default=None
    )
    if subject is None or case.operated.bounds or not _BEGINS.match(question.text[: subject.start]):
        return None
    values = question.text[subject.end or 0 :].strip(" ?.!")
    if not _OR_VALUE.match(values):
        return None
    [frontier] = sources.graph.frontiers([[subject.entity]])
    [steps] = sources.graph.steps([frontier], False)
    own = [one for row in sources.graph.triples([frontier] * len(steps), steps, None) for one in row]
    labels = sources.graph.labels([one.object for one in own])
    words, names = words_of(values), sources.likeness.label
    shown = [one for one, label in zip(own, labels, strict=True) if is_told(label, words, names(one.relation))]
    ends = tuple(dict.fromkeys(one.object for one in shown))
    if not ends:
        return None
    if len(ends) > 1:
        return Draft(case.kind, missing=NO_CHOICE)
    return Draft(case.kind, ends, [(one, None) for one in shown], complete=True)


def _confirmed(sources: Sources, question: Question, one: Operated, found: Sequence[Choice]) -> Draft:
    """Answer yes or no: by a relation between links, a truth value, or a value that the question names."""
    lead, kind = one.lead, one.kind.kind
    if lead.facts:
        return attrs.evolve(Draft.of_lead(kind, lead), entities=(), truth=bool(lead.answers))
    if not found:
        return _of_quality(sources, question) or Draft(kind, missing=TWO_NAMES)
    best = found[0]
    ends_, truths = best.ends, {truth_of(end) for end in best.ends}
    if truths in ({True}, {False}):
        if not sources.likeness.is_near(one, question, best):
            return Draft(kind, missing="the graph has no relation like what the question asks of it")
        truth = truths == {True}
    else:
        named = named_value(question, best)
        if named is None and (truths != {None} or not _has_figure(question, one)):
            return _of_quality(sources, question) or Draft(kind, missing=TWO_NAMES)
        truth, ends_ = named is not None, ends_ if named is None else {named: ends_[named]}
    proof = [(triple, best.path) for way in ends_.values() for triple in way]
    return Draft(kind, truth=truth, proof=proof, complete=True, score=best.path.score)


def _of_quality(sources: Sources, question: Question) -> Draft | None:
    """Answer whether something has the value that the question names: *is the door blue*.

    It has not, if others have that value by a relation by which it has another. None where nothing has it, or where
    words of the question are left over.
    """
    links = list(dict.fromkeys(link.entity for link in question.links))
    told = words_of(without_names(question)) - STOP_WORDS
    if len(links) != 1 or not told:
        return None
    [frontier] = sources.graph.frontiers([links])
    [steps] = sources.graph.steps([frontier], False)
    own = [one for row in sources.graph.triples([frontier] * len(steps), steps, None) for one in row]
    names = sources.operations.names.labels({one.relation for one in own})
    texts = dict(zip([one.object for one in own], sources.graph.labels([one.object for one in own]), strict=True))
    by_relation = {relation: told - words_of(label) or told for relation, label in names.items()}
    having = [one for one in own if words_of(texts[one.object]) == by_relation[one.relation]]
    if having:
        return Draft("yes-no", truth=True, proof=[(one, None) for one in having], complete=True)
    others = {relation for relation, words in by_relation.items() if sources.sets.has_text(words, relation)}
    lacking = [one for one in own if one.relation in others]
    return Draft("yes-no", truth=False, proof=[(one, None) for one in lacking], complete=True) if lacking else None


def polar(question: Question, draft: Draft) -> Draft:
    """Return yes or no for a question that asks for it, or a refusal; a question with *not* is the other way round."""
    text = unnamed_text(question)
    if draft.missing or not is_yes_no(text):
        return draft
    if draft.truth is None:
        return Draft(draft.kind, missing=_NOT_KNOWN)
    return attrs.evolve(draft, truth=not draft.truth) if is_negated(text) else draft


def no_value(bounds: Sequence[ValueConstraint]) -> str:
    """Return why a bound cannot be judged."""
    noun = next((one.noun for one in bounds if one.noun), "")
    if noun:
        return NO_VALUE.format(noun=noun)
    return "the graph has no number or date that the question's bound is about for what it names"


def _has_figure(question: Question, one: Operated) -> bool:
    """Return whether a question that bounds nothing has a word with a figure, such as a version."""
    return not one.bounds and any(char.isdigit() for char in question.text)
