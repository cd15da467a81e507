"""The ``simplequestions`` dataset: facts of Freebase (Bordes et al. 2015) or Wikidata (Diefenbach et al. 2017)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Literal

import attrs

from srtk_framework.records import read_lines
from srtk_framework.values import InputError, Link, Question, Step, Triple
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find
from srtk_plugin_datasets.ids import FreebaseIds, freebase
from srtk_plugin_datasets.question_sets import LinkedSet

_ITEM, _PROPERTY = re.compile(r"Q\d+"), re.compile(r"[PR]\d+")
_FREEBASE = ("www.freebase.com/", "fb:")  # Spellings of published versions.


@attrs.define
class SimpleQuestions(LinkedSet):
    """Questions answered by one fact, which is the gold triple and the gold path.

    The files have one answer per question, though other objects of the relation may be right as well. They have no
    names, so links have an id but no span.

    Attributes:
        path: File, or a folder with `annotated_fb_data_<split>.txt` or `annotated_wd_data_<split>.txt`.
            By default the folder of the set under `SRTK_DATA` or `data`.
        graph: Graph whose file to read, if path is a folder; the format of a line is detected.
        split: train, valid or test, if path is a folder.
        answerable: Whether to read `annotated_wd_data_<split>_answerable.txt`, if path is a folder.
        ids: `dot` for m.02mjmr and people.person.children, `slash` for /m/02mjmr and /people/person/children.
    """

    graph: Literal["freebase", "wikidata"] = "freebase"
    split: str = "valid"
    answerable: bool = False
    ids: FreebaseIds = "dot"

    def _files(self) -> list[FilePath]:
        kind = "fb" if self.graph == "freebase" else "wd"
        part = f"{self.split}_answerable" if self.answerable and kind == "wd" else self.split
        return find(located(self.path, "simplequestions"), [f"annotated_{kind}_data_{part}.txt"])

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        name = file.name.split(".")[0].removeprefix("annotated_").replace("_data_", "-")
        for number, line in read_lines(file):
            where = f"{file}:{number}"
            cells = line.split("\t")
            if len(cells) != 4:
                raise InputError(
                    f"{where}: expected subject, relation, object and question with tabs between them,"
                    f" found {len(cells)} parts"
                )
            topic, step, answer = self._fact(cells[0].strip(), cells[1].strip(), cells[2].strip(), where)
            triple = Triple(answer, step.relation, topic) if step.inverse else Triple(topic, step.relation, answer)
            yield (
                where,
                Question(
                    id=f"simplequestions-{name}-{number}",
                    text=cells[3].strip(),
                    links=(Link(topic),),
                    answers=(answer,),
                    gold_paths=((step,),),
                    gold_triples=(triple,),
                    extra={"topic_entities": [topic]},
                ),
            )

    def _fact(self, topic: str, relation: str, answer: str, where: str) -> tuple[str, Step, str]:
        """Read the three ids; ``R19`` is the inverse of ``P19``."""
        cells = (topic, relation, answer)
        if all(cell.startswith(_FREEBASE) for cell in cells):
            ids = [freebase(cell, self.ids) for cell in cells]
            return ids[0], Step(ids[1]), ids[2]
        if _ITEM.fullmatch(topic) and _PROPERTY.fullmatch(relation) and _ITEM.fullmatch(answer):
            return topic, Step("P" + relation[1:], relation[0] == "R"), answer
        raise InputError(
            f"{where}: expected www.freebase.com/m/... or Q... with P... or R..., found {' '.join(cells)!r}"
        )
