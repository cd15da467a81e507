"""The ``wc2014`` dataset: WorldCup2014, over a football graph (Zhang et al. 2016, "Gaussian Attention Model").

The files are from the Interpretable Reasoning Network (Zhou et al. 2018, arXiv:1801.04726).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Literal

import attrs

from srtk_framework.records import read_lines
from srtk_framework.values import InputError, Path, Question, Step, Triple
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.facts import Facts, read_triples
from srtk_plugin_datasets.files import link, present
from srtk_plugin_datasets.question_sets import LinkedSet

_FILES = {"1-hop": "WC-P1.txt", "2-hop": "WC-P2.txt", "mixed": "WC-P.txt", "conjunctive": "WC-C.txt"}
_CHECK = "check the settings path and kind, or set gold_triples: false"


@attrs.define
class WorldCup2014(LinkedSet):
    """Questions about players of the 2014 World Cup, with topic entities, answers, gold paths and gold triples.

    Attributes:
        path: Folder with `WC2014.txt` (the graph) and `WC-P1.txt`, `WC-P2.txt`, `WC-P.txt` or `WC-C.txt`.
            By default the folder of the set under `SRTK_DATA` or `data`.
        kind: Questions with one hop, two hops, both (mixed), or two topic entities (conjunctive).
        gold_triples: Whether to find the triples of the gold paths in the graph of this folder.
    """

    kind: Literal["1-hop", "2-hop", "mixed", "conjunctive"] = "1-hop"
    gold_triples: bool = True

    def _files(self) -> list[FilePath]:
        return [present(FilePath(located(self.path, "wc2014")) / _FILES[self.kind], _CHECK)]

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        graph = file.with_name("WC2014.txt")
        facts = Facts(read_triples(present(graph, _CHECK))) if self.gold_triples else None
        for number, line in read_lines(file):
            where = f"{file}:{number}"
            question, walks = _question(line, where, f"wc2014-{self.kind}-{number}")
            if facts:
                gold: dict[Triple, None] = {}
                for topic, path in walks:
                    gold.update(dict.fromkeys(facts.gold(topic, path, question.answers or ())))
                question = attrs.evolve(question, gold_triples=tuple(gold))
            yield where, question


def _question(line: str, where: str, id_: str) -> tuple[Question, list[tuple[str, Path]]]:
    """Read a line; return the question, and each topic entity with its path."""
    cells = line.split("\t")
    if len(cells) < 4:
        raise InputError(
            f"{where}: expected question, answer, path and all answers with tabs between them, found {len(cells)} parts"
        )
    text = cells[0].strip()
    walks = [_walk(part, where) for part in cells[2].strip().split("*")]
    answers = tuple(dict.fromkeys(answer for answer in cells[3].strip().split("/") if answer))
    if not answers:
        raise InputError(f"{where}: expected answers as first/second/, found {cells[3]!r}")
    topics = tuple(dict.fromkeys(topic for topic, _ in walks))
    question = Question(
        id=id_,
        text=text,
        links=tuple(link(topic, topic, text) for topic in topics),
        answers=answers,
        gold_paths=tuple(dict.fromkeys(path for _, path in walks)),
        extra={"topic_entities": list(topics)},
    )
    return question, walks


def _walk(part: str, where: str) -> tuple[str, Path]:
    """Read ``topic#relation#node#relation#node``; the answer is repeated after ``<end>``."""
    nodes = part.split("#<end>")[0].split("#")
    if len(nodes) < 3 or len(nodes) % 2 == 0 or not all(nodes):
        raise InputError(f"{where}: expected a path as topic#relation#node..., found {part!r}")
    return nodes[0], tuple(Step(relation) for relation in nodes[1::2])
