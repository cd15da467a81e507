"""Scores of whole paths by a path scorer, and the relations that say something."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import attrs

from srtk_framework.roles import PathScorer
from srtk_framework.values import Path, Step, rounded


@attrs.frozen(eq=False)
class PathScores:
    """Score paths by the sum of a path scorer's scores along them.

    Attributes:
        scorer: The path scorer.
        noise: Patterns of relations that say nothing.
    """

    scorer: PathScorer
    noise: Sequence[str]

    def of(self, paths: Sequence[Path], text: str) -> list[float]:
        """Return the sum of the scorer's scores along each path."""
        begun = list(dict.fromkeys(path[: i + 1] for path in paths for i in range(len(path))))
        rows = self.scorer.score([text] * len(begun), [path[:-1] for path in begun], [[path[-1]] for path in begun])
        score = {path: row[0] for path, row in zip(begun, rows, strict=True)}
        return [rounded(sum(score[path[: i + 1]] for i in range(len(path)))) for path in paths]

    def without_noise(self, steps: Sequence[Step]) -> list[Step]:
        """Leave out noise relations."""
        return [step for step in steps if not any(fnmatchcase(step.relation, pattern) for pattern in self.noise)]
