"""Weak and full supervision: the relation paths that a search should have found, each with its quality."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import attrs

from srtk_framework.graph import follow_path, path_order
from srtk_framework.roles import KnowledgeGraph, Supervision
from srtk_framework.values import Budget, DriverError, Path, Question, RankedPath, Step, Triple, rounded
from srtk_plugin_sr.quality import MEASURES

_log = logging.getLogger(__name__)

MeasureName = Literal["f1", "jaccard", "precision", "recall"]


class _Found(NamedTuple):
    """A path of one question from one of its entities, and how many steps the shortest one to its answer has."""

    question: int
    entity: str
    steps: Path
    least: int


@attrs.define(eq=False)
class GoldPath(Supervision):
    """Take the gold paths of the questions, where they lead from a linked entity to an answer.

    Attributes:
        graph: Where the paths are walked.
        budget: Its limits of neighbours and nodes apply to the walk.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)

    def supervise(self, questions: Sequence[Question]) -> list[list[RankedPath]]:
        """Keep each gold path from each entity from which it reaches an answer (anything, without answers)."""
        found = [
            _Found(i, entity, path, len(path))
            for i, question in enumerate(questions)
            for entity in _entities(question)
            for path in question.gold_paths or ()
            if path
        ]
        reached = _reached(self.graph, questions, found, self.budget)
        rows: list[list[RankedPath]] = [[] for _ in questions]
        for one, nodes in zip(found, reached, strict=True):
            answers = questions[one.question].answers
            if nodes and (answers is None or nodes & set(answers)):
                rows[one.question].append(RankedPath(one.entity, one.steps, 1.0))
        return [_ranked(row) for row in rows]


