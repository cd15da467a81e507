"""The ``gtsqa`` dataset: questions over Wikidata with their gold subgraph (Cattaneo et al. 2025, arXiv:2511.04473)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, Literal

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import InputError, Path, Question, Triple
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, kept, link, read_records, text_of
from srtk_plugin_datasets.query import shortest_paths
from srtk_plugin_datasets.question_sets import LinkedSet

_LABELLED = re.compile(r"(?:(?P<label>.*) \()?(?P<id>[QP]\d+)\)?", re.DOTALL)
_KNOWN = ("id", "question", "paraphrased_question", "seed_entities", "answer_node", "answer_subgraph", "graph")
_ALL = ("all_answers_wikikg2", "full_answer_subgraph_wikikg2")


@attrs.define
class GTSQA(LinkedSet):
    """Questions with seed entities, answers and the triples that answer them, with Wikidata ids.

    Attributes:
        path: File (Parquet, JSON Lines or JSON), or a folder with `gtsqa/<split>.parquet` or
            `gtsqa-with-graphs/<split>-*.parquet`. By default the folder of the set under `SRTK_DATA` or `data`.
        split: train or test, if path is a folder.
        gold: `all` answers in the graph ogbl-wikikg2 with all triples that lead to them, or the `one` answer and
            subgraph that the question was made from.
    """

    split: str = "test"
    gold: Literal["all", "one"] = "all"

    def _files(self) -> list[FilePath]:
        return gtsqa_files(located(self.path, "gtsqa"), self.split)

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        for where, record in read_records(file):
            text = text_of(record, "question", where).strip()
            seeds = dict(fields.items(record.get("seed_entities"), where, "seed_entities", labelled))
            one, answer_name = labelled(record.get("answer_node"), where, "answer_node")
            subgraph = _triples(record, "answer_subgraph", where)
            answers, triples = self._gold(record, where, one, subgraph)
            paths: dict[Path, None] = {}
            for start in seeds:
                paths.update(dict.fromkeys(shortest_paths(subgraph, start, one)))
            extra = {"topic_entities": list(seeds), "answer_names": [answer_name] if answer_name else []}
            yield (
                where,
                Question(
                    id=text_of(record, "id", where),
                    text=text,
                    links=tuple(link(entity, name, text) for entity, name in seeds.items()),
                    answers=answers,
                    gold_paths=tuple(paths) or None,
                    gold_triples=triples,
                    extra={**extra, **kept(record, (*_KNOWN, *_ALL))},
                ),
            )

    def _gold(
        self, record: dict[str, Any], where: str, one: str, subgraph: tuple[Triple, ...]
    ) -> tuple[tuple[str, ...], tuple[Triple, ...]]:
        """Return the gold answers and triples; by default, of the question itself."""
        answers: tuple[str, ...] = (one,)
        triples = subgraph
        if self.gold == "all":
            found = fields.items(record.get(_ALL[0]) or [], where, _ALL[0], labelled)
            answers = tuple(dict.fromkeys(id_ for id_, _ in found)) or answers
            triples = _triples(record, _ALL[1], where) or triples
        return answers, triples


def gtsqa_files(path: str, split: str) -> list[FilePath]:
    """Find the files of a split in the layout of the Hugging Face hub."""
    names = (f"gtsqa/{split}.parquet", f"{split}.parquet", f"gtsqa-with-graphs/{split}-*.parquet", f"{split}-*.parquet")
    return find(path, (*names, f"{split}.jsonl", f"{split}.json"))


def labelled(value: Any, where: str, field: str) -> tuple[str, str]:
    """Read ``label (Q42)``, or a bare id; return id and label."""
    text = fields.string(value, where, field)
    found = _LABELLED.fullmatch(text)
    if found is None:
        raise InputError(f"{where}: field {field!r} must be a label with an id, such as 'Italy (Q38)', not {text!r}")
    return found["id"], found["label"] or ""


def _cells(value: Any, where: str, field: str) -> list[tuple[str, str]]:
    return fields.items(value, where, field, labelled)


def _triples(record: dict[str, Any], field: str, where: str) -> tuple[Triple, ...]:
    """Read rows of subject, relation and object."""
    found = []
    for cells in fields.items(record.get(field) or [], where, field, _cells):
        if len(cells) != 3:
            raise InputError(f"{where}: field {field!r} must hold subject, relation, object; found {len(cells)} parts")
        found.append(Triple(*(id_ for id_, _ in cells)))
    return tuple(dict.fromkeys(found))
