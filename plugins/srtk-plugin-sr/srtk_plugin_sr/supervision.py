"""Supervision drivers: the relation paths that a search should find, each with its quality."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import attrs

from srtk_framework.graph import follow_path, path_order
from srtk_framework.roles import KnowledgeGraph, Supervision
from srtk_framework.values import Budget, Path, Question, RankedPath, Step, Triple, at_least, one_of, rounded, share

_log = logging.getLogger(__name__)

MeasureName = Literal["f1", "jaccard", "precision", "recall"]

Measure = Callable[[Collection[str], Collection[str]], float]


def _hits(reached: Collection[str], answers: Collection[str]) -> int:
    return len(set(reached) & set(answers))


def precision(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the share of the reached entities that are answers; SRTK calls this Jaccard."""
    return _hits(reached, answers) / len(set(reached)) if reached else 0.0


def recall(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the share of the answers that are reached."""
    return _hits(reached, answers) / len(set(answers)) if answers else 0.0


def f1(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the harmonic mean of precision and recall."""
    both = len(set(reached)) + len(set(answers))
    return 2 * _hits(reached, answers) / both if both else 0.0


def jaccard(reached: Collection[str], answers: Collection[str]) -> float:
    """Return the size of the intersection over the size of the union."""
    union = len(set(reached) | set(answers))
    return _hits(reached, answers) / union if union else 0.0


MEASURES: Mapping[str, Measure] = {"f1": f1, "jaccard": jaccard, "precision": precision, "recall": recall}
"""Measures of how well the entities that a path reaches match the answers."""


class _PathFrom(NamedTuple):
    """A path from one of a question's entities.

    Attributes:
        question: Position of the question in the batch.
        entity: The linked entity.
        steps: Steps of the path.
        shortest: Number of steps of the shortest path to the same answer.
    """

    question: int
    entity: str
    steps: Path
    shortest: int


@attrs.define(eq=False)
class _Limited(Supervision):
    """Counts the cuts of its limits in all batches, and reports them once, when it is closed."""

    _cut_questions: int = attrs.field(init=False, default=0, repr=False)
    _cut_searches: int = attrs.field(init=False, default=0, repr=False)
    _searches: int = attrs.field(init=False, default=0, repr=False)

    def close(self) -> None:
        """Report the cuts."""
        if self._cut_searches:
            _log.warning(
                "in %d of %d searches a limit of neighbours or nodes may have hidden a path; raise `budget`",
                self._cut_searches,
                self._searches,
            )
        if self._cut_questions:
            _log.warning(
                "a limit of neighbours or nodes cut what the paths of %d questions reach; raise `budget`",
                self._cut_questions,
            )
        self._cut_questions = self._cut_searches = self._searches = 0

    def _answers_reached(
        self, graph: KnowledgeGraph, questions: Sequence[Question], found: Sequence[_PathFrom], budget: Budget
    ) -> list[set[str]]:
        """Return the nodes that each path reaches, without the entity that it starts from."""
        walked = follow_path(graph, [[one.entity] for one in found], [one.steps for one in found], budget)
        self._cut_questions += len({one.question for one, nodes in zip(found, walked, strict=True) if nodes.cut})
        return [set(nodes.ids()) - {one.entity} for one, nodes in zip(found, walked, strict=True)]


@attrs.define(eq=False)
class GoldPath(_Limited):
    """Use the questions' gold paths that lead from a linked entity to an answer.

    Attributes:
        graph: Graph that has the paths.
        budget: Limits of neighbours and nodes for following them.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)

    def supervise(self, questions: Sequence[Question]) -> list[list[RankedPath]]:
        """Return each gold path from every entity from which it reaches an answer (without answers, any node)."""
        found = [
            _PathFrom(i, entity, path, len(path))
            for i, question in enumerate(questions)
            for entity in _entities(question)
            for path in question.gold_paths or ()
            if path
        ]
        reached = self._answers_reached(self.graph, questions, found, self.budget)
        rows: list[list[RankedPath]] = [[] for _ in questions]
        for one, nodes in zip(found, reached, strict=True):
            answers = questions[one.question].answers
            if nodes and (answers is None or nodes & set(answers)):
                rows[one.question].append(RankedPath(one.entity, one.steps, 1.0))
        return [_ranked(row) for row in rows]


@attrs.define(eq=False)
class ShortestPath(_Limited):
    """Search the shortest paths from each linked entity to each answer (SR, Zhang et al. 2022, section 4.1).

    Attributes:
        graph: Graph to search.
        budget: Limits of neighbours and nodes for searching and following paths.
        hops: Maximum number of steps of a path.
        inverse: Also follow relations against their direction.
        measure: Measure that compares the entities a path reaches with the answers: f1, jaccard, precision (which SRTK
            calls jaccard) or recall.
        threshold: Least quality of a path.
        answers: Maximum number of answers of a question that are searched for, first in order of id.
        paths: Maximum number of paths of a question, best first.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    hops: int = attrs.field(default=3, validator=at_least(1))
    inverse: bool = True
    measure: MeasureName = attrs.field(default="f1", validator=one_of(tuple(MEASURES)))
    threshold: float = attrs.field(default=0.5, validator=share)
    answers: int = attrs.field(default=50, validator=at_least(1))
    paths: int = attrs.field(default=50, validator=at_least(1))

    def supervise(self, questions: Sequence[Question]) -> list[list[RankedPath]]:
        """Search paths, follow them, and return those whose quality reaches the threshold."""
        found = self._search(questions)
        reached = self._answers_reached(self.graph, questions, found, self.budget)
        rows: list[list[RankedPath]] = [[] for _ in questions]
        for one, nodes in zip(found, reached, strict=True):
            answers = set(questions[one.question].answers or ()) - {one.entity}
            quality = self.quality(MEASURES[self.measure](nodes, answers), len(one.steps) - one.shortest)
            if quality > 0 and quality >= self.threshold:
                rows[one.question].append(RankedPath(one.entity, one.steps, rounded(quality)))
        return [_ranked(row)[: self.paths] for row in rows]

    def lengths(self, shortest: int) -> int:
        """Return the maximum number of steps of a path to an answer that is ``shortest`` steps away."""
        return shortest

    def quality(self, measured: float, longer: int) -> float:
        """Return the quality of a path that is ``longer`` steps longer than the shortest to the same answer."""
        return measured

    def _search(self, questions: Sequence[Question]) -> list[_PathFrom]:
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
        # Longer paths are searched by length: a search up to three hops where one is enough reads too much.
        by_length: dict[int, list[tuple[int, str, str]]] = {}
        for pair, length in least.items():
            wanted = min(self.lengths(length), self.hops)
            if wanted > length:
                by_length.setdefault(wanted, []).append(pair)
        for wanted, longer in sorted(by_length.items()):
            for pair, paths in zip(longer, self._paths(longer, wanted, False), strict=True):
                for path in paths:
                    distinct.setdefault((pair[0], pair[1], path), least[pair])
        return [_PathFrom(i, entity, path, shortest) for (i, entity, path), shortest in distinct.items()]

    def _paths(self, pairs: Sequence[tuple[int, str, str]], hops: int, shortest: bool) -> list[tuple[Path, ...]]:
        # One call for all pairs: a server answers a batch faster than many searches.
        starts, ends = [[entity] for _, entity, _ in pairs], [[answer] for _, _, answer in pairs]
        found = self.graph.paths(starts, ends, hops, self.budget, shortest, self.inverse)
        self._cut_searches += sum(bool(one.cut) for one in found)
        self._searches += len(pairs)
        return [tuple(one) for one in found]


@attrs.define(eq=False)
class NearShortest(ShortestPath):
    """Search the shortest paths and slightly longer paths; the quality of a path falls with its length.

    Attributes:
        slack: Number of steps by which a path may exceed the shortest path to the same answer.
        decay: Factor on the quality of a path for each of these steps.
    """

    threshold: float = attrs.field(default=0.1, validator=share)
    slack: int = attrs.field(default=1, validator=at_least(0))
    decay: float = attrs.field(default=0.5, validator=share)

    def lengths(self, shortest: int) -> int:
        """Return the maximum number of steps of a path to an answer that is ``shortest`` steps away."""
        return shortest + self.slack

    def quality(self, measured: float, longer: int) -> float:
        """Return the quality of a path that is ``longer`` steps longer than the shortest to the same answer."""
        return measured * float(self.decay**longer)


@attrs.define(eq=False)
class GoldTriples(Supervision):
    """Use the paths from the linked entities to the answers within each question's gold triples.

    Attributes:
        hops: Maximum number of steps of a path.
        inverse: Also follow relations against their direction.
    """

    hops: int = attrs.field(default=4, validator=at_least(1))
    inverse: bool = True

    def supervise(self, questions: Sequence[Question]) -> list[list[RankedPath]]:
        """Return the paths that visit no node twice; without answers, those that no gold triple extends."""
        rows = []
        for question in questions:
            answers = None if question.answers is None else set(question.answers)
            found = {
                RankedPath(entity, path, 1.0)
                for entity in _entities(question)
                for path in _paths_within(question.gold_triples or (), entity, answers, self.hops, self.inverse)
            }
            rows.append(_ranked(found))
        return rows


def _paths_within(triples: Sequence[Triple], start: str, ends: set[str] | None, hops: int, inverse: bool) -> set[Path]:
    """Return the paths within triples from a node to the ends, or to any node where they cannot be extended."""
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


def _ranked(paths: Iterable[RankedPath]) -> list[RankedPath]:
    return sorted(set(paths), key=path_order)
