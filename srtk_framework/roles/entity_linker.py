"""The role of an entity linker."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import Link, LinkList


def signed(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Set the linker's name in links that have none."""
    return [_signed(row, driver) for row in answer]


def _signed(row: Any, driver: str) -> Any:
    if not isinstance(row, list | tuple) or not all(isinstance(link, Link) for link in row):
        return row  # breaks the contract; the conformance tests say how
    links = [link if link.by else attrs.evolve(link, by=driver) for link in row]
    return LinkList.of(links, row) if isinstance(row, LinkList) else links


class EntityLinker(Role):
    """Finds entities of the graph in text."""

    role = "entity_linker"

    @hook(batch="texts", key=by_value, answer=signed)
    @abstractmethod
    def link(self, texts: Sequence[str]) -> Sequence[Sequence[Link]]:
        """Link each text.

        Returns:
            Per text, links ordered by start of span, then by falling score, then by entity. Links that
            share a span are alternatives (n-best). Spans count characters of the original text. A ``LinkList``
            instead of a list also says which linkers failed on the text, and which titles have no id.
        """

    @hook(batch="texts", key=by_value, answer=signed)
    def suggest(self, texts: Sequence[str], limit: int) -> Sequence[Sequence[Link]]:
        """Suggest entities for texts in which nothing is linked: those whose names are like words of the text.

        They are for a person to choose from; no search starts from them.

        Args:
            texts: The texts.
            limit: Most entities to suggest for each.

        Returns:
            Per text, at most ``limit`` links, one for each entity, by falling score, then by entity. The span is that
            of the words that are like the name. None by default.
        """
        return [() for _ in texts]
