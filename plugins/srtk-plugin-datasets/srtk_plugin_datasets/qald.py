"""The ``qald`` dataset: multilingual questions with SPARQL over DBpedia or Wikidata, from QALD-7 to QALD-10.

Usbeck et al. 2018 (QALD-9), Perevalov et al. 2022 (QALD-9-plus), Usbeck et al. 2023 (QALD-10).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import Literal, Question
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, kept, object_of, read_records, text_of
from srtk_plugin_datasets.ids import shortened
from srtk_plugin_datasets.query import read_gold, topic_links
from srtk_plugin_datasets.question_sets import LinkedSet

_KNOWN = ("id", "question", "query", "answers")


@attrs.define
class QALD(LinkedSet):
    """Questions with ids of DBpedia or Wikidata: entities and gold paths from the SPARQL, answers of all kinds.

    Answers to yes-no and counting questions are not nodes of a graph. Such questions have no answers and are not
    scored by answer; the field `answer_values` has the value. Questions without the wanted language are left out.

    Attributes:
        path: The JSON file, or a folder with one JSON file whose name contains the split.
        split: train or test, if path is a folder.
        language: Language of the text: en, de, ru, zh, fr, ...
        prefixes: Namespace IRIs by prefix, as in the graph; by default Wikidata's ids are bare (Q937, P31) and
            DBpedia's have the prefixes dbr, dbo and dbp; `{}` for whole IRIs.
    """

    split: str = "test"
    language: str = "en"
    prefixes: Mapping[str, str] | None = None

    def _files(self) -> list[FilePath]:
        place = located(self.path, "qald9", "qald9plus-dbpedia", "qald9plus-wikidata", "qald10")
        return find(place, [f"qald*{self.split}*.json", "qald_10.json", f"*{self.split}*.json"])[:1]

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        for where, record in read_records(file, "questions"):
            text = self._text(record, where)
            if text is None:
                continue
            query = record.get("query")
            sparql = query.get("sparql") if isinstance(query, dict) else None
            found = read_gold(fields.string(sparql, where, "query.sparql") if sparql else "", self.prefixes)
            values = list(dict.fromkeys(self._values(record, where)))
            boolean = any("boolean" in answer for answer in _answers(record, where))
            nodes = found.form == "select" and not boolean and record.get("answers") is not None
            extra: dict[str, Any] = {"topic_entities": [id_ for id_, _ in found.entities], "form": found.form}
            if not nodes and values:
                extra["answer_values"] = [v.lexical if isinstance(v, Literal) else v for v in values]
            yield (
                where,
                Question(
                    id=text_of(record, "id", where),
                    text=text,
                    links=topic_links(found, text),
                    answers=tuple(values) if nodes else None,
                    gold_paths=found.paths,
                    extra={**kept(record, _KNOWN), **extra, **({"sparql": sparql} if sparql else {})},
                ),
            )

    def _text(self, record: dict[str, Any], where: str) -> str | None:
        """Return the first text in the language, or None."""
        for wording in fields.items(record.get("question"), where, "question", object_of):
            same = str(wording.get("language")).replace("_", "-").lower() == self.language.replace("_", "-").lower()
            # Of a few translations QALD-9 has the keywords alone.
            if same and wording.get("string") is not None:
                return text_of(wording, "string", where).strip()
        return None

    def _values(self, record: dict[str, Any], where: str) -> Iterator[str]:
        """Read the bindings of SPARQL's JSON results: entities short, literals typed."""
        for answer in _answers(record, where):
            if "boolean" in answer:
                yield Literal.make(str(answer["boolean"]).lower(), "xsd:boolean")
            results = object_of(answer.get("results") or {}, where, "answers.results")
            for binding in fields.items(results.get("bindings") or [], where, "answers.results.bindings", object_of):
                for name, term in binding.items():
                    value = object_of(term, where, f"bindings.{name}")
                    text = text_of(value, "value", where)
                    if value.get("type") in ("literal", "typed-literal"):
                        datatype, language = value.get("datatype"), value.get("xml:lang")
                        yield Literal.make(
                            text,
                            None if datatype is None else fields.string(datatype, where, f"bindings.{name}.datatype"),
                            None if language is None else fields.string(language, where, f"bindings.{name}.xml:lang"),
                        )
                    else:
                        yield shortened(text, self.prefixes)


def _answers(record: dict[str, Any], where: str) -> list[dict[str, Any]]:
    return fields.items(record.get("answers") or [], where, "answers", object_of)