@attrs.define(eq=False)
class ShortestPath(Supervision):
    """Search the shortest paths from each linked entity to each answer (SR, Zhang et al. 2022, section 4.1).

    Attributes:
        graph: Where to search.
        budget: Its limits of neighbours and nodes apply to search and walk.
        hops: Most steps of a path.
        inverse: Also walk against the direction of relations.
        measure: How the entities that a path reaches are compared with the answers: f1, jaccard, precision (which
            SRTK calls jaccard) or recall.
        threshold: Paths of a lower quality are dropped.
        answers: Most answers of a question that are searched for, first in order of id.
        paths: Most paths of a question, best first.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    hops: int = 3
    inverse: bool = True
    measure: MeasureName = "f1"
    threshold: float = 0.5
    answers: int = 50
    paths: int = 50

    def open(self) -> None:
        """Check the settings."""
        for name in ("hops", "answers", "paths"):
            if getattr(self, name) < 1:
                raise DriverError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.measure not in MEASURES:
            raise DriverError(f"measure is {self.measure!r}; use one of {', '.join(MEASURES)}")

    def supervise(self, questions: Sequence[Question]) -> list[list[RankedPath]]:
        """Search, walk each path found, and keep what leads to the answers well enough."""
        found = self._search(questions)
        reached = _reached(self.graph, questions, found, self.budget)
        rows: list[list[RankedPath]] = [[] for _ in questions]
        for one, nodes in zip(found, reached, strict=True):
            answers = set(questions[one.question].answers or ()) - {one.entity}
            quality = self.quality(MEASURES[self.measure](nodes, answers), len(one.steps) - one.least)
            if quality > 0 and quality >= self.threshold:
                rows[one.question].append(RankedPath(one.entity, one.steps, rounded(quality)))
        return [_ranked(row)[: self.paths] for row in rows]

    def lengths(self, shortest: int) -> int:
        """Return the most steps of a path to an answer that is ``shortest`` steps away."""
        return shortest

    def quality(self, measured: float, longer: int) -> float:
        """Return the quality of a path that is ``longer`` steps longer than the shortest to the same answer."""
        return measured

    def _search(self, questions: Sequence[Question]) -> list[_Found]:
        pairs = [
            (i, entity, answer)
            for i, question in enumerate(questions)
            for entity in _entities(question)
            for answer in sorted(set(question.answers or ()) - {entity})[: self.answers]
        ]
        searched = self._paths(pairs, self.hops, True)
        distinct: dict[tuple[int, str, Path], int] = {}
        longer: list[tuple[int, str, str]] = []
        least: dict[tuple[int, str, str], int] = {}
        for pair, paths in zip(pairs, searched, strict=True):
            for path in paths:
                least[pair] = len(path)
                key = (pair[0], pair[1], path)
                distinct[key] = min(len(path), distinct.get(key, len(path)))
        # Longer paths are searched for by their length: a search up to three hops where one is enough reads a lot.
        by_length: dict[int, list[tuple[int, str, str]]] = {}
        for pair, length in least.items():
            wanted = min(self.lengths(length), self.hops)
            if wanted > length:
                by_length.setdefault(wanted, []).append(pair)
        for wanted, longer in sorted(by_length.items()):
            for pair, paths in zip(longer, self._paths(longer, wanted, False), strict=True):
                for path in paths:
                    distinct.setdefault((pair[0], pair[1], path), least[pair])
        return [_Found(i, entity, path, shortest) for (i, entity, path), shortest in distinct.items()]

    def _paths(self, pairs: Sequence[tuple[int, str, str]], hops: int, shortest: bool) -> list[tuple[Path, ...]]:
        starts, ends = [[entity] for _, entity, _ in pairs], [[answer] for _, _, answer in pairs]
        found = self.graph.paths(starts, ends, hops, self.budget, shortest, self.inverse)
        cut = sum(bool(one.cut) for one in found)
        if cut:
            _log.warning(
                "in %d of %d searches a limit of neighbours or nodes may have hidden a path; raise `budget`",
                cut,
                len(pairs),
            )
        return [tuple(one) for one in found]


@attrs.define(eq=False)
class NearShortest(ShortestPath):
    """Search the shortest paths and those a little longer; a path's quality falls with its length.

    Attributes:
        graph: Where to search.
        budget: Its limits of neighbours and nodes apply to search and walk.
        hops: Most steps of a path.
        inverse: Also walk against the direction of relations.
        measure: As for shortest-path.
        threshold: Paths of a lower quality are dropped.
        answers: Most answers of a question that are searched for, first in order of id.
        paths: Most paths of a question, best first.
        slack: How many steps a path may have more than the shortest one to the same answer.
        decay: Multiplies the quality of a path for each step more.
    """

    threshold: float = 0.1
    slack: int = 1
    decay: float = 0.5

    def lengths(self, shortest: int) -> int:
        """Return the most steps of a path to an answer that is ``shortest`` steps away."""
        return shortest + self.slack

    def quality(self, measured: float, longer: int) -> float:
        """Return the quality of a path that is ``longer`` steps longer than the shortest to the same answer."""
        return measured * float(self.decay**longer)


@attrs.define(eq=False)
class GoldTriples(Supervision):
    """Take the paths that lead from the linked entities to the answers within the gold triples of each question.

    Attributes:
        hops: Most steps of a path.
        inverse: Also walk against the direction of relations.
    """

    hops: int = 4
    inverse: bool = True

    def supervise(self, questions: Sequence[Question]) -> list[list[RankedPath]]:
        """Walk the gold triples without passing a node twice; without answers, to where no triple leads on."""
        rows = []
        for question in questions:
            answers = None if question.answers is None else set(question.answers)
            found = {
                RankedPath(entity, path, 1.0)
                for entity in _entities(question)
                for path in _within(question.gold_triples or (), entity, answers, self.hops, self.inverse)
            }
            rows.append(_ranked(found))
        return rows


def _within(triples: Sequence[Triple], start: str, ends: set[str] | None, hops: int, inverse: bool) -> set[Path]:
    """Find the paths over some triples from a node to the ends, or to any last node."""
    around: dict[str, list[tuple[Step, str]]] = {}
    for triple in sorted(set(triples)):
        around.setdefault(triple.subject, []).append((Step(triple.relation), triple.object))
        if inverse:
            around.setdefault(triple.object, []).append((Step(triple.relation, True), triple.subject))
    found: set[Path] = set()
    stack: list[tuple[str, Path, frozenset[str]]] = [(start, (), frozenset([start]))]
    while stack:
        node, path, passed = stack.pop()
        onward = [(step, end) for step, end in around.get(node, ()) if end not in passed]
        if path and (node in ends if ends is not None else not onward):
            found.add(path)
        if len(path) < hops:
            stack += [(end, (*path, step), passed | {end}) for step, end in onward]
    return found


def _entities(question: Question) -> list[str]:
    return list(dict.fromkeys(link.entity for link in question.links))


def _reached(
    graph: KnowledgeGraph, questions: Sequence[Question], found: Sequence[_Found], budget: Budget
) -> list[set[str]]:
    """Walk each path; an entity's way back to itself is no answer."""
    walked = follow_path(graph, [[one.entity] for one in found], [one.steps for one in found], budget)
    cut = len({questions[one.question].id for one, nodes in zip(found, walked, strict=True) if nodes.cut})
    if cut:
        _log.warning("a limit of neighbours or nodes cut what paths of %d questions reach; raise `budget`", cut)
    return [set(nodes.ids()) - {one.entity} for one, nodes in zip(found, walked, strict=True)]


def _ranked(paths: Iterable[RankedPath]) -> list[RankedPath]:
    return sorted(set(paths), key=path_order)
