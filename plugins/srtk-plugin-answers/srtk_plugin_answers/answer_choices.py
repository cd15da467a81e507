"""Which path leads to what is asked for: before what lies behind it, and into nodes without a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.values import Link, Question, RankedPath, Triple
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import classes_asked
from srtk_plugin_answers.choices import Choice
from srtk_plugin_answers.node_sets import Lead, whole_set
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.path_scores import SURE, is_clear
from srtk_plugin_answers.question_classes import PEOPLE, shared_words, stems_of
from srtk_plugin_answers.relation_likeness import NO_NOUNS


def _leads_beyond(sources: Sources, question: Question, one: Operated, path: RankedPath | None) -> bool:
    """Return whether a path goes on behind the answer: *which films* are before their genre.

    The graph has no class of those nodes; but the question names the relation that leads to them, against its
    direction, and not the last relation. A search that is sure of the longer path knows better.
    """
    # The types of films are behind them.
    nouns = [noun for noun in one.phrases if noun not in PEOPLE and noun.split()[-1] not in NO_NOUNS]
    if not nouns or one.named or one.roles or path is None or len(path.steps) < 2:
        return False
    before, last = path.steps[-2:]
    if not before.inverse or last.inverse or is_clear(path, one.found.paths, SURE):
        return False
    told, beyond = (stems_of(sources.likeness.label(step.relation)) for step in (before, last))
    asked = stems_of(question.text)
    return bool(told & asked) and not beyond & asked


def things_first(sources: Sources, question: Question, one: Operated, found: list[Choice]) -> list[Choice]:
    """Put the path to the answer before the paths that go on from there."""
    if not found:
        return found
    path = found[0].path
    asked = classes_asked(question.text)
    is_typed = any(shared_words(asked, link.name or "") and is_class(sources, link, path) for link in question.links)
    if is_typed:
        begun = (path.entity, path.steps[:1])
    elif _leads_beyond(sources, question, one, path):
        begun = (path.entity, path.steps[:-1])
    else:
        return found
    return sorted(found, key=lambda choice: (choice.path.entity, choice.path.steps) != begun)


def is_class(sources: Sources, link: Link, path: RankedPath | None) -> bool:
    """Return whether a path begins at a linked class, with its members."""
    if path is None or path.entity != link.entity or not path.steps:
        return False
    return path.steps[0].inverse and path.steps[0].relation in sources.operations.schema.type_relations


def with_things(sources: Sources, question: Question, one: Operated) -> Operated:
    """Count the answers, where the set goes on behind them."""
    path = one.lead.path
    if one.kind.kind != "count" or one.bounds or path is None or not _leads_beyond(sources, question, one, path):
        return one
    sets = sources.operations.read_sets(one.reads, question, [attrs.evolve(path, steps=path.steps[:-1])])
    return attrs.evolve(one, lead=whole_set(sets)) if sets else one


def held_first(sources: Sources, one: Operated, found: list[Choice], names: Mapping[str, str]) -> list[Choice]:
    """Put the content of nodes with a meaningless name before them: authors before an *authors list*."""
    if not found or sources.sets.shared.are_meaningful(found[0].ends, names):
        return found
    best, paths = found[0], _held(sources, one, found[0].path, list(found[0].ends))
    held = []
    for path, triples in paths:
        ends: dict[str, tuple[Triple, ...]] = {}
        for triple in triples:
            ends.setdefault(triple.object, (*best.ends[triple.subject], triple))
        held.append(Choice(path, ends))
    return [*held, *found]


def with_held(sources: Sources, one: Operated, names: Mapping[str, str]) -> Operated:
    """Take the content of nodes with a meaningless name for the set."""
    path = one.lead.path
    if one.kind.kind not in ("count", "lookup") or one.bounds or path is None:
        return one
    if sources.sets.shared.are_meaningful(one.lead.answers, names):
        return one
    for onward, triples in _held(sources, one, path, one.lead.answers)[:1]:
        members = list(dict.fromkeys(triple.object for triple in triples))
        proof = [*one.lead.proof, *((triple, onward) for triple in triples)]
        facts = {"members": len(members), "complete": bool(one.lead.facts.get("complete"))}
        lead = Lead(facts=facts, answers=members, members=members, proof=proof, path=onward, score=path.score)
        return attrs.evolve(one, lead=lead)
    return one


def _held(
    sources: Sources, one: Operated, path: RankedPath, nodes: Sequence[str]
) -> list[tuple[RankedPath, list[Triple]]]:
    """Return the paths on from the ends of a path, the likest to the question first, with their last triples."""
    onward = {
        attrs.evolve(path, steps=(*path.steps, step)): triples
        for step, triples in sources.sets.shared.onward(nodes, path.entity).items()
    }
    return sorted(onward.items(), key=lambda pair: -one.likeness(pair[0]))
