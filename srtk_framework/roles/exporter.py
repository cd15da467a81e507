"""The role of an exporter."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import is_count, shown, truth
from srtk_framework.roles.base import Role, hook
from srtk_framework.values import DriverError, Retrieval


def all_written(answer: Any, arguments: Mapping[str, Any], driver: str) -> int:
    """Refuse a count that differs from the number of retrievals."""
    if not is_count(answer):
        raise DriverError(f"write returned {shown(answer)}; return how many retrievals were written")
    written, wanted = int(answer), len(arguments["retrievals"])
    if written != wanted:
        raise DriverError(f"write got {wanted} retrievals and wrote {written}")
    return written


class Exporter(Role):
    """Writes retrievals; ``open`` starts the output, ``close`` completes it.

    The previous output stays whole until ``close`` replaces it.
    """

    role = "exporter"
    several = True
    sees_gold = True

    @hook(answer=all_written)
    @abstractmethod
    def write(self, retrievals: Sequence[Retrieval]) -> int:
        """Add retrievals to the output, in order; return how many were written."""

    @hook(answer=truth)
    def abort(self) -> bool:
        """Discard the output since ``open``, after a failed run. Called before ``close``; returns True."""
        return True

    def form(self, retrieval: Retrieval) -> Any:
        """Return one retrieval as a value: a text, or an object of the library that the exporter writes with.

        It works without ``open``; ``Result.to`` calls it. An exporter that has no such value keeps this default.

        Raises:
            DriverError: If there is none.
        """
        raise DriverError(f"the exporter {type(self).__qualname__} has no form of one result; write a file by a recipe")

    def target(self) -> str | None:
        """Return the file or place of the output, for the manifest; the setting ``path`` by default."""
        path = self.settings().get("path")
        return None if path is None else str(path)

    def parts(self) -> Sequence[str]:
        """Return the files and folders that belong to the target, once the output is complete."""
        return ()
