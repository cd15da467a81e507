"""Choice of the path: a linear model over whole paths that scores the paths of a search a second time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np

from srtk_framework.records import read_model, write_model
from srtk_framework.roles import KnowledgeGraph, PathScorer
from srtk_framework.values import DriverError, RankedPath, rounded
from srtk_plugin_sr.answer_kind import operates
from srtk_plugin_sr.path_features import FEATURES, Floats, SearchedQuestion, path_features

FILE = "path_choice.json"
SHIPPED = FilePath(__file__).with_name(FILE)


@attrs.frozen
class PathChoice:
    """Weights of the features of a path; the probability of a path is a softmax over the question's paths.

    Attributes:
        weights: Weight of each feature; those without one count nothing.
    """

    weights: Mapping[str, float]

    @classmethod
    def load(cls, file: str | None = None) -> PathChoice:
        """Read weights from a file, by default the file of the package.

        Raises:
            DriverError: If the file cannot be read, or has other features.
        """
        path = SHIPPED if file is None else FilePath(file).expanduser()

        def parse(data: Any) -> dict[str, float]:
            return {name: float(weight) for name, weight in data["weights"].items()}

        weights = read_model(path, "beam", parse, "fit the weights again")
        if unknown := sorted(set(weights) - set(FEATURES)):
            raise DriverError(
                f"{path} weighs {', '.join(unknown)}, which is no feature of a path; fit the weights again"
            )
        return cls(weights)

    @classmethod
    def of(cls, row: Floats) -> PathChoice:
        """Make a choice of weights in the order of the features, rounded; a weight of 0 is left out."""
        weights = {name: round(float(weight), 4) for name, weight in zip(FEATURES, row, strict=True)}
        return cls({name: weight for name, weight in weights.items() if weight})

    def save(self, file: FilePath, **about: Any) -> None:
        """Write the weights with facts about them."""
        write_model(file, {**about, "weights": dict(self.weights)})

    @property
    def row(self) -> Floats:
        """The weights in the order of the features, of shape [features]."""
        return np.array([self.weights.get(name, 0.0) for name in FEATURES])

    def scores(
        self, graph: KnowledgeGraph, scorer: PathScorer, questions: Sequence[SearchedQuestion]
    ) -> list[list[float]]:
        """Return a score for each path of each question, in natural-log units.

        The paths of a question share the sum of the probabilities that the search gave them, so that scores keep their
        level. Questions with an operation keep the scores of the search: their answer lies within a path, and no
        features of a path were fitted to them.
        """
        chosen = [at for at, one in enumerate(questions) if one.paths and not operates(one.marked)]
        scores = [[path.score for path in one.paths] for one in questions]
        tables = path_features(graph, scorer, [questions[at] for at in chosen], self.weights)
        for at, table in zip(chosen, tables, strict=True):
            scores[at] = shared(questions[at].paths, table @ self.row)
        return scores

    def fingerprint(self) -> str:
        """Identify the weights."""
        return repr(sorted(self.weights.items()))


@attrs.define(eq=False)
class PathRecorder:
    """Stands in the place of a choice: keeps the paths of a search with their features, and changes no score."""

    found: list[tuple[SearchedQuestion, Floats]] = attrs.field(factory=list)

    def scores(
        self, graph: KnowledgeGraph, scorer: PathScorer, questions: Sequence[SearchedQuestion]
    ) -> list[list[float]]:
        """Record, and return the scores that the paths have."""
        self.found += zip(questions, path_features(graph, scorer, questions), strict=True)
        return [[path.score for path in one.paths] for one in questions]


def shared(paths: Sequence[RankedPath], values: Floats) -> list[float]:
    """Shift new scores of a question's paths, in natural-log units, so that they keep the sum of probabilities."""
    if not paths:
        return []
    shift = _log_sum(np.array([path.score for path in paths])) - _log_sum(values)
    return [rounded(float(value) + shift) for value in values]


def _log_sum(values: Floats) -> float:
    """Return the logarithm of the sum of the exponentials."""
    most = float(values.max())
    return most + math.log(float(np.exp(values - most).sum()))
