"""Read SimpleQuestions: one-fact questions over Freebase (Bordes et al. 2015) or Wikidata (Diefenbach et al. 2017)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Literal

import attrs

from srtk_framework.records import read_lines
from srtk_framework.roles import Dataset
from srtk_framework.values import InputError, Link, Question, Step, Triple
from srtk_plugin_datasets.files import find, finished
from srtk_plugin_datasets.ids import FreebaseIds, freebase

_ITEM, _PROPERTY = re.compile(r"Q\d+"), re.compile(r"[PR]\d+")
_FREEBASE = ("www.freebase.com/", "fb:")


@attrs.define
class SimpleQuestions(Dataset):
    """Questions that one fact answers, with that fact as gold triple and gold path.

    The file gives one answer for each question; other objects of the same relation are right as well, and are not
    known here. There are no names: a question is linked by id, without a place in the text.

    Attributes:
        path: File, or a folder with `annotated_fb_data_<split>.txt` or `annotated_wd_data_<split>.txt`.
        graph: Which of the two to read, where path is a folder; a line itself tells which it is.
        split: train, valid or test, where path is a folder.
        answerable: Read `annotated_wd_data_<split>_answerable.txt`, where path is a folder.
        ids: `dot` for m.02mjmr and people.person.children, `slash` for /m/02mjmr and /people/person/children.
        given: Give the topic entity as a link; false gives the text alone, so that it is linked.
        limit: How many questions to take; all by default.
        seed: Which ones a limit takes; null for the first ones.
    """

    path: str
    graph: Literal["freebase", "wikidata"] = "freebase"
    split: str = "valid"
    answerable: bool = False
    ids: FreebaseIds = "dot"
    given: bool = True
    limit: int | None = None
    seed: int | None = 0

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file."""
        kind = "fb" if self.graph == "freebase" else "wd"
        part = f"{self.split}_answerable" if self.answerable and kind == "wd" else self.split
        (file,) = find(self.path, [f"annotated_{kind}_data_{part}.txt"])
        return finished(self._questions(file), self.limit, self.seed, self.given)

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
        """Read the three ids; ``R19`` is ``P19`` against its direction."""
        cells = (topic, relation, answer)
        if all(cell.startswith(_FREEBASE) for cell in cells):
            ids = [freebase(cell, self.ids) for cell in cells]
            return ids[0], Step(ids[1]), ids[2]
        if _ITEM.fullmatch(topic) and _PROPERTY.fullmatch(relation) and _ITEM.fullmatch(answer):
            return topic, Step("P" + relation[1:], relation[0] == "R"), answer
        raise InputError(
            f"{where}: expected www.freebase.com/m/... or Q... with P... or R..., found {' '.join(cells)!r}"
        )
