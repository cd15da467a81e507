"""The ``mix`` path scorer: the weighted sum of several scorers' scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar

import attrs
import numpy as np
from srtk_plugin_training import settings_class

from srtk_framework.host import driver_of
from srtk_framework.recipe import SettingsError, structure
from srtk_framework.records import read_model, write_model
from srtk_framework.roles import PathScorer, SearchSettings, Trainable, TrainingTask, absent
from srtk_framework.values import SCORE_DIGITS, DriverError, Path, Step

FILE = "mix.json"
"""File that tells which scorers a training has trained, in the folder of the model."""
VERSION = 1
_KEYS = ("version", "scorers", "trained")
_LIMITS = ("margin", "hop_margin")
"""Settings of a search that limit a sum of scores."""


@attrs.frozen
class MixFitSettings:
    """Settings of the training.

    Attributes:
        scorers: For each scorer, the settings of its own training, or null to leave it as it is; by default all that
            learn from paths are trained by their defaults.
        mention: Replaces the entity's mention in the question; in a recipe as in the expander.
        inverse: Whether steps against their direction are candidates; in a recipe as in the expander.
    """

    scorers: Sequence[Mapping[str, Any] | None] | None = None
    mention: str | None = attrs.field(default="auto", metadata={"as": "expander"})
    inverse: bool | None = attrs.field(default=None, metadata={"as": "expander"})


@attrs.define(eq=False)
class MixScorer(PathScorer):
    """Add up the scores of several scorers, each with a weight.

    A search compares the sums of scores along paths, so that the mix is a log-linear model of whole paths: each
    scorer's sum is a feature of a path. All scores of ``patterns`` and ``dense`` have the scale of log-odds. They are
    not turned into probabilities step by step, which makes untrained ``dense`` worse (see the benchmarks).

    A search takes the settings that the scorer of the greatest weight suggests. Margins add up by weight, if all
    scorers have them. The unit of the sums is measured unless all scorers suggest their own.

    Training trains the scorers in their order. Only the last is validated, since the search needs all of them.

    Attributes:
        scorers: The scorers.
        weights: Weight of each scorer; 1 by default.
        path: Folder of a trained mix; by default the scorers are used as they are, or as this run trains them.
    """

    learns: ClassVar[str] = "paths"
    reuse: ClassVar[str] = "path_scorer: {use: mix, scorers: […], path: FOLDER}"

    scorers: Sequence[PathScorer]
    weights: Sequence[float] = ()
    path: str | None = None
    _trained: tuple[int, ...] = attrs.field(init=False, default=(), repr=False)

    def __attrs_post_init__(self) -> None:
        if not self.scorers:
            raise ValueError("scorers is empty; list one or more")
        if self.weights and len(self.weights) != len(self.scorers):
            raise ValueError(f"{len(self.weights)} weights for {len(self.scorers)} scorers; give one for each")
        if not all(math.isfinite(weight) and weight > 0 for weight in self.weights):
            raise ValueError(f"weights are {list(self.weights)}; they must be above 0, so leave out a scorer without")

    @property
    def _weights(self) -> Sequence[float]:
        return self.weights or [1.0] * len(self.scorers)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the trained mix exists."""
        return [] if self.path is None else absent("path", str(FilePath(self.path).expanduser() / FILE))

    def open(self) -> None:
        """Load the trained mix in ``path``, if any.

        Raises:
            DriverError: If it cannot be read.
        """
        if self.path is not None:
            self.load(FilePath(self.path).expanduser())

    def fingerprint(self) -> str:
        """Identify the scorers as they are trained, and the weights."""
        parts = [f"{weight!r} {one.fingerprint()}" for weight, one in zip(self._weights, self.scorers, strict=True)]
        return f"mix({', '.join(parts)})"

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Return the weighted sums, rounded to four decimals."""
        rows = [one.score(questions, paths, candidates) for one in self.scorers]
        sums = [
            sum(
                weight * np.asarray(scores, dtype=np.float64)
                for weight, scores in zip(self._weights, found, strict=True)
            )
            for found in zip(*rows, strict=True)
        ]
        # Adding 0 turns -0.0 into 0.0, which is written otherwise.
        return [(np.round(row, SCORE_DIGITS) + 0.0).tolist() for row in sums]

    def is_trained(self) -> bool:
        """Return whether any of the scorers is trained."""
        return any(one.is_trained() for one in self.scorers)

    def scores_end(self) -> bool:
        """Return whether one of the scorers scores END where the maximum depth forces it."""
        return any(one.scores_end() for one in self.scorers)

    def search_settings(self) -> SearchSettings | None:
        """Return the settings of the scorer that weighs most, of those that suggest some, and margins by weight."""
        found = [one.search_settings() for one in self.scorers]
        rows = [(weight, one) for weight, one in zip(self._weights, found, strict=True) if one is not None]
        if not rows:
            return None
        heaviest = max(rows, key=lambda row: row[0])[1]
        # The numbers are added up as they are, so that their unit is known only where each scorer says its own.
        known = len(rows) == len(found) and all(one.scale is not None for _, one in rows)
        limits: dict[str, Any] = dict.fromkeys(_LIMITS)
        for name in _LIMITS:
            values = [getattr(one, name) for _, one in rows]
            if known and None not in values:
                limits[name] = sum(weight * value for (weight, _), value in zip(rows, values, strict=True))
        return attrs.evolve(heaviest, scale=heaviest.scale if known else None, **limits)

    def prepare(self, paths: Sequence[Path]) -> Mapping[str, int]:
        """Let each scorer prepare the paths, and add up the counts."""
        counts: Counter[str] = Counter()
        for one in self.scorers:
            counts.update(one.prepare(paths))  # a sum of counters would leave out what is 0
        return counts

    # Training

    def training_faults(self) -> list[str]:
        """Return why there is no scorer to train, if so."""
        if any(_learns(one) for one in self.scorers):
            return []
        return ["none of the scorers of the mix learns from paths, so there is nothing to train"]

    def fit(self, task: TrainingTask, training: MixFitSettings) -> Mapping[str, float]:
        """Train the scorers in their order.

        Raises:
            DriverError: If there are not as many settings as scorers, or a scorer with settings cannot learn.
        """
        wanted = self._settings(training)
        figures: dict[str, float] = {}
        for place, settings in wanted.items():
            part = attrs.evolve(
                task,
                validate=task.validate if place == max(wanted) else None,
                validate_topics=task.validate_topics if place == max(wanted) else None,
                folder=task.folder / "scorers" / str(place),
            )
            found = driver_of(self.scorers[place]).fit(part, settings)
            figures.update((f"{place}.{name}", value) for name, value in found.items())
        self._trained = tuple(wanted)
        if task.validate is not None:
            figures.update(task.validate())
        return figures

    def _settings(self, training: MixFitSettings) -> dict[int, Any]:
        """Return the settings of each training by the place of its scorer."""
        given = training.scorers
        if given is None:
            given = [{} if _learns(one) else None for one in self.scorers]
        if len(given) != len(self.scorers):
            raise DriverError(
                f"`fit: scorers` has {len(given)} entries for {len(self.scorers)} scorers; give one for each, null for"
                " a scorer that is to stay as it is"
            )
        mention = training.mention
        if mention == "auto":
            mention = (self.search_settings() or SearchSettings()).mention
        shared = {"mention": mention, "inverse": training.inverse}
        wanted = {}
        for place, (one, row) in enumerate(zip(self.scorers, given, strict=True)):
            if row is None:
                continue
            if not _learns(one):
                raise DriverError(
                    f"scorer {place + 1} of the mix does not learn from paths; give null for it in `fit: scorers`"
                )
            kind = settings_class(type(driver_of(one)))
            inherited = {
                field.alias: shared[field.alias]
                for field in attrs.fields(kind)
                if field.metadata.get("as") == "expander" and field.alias in shared
            }
            try:
                wanted[place] = structure({**inherited, **row}, kind)
            except SettingsError as error:
                told = "; ".join(text for _, text in error.problems)
                raise DriverError(f"`fit: scorers`, entry {place + 1}: {told}") from error
        if not wanted:
            raise DriverError("`fit: scorers` has no settings for any scorer, so there is nothing to train")
        return wanted

    def save(self, folder: FilePath) -> None:
        """Write each scorer that was trained into a folder of its own."""
        for place in self._trained:
            driver_of(self.scorers[place]).save(_made(folder / str(place)))
        values = (VERSION, len(self.scorers), list(self._trained))
        write_model(folder / FILE, dict(zip(_KEYS, values, strict=True)))

    def load(self, folder: FilePath) -> None:
        """Read a mix that ``save`` wrote.

        Raises:
            DriverError: If it cannot be read, or is a mix of other scorers.
        """
        file = folder / FILE

        def parse(data: Any) -> tuple[int, list[int]]:
            if data["version"] != VERSION or not all(place in range(data["scorers"]) for place in data["trained"]):
                raise ValueError(f"it is no mix of version {VERSION}")
            return data["scorers"], data["trained"]

        count, trained = read_model(file, "mix", parse)
        if count != len(self.scorers):
            raise DriverError(f"{file} is of a mix of {count} scorers, and this one has {len(self.scorers)}; use those")
        for place in trained:
            if not _learns(self.scorers[place]):
                raise DriverError(f"{file} has trained scorer {place + 1}, which here cannot be trained; use the same")
            driver_of(self.scorers[place]).load(folder / str(place))
        self._trained = tuple(trained)


def _learns(scorer: PathScorer) -> bool:
    inner = driver_of(scorer)
    return isinstance(inner, Trainable) and getattr(inner, "learns", "") == "paths"


def _made(folder: FilePath) -> FilePath:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
