"""The role of a path scorer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Path, Step


class PathScorer(Role):
    """Scores the next step of a path against a question."""

    role = "path_scorer"

    @hook
    @abstractmethod
    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> Sequence[Sequence[float]]:
        """Score each candidate as continuation of its path.

        Args:
            questions: Text of the question, one for each path.
            paths: Steps taken so far; may be empty.
            candidates: Possible next steps of each path; may contain END.

        Returns:
            Per path one number for each candidate, which the caller adds up along the path; higher is better.
        """

    @hook
    def scores_end(self) -> bool:
        """Tell whether END is scored when the depth forces it (False: it is free then)."""
        return False
