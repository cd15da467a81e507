"""Conditions on the answers of a draft: *not*, and words before the noun of their class."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import permutations

import attrs

from srtk_framework.graph import path_order
from srtk_framework.text import fold, link_topics, without_mentions
from srtk_framework.values import Literal, Pattern, Question, RankedPath, Triple
from srtk_plugin_answers.answer_choices import is_class
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import class_modifiers, class_words
from srtk_plugin_answers.choices import returns
from srtk_plugin_answers.drafts import Case, Draft
from srtk_plugin_answers.graph_names import objects_of
from srtk_plugin_answers.node_sets import NodeSet
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.question_classes import MENTION, STOP_WORDS, kinds_of_people, stems_of, without_names, words_of
from srtk_plugin_answers.question_kinds import NEITHER, NOT_CLEAR, excluded_text

_NOT_EXCLUDED = "all that the question excludes is known, and not all of its class"
_NONE_LEFT = "all of the class has what the question excludes"
_NOT_MODIFIED = "nothing of what the question asks for is known to be {words}"
_NO_ROW = "nothing of what the question asks for has all of {words}"
_NOT_CALLED = "nothing of the graph is called {words}"
_LEFT_OUT = "nothing of the graph is called {words}, and it was left out"

_NOT_ORDERED = "an order of what is left where the question excludes something is not worked out; ask for the set"
_BUT_NAME = re.compile(
    rf"\b(?:except(?: for)?|excluding|besides|(?:apart|aside) from|other than)(?: +the)? +{MENTION.strip()}",
    re.IGNORECASE,
)
_JOINED = re.compile(r",? (?P<word>and|or|nor)(?: (?:by|in|on|of|from|to|with|for))?(?: the)? ", re.IGNORECASE)
_VERB_BEHIND = re.compile(r"\b(?:do|does|did) +¤ +[^\W\d_]+", re.IGNORECASE)
_PREDICATE = re.compile(r"\b(?:is|are|was|were) (?P<word>[^\W\d_]+)\W*$")


def complement(sources: Sources, question: Question, one: Operated, draft: Draft) -> Draft:
    """Return all others of the class, where a question with *not* found the nodes that it excludes.

    Nodes of which the graph does not say it are among them. Where no link is behind *not*, but a name or a text is,
    the answers that have it are left out instead.
    """
    path, excluded = draft.path, excluded_text(without_names(question))
    kinds = ("difference", "count", "lookup")
    if draft.kind not in kinds or draft.missing or one.bounds or not question.links or excluded is None:
        return draft
    if one.kind.kind == "difference" and one.kind.greatest is not None:
        return Draft(draft.kind, missing=_NOT_ORDERED)
    if NEITHER.search(question.text):
        return _neither(sources, question, one, draft)
    if "without" in one.lead.facts:
        return draft
    if (but := _BUT_NAME.search(without_names(question))) is not None:
        place = len(but.string[: but.end()].split(MENTION.strip())) - 2
        left_out = sorted(question.links, key=lambda link: link.start or 0)[place].entity
        if path is None or (path.entity == left_out and not _is_beside(question, path, draft)):
            return Draft(draft.kind, missing=_NOT_EXCLUDED)
        rest = tuple(one for one in draft.entities if one != left_out)
        return attrs.evolve(draft, entities=rest, number=None if draft.number is None else len(rest))
    if not excluded:
        return Draft(draft.kind, missing=NOT_CLEAR)
    told = stems_of(" ".join(sources.likeness.label(step.relation) for step in (path.steps if path else ())))
    others = {word for word in words_of(excluded) - STOP_WORDS if not stems_of(word) & told}
    # Orders of Ida that are not paid, and flats without a balcony in the South.
    if others and words_of(excluded.partition(MENTION.strip())[0]) & others:
        having, named = sources.sets.narrowed(NodeSet(None, dict.fromkeys(draft.entities, ())), others)
        if not named:
            return Draft(draft.kind, missing=_NOT_MODIFIED.format(words=" ".join(sorted(others))))
        kept = [node for node in draft.entities if node not in having.instances]
        return attrs.evolve(draft, entities=tuple(kept), number=None if draft.number is None else len(kept))
    return _others(sources, question, draft, draft.entities)


def _neither(sources: Sources, question: Question, one: Operated, draft: Draft) -> Draft:
    """Return all others of the class than what leads to one of two names: *neither X nor Y*."""
    names, path = _joined_links(question), draft.path
    if path is None or {*names} != {link.entity for link in question.links} or {*names.values()} != {"nor"}:
        return Draft(draft.kind, missing=NOT_CLEAR)
    shown: list[tuple[Triple, RankedPath | None]] = []
    excluded: list[str] = []
    for name in names:
        # What is red and what is from Leeds is told by two relations.
        own = sorted((two for two in one.found.paths if two.entity == name and len(two.steps) == 1), key=path_order)
        read = [(two, way) for two in (path, *own) for way in _ways(one, two, [name]) if way]
        if not read:
            return Draft(draft.kind, missing=NOT_CLEAR)
        chosen, ends = read[0]
        excluded += ends
        shown += [(triple, chosen) for triples in ends.values() for triple in triples]
    rest = _others(sources, question, draft, excluded)
    return rest if rest.missing else attrs.evolve(rest, proof=[*rest.proof, *shown])


def _others(sources: Sources, question: Question, draft: Draft, excluded: Sequence[str]) -> Draft:
    """Return all of the class that a question names but some that one step leads to."""
    path = draft.path
    whole = sources.sets.class_set(without_names(question))
    left = [] if whole is None else [member for member in whole.instances if member not in excluded]
    if whole is None or path is None or len(path.steps) > 1 or not whole.instances.keys() >= set(excluded):
        return Draft(draft.kind, missing=_NOT_EXCLUDED)
    if not left and draft.number is None:
        return Draft(draft.kind, missing=_NONE_LEFT)
    proof = [pair for member in left for pair in whole.values[member]]
    number = None if draft.number is None else len(left)
    return attrs.evolve(
        draft, entities=tuple(left), proof=proof, number=number, complete=draft.complete and not whole.cut
    )


def _is_beside(question: Question, path: RankedPath, draft: Draft) -> bool:
    """Return whether a path leads from what is left out to alike nodes over all else that a question names."""
    shown = {end for triple, _ in draft.proof for end in (triple.subject, triple.object)}
    others = {link.entity for link in question.links} - {path.entity}
    return bool(others) and others <= shown and returns(path.steps)


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
    predicate = {found["word"]} - STOP_WORDS if (found := _PREDICATE.search(fold(question.text))) else set()
    # Which women: some of the people, where no type and no relation says so.
    typed = case.operated.fit or stems_of(noun) & told
    of_noun = [] if typed else kinds_of_people({noun})
    people = frozenset[str]().union(*of_noun)
    if not (words or predicate or people) or not nodes:
        return draft
    words -= _words_of_classes(sources, nodes, noun)
    if not (words or predicate or people):
        return draft
    wanted, known = words | predicate | people, "" if people else noun
    one, named = sources.sets.narrowed(NodeSet(None, dict.fromkeys(nodes, ())), wanted, known)
    left = words - named - {known} | ({noun} if of_noun and not of_noun[0] & named else set())
    if left and not any(sources.graph.find(sorted(left))) and not sources.sets.is_text(left):
        if draft.kind == "count" or not links:  # with nothing else to go by, and a number would be of other things
            return Draft(draft.kind, missing=_NOT_CALLED.format(words=", ".join(sorted(left))))
        return attrs.evolve(draft, likened=True, notice=_LEFT_OUT.format(words=" ".join(sorted(left))))
    if left or not one.instances or (draft.kind == "ordinal" and len(one.instances) < len(nodes)):
        return Draft(draft.kind, missing=_NOT_MODIFIED.format(words=" ".join(sorted(words)) or noun))
    kept = [node for node in draft.entities if node in one.instances]
    shown = [pair for node in kept for pair in one.values.get(node, ())]
    number = draft.number if draft.number is None or draft.counts else len(kept)
    return attrs.evolve(draft, entities=tuple(kept), proof=[*draft.proof, *shown], number=number)


def within_rows(sources: Sources, question: Question, case: Case, draft: Draft) -> Draft:
    """Keep the answers from rows of a table that have all values that the question names: *Maths* on *Tuesday*.

    With words behind its last name that are no value and no column, the answer is not sure: *Maths* in the morning.
    """
    path = draft.path
    if draft.missing or draft.truth is not None or draft.kind not in ("lookup", "time-bound", "count"):
        return draft
    within = {*case.operated.lead.answers} if case.operated.bounds else set()
    if path is None or not _is_from_rows(sources, path):
        return draft
    links = [link for link in question.links if link.entity == path.entity]
    told = words_of(" ".join(sources.likeness.label(step.relation) for step in path.steps))
    text = without_mentions(question, links, {}, MENTION)
    words = words_of(text) - told - class_words(question.text) - words_of(excluded_text(text) or "")
    last = path.steps[-1]
    shown = [triple for triple, _ in draft.proof if triple.relation == last.relation]
    rows = dict.fromkeys(triple.subject for triple in shown)
    if case.operated.bounds and not within & {*rows}:
        return draft
    bounded = [row for row in rows if not within or row in within]
    kept, named = sources.sets.narrowed(NodeSet(None, dict.fromkeys(bounded, ())), words)
    kept, met, unmet = _having_cells(sources, kept, _cells_elsewhere(sources, question, draft, path, kept))
    if unmet and path.entity in _joined_links(question):
        return attrs.evolve(draft, likened=True)
    if unmet:
        return Draft(draft.kind, missing=_NO_ROW.format(words=", ".join(unmet)))
    named |= met
    told |= class_words(question.text) | words_of(" ".join(map(sources.likeness.label, _columns(sources, path))))
    if left := {word for word in _words_behind(question) - named if not stems_of(word) & stems_of(" ".join(told))}:
        draft = attrs.evolve(draft, likened=True, notice=_LEFT_OUT.format(words=" ".join(sorted(left))))
    if not (named or within) or len(kept.instances) == len(rows):
        return draft
    ends = {triple.subject if last.inverse else triple.object for triple in shown if triple.subject in kept.instances}
    if not ends:
        return Draft(draft.kind, missing=_NO_ROW.format(words=", ".join(sorted(named))))
    entities = tuple(one for one in draft.entities if one in ends)
    proof = [pair for pair in draft.proof if pair[0].subject in kept.instances]
    proof += [pair for row in kept.instances for pair in kept.values.get(row, ())]
    return attrs.evolve(
        draft, entities=entities, proof=proof, number=draft.number if draft.number is None else len(entities)
    )


def either(sources: Sources, question: Question, case: Case, draft: Draft) -> Draft:
    """Return the answers for any of the names that *or* joins, or for all that *and* joins, if there are such.

    Such an answer is not sure. Nor is yes or no for several names that are joined, as only one may have been read.
    """
    together, path = _joined_links(question), draft.path
    if draft.missing or not together:
        return draft
    if draft.kind == "yes-no":
        return attrs.evolve(draft, likened=True) if len(set(link_topics(question.links).values())) > 2 else draft
    if draft.kind not in ("lookup", "count") or path is None or path.entity not in together:
        return draft
    word = together[path.entity]
    names = [one for one, other in together.items() if other == word]
    ways = _ways(case.operated, path, names)
    ends = dict.fromkeys(end for way in ways for end in way if word == "or" or all(end in other for other in ways))
    if not ends or set(ends) == set(draft.entities):
        return draft
    proof = [(triple, path) for way in ways for end in way if end in ends for triple in way[end]]
    number = None if draft.number is None else len(ends)
    return attrs.evolve(draft, entities=tuple(ends), proof=proof, number=number, likened=True)


def _ways(one: Operated, path: RankedPath, names: Sequence[str]) -> list[dict[str, tuple[Triple, ...]]]:
    """Return the ends of a path from each of several names, with the triples that lead there."""
    reads = one.reads.of([attrs.evolve(path, entity=name) for name in names])
    return [{some.end: some.triples for some in read.instances if some.end not in names} for read in reads]


def _joined_links(question: Question) -> dict[str, str]:
    """Return the links that stand beside each other with only *or*, *and* or *nor* between, each with it."""
    links = [one for one in question.links if one.start is not None]
    found: dict[str, str] = {}
    for first, second in permutations(links, 2):
        if joined := _JOINED.fullmatch(question.text[first.end or 0 : second.start]):
            found |= dict.fromkeys((first.entity, second.entity), joined["word"].lower())
    return found


def _cells_elsewhere(
    sources: Sources, question: Question, draft: Draft, path: RankedPath, rows: NodeSet
) -> dict[str, str]:
    """Return the links that are cells of the table of a path and not in the proof of its answers, with their names."""
    pairs = [*draft.proof, *(one for row in rows.values.values() for one in row)]
    met = {path.entity, *(end for triple, _ in pairs for end in (triple.subject, triple.object))}
    topics = link_topics(question.links)
    met_topics = {topics[link.entity] for link in question.links if link.entity in met}
    left = {link.entity: link.name or link.entity for link in question.links if topics[link.entity] not in met_topics}
    columns = _columns(sources, path)
    steps = sources.graph.steps(sources.graph.frontiers([[one] for one in left]), True) if left else []
    return {
        entity: name
        for (entity, name), row in zip(left.items(), steps, strict=True)
        if any(step.inverse and step.relation in columns for step in row)
    }


def _columns(sources: Sources, path: RankedPath) -> set[str]:
    """Return the columns of the tables that have the last relation of a path."""
    tables = sources.operations.schema.tables.values()
    return {one for table in tables if path.steps[-1].relation in table for one in table}


def _words_behind(question: Question) -> set[str]:
    """Return the words behind the last link of a question that is not negated, without the verb of *did ¤ buy*."""
    text = without_names(question)
    if excluded_text(text) is not None or MENTION.strip() not in text:
        return set()
    return words_of(_VERB_BEHIND.sub(MENTION, text).rpartition(MENTION.strip())[2]) - STOP_WORDS


def _having_cells(sources: Sources, rows: NodeSet, cells: Mapping[str, str]) -> tuple[NodeSet, set[str], list[str]]:
    """Keep the rows that have some cells, by their ids; return also the names that a row has, and that none has."""
    met, unmet = set(), []
    for cell, name in cells.items():
        [row] = sources.graph.match([Pattern(None, None, cell)])
        having = {triple.subject: triple for triple in row if triple.subject in rows.instances}
        if not having:
            unmet.append(name)
            continue
        met.add(name)
        values = {one: (*rows.values.get(one, ()), (triple, None)) for one, triple in having.items()}
        rows = attrs.evolve(rows, instances=dict.fromkeys(having, ()), values=values)
    return rows, met, unmet


def _is_from_rows(sources: Sources, path: RankedPath) -> bool:
    """Return whether a path ends in rows of a table, or over rows in their cells."""
    *_, before, last = (None, *path.steps)
    if last is None or not (last.inverse or (before is not None and before.inverse)):
        return False
    over = {last.relation} if before is None or last.inverse else {before.relation, last.relation}
    return any(over <= set(columns) for columns in sources.operations.schema.tables.values())


def _words_of_classes(sources: Sources, nodes: Sequence[str], noun: str) -> set[str]:
    """Return the words of the nodes' classes that have a noun: of *autonomous district* both."""
    schema, names = sources.operations.schema, sources.operations.names
    types = objects_of(sources.graph, sources.graph.frontiers([nodes]), schema.type_relations)
    classes = names.of_classes(sorted({one for row in types.values() for one in row}))
    labels = (words_of(label) for row in classes.values() for label in row)
    return {word for row in labels if noun in row for word in row}
