"""Scores of whole paths by a path scorer, in natural-log units, without noise relations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase

import attrs

from srtk_framework.graph import path_order, unit_of
from srtk_framework.roles import PathScorer
from srtk_framework.values import END, Path, Question, RankedPath, Schema, Step, rounded
from srtk_plugin_answers.path_reads import PathReads

# Distances of the next path's score from which on a path is clearly the best, or surely: factors of 4.5 and 100 of
# probability.
CLEAR, SURE = 1.5, 4.6

LIKE = 0.33
"""Least likeness of a noun and a relation, as a part of the relation's likeness with its own name."""

CLOSE = 0.5
"""The same for a noun that has none of the relation's words: below, the relation may not be the one that is meant."""


def is_clear(path: RankedPath | None, paths: Sequence[RankedPath], least: float = CLEAR) -> bool:
    """Return whether a path is the best of a search, and the next one scores so much less."""
    best = sorted((one for one in paths if one.steps), key=path_order)[:2]
    return path is not None and best[:1] == [path] and all(path.score - one.score >= least for one in best[1:])


def share_of(path: RankedPath, paths: Sequence[RankedPath]) -> float:
    """Return the share of a path in the probability of a search's paths with steps; 0.5 where it is none of them."""
    scores = [one.score for one in paths if one.steps]
    if path not in paths or not scores:
        return 0.5
    most = max(scores)
    return math.exp(path.score - most) / math.fsum(math.exp(score - most) for score in scores)


@attrs.frozen
class ScoreUnit:
    """How the numbers of a path scorer are read as natural-log units (see ``SearchSettings.scale``).

    Attributes:
        size: Difference of the numbers that is one unit.
        measured: Whether the size was measured: then scores count from END's.
        lift: Score of the best first step. A search counts the first steps of a scorer whose unit it measures from
            there, so that its paths score less by as much.
    """

    size: float = 1.0
    measured: bool = False
    lift: float = 0.0

    @classmethod
    def of(cls, scorer: PathScorer, text: str, steps: Sequence[Sequence[Step]]) -> ScoreUnit:
        """Measure the unit by the scores of a question's first steps, a row for each topic."""
        rows = [row for row in steps if row]
        scores = scorer.score([text] * len(rows), [()] * len(rows), [[*row, END] for row in rows])
        size = unit_of([row[:-1] for row in scores])
        if size is None:  # Where no first steps differ, the numbers say nothing.
            return cls(math.inf, measured=True)
        return cls(size, measured=True, lift=max(score - row[-1] for row in scores for score in row[:-1]) / size)


@attrs.frozen(eq=False)
class PathScores:
    """Score paths by the sum of a path scorer's scores along them; ``noise`` are patterns of meaningless relations."""

    scorer: PathScorer
    noise: Sequence[str]
    unit: ScoreUnit = ScoreUnit()

    def of(self, paths: Sequence[Path], text: str) -> list[float]:
        """Return the sum of the scores along each path, which counts as a search's scores do."""
        begun = list(dict.fromkeys(path[: i + 1] for path in paths for i in range(len(path))))
        rows = self.rows([text] * len(begun), [path[:-1] for path in begun], [[path[-1]] for path in begun])
        score = {path: row[0] for path, row in zip(begun, rows, strict=True)}
        return [rounded(sum(score[path[: i + 1]] for i in range(len(path))) - self.unit.lift) for path in paths]

    def rows(
        self, texts: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> Sequence[Sequence[float]]:
        """Return the score of each candidate as the next step of its path."""
        scores, size = self.numbers(texts, paths, candidates), self.unit.size
        return scores if size == 1 else [[score / size for score in row] for row in scores]

    def numbers(
        self, texts: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> Sequence[Sequence[float]]:
        """Return the same in the scorer's own unit, where only ratios have a meaning."""
        if not self.unit.measured:
            return self.scorer.score(texts, paths, candidates)
        scores = self.scorer.score(texts, paths, [[*row, END] for row in candidates])
        return [[score - row[-1] for score in row[:-1]] for row in scores]

    def likeness(self, phrase: str, label: str, step: Step) -> float:
        """Return how like a phrase is to a step's relation, as a part of the relation's likeness with its own label.

        A relation that is not like its own label cannot be judged, and is taken for like.
        """
        asked, own = self.numbers([phrase, label], [(), ()], [[step], [step]])
        return float(asked[0] / own[0]) if own[0] > 0 else math.inf

    def without_noise(self, steps: Sequence[Step]) -> list[Step]:
        """Leave out noise relations."""
        return [step for step in steps if not any(fnmatchcase(step.relation, pattern) for pattern in self.noise)]


def scores_of_questions(
    plain: PathScores,
    scale: float | None,
    reads: PathReads,
    schema: Schema,
    questions: Sequence[Question],
    texts: Sequence[str],
) -> list[PathScores]:
    """Return the path scores of each question, in a known scale or in a unit that is measured for it.

    Without a scale, the unit is measured by the first steps from the links, or without a link by the schema's
    relations.
    """
    if scale is not None:
        return [attrs.evolve(plain, unit=ScoreUnit(scale))] * len(questions)
    linked = [list(dict.fromkeys(link.entity for link in question.links)) for question in questions]
    frontiers = reads.frontiers([[one] for row in linked for one in row])
    offered = iter(reads.graph.steps(frontiers, True) if frontiers else ())
    every = [Step(relation) for relation in schema.relations]
    scores = []
    for text, row in zip(texts, linked, strict=True):
        steps = [plain.without_noise(next(offered)) for _ in row] or [plain.without_noise(every)]
        scores.append(attrs.evolve(plain, unit=ScoreUnit.of(plain.scorer, text, steps)))
    return scores
