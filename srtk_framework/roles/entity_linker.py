"""The role of an entity linker."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.roles.answer_checks import check_falls, check_rows, rows_of, shown
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import DriverError, Link, LinkList


def signed(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse links that break the contract of ``link``, and set the linker's name in links that have none."""
    check_rows("link", answer, Link, "Links")
    for text, row in zip(arguments["texts"], answer, strict=True):
        if row:
            _check_spans("link", text, row)
            keys = [(-1 if link.start is None else link.start, -link.score, link.entity) for link in row]
            if keys != sorted(keys):
                raise DriverError("link returned links out of order; sort by start, falling score and entity")
    return [_signed(row, driver) for row in answer]


def signed_suggestions(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse suggestions that break the contract of ``suggest``, and set the linker's name in those that have none."""
    rows_of("suggest", Link, "Links", most="limit")(answer, arguments, driver)
    for text, row in zip(arguments["texts"], answer, strict=True):
        _check_spans("suggest", text, row)
        order = "return one for each entity, by falling score, then by entity"
        check_falls("suggest", [(-link.score, link.entity) for link in row], order)
    return [_signed(row, driver) for row in answer]


def _check_spans(hook: str, text: str, row: Sequence[Link]) -> None:
    for link in row:
        if not 0 <= link.score <= 1:  # nor NaN
            raise DriverError(
                f"{hook} returned the score {shown(link.score)} for {link.entity}; return one from 0 to 1"
            )
        if link.start is None and link.end is None:
            continue
        if link.start is None or link.end is None or not 0 <= link.start < link.end <= len(text):
            raise DriverError(
                f"{hook} returned the span {link.start} to {link.end} in a text of {len(text)} characters; spans count"
                " its characters"
            )


def _signed(row: Sequence[Link], driver: str) -> list[Link]:
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
            share a span are alternatives (n-best). Spans count characters of the original text; scores lie between 0
            and 1. A ``LinkList`` instead of a list also names the linkers that failed on the text, and the titles
            without an id. A driver may return a ``DriverError`` in the place of the links, which fails that text alone.
        """

    @hook(batch="texts", key=by_value, answer=signed_suggestions)
    def suggest(self, texts: Sequence[str], limit: int) -> Sequence[Sequence[Link]]:
        """Suggest entities for texts without links: entities whose names are like words of the text.

        They are for a person to choose from; no search starts from them.

        Args:
            texts: The texts.
            limit: Most entities to suggest for each.

        Returns:
            Per text, at most ``limit`` links of distinct entities, by falling score, then by entity. The span has
            the words that are like the name. None by default.
        """
        return [() for _ in texts]
