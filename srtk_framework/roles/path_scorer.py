"""The role of a path scorer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import check_numbers, shown, truth
from srtk_framework.roles.base import Role, hook
from srtk_framework.roles.search_settings import SearchSettings, search_settings_only
from srtk_framework.values import DriverError, Path, Step


def numbers_of_candidates(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse scores without exactly one finite number per candidate of each path."""
    check_numbers("score", answer, list(map(len, arguments["candidates"])), "candidates")
    return answer


def counts_only(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but a mapping of names to counts."""
    if isinstance(answer, Mapping) and all(type(count) is int and count >= 0 for count in answer.values()):
        return answer
    raise DriverError(f"prepare returned {shown(answer)}; return a mapping of names to whole numbers from 0")


class PathScorer(Role):
    """Scores the next step of a path against a question."""

    role = "path_scorer"

    @hook(batch=("questions", "paths", "candidates"), answer=numbers_of_candidates)
    @abstractmethod
    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> Sequence[Sequence[float]]:
        """Score each candidate as continuation of its path.

        Args:
            questions: Text of the question of each path.
            paths: Steps taken so far; may be empty.
            candidates: Possible next steps of each path; may contain END.

        Returns:
            Per path one finite number for each candidate, which the caller adds up along the path; higher is better.
        """

    @hook(answer=truth)
    def scores_end(self) -> bool:
        """Return whether END is scored when the maximum depth forces it; with False it costs nothing then."""
        return False

    @hook(answer=truth)
    def is_trained(self) -> bool:
        """Return whether the scores as they are now were learnt from questions; False by default."""
        return False

    @hook(answer=search_settings_only)
    def search_settings(self) -> SearchSettings | None:
        """Return the settings of a search that suit the scores as they are now; None, the default, suggests nothing.

        A search takes from them the settings that its recipe leaves open. Without a suggestion it takes the best that
        are known for scores not learnt from questions, and measures the unit of the scores (see ``SearchSettings``). A
        mapping of some keys is read as ``SearchSettings`` with these; unknown keys are refused.
        """
        return None

    @hook(answer=counts_only)
    def prepare(self, paths: Sequence[Path]) -> Mapping[str, int]:
        """Compute and keep on disk all that the scores of paths need whatever the question; by default nothing.

        Args:
            paths: Paths of one step or more, each with all shorter paths that it begins with.

        Returns:
            Counts for the screen: ``texts`` kept for the paths, ``encoded`` of them in this call, and their ``bytes``.
        """
        return {}
