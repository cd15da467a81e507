"""The role of a question dataset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from srtk_framework.roles.answer_checks import shown
from srtk_framework.roles.base import Role, hook
from srtk_framework.values import DriverError, Question


def a_question(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse an item that is no question."""
    if not isinstance(answer, Question):
        raise DriverError(f"read gave {shown(answer)}; give Questions")
    return answer


class Dataset(Role):
    """Reads a public question format.

    A recipe names a dataset under ``questions``, not under a key of its own.
    """

    role = "dataset"
    top_level = False

    @hook(stream=True, answer=a_question)
    @abstractmethod
    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file.

        Raises:
            InputError: With file and line, where a record cannot be read.
        """
