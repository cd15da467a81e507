"""The ``pathquestion`` dataset: PathQuestion and PathQuestion-Large (Zhou et al. 2018, arXiv:1801.04726)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Literal

import attrs

from srtk_framework.records import read_lines
from srtk_framework.values import InputError, Link, Question, Step
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.facts import Facts, read_triples
from srtk_plugin_datasets.files import present, unlinked
from srtk_plugin_datasets.question_sets import SampledSet

_END = "<end>"  # Stands before the answer, which the path has already reached.
_CHECK = "check the settings path, hops and large, or set gold_triples: false"


@attrs.define
class PathQuestion(SampledSet):
    """Questions about people with 2 or 3 hops, with topic entity, answers, gold path and gold triples.

    Attributes:
        path: Folder with `PQ-2H.txt`, `2H-kb.txt` and the other files.
            By default the folder of the set under `SRTK_DATA` or `data`.
        hops: Steps from the topic entity to the answers: 2 or 3.
        large: Whether to read PathQuestion-Large (`PQL-2H.txt`, `PQL2-KB.txt`).
        given: Return the topic entity as a link; false gives the text only, to be linked in the run.
        gold_triples: Whether to find the triples of the gold path in the graph of this folder.
    """

    path: str | None = None
    hops: Literal[2, 3] = 2
    large: bool = False
    given: bool = True
    gold_triples: bool = True

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file."""
        folder = FilePath(located(self.path, "pathquestion"))
        graph = folder / (f"PQL{self.hops}-KB.txt" if self.large else f"{self.hops}H-kb.txt")
        facts = Facts(read_triples(present(graph, _CHECK))) if self.gold_triples else None
        for question in self._sampled(self._questions(folder)):
            yield self._finished(question, facts)

    def _questions(self, folder: FilePath) -> Iterator[Question]:
        """Read all questions, each linked to its topic entity."""
        name = "PQL" if self.large else "PQ"
        file = present(folder / f"{name}-{self.hops}H.txt", _CHECK)
        for number, line in read_lines(file):
            yield _question(line, f"{file}:{number}", f"{name.lower()}-{self.hops}-{number}", self.hops)

    def _finished(self, question: Question, facts: Facts | None) -> Question:
        if facts and question.gold_paths:
            topic = question.links[0].entity
            gold = facts.gold(topic, question.gold_paths[0], question.answers or ())
            question = attrs.evolve(question, gold_triples=gold)
        return question if self.given else unlinked(question)


def _question(line: str, where: str, id_: str, hops: int) -> Question:
    cells = line.split("\t")
    if len(cells) != 3:
        raise InputError(
            f"{where}: expected question, answers and path with tabs between them, found {len(cells)} parts"
        )
    text = cells[0].strip()
    # After the last node, PQ has `<end>` and the answer again, PQL only the answer.
    walked = cells[2].split(_END)[0].rstrip("#").split("#")[: 2 * hops + 1]
    if len(walked) != 2 * hops + 1 or not all(walked):
        raise InputError(f"{where}: expected a path of {hops} hops, topic#relation#node..., found {cells[2]!r}")
    topic = walked[0]
    start = text.find(topic)
    known = start >= 0
    return Question(
        id=id_,
        text=text,
        links=(Link(topic, start=start if known else None, end=start + len(topic) if known else None, name=topic),),
        answers=_answers(cells[1].strip(), where),
        gold_paths=(tuple(Step(relation) for relation in walked[1::2]),),
        extra={"topic_entity": topic},
    )


def _answers(cell: str, where: str) -> tuple[str, ...]:
    """Read ``first(first/second/)``; names may contain brackets, so the list starts where the first is repeated."""
    for i, char in enumerate(cell):
        if char == "(" and cell.endswith(")") and cell[i + 1 :].startswith(cell[:i] + "/"):
            return tuple(dict.fromkeys(answer for answer in cell[i + 1 : -1].split("/") if answer))
    head, bracket, rest = cell.partition("(")
    if not head or not bracket or not rest.endswith(")"):
        raise InputError(f"{where}: expected answers as first(first/second/), found {cell!r}")
    return tuple(dict.fromkeys(answer for answer in rest[:-1].split("/") if answer))
