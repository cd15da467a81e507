"""The ``metaqa`` dataset: questions about films over 1 to 3 hops (Zhang et al. 2018, arXiv:1709.04071)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise, zip_longest
from pathlib import Path as FilePath
from typing import Literal

import attrs

from srtk_framework.records import read_lines
from srtk_framework.values import InputError, Link, Path, Question, Step
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.facts import Facts, read_triples
from srtk_plugin_datasets.files import unlinked
from srtk_plugin_datasets.question_sets import SampledSet

_RELATIONS = {
    "actor": "starred_actors",
    "director": "directed_by",
    "genre": "has_genre",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
    "language": "in_language",
    "tag": "has_tags",
    "tags": "has_tags",
    "writer": "written_by",
    "year": "release_year",
}
_FILM = "movie"  # Every relation of the graph leads from a film.
_TOPIC = re.compile(r"\[([^\[\]]+)\]")  # The set marks the topic by square brackets.


@attrs.define
class MetaQA(SampledSet):
    """Questions about films, with topic entity, answers, gold path and gold triples.

    Attributes:
        path: Folder with `1-hop`, `2-hop`, `3-hop` and the graph (`kb.txt`, or `kb_*.txt`).
            By default the folder of the set under `SRTK_DATA` or `data`.
        hops: Steps from the topic entity to the answers: 1, 2, 3, or `all` of them in turn.
        split: train, dev or test: `qa_<split>.txt`.
        given: Return the topic entity as a link; false gives the text only, to be linked in the run.
        answers: `all`; `reachable`: those that the gold path reaches in the graph of this folder; or `complete`: only
            questions whose answers it reaches all.
        gold_triples: Whether to find the triples of the gold path in the graph of this folder.
    """

    path: str | None = None
    hops: Literal[1, 2, 3, "all"] = 2
    split: str = "dev"
    given: bool = True
    answers: Literal["all", "reachable", "complete"] = "all"
    gold_triples: bool = True
    _graph: Facts | None = attrs.field(init=False, default=None, repr=False, eq=False)

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file."""
        numbers = (1, 2, 3) if self.hops == "all" else (self.hops,)
        files = [(hops, *self._files(hops)) for hops in numbers]
        facts = self._facts() if self.gold_triples or self.answers != "all" else None
        questions = (question for hops, texts, types in files for question in self._questions(hops, texts, types))
        if facts is not None and self.answers == "complete":
            questions = (question for question in questions if _complete(question, facts))
        for question in self._sampled(questions):
            yield self._finished(question, facts)

    def _files(self, hops: int) -> tuple[FilePath, FilePath]:
        """Find the file of questions and the file of their types."""
        folder = FilePath(located(self.path, "metaqa")) / f"{hops}-hop"
        files = (folder / f"qa_{self.split}.txt", folder / f"qa_{self.split}_qtype.txt")
        for file in files:
            if not file.is_file():
                raise InputError(f"{file}: no such file; check the settings path, hops and split")
        return files

    def _questions(self, hops: int, texts: FilePath, types: FilePath) -> Iterator[Question]:
        """Read all questions, each linked to its topic entity."""
        for line, kind in zip_longest(read_lines(texts), read_lines(types)):
            if line is None or kind is None:
                longer, number = (types, kind[0]) if line is None else (texts, line[0])
                raise InputError(f"{longer}:{number}: {texts.name} and {types.name} must have the same number of lines")
            path = _gold_path(kind[1].strip(), f"{types}:{kind[0]}")
            if len(path) != hops:
                raise InputError(f"{types}:{kind[0]}: type {kind[1]!r} has {len(path)} hops, not {hops}")
            name = f"metaqa-{hops}-{self.split}-{line[0]}"
            yield _question(line[1], f"{texts}:{line[0]}", name, path, kind[1].strip())

    def _facts(self) -> Facts:
        """Read the graph of the folder, once for all reads of the questions."""
        if self._graph is not None:
            return self._graph
        folder = FilePath(located(self.path, "metaqa"))
        files = [folder / "kb.txt"] if (folder / "kb.txt").is_file() else sorted(folder.glob("kb_*.txt"))
        if not files:
            raise InputError(f"{folder}: no kb.txt and no kb_*.txt here; add the graph, or set gold_triples: false")
        self._graph = Facts(triple for file in files for triple in read_triples(file, "|"))
        return self._graph

    def _finished(self, question: Question, facts: Facts | None) -> Question:
        topic, paths = question.links[0].entity, question.gold_paths or ()
        if facts and self.answers == "reachable":
            reached = facts.reached(topic, paths[0])
            answers = tuple(answer for answer in question.answers or () if answer in reached)
            question = attrs.evolve(question, answers=answers)
        if facts and self.gold_triples:
            question = attrs.evolve(question, gold_triples=facts.gold(topic, paths[0], question.answers or ()))
        return question if self.given else unlinked(question)


def _complete(question: Question, facts: Facts) -> bool:
    """Return whether there are answers and the gold path reaches all of them."""
    answers = question.answers or ()
    return bool(answers) and facts.reached(question.links[0].entity, (question.gold_paths or ())[0]).issuperset(answers)


def _gold_path(kind: str, where: str) -> Path:
    """Read a question type such as ``movie_to_director_to_movie``: one step between two adjacent types."""
    things = kind.split("_to_")
    for thing in things:
        if thing != _FILM and thing not in _RELATIONS:
            raise InputError(f"{where}: unknown entity type {thing!r} in question type {kind!r}")
    steps = []
    for start, end in pairwise(things):
        if (start == _FILM) == (end == _FILM):
            raise InputError(f"{where}: no relation leads from {start!r} to {end!r} in question type {kind!r}")
        steps.append(Step(_RELATIONS[end]) if start == _FILM else Step(_RELATIONS[start], True))
    return tuple(steps)


def _question(line: str, where: str, id_: str, path: Path, kind: str) -> Question:
    text, tab, cell = line.partition("\t")
    if not tab:
        raise InputError(f"{where}: expected a question, a tab and answers")
    topics = list(_TOPIC.finditer(text))
    if len(topics) != 1:
        raise InputError(f"{where}: expected one topic entity in square brackets, found {len(topics)}")
    name, start = topics[0][1], topics[0].start()
    words = text[:start] + name + text[topics[0].end() :]
    shift = len(words) - len(words.lstrip())
    return Question(
        id=id_,
        text=words.strip(),
        links=(Link(name, start=start - shift, end=start - shift + len(name), name=name),),
        answers=tuple(dict.fromkeys(answer for answer in cell.split("|") if answer)),
        gold_paths=(path,),
        extra={"topic_entity": name, "type": kind},
    )
