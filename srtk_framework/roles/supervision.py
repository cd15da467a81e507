"""The role of a supervision."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.roles.base import Role, hook
from srtk_framework.roles.subgraph_answers import paths_to_answers
from srtk_framework.values import Question, RankedPath


class Supervision(Role):
    """Finds the paths that a method should have found for questions with known answers."""

    role = "supervision"
    sees_gold = True

    @hook(batch="questions", answer=paths_to_answers)
    @abstractmethod
    def supervise(self, questions: Sequence[Question]) -> Sequence[Sequence[RankedPath]]:
        """Find the relation paths that lead from each question's linked entities to its answers.

        Returns:
            Per question, paths without END, by falling quality between 0 and 1, then by ``graph.path_order``; none
            where the question has no links, no gold, or no path. A path that a limit hid is not taken for absent: the
            driver's logger warns of such a question.
        """
