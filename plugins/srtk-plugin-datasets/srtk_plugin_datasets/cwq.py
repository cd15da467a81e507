"""The ``cwq`` dataset as published: questions with SPARQL over Freebase (Talmor and Berant 2018, N18-1059)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import Link, Path, Question, Step
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, kept, read_records, text_of
from srtk_plugin_datasets.ids import FreebaseIds, freebase, is_freebase_entity
from srtk_plugin_datasets.query import read_query
from srtk_plugin_datasets.question_sets import LinkedSet

_KNOWN = ("ID", "question", "answers")  # Fields that become parts of the question; others are kept as they are.


@attrs.define
class CWQ(LinkedSet):
    """Questions with Freebase mids: entities and gold paths from the SPARQL, answers with their names.

    The files have no names and spans of entities, so the links have none either. A query that cannot be parsed gives
    no gold paths.

    Attributes:
        path: `ComplexWebQuestions_<split>.json`, or its folder.
            By default the folder of the set under `SRTK_DATA` or `data`.
        split: train, dev or test, if path is a folder.
        ids: `dot` for m.02mjmr and people.person.children, `slash` for /m/02mjmr and /people/person/children.
    """

    split: str = "dev"
    ids: FreebaseIds = "dot"

    def _files(self) -> list[FilePath]:
        return find(located(self.path, "cwq"), [f"ComplexWebQuestions_{self.split}*.json", f"{self.split}.json"])

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        for where, record in read_records(file):
            entities, paths = self._gold(_text(record.get("sparql"), where, "sparql"))
            answers, names = self._answers(record.get("answers"), where)
            extra = {"topic_entities": list(entities)} | ({"answer_names": names} if names else {})
            yield (
                where,
                Question(
                    id=text_of(record, "ID", where),
                    text=text_of(record, "question", where).strip(),
                    links=tuple(Link(entity) for entity in entities),
                    answers=answers,
                    gold_paths=paths,
                    extra={**extra, **kept(record, _KNOWN)},
                ),
            )

    def _gold(self, sparql: str) -> tuple[tuple[str, ...], tuple[Path, ...] | None]:
        query = read_query(sparql)
        entities = tuple(freebase(iri, self.ids) for iri in query.constants if is_freebase_entity(iri))
        paths = query.paths()
        if paths is None:
            return entities, None
        return entities, tuple(tuple(Step(freebase(s.relation, self.ids), s.inverse) for s in path) for path in paths)

    def _answers(self, value: Any, where: str) -> tuple[tuple[str, ...] | None, list[str]]:
        """Read a list of answers, or the format of the Hugging Face hub: an object of lists."""
        if value is None:
            return None, []
        if isinstance(value, dict):
            ids = fields.items(value.get("answer_id"), where, "answers.answer_id", _text)
            names = fields.items(value.get("answer") or [], where, "answers.answer", _text)
        else:
            rows = fields.items(value, where, "answers", lambda row, *_: row if isinstance(row, dict) else {})
            ids = [_text(row.get("answer_id"), where, "answers.answer_id") for row in rows]
            names = [_text(row.get("answer"), where, "answers.answer") for row in rows]
        found = [freebase(id_, self.ids) if id_[:2] in ("m.", "g.") else id_ for id_ in ids]
        return tuple(dict.fromkeys(answer for answer in found if answer)), [name for name in names if name]


def _text(value: Any, where: str, field: str) -> str:
    return "" if value is None else fields.string(value, where, field)
