"""Path scorers without a model, for testing expanders."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from srtk_framework.roles import PathScorer
from srtk_framework.text.folding import fold, words
from srtk_framework.values import END, Path, Step


def _words(text: str) -> set[str]:
    folded = fold(text)
    return {folded[start:end] for start, end in words(folded)}


@attrs.define(eq=False)
class UniformScorer(PathScorer):
    """Find every step as likely as any other."""

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Return the logarithm of one over the number of candidates."""
        return [[-math.log(max(len(row), 1))] * len(row) for row in candidates]


@attrs.define(eq=False)
class OverlapScorer(PathScorer):
    """Prefer steps whose relation shares words with the question; END gains with the length of the path.

    Attributes:
        weight: What one shared word adds before the scores are turned into log-probabilities.
    """

    weight: float = 2.0

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Return log-probabilities over the candidates of each path."""
        return [
            self._row(_words(question), path, row)
            for question, path, row in zip(questions, paths, candidates, strict=True)
        ]

    def _row(self, asked: set[str], path: Path, candidates: Sequence[Step]) -> list[float]:
        raw = [
            float(len(path)) if step == END else self.weight * len(asked & _words(step.relation)) for step in candidates
        ]
        total = math.log(math.fsum(sorted(math.exp(value) for value in raw))) if raw else 0.0
        return [value - total for value in raw]

    def scores_end(self) -> bool:
        """END is one of the candidates."""
        return True
