"""The role of a reader."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.roles.answer_checks import truth
from srtk_framework.roles.base import Role, hook
from srtk_framework.roles.subgraph_answers import answers_from_subgraphs
from srtk_framework.values import Answer, Question, Subgraph


class Reader(Role):
    """Answers questions from subgraphs."""

    role = "reader"

    @hook(batch=("questions", "subgraphs"), answer=answers_from_subgraphs)
    @abstractmethod
    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> Sequence[Answer]:
        """Answer each question from its subgraph; ``Answer.enough`` is False where that does not suffice.

        A reader that has a graph may read more of it, within its limits, and gives the subgraph with the further
        triples as ``Answer.subgraph``.

        Returns:
            Per question its answer. A driver may return a ``DriverError`` in its place where reading failed for that
            question alone; a caller never sees it among the answers.
        """

    @hook(answer=truth)
    def refuses(self) -> bool:
        """Return whether the reader can refuse an insufficient subgraph; only then may it end a search."""
        return False

    @hook(answer=truth)
    def needs_links(self) -> bool:
        """Return whether the reader answers nothing without linked entities, which is the default.

        Such a reader is also asked about questions without links, with an empty subgraph.
        """
        return True
