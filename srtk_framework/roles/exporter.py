"""The role of an exporter."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Retrieval


class Exporter(Role):
    """Writes retrievals; ``open`` starts the output, ``close`` completes it.

    What stood at the target before stays whole until ``close`` replaces it.
    """

    role = "exporter"

    @hook
    @abstractmethod
    def write(self, retrievals: Sequence[Retrieval]) -> int:
        """Add retrievals to the output, in order; return how many were written."""

    @hook
    def abort(self) -> bool:
        """Drop what was written since ``open``: the run failed. Called before ``close``; returns True."""
        return True
