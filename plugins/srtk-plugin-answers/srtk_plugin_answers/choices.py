"""The paths that may hold a question's answer, and where each ends."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import attrs

from srtk_framework.graph import path_order
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold
from srtk_framework.values import Link, Literal, Path, Question, RankedPath, Step, Subgraph, Triple
from srtk_plugin_answers.answer_types import (
    asked_relation,
    asks_for_things,
    class_words,
    measure_asked,
    value_kind,
    verb_of_who,
)
from srtk_plugin_answers.literal_values import fits, is_code, truth_of
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.path_ends import turns_back
from srtk_plugin_answers.question_classes import STOP_WORDS, name_of, shared_words, singular, stems_of, without_names
from srtk_plugin_answers.question_kinds import unnamed_text
from srtk_plugin_answers.question_orders import long_meant
from srtk_plugin_answers.question_values import value_constraints

_WHAT_DID = re.compile(r"what (?:did|do|does|has|have) ", re.IGNORECASE)
_OF_TERMS = re.compile(r"\b(?:types?|class|classes|kinds?|sorts?|instances?)\b", re.IGNORECASE)
"""Words of questions that terms of RDF, OWL and SKOS may answer."""
_TERMS = "http://www.w3.org/"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NO_WORD = re.compile(r"[^\w]+")
_CAPITAL = re.compile(r"(?<![\w.'’-])[A-Z][a-zà-ÿ]{2,}\b")
_TOKEN = re.compile(r"\w+")
# Shorter names are words by chance.
_LEAST_NAME = 3
_FIELDS = ("name", "full name", "title", "label", "login", "username")
"""Fields of an object that name it."""
_NAMES = 10_000
"""Names whose words are kept."""


@attrs.frozen
class Choice:
    """A path that may hold the answer.

    Attributes:
        path: The path.
        ends: Where it ends, without the question's own entities; each with the triples that lead there.
        narrowed: Whether only ends with the class or of the year that the question names are kept.
    """

    path: RankedPath
    ends: dict[str, tuple[Triple, ...]]
    narrowed: bool = False


def is_term(node: str) -> bool:
    """Return whether a node is a term of RDF, OWL or SKOS, such as ``owl:Class``, which says little of what has it."""
    return node.startswith(_TERMS)


def choices(question: Question, operated: Operated, names: Mapping[str, str]) -> list[Choice]:
    """Return the paths of a subgraph with their ends, best first; of paths with the same ends only the first.

    Paths to nodes of the class or to statements of the year that the question names come first. Then come paths whose
    ends are of the kind that its words ask for: dates, numbers or names. ``names`` are labels of relations and nodes.
    """
    found = operated.found
    ranked = [path for path in sorted(found.paths, key=path_order) if path.steps] or _first_steps(question, found)
    of_ends: dict[frozenset[str], Choice] = {}
    for path in ranked:
        choice = _choice(question, operated, path)
        of_ends.setdefault(frozenset(choice.ends), choice)
    of_ends.pop(frozenset(), None)
    if not _OF_TERMS.search(question.text):
        of_ends = {ends: choice for ends, choice in of_ends.items() if not _is_over_terms(choice)}
    every = sorted(of_ends.values(), key=lambda choice: not (choice.narrowed or _has_role(choice, operated)))
    text = unnamed_text(question)
    if noun := asked_relation(question.text):
        # The column that is asked for is meant, whatever else leads to alike nodes.
        every = sorted(every, key=lambda choice: not (_is_single(choice) and name_of(_label(choice, names)) == noun))
    wanted = value_kind(text)
    if wanted is None and asks_for_things(text) and not _is_of_relation(every, operated.phrases, names):
        wanted = "name"
    if wanted is None:
        # What somebody did is no date.
        return sorted(every, key=_is_dated) if _WHAT_DID.match(text) else every
    is_who = text.casefold().startswith("who")
    # A path back to alike nodes leads to their values; but those nodes may be the names that are asked for.
    every = sorted(
        every,
        key=lambda choice: (
            not all(fits(end, wanted) for end in choice.ends)
            or (is_who and all(is_code(names.get(end, end)) for end in choice.ends)),  # somebody is called by no code
            wanted != "name" and returns(choice.path.steps),
        ),
    )
    if wanted == "name":
        verb = stems_of(verb_of_who(without_names(question)) or "")
        every = [choice for choice in every if verb & _told(choice, names)] or _by_field(every, names)
    measure = measure_asked(text)
    return every if measure is None else _by_measure(every, operated, measure, _singulars(text), names)


def _is_over_terms(choice: Choice) -> bool:
    """Return whether a path leads to or over what has a term for a type: any two classes share ``owl:Class``."""
    return all(any(one.relation == _TYPE and is_term(one.object) for one in way) for way in choice.ends.values())


def _told(choice: Choice, names: Mapping[str, str]) -> set[str]:
    """Return the stems of the relation of a path of one step."""
    return stems_of(_label(choice, names)) if _is_single(choice) else set()


def _is_dated(choice: Choice) -> bool:
    return all(fits(end, "date") and not fits(end, "number") for end in choice.ends)


def _is_single(choice: Choice) -> bool:
    return len(choice.path.steps) == 1


def _label(choice: Choice, names: Mapping[str, str]) -> str:
    return names.get(choice.path.steps[-1].relation, "")


def _by_field(every: list[Choice], names: Mapping[str, str]) -> list[Choice]:
    """Put the field that names an inner object in the place of the best path's field: *owner.login*, not *owner.type*.

    The object's other fields are no other answers.
    """
    parts = [names.get(choice.path.steps[-1].relation, "").rpartition(".") for choice in every]
    if not parts or not (inner := parts[0][0]):
        return every
    fields = {choice.path: part[2] for choice, part in zip(every, parts, strict=True) if part[0] == inner}
    of_object = [choice for choice in every if choice.path in fields]
    rank = {field: place for place, field in enumerate(_FIELDS)}
    best = min(of_object, key=lambda choice: rank.get(fields[choice.path], len(rank)))
    return [best, *(choice for choice in every if choice.path not in fields)]


def _choice(question: Question, one: Operated, path: RankedPath) -> Choice:
    """Return where a path ends: in the nodes of the year and of the class that a question names, if there are any."""
    own = {link.entity for link in question.links}
    ways = {end: way for end, way in one.ends.of(path).items() if end not in own and not turns_back(way)}
    held = {end: way for end, way in ways.items() if min(way) < one.held}
    ways = held or ways
    fit = {end: way for end, way in ways.items() if end in one.fit}
    ends = {end: tuple(one.found.triples[place] for place in way) for end, way in (fit or ways).items()}
    return Choice(path, ends, bool(fit or held))


def _has_role(choice: Choice, one: Operated) -> bool:
    """Return whether relations call half of the ends or more by the class that a question names."""
    return bool(one.roles) and sum(end in one.roles for end in choice.ends) * 2 >= len(choice.ends)


def _by_measure(every: list[Choice], one: Operated, measure: str, text: str, names: Mapping[str, str]) -> list[Choice]:
    """Put first the number whose relation is likest to the measure, among those at the best path's place.

    *How heavy* has no word of a weight. Where the question names a relation, that is meant.
    """
    numbers = [choice for choice in every if all(fits(end, "number") for end in choice.ends)]
    first = numbers[0].path if numbers else None
    alike = [
        choice
        for choice in numbers
        if first and (choice.path.entity, choice.path.steps[:-1]) == (first.entity, first.steps[:-1])
    ]
    relations = [choice.path.steps[-1].relation for choice in alike]
    said = set(text.split())
    labels = {name: names.get(name, name) for name in relations}
    if measure.startswith("long ") and (meant := long_meant(text, labels)[0]):
        return sorted(every, key=lambda choice: not (choice in alike and choice.path.steps[-1].relation in meant))
    if len(alike) < 2 or any(said & set(_singulars(label).split()) for label in labels.values()):
        return every
    [scores] = one.scores.rows([measure], [()], [[choice.path.steps[-1] for choice in alike]])
    best = alike[max(range(len(alike)), key=lambda place: (scores[place], -place))]
    return [best, *(choice for choice in every if choice is not best)]


def returns(steps: Path) -> bool:
    """Return whether a path goes back the way it came, to alike nodes."""
    return any(one.relation == other.relation and one.inverse != other.inverse for one, other in pairwise(steps))


def _is_of_relation(every: Sequence[Choice], phrases: Sequence[str], names: Mapping[str, str]) -> bool:
    """Return whether the best path's last relation has the name of the class: *which year*."""
    if not every:
        return False
    relation = every[0].path.steps[-1].relation
    if all(truth_of(end) is not None for end in every[0].ends):
        return False  # which hybrid carrots there are
    return bool(shared_words(phrases, names.get(relation, relation)))


