"""The ``elevant`` dataset: texts with linked mentions (Bast, Hertel and Prange 2022, EMNLP demonstrations)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any, Literal

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import NIL, InputError, Link, Question
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, object_of, read_records, text_of
from srtk_plugin_datasets.question_sets import LinkedSet

_ENTITY = re.compile(r"Q[1-9][0-9]*")
_ENDS = {
    "paragraph": re.compile(r"\n\s*"),
    "sentence": re.compile(r"\n\s*|(?<=[.!?])[\"'’”)\]]*\s+(?=[\"'‘“(\[]*[A-Z0-9])"),
}
_NONE = "<NIL>"  # The set's mark of an entity outside Wikidata.

Span = tuple[int, int]
Role = Literal["required", "optional", "drop"]


@attrs.define
class Elevant(LinkedSet):
    """Texts with mentions linked to Wikidata ids, for scoring linkers; they have no answers.

    A mention of an entity outside Wikidata is a gold link to NIL. Mentions with an unknown id, dates and quantities
    are optional. Only the annotated part of a text is read.

    Attributes:
        path: A `.benchmark.jsonl` file, or a folder of them.
            By default the folder of the set under `SRTK_DATA` or `data`.
        unit: Unit of a question: the whole text, a paragraph or a sentence; mentions are never split.
        nested: Mentions inside a longer mention: required, optional (neither missed nor wrong), or drop.
        coreference: Pronouns and other marked coreferences: required, optional or drop.
    """

    unit: Literal["text", "paragraph", "sentence"] = "text"
    nested: Role = "optional"
    coreference: Role = "optional"
    given: bool = attrs.field(default=False, kw_only=True)

    def _files(self) -> list[FilePath]:
        return find(located(self.path, "elevant"), ["*.benchmark.jsonl", "*.jsonl"])

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        name = file.name.removesuffix(".jsonl").removesuffix(".benchmark")
        for where, record in read_records(file):
            text, id_ = fields.string(record.get("text"), where, "text"), text_of(record, "id", where)
            labels = [
                self._label(label, where, f"labels[{i}]", len(text))
                for i, label in enumerate(fields.items(record.get("labels"), where, "labels", object_of))
            ]
            links = tuple(sorted((link for link in labels if link is not None), key=_place))
            whole = (0, len(text))
            if record.get("evaluation_span") is not None:
                whole = _span(record["evaluation_span"], where, "evaluation_span", len(text))
            extra: dict[str, Any] = {"set": name}
            if record.get("title"):
                extra["title"] = record["title"]
            parts = self._parts(text, whole, links)
            for number, (start, end) in enumerate(parts):
                inside = [link for link in links if start <= (link.start or 0) and (link.end or 0) <= end]
                gold = tuple(
                    attrs.evolve(link, start=(link.start or 0) - start, end=(link.end or 0) - start) for link in inside
                )
                yield (
                    where,
                    Question(
                        id=f"{name}-{id_}" if self.unit == "text" else f"{name}-{id_}-{number}",
                        text=text[start:end],
                        links=tuple(link for link in gold if link.score and link.entity != NIL),
                        extra=dict(extra),
                        gold_links=gold,
                    ),
                )

    def _label(self, label: dict[str, Any], where: str, field: str, size: int) -> Link | None:
        """Read one mention; return None if the settings drop it."""
        start, end = _span(label.get("span"), where, f"{field}.span", size)
        entity = fields.string(label.get("entity_id"), where, f"{field}.entity_id")
        roles: list[Role] = ["optional" if label.get("optional") else "required"]
        if label.get("parent") is not None:
            roles.append(self.nested)
        if label.get("coref"):
            roles.append(self.coreference)
        if "drop" in roles:
            return None
        known = _ENTITY.fullmatch(entity) is not None
        optional = "optional" in roles or not (known or entity == _NONE)
        name = label.get("name") if known else ""
        return Link(
            entity if known else NIL, 0.0 if optional else 1.0, start, end, name if isinstance(name, str) else ""
        )

    def _parts(self, text: str, whole: Span, links: Iterable[Link]) -> list[Span]:
        """Split the annotated part into units, without splitting a mention and without blank units."""
        cuts = [whole[0]]
        if self.unit != "text":
            inside = [(link.start or 0, link.end or 0) for link in links]
            for found in _ENDS[self.unit].finditer(text, *whole):
                if not any(start < found.end() and found.start() < end for start, end in inside):
                    cuts.append(found.end())
        cuts.append(whole[1])
        parts = []
        for start, end in pairwise(cuts):
            part = text[start:end]
            if part.strip():
                parts.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
        return parts


def _place(link: Link) -> tuple[int, int, str]:
    return link.start or 0, link.end or 0, link.entity


def _span(value: Any, where: str, field: str, size: int) -> Span:
    span = fields.items(value, where, field, fields.index)
    if len(span) != 2 or not 0 <= span[0] < span[1] <= size:
        raise InputError(f"{where}: field {field!r} must be [start, end] within the {size} characters, not {span}")
    return span[0], span[1]
