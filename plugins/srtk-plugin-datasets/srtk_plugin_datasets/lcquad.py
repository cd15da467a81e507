"""The ``lcquad1`` dataset: SPARQL over DBpedia (Trivedi et al. 2017, doi:10.1007/978-3-319-68204-4_22)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Literal

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import Question
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, kept, read_records, text_of, texts_of
from srtk_plugin_datasets.ids import shortened
from srtk_plugin_datasets.query import read_gold, topic_links
from srtk_plugin_datasets.question_sets import LinkedSet

_KNOWN = ("_id", "id", "corrected_question", "question", "sparql_query", "sparql", "answer_entities", "topic_entities")


@attrs.define
class LCQuAD(LinkedSet):
    """Questions with DBpedia ids: entities and gold paths from the SPARQL.

    The published files have no answers. Records with `answer_entities` (IRIs), such as the results of the SPARQL on a
    graph, have these.

    Attributes:
        path: `train-data.json` or `test-data.json`, JSON Lines of the same records, or their folder.
            By default the folder of the set under `SRTK_DATA` or `data`.
        split: train or test, if path is a folder.
        prefixes: Namespace IRIs by prefix, as in the graph; dbr, dbo and dbp by default, `{}` for whole IRIs.
        relations: As `written`, or with DBpedia's two namespaces of properties mapped to `ontology` or to `property`.
    """

    split: str = "train"
    prefixes: Mapping[str, str] | None = None
    relations: Literal["written", "ontology", "property"] = "written"

    def _files(self) -> list[FilePath]:
        names = [f"{self.split}-data.json", f"{self.split}.json", f"{self.split}.jsonl"]
        return find(located(self.path, "lcquad1"), names)

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        for where, record in read_records(file):
            text = text_of(record, _first(record, "corrected_question", "question"), where).strip()
            sparql = text_of(record, _first(record, "sparql_query", "sparql"), where)
            found = read_gold(sparql, self.prefixes, self.relations)
            answers: tuple[str, ...] | None = None
            if record.get("answer_entities") is not None:
                fields.items(record["answer_entities"], where, "answer_entities", fields.string)
                answers = tuple(shortened(iri, self.prefixes) for iri in texts_of(record, "answer_entities", where))
            extra: dict[str, Any] = {"topic_entities": [id_ for id_, _ in found.entities], "form": found.form}
            yield (
                where,
                Question(
                    id=text_of(record, _first(record, "_id", "id"), where),
                    text=text,
                    links=topic_links(found, text),
                    answers=answers,
                    gold_paths=found.paths,
                    extra={**kept(record, _KNOWN), **extra, "sparql": sparql},
                ),
            )


def _first(record: Mapping[str, Any], usual: str, other: str) -> str:
    """Return the name of a field in a record: the usual name unless only the other is present."""
    return other if usual not in record and other in record else usual