def _first_steps(question: Question, found: Subgraph) -> list[RankedPath]:
    """Return the single steps from the question's entities, where a search gave no paths; the best triple's first."""
    own = list(dict.fromkeys(link.entity for link in question.links))
    steps: dict[tuple[str, Step], float] = {}
    for place, triple in enumerate(found.triples):
        score = found.scores[place] if found.scores else 0.0
        for node, step in ((triple.subject, Step(triple.relation)), (triple.object, Step(triple.relation, True))):
            if node in own:
                steps.setdefault((node, step), score)
    return [RankedPath(node, (step,), score) for (node, step), score in steps.items()]


def named_ends(question: Question, nodes: Sequence[str], names: Mapping[str, str]) -> list[Link]:
    """Return links to nodes whose names stand in the question, outside of its links' mentions."""
    linked = {link.entity for link in question.links}
    classes = class_words(question.text)
    plain = f" {_singulars(without_names(question))} "
    found = []
    for node in nodes:
        words = "" if isinstance(node, Literal) or node in linked else _singulars(names.get(node, node))
        if len(words) < _LEAST_NAME or words in classes or f" {words} " not in plain:
            continue
        start, end = place_of(question.text, words)
        found.append(Link(node, start=start, end=end, name=names.get(node, node)))
    return found


