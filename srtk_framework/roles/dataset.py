"""The role of a question dataset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Question


class Dataset(Role):
    """Reads a public question format."""

    role = "dataset"

    @hook
    @abstractmethod
    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file; raises InputError with file and line."""
