"""The ``patterns`` path scorer: how often the paths of training questions go on by a step."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar

import attrs
import numpy as np

from srtk_framework.records import read_model, write_model
from srtk_framework.roles import PLAIN, KnowledgeGraph, PathScorer, SearchSettings, TrainingTask, absent
from srtk_framework.text import fold, unnamed_entities, without_mentions, words
from srtk_framework.values import SCORE_DIGITS, DriverError, Path, Question, Step, TrainingExample
from srtk_plugin_patterns.path_shares import LearntPath, PathLesson, PathShares, Tuning, learn, tune

FILE = "path_shares.json"  # File of what was learnt in the folder of the model.
VERSION = 1
_LOST = 0.05  # Share of the questions whose path the margins of a search may lose.


@attrs.frozen
class PatternFitSettings:
    """Settings of the training.

    Attributes:
        mention: Replaces the entity's mention in the question; in a recipe as in the expander, by default nothing.
    """

    mention: str | None = attrs.field(default="", metadata={"as": "expander"})


@attrs.frozen
class _Learnt:
    """Model of the scorer."""

    mention: str | None  # Text that replaced the entity's mention.
    tuning: Tuning  # Power and margins, by held-out questions.
    paths: Sequence[LearntPath]  # The paths, sorted.

    def to_json(self) -> dict[str, Any]:
        """Return the content of the file."""
        rows = [
            {"path": [str(step) for step in path.steps], "weight": path.weight, "words": dict(path.words)}
            for path in self.paths
        ]
        return {"version": VERSION, "mention": self.mention, "tuning": attrs.asdict(self.tuning), "paths": rows}

    @classmethod
    def from_json(cls, data: Any) -> _Learnt:
        """Read the content of the file.

        Raises:
            ValueError, KeyError, TypeError or AttributeError: If it is of another version, or no such content.
        """
        if data["version"] != VERSION:
            raise ValueError(f"it is of version {data['version']!r}, and this is version {VERSION}")
        paths = [
            LearntPath(
                tuple(map(Step.parse, row["path"])),
                _size(row["weight"]),
                {word: _size(weight) for word, weight in sorted(row["words"].items())},
            )
            for row in data["paths"]
        ]
        numbers: dict[str, Any] = {name: None if v is None else _size(v) for name, v in data["tuning"].items()}
        if not paths or not isinstance(data["mention"], str | None) or not all(one.weight for one in paths):
            raise ValueError("its paths or its mention are missing or broken")
        return cls(
            data["mention"], Tuning(**numbers), sorted(paths, key=lambda path: [str(step) for step in path.steps])
        )


@attrs.define(eq=False)
class PatternScorer(PathScorer):
    """Score a step by the share of training paths that go on by it, with the words of the question or without.

    The score is the log-probability that a question's path goes on from these steps by the candidate, or ends.
    It needs no neural model, and learns from a few questions. Each training question counts once, divided among its
    paths by their quality; a path of quality 0 does not count. See ``PathShares`` for the smoothing.

    No twin of a relation is held out, unlike in mining: the facts that a question asks for stand in the graph, and the
    inverse of its relation is a right way to them. The questions are held out here, not the facts.

    Attributes:
        graph: Graph that has the labels of entities, which training takes out of the questions.
        words: Multiply by the naive Bayes probability of the question's words, without the linked entity's mention.
        path: Folder of a trained model; by default the model that this run trains.
    """

    learns: ClassVar[str] = "paths"
    reuse: ClassVar[str] = "path_scorer: {use: patterns, path: FOLDER}"

    graph: KnowledgeGraph
    words: bool = True
    path: str | None = None
    _learnt: _Learnt | None = attrs.field(init=False, default=None, repr=False)
    _shares: PathShares | None = attrs.field(init=False, default=None, repr=False)
    _hash: str = attrs.field(init=False, default="untrained", repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the model exists."""
        return [] if self.path is None else absent("path", str(FilePath(self.path).expanduser() / FILE))

    def open(self) -> None:
        """Read the model in ``path``.

        Raises:
            DriverError: If it cannot be read.
        """
        if self.path is not None:
            self.load(FilePath(self.path).expanduser())

    def close(self) -> None:
        """Release the model."""
        self._learnt, self._shares, self._hash = None, None, "untrained"

    def fingerprint(self) -> str:
        """Identify the model, and whether words count."""
        return f"patterns({self.graph.fingerprint()}, words={self.words}, {self._hash})"

    def scores_end(self) -> bool:
        """Return True: a path that training has always seen go on is unlikely to end."""
        return True

    def is_trained(self) -> bool:
        """Return whether a training was read."""
        return self._learnt is not None

    def search_settings(self) -> SearchSettings:
        """Return the mention's stand-in, and margins that keep the paths of most questions; see ``tune``."""
        if self._learnt is None:
            return attrs.evolve(PLAIN, mention="")
        tuning = self._learnt.tuning
        margin = tuning.margin if self.words else tuning.plain_margin
        return attrs.evolve(PLAIN, mention=self._learnt.mention, margin=margin, hop_margin=margin)

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Return log-probabilities, rounded to four decimals."""
        if self._shares is None:
            raise DriverError(
                "the path scorer patterns has learnt nothing; train it (`train: {questions: FILE, supervision:"
                " gold-path}`) or name a trained model as `path`"
            )
        heard = {text: _words(text) if self.words else () for text in dict.fromkeys(questions)}
        rows = zip(questions, paths, candidates, strict=True)
        logs = [self._shares.logs(path, row, heard[question]) for question, path, row in rows]
        return [(np.round(row, SCORE_DIGITS) + 0.0).tolist() for row in logs]

    def fit(self, task: TrainingTask, training: PatternFitSettings) -> Mapping[str, float]:
        """Count the paths of the examples, and the words of their questions.

        Raises:
            DriverError: If no example has a path of a quality above 0.
        """
        mention = "" if training.mention == "auto" else training.mention
        lessons = [row for row in self._lessons(task.examples, mention) if row]
        if not lessons:
            raise DriverError(
                f"none of the {len(task.examples)} training questions has a relation path of a quality above 0; use a"
                " supervision that finds some, such as gold-path or shortest-path"
            )
        tuning = tune(lessons, _LOST, task.seed)
        self._use(_Learnt(mention, tuning, learn(lesson for row in lessons for lesson in row)))
        assert self._learnt is not None
        figures = {
            "paths": float(len(self._learnt.paths)),
            "relations": float(len({step.relation for path in self._learnt.paths for step in path.steps})),
            "power": self._learnt.tuning.power,
            "words": float(len({word for path in self._learnt.paths for word in path.words})),
        }
        if task.validate is not None:
            figures.update(task.validate())
        return figures

    def save(self, folder: FilePath) -> None:
        """Write the model as JSON."""
        if self._learnt is None:
            raise DriverError("the path scorer patterns has learnt nothing that could be saved; train it first")
        write_model(folder / FILE, self._learnt.to_json())

    def load(self, folder: FilePath) -> None:
        """Read a saved model."""
        self._use(read_model(folder / FILE, "patterns", _Learnt.from_json))

    def _use(self, learnt: _Learnt) -> None:
        text = json.dumps(learnt.to_json(), sort_keys=True)
        self._learnt, self._shares = learnt, PathShares(learnt.paths, learnt.tuning.power)
        self._hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _lessons(self, examples: Sequence[TrainingExample], mention: str | None) -> list[list[PathLesson]]:
        """Divide each question among its paths."""
        labels: dict[str, str] = {}
        if mention is not None and (unnamed := unnamed_entities([example.question for example in examples])):
            labels = dict(zip(unnamed, self.graph.labels(unnamed), strict=True))
        rows = []
        for example in examples:
            # Examples may have paths that lead elsewhere, of quality 0, to be told apart from the others.
            right = [path for path in example.paths if path.score > 0]
            total = math.fsum(path.score for path in right)
            heard = {
                entity: frozenset(_words(_text(example.question, entity, mention, labels)))
                for entity in {path.entity for path in right}
            }
            rows.append([PathLesson(path.steps, path.score / total, heard[path.entity]) for path in right])
        return rows


def _words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a text, sorted."""
    folded = fold(text)
    return tuple(sorted({folded[start:end] for start, end in words(folded)}))


def _text(question: Question, entity: str, mention: str | None, labels: Mapping[str, str]) -> str:
    link = next((link for link in question.links if link.entity == entity), None)
    return question.text if mention is None or link is None else without_mentions(question, [link], labels, mention)


def _size(value: Any) -> float:
    """Return a finite number of at least 0."""
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is no weight")
    return float(value)
