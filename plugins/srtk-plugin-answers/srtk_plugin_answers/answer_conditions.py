"""Conditions on the answers of a draft: *not*, and words before the noun of their class."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from srtk_framework.text import fold, without_mentions
from srtk_framework.values import Literal, Question
from srtk_plugin_answers.answer_choices import is_class
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import class_modifiers
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.graph_names import objects_of
from srtk_plugin_answers.node_sets import NodeSet
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.question_classes import MENTION, STOP_WORDS, stems_of, words_of
from srtk_plugin_answers.question_kinds import is_negated, unnamed_text

_NOT_EXCLUDED = "all that the question excludes is known, and not all of its class"
_NOT_MODIFIED = "nothing of what the question asks for is known to be {words}"
_LEFT_OUT = "nothing of the graph is called {words}, and it was left out"


_PREDICATE = re.compile(r"\b(?:is|are|was|were) (?P<word>[^\W\d_]+)\W*$")


def complement(sources: Sources, question: Question, one: Operated, draft: Draft) -> Draft:
    """Return all others of the class, where a question with *not* found those that it excludes.

    Nodes of which the graph does not say it are among them.
    """
    path, text = draft.path, unnamed_text(question)
    if draft.kind != "difference" or draft.missing or one.bounds or not question.links or not is_negated(text):
        return draft
    if "without" in one.lead.facts:
        return draft
    whole = sources.sets.class_set(without_mentions(question, question.links, {}, MENTION))
    left = [] if whole is None else [member for member in whole.instances if member not in draft.entities]
    if whole is None or path is None or len(path.steps) > 1 or not whole.instances.keys() >= set(draft.entities):
        return Draft(draft.kind, missing=_NOT_EXCLUDED)
    proof = [pair for member in left for pair in whole.values[member]]
    return attrs.evolve(draft, entities=tuple(left), proof=proof, complete=draft.complete and not whole.cut)


def modified(sources: Sources, question: Question, case: Case, draft: Draft) -> Draft:
    """Keep the answers that have what stands before the noun of their class: *blue* films.

    Where the graph has no such name or text, the answer is not sure.
    """
    kinds = ("lookup", "count", "superlative", "ordinal", "time-bound", "difference")
    if draft.missing or draft.truth is not None or draft.kind not in kinds or not question.links:
        return draft
    # The class itself may be linked.
    links = [one for one in question.links if not is_class(sources, one, draft.path)]
    before, noun = class_modifiers(without_mentions(question, links, {}, MENTION))
    relations = {step.relation for step in (draft.path.steps if draft.path else ())}
    told = stems_of(" ".join(sources.likeness.label(one) for one in relations))
    words = {word for word in before - STOP_WORDS if not word.isdigit() and not stems_of(word) & told}
    nodes = [one for one in draft.entities if not isinstance(one, Literal)]
    # Which dishes are vegetarian: a column of yes and no.
    predicate = {found["word"]} if (found := _PREDICATE.search(fold(question.text))) else set()
    if not (words or predicate) or not nodes:
        return draft
    words -= _words_of_classes(sources, nodes, noun)
    if not words and not predicate:
        return draft
    one, named = sources.sets.narrowed(NodeSet(None, dict.fromkeys(nodes, ())), words | predicate, noun)
    left = words - named - {noun}
    if left and not any(sources.graph.find(sorted(left))) and not sources.sets.is_text(left):
        return attrs.evolve(draft, likened=True, notice=_LEFT_OUT.format(words=" ".join(sorted(left))))
    if left or not one.instances or (draft.kind == "ordinal" and len(one.instances) < len(nodes)):
        return Draft(draft.kind, missing=_NOT_MODIFIED.format(words=" ".join(sorted(words))))
    kept = [node for node in draft.entities if node in one.instances]
    shown = [pair for node in kept for pair in one.values.get(node, ())]
    number = draft.number if draft.number is None or draft.counts else len(kept)
    return attrs.evolve(draft, entities=tuple(kept), proof=[*draft.proof, *shown], number=number)


def _words_of_classes(sources: Sources, nodes: Sequence[str], noun: str) -> set[str]:
    """Return the words of the nodes' classes that have a noun: of *autonomous district* both."""
    schema, names = sources.operations.schema, sources.operations.names
    types = objects_of(sources.graph, sources.graph.frontiers([nodes]), schema.type_relations)
    classes = names.of_classes(sorted({one for row in types.values() for one in row}))
    labels = (words_of(label) for row in classes.values() for label in row)
    return {word for row in labels if noun in row for word in row}
