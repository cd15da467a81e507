"""The paths that may hold a question's answer, and where each ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.graph import path_order
from srtk_framework.text import fold, without_mentions
from srtk_framework.values import Link, Literal, Question, RankedPath, Step, Subgraph, Triple
from srtk_plugin_answers.literal_values import fits
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.question_classes import MENTION, asked_classes, singular
from srtk_plugin_answers.question_kinds import value_kind
from srtk_plugin_answers.result_order import ends

_NO_WORD = re.compile(r"[^\w]+")
_LEAST_NAME = 3
"""Characters of a name that can be told from a word by chance."""


@attrs.frozen
class Choice:
    """What one path leads to.

    Attributes:
        path: The path.
        ends: Where it ends, without the question's own entities; each with the triples that lead there.
        narrowed: Whether the ends are those alone that have the class, or held in the year, that the question names.
    """

    path: RankedPath
    ends: dict[str, tuple[Triple, ...]]
    narrowed: bool = False


def choices(question: Question, one: Operated) -> list[Choice]:
    """Return what the paths of a subgraph lead to, best first; of paths with the same ends the first alone.

    Paths to what has the class that the question names come first, and to statements of the year that it names.
    """
    found = one.found
    ranked = [path for path in sorted(found.paths, key=path_order) if path.steps] or _first_steps(question, found)
    own = {link.entity for link in question.links}
    seen: set[frozenset[str]] = set()
    first: list[Choice] = []
    rest: list[Choice] = []
    for path, ways in zip(ranked, ends(found, ranked), strict=True):
        ways = {end: way for end, way in ways.items() if end not in own and not _turns_back(way)}
        if one.held > 0:
            ways = {end: way for end, way in ways.items() if min(way) < one.held} or ways
        fit = {end: way for end, way in ways.items() if end in one.fit}
        chosen = fit or ways
        if not chosen or frozenset(chosen) in seen:
            continue
        seen.add(frozenset(chosen))
        held = one.held > 0 and any(min(way) < one.held for way in chosen.values())
        whole = {end: tuple(found.triples[place] for place in way) for end, way in chosen.items()}
        role = bool(one.roles) and sum(end in one.roles for end in chosen) * 2 >= len(chosen)
        (first if fit or held or role else rest).append(Choice(path, whole, bool(fit) or held))
    every = [*first, *rest]
    wanted = value_kind(question.text)
    if wanted is None:
        return every
    return sorted(every, key=lambda choice: not all(fits(end, wanted) for end in choice.ends))


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


def _turns_back(way: Sequence[int]) -> bool:
    """Return whether a triple leads forth and back."""
    return len(set(way)) < len(way)


def named_ends(question: Question, nodes: Sequence[str], names: Mapping[str, str]) -> list[Link]:
    """Return links to nodes whose names stand in the question, outside of its links' mentions.

    Args:
        question: The question.
        nodes: Nodes of its subgraph.
        names: Their labels.
    """
    linked = {link.entity for link in question.links}
    classes = {word for phrase in asked_classes(question.text) for word in (phrase, *phrase.split())}
    text = f" {fold(without_mentions(question, question.links, {}, MENTION))} "
    plain = " ".join(_NO_WORD.sub(" ", text).split())
    found = []
    for node in nodes:
        name = "" if isinstance(node, Literal) or node in linked else fold(names.get(node, node))
        words = " ".join(_NO_WORD.sub(" ", name).split())
        if len(words) < _LEAST_NAME or singular(words) in classes or f" {words} " not in f" {plain} ":
            continue
        found.append(Link(node, start=max(0, fold(question.text).find(name)), name=names.get(node, node)))
    return found
