"""The role of an entity linker."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Link


class EntityLinker(Role):
    """Finds entities of the graph in text."""

    role = "entity_linker"

    @hook
    @abstractmethod
    def link(self, texts: Sequence[str]) -> Sequence[Sequence[Link]]:
        """Link each text.

        Returns:
            Per text, links ordered by start of span, then by falling score, then by entity. Links that
            share a span are alternatives (n-best). Spans count characters of the original text. A ``LinkList``
            in place of a list says besides which linkers failed on the text, and which titles have no id.
        """
