"""Questions, mentions in their text, and links of mentions to entities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.values.triples import Path, Pattern, Triple


@attrs.frozen
class Link:
    """An entity mentioned in a text.

    Attributes:
        entity: Id in the graph.
        score: Confidence between 0 and 1; 1 for links in the input.
        start: Offset of the mention's first character in the original text, or None if unknown.
        end: Offset after its last character, or None.
        name: Label of the entity according to the linker.
        by: Name of the linker; empty for links in the input. Not compared.
    """

    entity: str
    score: float = 1.0
    start: int | None = None
    end: int | None = None
    name: str = ""
    by: str = attrs.field(default="", eq=False)


LINKED_BY = "linked_by"
"""Trace field: the linkers whose links were used; absent if the links are part of the input."""

ABSENT_LINKS = "absent_links"
"""Trace field: the linked entities that the graph lacks, where it has others of the question."""

NIL = ""
"""Entity of a gold link whose mention refers to nothing in the graph."""


class LinkList(list[Link]):
    """The links of one text, with reports from the linkers; compared as a list.

    Attributes:
        failed: Linkers that failed on the text, each with its error.
        unmapped: Titles of linked pages without an entity id; None if the linker maps no titles.
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
        """Build a list of links derived from other lists, and merge the reports of those."""
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
    """A span of a text that may refer to an entity.

    Attributes:
        start: Offset of the first character in the original text.
        end: Offset after the last character.
        score: Confidence, above 0 and up to 1.
        kind: ``name``, ``quote``, ``phrase``, or an entity type predicted by a model; may be empty.
    """

    start: int
    end: int
    score: float = 1.0
    kind: str = ""


@attrs.frozen
class Question:
    """A question with its links and gold annotations.

    Attributes:
        id: Unique within a run.
        text: The question's text.
        links: Topic entities; several links may share a span (n-best).
        answers: Gold answers, or None if unknown.
        gold_paths: Relation paths from a topic entity to the answers, or None if unknown.
        gold_triples: Triples that answer the question, or None if unknown.
        options: Possible answers of a multiple-choice question.
        extra: Other fields of the input record, copied to the output.
        gold_links: Gold links of the text, for the evaluation of linkers, or None if unknown. The entity is ``NIL``
            if the annotators' graph lacks it; the score is 0 if the mention is optional.
        pattern: A triple pattern with a relation and one open end, whose fillers are asked for; None for a question in
            words alone. The gold fillers are ``answers``.
        candidates: Distinct ids of entities to be ranked as fillers of the open end of ``pattern``; empty if any entity
            may fill it.

    Raises:
        ValueError: If there are candidates without a pattern, or a candidate is given twice.
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
    pattern: Pattern | None = None
    candidates: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.candidates and self.pattern is None:
            raise ValueError(
                f"question {self.id} has candidates and no pattern; give the pattern whose open end they may fill"
            )
        if len(set(self.candidates)) < len(self.candidates):
            twice = next(one for i, one in enumerate(self.candidates) if one in self.candidates[:i])
            raise ValueError(f"question {self.id} has the candidate {twice} twice; give each candidate once")

    def without_gold(self) -> Question:
        """Return the question as a method may see it: without answers, gold paths, gold triples and gold links."""
        if self.answers is None and self.gold_paths is None and self.gold_triples is None and self.gold_links is None:
            return self
        return attrs.evolve(self, answers=None, gold_paths=None, gold_triples=None, gold_links=None)
