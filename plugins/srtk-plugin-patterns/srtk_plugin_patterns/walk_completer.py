"""The ``path-walk`` completer: the Path Ranking Algorithm with exact probabilities (Lao and Cohen 2010)."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import Signatures, TripleTable, candidate_numbers
from srtk_framework.records import place, read_model, write_model
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask, absent, not_open
from srtk_framework.values import (
    Completion,
    DriverError,
    Evidence,
    Path,
    Pattern,
    Step,
    Triple,
    at_least,
    batched,
    between,
    close_matches,
    confidence,
    one_of,
    open_end,
    positive,
    rounded,
)
from srtk_plugin_patterns.mining import given_or_mined
from srtk_plugin_patterns.path_patterns import LONGEST, MiningSettings
from srtk_plugin_patterns.path_triples import triples_along
from srtk_plugin_patterns.random_walk import RandomWalk
from srtk_plugin_patterns.step_matrices import reversed_steps
from srtk_plugin_patterns.twins import OVERLAP, Twins, from_json, said, to_json, twins_alone, without_held_out
from srtk_plugin_patterns.walk_model import WalkModel

logger = logging.getLogger(__name__)

FILE = "walks.json"
_FORMAT = "srtk-path-walk-2"
_BATCH = 64  # Patterns that are walked at once; each holds a row of probabilities.
_REASONS = 3  # Most paths that are named as evidence of a completion.

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@attrs.frozen
class PathWalkFitSettings:
    """Settings for training the ``path-walk`` completer.

    Attributes:
        length: Most steps of a path.
        hub: Most edges of a step by which mining leaves a node; null for no bound. Walks have none.
        least: Least number of pairs that a path joins.
        paths: Most paths of a relation: those that join most of its pairs.
        facts: Most triples of a relation from which its model is learnt, drawn by hashes.
        negatives: Wrong entities for each triple: so many that walks reach, and so many other fillers of the relation.
        regulariser: Weight of the squared weights beside the sum of the losses.
        relations: Learn these relations alone; null for all.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates: no walk takes a twin's triple
            that says the fact in question. null holds out none.
    """

    length: int = attrs.field(default=3, validator=between(1, LONGEST))
    hub: int | None = attrs.field(default=100, validator=at_least(1))
    least: int = attrs.field(default=2, validator=at_least(1))
    paths: int = attrs.field(default=500, validator=at_least(1))
    facts: int = attrs.field(default=2000, validator=at_least(1))
    negatives: int = attrs.field(default=10, validator=at_least(1))
    regulariser: float = attrs.field(default=3.0, validator=positive)
    relations: tuple[str, ...] | None = attrs.field(default=None, converter=attrs.converters.optional(tuple))
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))


@attrs.define(eq=False)
class PathWalkCompleter(Completer):
    """Propose entities that random walks along the relation's paths reach.

    Each relation and end has a logistic regression. Its features are, for each mined path, the exact probability that a
    walk along it ends at the entity, and whether it can. The frequency of the entity in the relation counts too. No
    walk takes the triple of the question, or a twin's triple that says it (``twins`` of the training). A relation with
    no path, or no triple to learn from, has no completions.

    Attributes:
        graph: Graph to complete; it must be able to list its triples.
        path: Folder of a trained model; not needed in a recipe that trains it.
        patterns: Folder of patterns that `srtk patterns mine` wrote; by default training mines them.
        walk: ``any`` walk, or only ``simple`` walks, which visit no entity twice.
    """

    learns: ClassVar[str] = "graph"
    reuse: ClassVar[str] = "completer: {use: path-walk, path: FOLDER}"

    graph: KnowledgeGraph
    path: str | None = None
    patterns: str | None = None
    walk: Literal["any", "simple"] = attrs.field(default="any", validator=one_of(("any", "simple")))
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)
    _signatures: Signatures | None = attrs.field(init=False, default=None, repr=False)
    _walks: RandomWalk | None = attrs.field(init=False, default=None, repr=False)
    _models: Mapping[Step, WalkModel] | None = attrs.field(init=False, default=None, repr=False)
    _twins: Twins = attrs.field(init=False, factory=dict, repr=False)
    _content: str = attrs.field(init=False, default="", repr=False)
    _hidden: tuple[Triple, ...] = attrs.field(init=False, default=(), repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folders exist."""
        return [
            *absent("path", self.path, "train a model, or correct the path"),
            *absent("patterns", self.patterns, "mine them with `srtk patterns mine`, or correct the path"),
        ]

    def training_faults(self) -> list[str]:
        """Name the package for training if it is missing."""
        from importlib.util import find_spec

        lacks = find_spec("sklearn") is None
        return ["scikit-learn is missing: pip install 'srtk-plugin-patterns[walk]'"] if lacks else []

    def open(self) -> None:
        """Read the graph, and the model in ``path``.

        Raises:
            DriverError: If the graph cannot list its triples, or the model cannot be read or is of another graph.
        """
        self._walk_without(())
        assert self._table is not None
        self._signatures = Signatures.of(self._table, self.graph.schema())
        if self.path is not None:
            self.load(FilePath(self.path).expanduser())

    def close(self) -> None:
        """Release graph and model."""
        self._table = self._signatures = self._walks = self._models = None
        self._hidden = ()

    def fingerprint(self) -> str:
        """Identify the graph, the settings and the model."""
        learnt = (
            "untrained"
            if self._models is None
            else hashlib.sha256(json.dumps(self._facts(), sort_keys=True).encode()).hexdigest()[:16]
        )
        return f"path-walk({self.graph.fingerprint()}, {self.walk}, {learnt})"

    # Hooks

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Propose the entities with the greatest probabilities."""
        table, _, _ = self._opened()
        answers: list[list[Completion]] = [[] for _ in patterns]
        source = self.graph.source()
        for at, start, step, values, proposed in self._rated(patterns):
            pattern = patterns[at]
            stored = table.fillers(start, table.relation_numbers[step.relation], step.inverse)
            values[stored] = 0.0
            proposed = proposed[values[proposed] > 0]
            if limit is not None and limit < len(proposed):
                # Confidences are rounded, so somewhat more than the limit may tie with its last.
                least = np.partition(values[proposed], len(proposed) - max(limit, 1))[len(proposed) - max(limit, 1)]
                proposed = proposed[values[proposed] >= least * (1 - 1e-5)]
            found = sorted(
                (-confidence(float(values[number])), pattern.filled(table.entities[number]), number)
                for number in proposed.tolist()
            )[:limit]
            reasons = self._evidence(start, step, [number for _, _, number in found], source)
            answers[at] = [
                Completion(triple, -negative, evidence)
                for (negative, triple, _), evidence in zip(found, reasons, strict=True)
            ]
        return answers

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the probability of each candidate; 0 for those that are not proposed.

        At a bound end that the graph lacks no walk starts, and the frequency of the candidates alone counts.
        """
        table, _, _ = self._opened()
        columns = candidate_numbers(candidates, table.entity_numbers)
        answers = [[0.0] * len(ids) for ids in candidates]
        for at, _, _, values, proposed in self._rated(patterns, unknown=True):
            shown = np.zeros(len(values))
            shown[proposed] = values[proposed]
            wanted = columns[at]
            answers[at] = [confidence(value) for value in np.where(wanted < 0, 0.0, shown[wanted]).tolist()]
        return answers

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps with a model that entities of the same classes, or with a step in common, have."""
        _, _, models = self._opened()
        if self._signatures is None:
            raise not_open(self)
        return [[step for step in steps if step in models] for steps in self._signatures.offers(node_sets, inverse)]

    def _rated(
        self, patterns: Sequence[Pattern], unknown: bool = False
    ) -> Iterator[tuple[int, int, Step, Floats, Ints]]:
        """Rate all entities for each pattern whose relation has a model and whose entity the graph has.

        Args:
            patterns: The patterns.
            unknown: Rate also for entities that the graph lacks, whose number is -1.

        Yields:
            Place of the pattern, number of its entity, its step, probability of each entity, and the numbers of those
            that are proposed.
        """
        table, walks, models = self._opened()
        by_step: dict[Step, list[tuple[int, int]]] = {}
        for at, pattern in enumerate(patterns):
            end, step = open_end(pattern)
            if step in models and (unknown or end in table.entity_numbers):
                by_step.setdefault(step, []).append((at, table.entity_numbers.get(end, -1)))
        for step, asked in by_step.items():
            model = models[step]
            base = model.base(len(table.entities))
            for at, start in asked:
                if start < 0:
                    yield at, start, step, _logistic(base), model.fillers
            for some in batched([one for one in asked if one[1] >= 0], _BATCH):
                starts = np.array([start for _, start in some], dtype=np.int64)
                held_out = twins_alone(table, starts, table.step_number(step), self._twins)
                scores = model.walked([walks.ends(starts, path, *held_out) for path in model.paths])
                for row, (at, start) in enumerate(some):
                    reached = scores.indices[scores.indptr[row] : scores.indptr[row + 1]]
                    values = base.copy()
                    values[reached] += scores.data[scores.indptr[row] : scores.indptr[row + 1]]
                    proposed = np.union1d(reached, model.fillers)
                    yield at, start, step, _logistic(values), proposed[proposed != start]

    def _evidence(self, start: int, step: Step, ends: Sequence[int], source: str) -> list[tuple[Evidence, ...]]:
        """Return, per completion, the paths that count most for it, each with triples of the graph along it."""
        table, walks, models = self._opened()
        model = models[step]
        starts = np.array([start], dtype=np.int64)
        numbers = np.array(ends, dtype=np.int64)
        held_out = twins_alone(table, starts, table.step_number(step), self._twins)
        walked = [walks.ends(starts, path, *held_out).tocsr() for path in model.paths] if ends else []
        reached = np.array([one[np.zeros_like(numbers), numbers] for one in walked]).reshape(len(walked), len(ends))
        found = []
        for column, end in zip(reached.T, ends, strict=True):
            parts = model.parts(column)
            order = sorted((-part, at) for at, part in enumerate(parts.tolist()) if part > 0)[:_REASONS]
            reasons = []
            for negative, at in order:
                names = ", ".join(str(table.step(number)) for number in model.paths[at])
                triples = triples_along(table, start, model.paths[at], end)
                reasons.append(Evidence("path", f"{step} by {names}", source, rounded(-negative), triples))
            if not reasons:
                share = f"{model.share(end):.1%} of the relation's triples have it"
                reasons.append(Evidence("model", share, source, rounded(model.share(end))))
            found.append(tuple(reasons))
        return found

    # Training

    def fit(self, task: TrainingTask, training: PathWalkFitSettings) -> Mapping[str, float]:
        """Learn the weights of paths from the graph without the held-out facts.

        Raises:
            DriverError: If scikit-learn is missing, the graph has no pair, or the patterns are of another graph.
        """
        if faults := self.training_faults():
            raise DriverError("; ".join(faults))
        if self._table is None:
            raise not_open(self)
        table, again = without_held_out(self._table, task.held_out, training.twins)
        bounds = MiningSettings(
            training.length, training.hub, None, training.least, training.paths, twins=training.twins
        )
        named = table.relations if training.relations is None else training.relations
        if unknown := [name for name in named if name not in table.relation_numbers]:
            raise DriverError(
                f"{self.graph.source()} has no relation {unknown[0]!r}; correct `relations` under `fit`."
                f"{close_matches(unknown[0], table.relations)}"
            )
        rows = table.triples[np.isin(table.triples[:, 1], [table.relation_numbers[name] for name in named])]
        only = None if training.relations is None else table.named(rows)
        patterns = given_or_mined(self.patterns, table, bounds, only, task.executor)
        twins = {name: row for name, row in patterns.twins.items() if name in named}
        walks = RandomWalk(table, self.walk == "simple")
        names = patterns.relations if training.relations is None else named
        wanted = sorted({table.relation_numbers[name] for name in names})
        models: dict[Step, WalkModel] = {}
        skipped = 0
        for number in wanted:
            name = table.relations[number]
            mined = patterns.relations.get(name)
            paths = [] if mined is None else [path.steps for path in mined.paths if path.pairs >= training.least]
            for inverse in (False, True):
                model = self._learnt(table, walks, number, inverse, paths[: training.paths], training, task.seed, twins)
                if model is None:
                    skipped += 1
                else:
                    models[Step(name, inverse)] = model
        if not models:
            raise DriverError(
                f"{self.graph.source()}: no relation has both a path and triples to learn from; lower `least`, or raise"
                " `length`"
            )
        if skipped:
            logger.warning(
                "%d of %d ends of relations have no path, or no entity to tell from the right ones, and get no"
                " completions",
                skipped,
                2 * len(wanted),
            )
        self._models, self._twins, self._content = models, twins, table.content_hash()
        found = {
            "relations": float(len(models)),
            "skipped": float(skipped),
            "paths": float(sum(len(model.paths) for model in models.values())),
            "held_out": float(len(task.held_out)),
            "twins": said(twins),
        }
        if task.validate is not None:
            # The facts that are asked for, and their twins, would be walked.
            self._walk_without((*task.held_out, *again))
            try:
                found.update(task.validate())
            finally:
                self._walk_without(())
        return found

    def _learnt(
        self,
        table: TripleTable,
        walks: RandomWalk,
        relation: int,
        inverse: bool,
        paths: Sequence[Path],
        training: PathWalkFitSettings,
        seed: int,
        twins: Twins,
    ) -> WalkModel | None:
        """Learn one relation and end; None where there is nothing to learn from."""
        rows = table.of_relation(relation).astype(np.int64)
        rows = rows[rows[:, 0] != rows[:, 2]]
        if not len(rows) or not paths:
            return None
        drawn = np.array([place("\t".join(fact), seed) for fact in table.named(rows.astype(np.int32))])
        held = rows[np.lexsort((np.arange(len(rows)), drawn))[: training.facts]]
        numbers = [tuple(map(table.step_number, path)) for path in paths]
        taken = [reversed_steps(path) for path in numbers] if inverse else numbers
        random = np.random.default_rng([seed, relation, int(inverse)])
        return WalkModel.learn(
            walks, taken, rows, held, inverse, training.negatives, training.regulariser, random, twins
        )

    def _walk_without(self, hidden: tuple[Triple, ...]) -> None:
        """Walk the graph without some triples."""
        if self._table is None or hidden != self._hidden:
            self._table, self._hidden = TripleTable.of(self.graph).without(hidden), hidden
            self._walks = RandomWalk(self._table, self.walk == "simple")

    def save(self, folder: FilePath) -> None:
        """Write ``walks.json``."""
        write_model(folder / FILE, self._facts())

    def load(self, folder: FilePath) -> None:
        """Read a saved model."""
        if self._table is None:
            raise not_open(self)

        def parse(data: Any) -> tuple[str, str, str, dict[Step, WalkModel], Twins]:
            if data["format"] != _FORMAT:
                raise ValueError(f"its format is {data['format']!r}")
            self._walk_without(tuple(Triple(*triple) for triple in data.get("hidden", ())))
            table = self._table
            assert table is not None
            known = table.content_hash() in (data["content"], data["graph"])
            models = {Step(*step): WalkModel.from_json(part, table) for *step, part in data["models"]} if known else {}
            return data["content"], data["graph"], data["walk"], models, from_json(data["twins"])

        content, graph, walk, models, twins = read_model(folder / FILE, "path-walk", parse)
        if self._table.content_hash() not in (content, graph):
            raise DriverError(
                f"the model in {folder} was learnt from another graph than {self.graph.source()}: their triples"
                " differ; use it with its graph, or train one on this graph"
            )
        if walk != self.walk:
            raise DriverError(
                f"the model in {folder} was learnt with `walk: {walk}`, not {self.walk}; set that, or train it again"
            )
        self._models, self._twins, self._content = models, twins, content

    def _facts(self) -> dict[str, Any]:
        table, _, models = self._opened()
        return {
            "format": _FORMAT,
            "content": self._content,
            "walk": self.walk,
            "graph": table.content_hash(),
            "twins": to_json(self._twins),
            **({"hidden": self._hidden} if self._hidden else {}),
            "models": [[step.relation, step.inverse, model.to_json(table)] for step, model in sorted(models.items())],
        }

    def _opened(self) -> tuple[TripleTable, RandomWalk, Mapping[Step, WalkModel]]:
        if self._table is None or self._walks is None:
            raise not_open(self)
        if self._models is None:
            raise DriverError(
                "path-walk is not trained: add `train: {driver: completer}` to the recipe, or set `path` to the folder"
                " of a trained one"
            )
        return self._table, self._walks, self._models


def _logistic(values: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(values, -500, 500)))
    return found
