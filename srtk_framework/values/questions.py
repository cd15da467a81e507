"""Questions, the links to entities in them, and mentions in text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.values.triples import Path, Triple


@attrs.frozen
class Link:
    """An entity found in a text.

    Attributes:
        entity: Id in the graph.
        score: Between 0 and 1; 1 for links that were given.
        start: First character of the mention in the original text, or None when unknown.
        end: One past its last character, or None.
        name: Label of the entity, as the linker knows it.
        by: Name of the linker that found it; empty for links that were given. Not compared.
    """

    entity: str
    score: float = 1.0
    start: int | None = None
    end: int | None = None
    name: str = ""
    by: str = attrs.field(default="", eq=False)


LINKED_BY = "linked_by"
"""Field of a trace: the linkers whose links were taken; it stands only where a question was linked from its text."""

NIL = ""
"""Stands for the entity of a mention of something that the graph does not have, in gold links."""


class LinkList(list[Link]):
    """The links of one text, with what a linker may tell besides; compared as a list.

    Attributes:
        failed: Name of each linker that could not be asked about the text, and why.
        unmapped: Names of pages for which there is no id, or None where nothing had to be mapped.
    """

    def __init__(
        self,
        links: Iterable[Link] = (),
        failed: Mapping[str, str] | None = None,
        unmapped: Sequence[str] | None = None,
    ) -> None:
        super().__init__(links)
        self.failed: dict[str, str] = dict(failed or {})
        self.unmapped: tuple[str, ...] | None = None if unmapped is None else tuple(dict.fromkeys(unmapped))

    @classmethod
    def of(cls, links: Iterable[Link], *sources: Sequence[Link]) -> LinkList:
        """Make one of links that were made from others, keeping what those told."""
        failed: dict[str, str] = {}
        unmapped: list[str] | None = None
        for source in sources:
            if isinstance(source, LinkList):
                failed.update(source.failed)
                if source.unmapped is not None:
                    unmapped = [*(unmapped or ()), *source.unmapped]
        return cls(links, failed, unmapped)


@attrs.frozen
class Mention:
    """A place in a text that may name something.

    Attributes:
        start: First character in the original text.
        end: One past its last character.
        score: How sure it is, above 0 and up to 1.
        kind: What it looks like: ``name``, ``quote``, ``phrase``, or the entity type that a model gives; may be empty.
    """

    start: int
    end: int
    score: float = 1.0
    kind: str = ""


@attrs.frozen
class Question:
    """One question, with what is known about it.

    Attributes:
        id: Unique within a run.
        text: The words.
        links: Entities to start from; several may share a span (n-best).
        answers: Gold answer entities, or None when they are not known.
        gold_paths: Relation paths that lead from a linked entity to the answers, if known.
        gold_triples: The triples that answer the question, if known.
        options: Possible answers of a multiple-choice question.
        extra: Further fields of the input record, passed through to the output.
        gold_links: What the text should be linked to, to score linkers by; the entity is ``NIL`` where the graph of
            the annotation has none, and the score 0 where the mention need not be found. None when not known.
    """

    id: str
    text: str
    links: tuple[Link, ...] = ()
    answers: tuple[str, ...] | None = None
    gold_paths: tuple[Path, ...] | None = None
    gold_triples: tuple[Triple, ...] | None = None
    options: tuple[str, ...] = ()
    extra: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    gold_links: tuple[Link, ...] | None = None

    def without_gold(self) -> Question:
        """Return the question as a method may see it: without answers, gold paths, gold triples and gold links."""
        if self.answers is None and self.gold_paths is None and self.gold_triples is None and self.gold_links is None:
            return self
        return attrs.evolve(self, answers=None, gold_paths=None, gold_triples=None, gold_links=None)
