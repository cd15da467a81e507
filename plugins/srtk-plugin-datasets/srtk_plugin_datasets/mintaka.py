"""The ``mintaka`` dataset: complex questions in nine languages over Wikidata (Sen et al. 2022, arXiv:2210.01613)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, Literal

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import NIL, InputError, Link, Question
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, kept, link, object_of, read_records, text_of
from srtk_plugin_datasets.question_sets import LinkedSet

_KNOWN = ("id", "question", "translations", "questionEntity", "answer", "category", "complexityType")


@attrs.define
class Mintaka(LinkedSet):
    """Questions with Wikidata ids, entity spans in the English text, and answer entities.

    Answers that are numbers, dates, truth values or texts are not nodes of a graph. Such questions have no answers
    and are not scored by answer; the field `answer_values` has the value.

    Attributes:
        path: `mintaka_<split>.json`, or a folder with it, also as `data/mintaka_<split>.json`.
            By default the folder of the set under `SRTK_DATA` or `data`.
        split: train, dev or test, if path is a folder.
        language: en, ar, de, es, fr, hi, it, ja or pt; only en has entity spans.
    """

    split: str = "dev"
    language: Literal["en", "ar", "de", "es", "fr", "hi", "it", "ja", "pt"] = "en"

    def _files(self) -> list[FilePath]:
        name = f"mintaka_{self.split}.json"
        return find(located(self.path, "mintaka"), [name, f"data/{name}"])

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        for where, record in read_records(file):
            text = self._text(record, where)
            links = _links(record, where, self.language == "en")
            answers, extra = self._answers(record.get("answer"), where)
            for ours, theirs in (("category", "category"), ("type", "complexityType")):
                if record.get(theirs) is not None:
                    extra[ours] = record[theirs]
            yield (
                where,
                Question(
                    id=text_of(record, "id", where),
                    text=text,
                    links=links,
                    answers=answers,
                    extra={"topic_entities": [link.entity for link in links], **extra, **kept(record, _KNOWN)},
                    gold_links=_gold_links(record, text, where, self.language == "en"),
                ),
            )

    def _text(self, record: dict[str, Any], where: str) -> str:
        if self.language == "en":
            return text_of(record, "question", where)
        return text_of(object_of(record.get("translations"), where, "translations"), self.language, where)

    def _answers(self, value: Any, where: str) -> tuple[tuple[str, ...] | None, dict[str, Any]]:
        """Read the answer; also return its fields to keep."""
        if value is None:
            return None, {}
        answer = object_of(value, where, "answer")
        given = fields.items(answer.get("answer") or [], where, "answer.answer", lambda item, *_: item)
        extra: dict[str, Any] = {"answer_type": answer.get("answerType")}
        for ours, theirs in (("answer_mention", "mention"), ("supporting_entities", "supportingEnt")):
            if answer.get(theirs):
                extra[ours] = answer[theirs]
        entities = [item for item in given if isinstance(item, dict)]
        if entities:
            names = [_english(item.get("label")) for item in entities]
            extra["answer_names"] = [name for name in names if name]
            ids = [fields.string(item.get("name"), where, "answer.name") for item in entities]
            if len({*ids}) < len(ids):
                # The set's own measures count a repeated answer as often as it stands.
                extra["answer_items"] = ids
            return tuple(dict.fromkeys(ids)), extra
        values = [str(item).lower() if isinstance(item, bool) else str(item) for item in given]
        if values:
            extra["answer_values"] = values
        return None, extra


def _links(record: dict[str, Any], where: str, placed: bool) -> tuple[Link, ...]:
    """Read the entities that have an id; numbers and dates are none."""
    found: dict[tuple[str, int | None], Link] = {}
    for item in fields.items(record.get("questionEntity") or [], where, "questionEntity", object_of):
        entity = item.get("name")
        if item.get("entityType") != "entity" or not isinstance(entity, str) or not entity:
            continue
        start, end = _span(item.get("span"), where) if placed else (None, None)
        name = _english(item.get("label"))
        found.setdefault((entity, start), Link(entity, start=start, end=end, name=name))
    return tuple(sorted(found.values(), key=lambda link: (link.start is None, link.start or 0, link.entity)))


def _gold_links(record: dict[str, Any], text: str, where: str, placed: bool) -> tuple[Link, ...]:
    """Read all mentions as gold links: NIL for an entity without id; numbers and dates are optional.

    In languages other than English, an entity has a span where the text contains its English mention or name.
    """
    found = []
    for item in fields.items(record.get("questionEntity") or [], where, "questionEntity", object_of):
        entity, is_entity = item.get("name"), item.get("entityType") == "entity"
        known = is_entity and isinstance(entity, str) and bool(entity)
        name, mention = _english(item.get("label")) if known else "", str(item.get("mention") or "")
        gold = link(str(entity) if known else NIL, name, text, mention)
        start, end = _span(item.get("span"), where) if placed else (None, None)
        if start is not None and end is not None and 0 <= start < end <= len(text):
            right = text[start:end] == mention or gold.start is None
            gold = attrs.evolve(gold, start=start, end=end) if right else gold
        if known or gold.start is not None:
            found.append(attrs.evolve(gold, score=1.0 if is_entity else 0.0))
    return tuple(sorted(dict.fromkeys(found), key=lambda g: (g.start is None, g.start or 0, g.end or 0, g.entity)))


def _span(value: Any, where: str) -> tuple[int | None, int | None]:
    if value is None:
        return None, None
    span = fields.items(value, where, "questionEntity.span", fields.index)
    if len(span) != 2:
        raise InputError(f"{where}: field 'questionEntity.span' must be [start, end], not {span}")
    return span[0], span[1]


def _english(label: Any) -> str:
    """Read the English label: a text, or one of the texts by language."""
    label = label.get("en") if isinstance(label, dict) else label
    return label if isinstance(label, str) else ""
