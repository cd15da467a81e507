"""The role of a question dataset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Question


class Dataset(Role):
    """Reads a public question format.

    A recipe names a dataset under ``questions``, not under a key of its own.
    """

    role = "dataset"
    top_level = False

    @hook(stream=True)
    @abstractmethod
    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file.

        Raises:
            InputError: With file and line, where a record cannot be read.
        """
