"""The ``webqsp`` dataset as published: questions with semantic parses over Freebase (Yih et al. 2016, P16-2033)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import Link, Question, Step
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, kept, link, object_of, read_records, text_of
from srtk_plugin_datasets.ids import FreebaseIds, freebase
from srtk_plugin_datasets.question_sets import LinkedSet

_KNOWN = ("QuestionId", "RawQuestion", "ProcessedQuestion", "Parses")  # Fields that become parts of the question.


@attrs.define
class WebQSP(LinkedSet):
    """Questions with Freebase mids: topic entities with mentions, answers, and inferential chains as gold paths.

    The topics, answers and chains of all parses are merged. Constraints are kept as a field.

    Attributes:
        path: `WebQSP.<split>.json`, or a folder with it, also as `data/WebQSP.<split>.json`.
            By default the folder of the set under `SRTK_DATA` or `data`.
        split: train or test, if path is a folder.
        ids: `dot` for m.02mjmr and people.person.children, `slash` for /m/02mjmr and /people/person/children.
    """

    split: str = "test"
    ids: FreebaseIds = "dot"

    def _files(self) -> list[FilePath]:
        name = f"WebQSP.{self.split}.json"
        return find(located(self.path, "webqsp"), [name, f"data/{name}"])

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        for where, record in read_records(file, "Questions"):
            text = text_of(record, "RawQuestion", where).strip()
            parses = fields.items(record.get("Parses"), where, "Parses", object_of)
            answers = [answer for parse in parses for answer in _list(parse, "Answers", where)]
            links = self._links(parses, text)
            chains = [
                tuple(
                    Step(freebase(relation, self.ids))
                    for relation in fields.items(
                        parse.get("InferentialChain") or [], where, "InferentialChain", fields.string
                    )
                )
                for parse in parses
            ]
            known = {
                "topic_entities": [link.entity for link in links],
                "answer_names": [str(answer["EntityName"]) for answer in answers if answer.get("EntityName")],
                "sparql": [parse["Sparql"] for parse in parses if parse.get("Sparql")],
                "constraints": [item for parse in parses for item in _list(parse, "Constraints", where)],
            }
            yield (
                where,
                Question(
                    id=text_of(record, "QuestionId", where),
                    text=text,
                    links=links,
                    answers=tuple(dict.fromkeys(self._answer(answer, where) for answer in answers)),
                    gold_paths=tuple(dict.fromkeys(chain for chain in chains if chain)) or None,
                    extra={**{key: value for key, value in known.items() if value}, **kept(record, _KNOWN)},
                ),
            )

    def _links(self, parses: Iterable[dict[str, Any]], text: str) -> tuple[Link, ...]:
        found: dict[str, Link] = {}
        for parse in parses:
            if mid := parse.get("TopicEntityMid"):
                entity = freebase(str(mid), self.ids)
                name = str(parse.get("TopicEntityName") or "")
                found.setdefault(entity, link(entity, name, text, str(parse.get("PotentialTopicEntityMention") or "")))
        return tuple(found.values())

    def _answer(self, answer: dict[str, Any], where: str) -> str:
        value = text_of(answer, "AnswerArgument", where)
        return freebase(value, self.ids) if answer.get("AnswerType") == "Entity" else value


def _list(parse: dict[str, Any], field: str, where: str) -> list[dict[str, Any]]:
    return fields.items(parse.get(field) or [], where, field, object_of)