def place_of(text: str, words: str) -> tuple[int, int]:
    """Return where words, folded and in singular, stand in a text; its beginning where they do not."""
    found = list(_TOKEN.finditer(text))
    parts = [_singulars(token.group()) for token in found]
    size = len(words.split())
    for at in range(len(found) - size + 1):
        if " ".join(parts[at : at + size]) == words:
            return found[at].start(), found[at + size - 1].end()
    return 0, 0


def other_names(question: Question, names: Mapping[str, str]) -> list[str]:
    """Return runs of up to three words of a question, outside of its links' mentions, that may name something more.

    ``names`` are labels of links without a name. What names the class of the answer is no name of a node.
    """
    plain = _singulars(without_names(question, names)).split()
    classes = class_words(question.text)
    runs = (plain[i : i + size] for size in range(1, 4) for i in range(len(plain) - size + 1))
    said = dict.fromkeys(" ".join(run) for run in runs if not STOP_WORDS & {run[0], run[-1]})
    return [run for run in said if run not in classes]


def named_value(question: Question, choice: Choice) -> str | None:
    """Return the end of a path whose text or id stands in the question."""
    plain = f" {_singulars(question.text)} "
    for end in choice.ends:
        words = _singulars(end.lexical if isinstance(end, Literal) else end)
        if words and f" {words} " in plain:
            return end
    return None


def unknown_names(question: Question, relations: Collection[str]) -> list[str]:
    """Return the capitalised words of a question, beyond its first, that no link's mention covers; all but acronyms.

    Where no letter of the question is small, or each word is capitalised, capitals mean nothing, and none is returned.
    Words of the relations' names may be capitalised too.
    """
    words = list(_CAPITAL.finditer(question.text))
    small = re.search(r"\b[a-z]{3,}", question.text[1:])
    if not small or len(question.text.split()) < 3:
        return []
    spans = [(link.start, link.end or link.start) for link in question.links if link.start is not None]
    spans += [(one.start, one.end) for one in value_constraints(question.text)]  # before 14 July 1999
    if any(link.start is None for link in question.links):
        return []  # links without places may cover any word
    return [
        word.group()
        for word in words
        if word.start() > 0
        and singular(fold(word.group())) not in relations
        and not any(start <= word.start() < end for start, end in spans)
    ]


def other_words(graph: KnowledgeGraph, question: Question) -> list[str]:
    """Return the mentions of links that are no name of their entity and begin otherwise: *Wakanda* for Akanda.

    A misspelt name mostly begins right.
    """
    links = [link for link in question.links if link.start is not None and link.end is not None]
    mentions = {link: question.text[link.start : link.end] for link in links}
    differ = [link for link in links if fold(link.name or link.entity)[:1] != fold(mentions[link])[:1]]
    others = graph.other_names([link.entity for link in differ]) if differ else []
    labels = graph.labels([link.entity for link in differ]) if differ else []
    return [
        mentions[link]
        for link, label, names in zip(differ, labels, others, strict=True)
        if _singulars(mentions[link]) not in {_singulars(name) for name in (label, *names, link.entity)}
    ]


@functools.lru_cache(maxsize=_NAMES)
def _singulars(text: str) -> str:
    """Return the words of a text, folded and in singular."""
    return " ".join(singular(word) for word in _NO_WORD.sub(" ", fold(text)).split())
