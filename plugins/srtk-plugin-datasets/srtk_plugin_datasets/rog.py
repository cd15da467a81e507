"""The ``rog`` dataset: WebQSP and CWQ with a graph per question, in the format of RoG and SubgraphRAG.

The sets are `rmanluo/RoG-webqsp` and `rmanluo/RoG-cwq` on the Hugging Face hub (Luo et al. 2024, arXiv:2310.01061).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import Path, Question, Triple
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import Record, find, finished, kept, link, read_records, text_of, texts_of
from srtk_plugin_datasets.question_sets import SampledSet

_KNOWN = ("id", "question", "q_entity", "a_entity", "answer", "graph", "choices", "ground_paths", "triples")
_OUTPUT = ("prediction", "input", "raw_output")  # Model outputs in RoG's results, which are not part of a question.


@attrs.define
class RoG(SampledSet):
    """WebQSP or CWQ in RoG's format: entities are names, and each question has its own graph.

    Entities are names throughout, as in the graphs; only mediator nodes have mids.

    Attributes:
        path: File (Parquet, JSON Lines or JSON), or a folder with `data/<split>-*.parquet`, `<split>-*.parquet`,
            `<split>.jsonl` or `<split>.json`. By default the folder of the set under `SRTK_DATA` or `data`.
        split: train, validation or test, if path is a folder.
        gold_paths: JSON Lines with id and `ground_paths`, as RoG writes them.
        gold_triples: JSON Lines with id and `triples`, as in SubgraphRAG's labelled triples.
        given: Return the question's entities as links; false gives the text only, to be linked in the run.
    """

    path: str | None = None
    split: str = "test"
    gold_paths: str | None = None
    gold_triples: str | None = None
    given: bool = True

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the files."""
        files = split_files(located(self.path, "rog"), self.split)
        paths = _joined(self.gold_paths, "ground_paths")
        triples = _joined(self.gold_triples, "triples")
        return finished(self._questions(files, paths, triples), self.limit, self.seed, self.given)

    def _questions(
        self, files: list[FilePath], paths: dict[str, Record], triples: dict[str, Record]
    ) -> Iterator[tuple[str, Question]]:
        for file in files:
            for where, record in read_records(file):
                id_ = text_of(record, "id", where)
                text = text_of(record, "question", where).strip()
                topics = texts_of(record, "q_entity", where)
                known = [name for name in ("a_entity", "answer") if record.get(name) is not None]
                extra: dict[str, Any] = {"topic_entities": list(topics)} if topics else {}
                if "answer" in known:
                    extra["answer_names"] = list(texts_of(record, "answer", where))
                yield (
                    where,
                    Question(
                        id=id_,
                        text=text,
                        links=tuple(link(topic, topic, text) for topic in topics),
                        answers=texts_of(record, "a_entity", where) if known else None,
                        gold_paths=_paths(*paths.get(id_, (where, record))),
                        gold_triples=_triples(*triples.get(id_, (where, record))),
                        options=texts_of(record, "choices", where),
                        extra={**extra, **kept(record, (*_KNOWN, *_OUTPUT))},
                    ),
                )


def split_files(path: str, split: str) -> list[FilePath]:
    """Find the files of a split in the layout of the Hugging Face hub."""
    names = (f"data/{split}-*.parquet", f"{split}-*.parquet", f"{split}.parquet", f"{split}.jsonl", f"{split}.json")
    return find(path, names)


def question_graphs(files: Iterable[FilePath]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the position and the rows of the graph of each question."""
    for file in files:
        for where, record in read_records(file):
            yield where, fields.items(record.get("graph"), where, "graph", lambda row, *_: row)


def _joined(path: str | None, field: str) -> dict[str, Record]:
    """Read a separate file with a field of each question."""
    if path is None:
        return {}
    found = {}
    for where, record in read_records(FilePath(path)):
        fields.items(record.get(field), where, field, lambda value, *_: value)
        found[text_of(record, "id", where)] = (where, record)
    return found


def _paths(where: str, record: dict[str, Any]) -> tuple[Path, ...] | None:
    found = fields.items(record.get("ground_paths") or [], where, "ground_paths", fields.path)
    return tuple(dict.fromkeys(path for path in found if path)) or None


def _triples(where: str, record: dict[str, Any]) -> tuple[Triple, ...] | None:
    found = fields.items(record.get("triples") or [], where, "triples", fields.triple)
    return tuple(dict.fromkeys(found)) or None
