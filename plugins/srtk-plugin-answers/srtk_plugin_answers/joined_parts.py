"""Questions for yes or no that join two things by *and* or *neither … nor*, as a question for each."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Question
from srtk_plugin_answers.drafts import Draft
from srtk_plugin_answers.joined_topics import triples_between
from srtk_plugin_answers.question_kinds import NEITHER
from srtk_plugin_answers.question_rewrites import replaced

_AND = re.compile(r",? (?:and|nor) (?:also )?(?:the |an? )?", re.IGNORECASE)
_BOTH = re.compile(r"\b(?:both|neither|also) ", re.IGNORECASE)


def parts_of(graph: KnowledgeGraph, question: Question) -> Sequence[Question]:
    """Return a question for each of two things that *and* or *nor* joins; none where the question is not so built.

    What is joined are two names beside each other, or what is said of the first name: *is X organic and from Y*. Two
    names that the graph joins itself may be so together: *are A and B married*.
    """
    links = sorted((one for one in question.links if one.start is not None), key=lambda one: one.start or 0)
    text = question.text
    spans = [(link.start or 0, link.end or 0) for link in links]
    found = [one for one in _AND.finditer(text) if not any(start < one.end() <= end for start, end in spans)]
    if len(found) != 1 or not links:
        return ()
    start, end = found[0].span()
    before = next((link for link in links if link.end == start), None)
    behind = next((link for link in links if link.start == end), None)
    if before and behind:
        is_list = any(text[link.end or 0 : before.start].strip() == "," for link in links)
        if is_list or triples_between(graph, attrs.evolve(question, links=(before, behind))):
            return ()
        cut, rest = before.start or 0, behind.end or 0
    elif start > (links[0].end or 0):
        cut, rest = (links[0].end or 0) + 1, len(text)
    else:
        return ()
    first = replaced(question, start, rest, "")
    second = replaced(question, cut, end, "")
    return [_plain(one) for one in (first, second)]


def together(question: Question, drafts: Sequence[Draft]) -> Draft | None:
    """Return whether all parts of a question are so, or none of them where it has *neither*; None if one is unknown."""
    if any(draft.truth is None for draft in drafts):
        return None
    truths = [bool(draft.truth) for draft in drafts]
    return Draft(
        "yes-no",
        truth=not any(truths) if NEITHER.search(question.text) else all(truths),
        proof=[pair for draft in drafts for pair in draft.proof],
        complete=all(draft.complete for draft in drafts),
        likened=any(draft.likened for draft in drafts),
        margin=min(draft.margin for draft in drafts),
        notice="; ".join(dict.fromkeys(draft.notice for draft in drafts if draft.notice)),
    )


def _plain(question: Question) -> Question:
    found = _BOTH.search(question.text)
    return question if found is None else replaced(question, *found.span(), "")
