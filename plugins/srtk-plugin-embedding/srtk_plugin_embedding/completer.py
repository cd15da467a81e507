"""The ``embedding`` completer: link prediction by vectors of entities and relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import ClassVar, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_patterns.twins import without_held_out
from srtk_plugin_training import fit, missing_packages, quiet_lightning, require_packages

from srtk_framework.graph import Signatures, TripleTable, candidate_numbers
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask, absent, not_open
from srtk_framework.values import (
    Completion,
    DriverError,
    Evidence,
    Pattern,
    Step,
    batched,
    confidence,
    open_end,
    rounded,
)
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_embedding.model import BLOCK, EmbeddingModel, Scores
from srtk_plugin_embedding.query_answers import QueryAnswers
from srtk_plugin_embedding.scoring import NAMES, Kind

# Entities with a lower confidence are not proposed; on a large graph they are nearly all.
_LEAST = 1e-6
# Replaces a share of 0, which has no logarithm.
_TINIEST = 1e-300
# Relative difference within which rounding to six digits may change the order.
_NEAR = 1e-5

Ints = npt.NDArray[np.int64]


class _Query(NamedTuple):
    """A pattern whose bound end and relation the model knows.

    Attributes:
        place: Place of the pattern in its batch.
        end: Number of the bound end.
        step: Number of the relation, + the number of relations for an open subject.
        stored: Numbers of the entities that the graph holds at the open end.
    """

    place: int
    end: int
    step: int
    stored: Ints


@attrs.define(eq=False)
class EmbeddingCompleter(Completer):
    """Propose entities by ComplEx, RotatE or HolE embeddings of the graph, which are trained on it.

    The confidence of a triple is the share of its entity in the softmax over all entities, which training maximises for
    the triples of the graph: the probability of this entity, given the relation and the bound end. So a hundred right
    fillers have about a hundredth each; ``calibrated`` learns probabilities of being true from it. Stored triples take
    their share and are not proposed, nor are shares below a millionth.

    Attributes:
        graph: Graph to complete; it must be able to list its triples.
        path: Folder of a trained embedding; not needed in a recipe that trains.
        model: `complex`, `rotate` or `hole`; by default the model of the trained embedding, else `complex`.
    """

    learns: ClassVar[str] = "graph"
    reuse: ClassVar[str] = "completer: {use: embedding, path: FOLDER}"

    graph: KnowledgeGraph
    path: str | None = None
    model: Kind | None = None
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)
    _signatures: Signatures | None = attrs.field(init=False, default=None, repr=False)
    _model: EmbeddingModel | None = attrs.field(init=False, default=None, repr=False)
    _columns: Ints = attrs.field(init=False, factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the trained embedding exists."""
        return absent("path", self.path, "train an embedding, or correct the path")

    def training_faults(self) -> list[str]:
        """Name the packages that are missing for training."""
        return missing_packages("srtk-plugin-embedding", "lightning", "torch")

    def open(self) -> None:
        """Read the graph, and the embedding in ``path``.

        Raises:
            DriverError: If the graph cannot list its triples, or the embedding cannot be read or is of another graph.
        """
        self._table = TripleTable.of(self.graph)
        self._signatures = Signatures.of(self._table, self.graph.schema())
        if self.path is not None:
            self.load(FilePath(self.path).expanduser())

    def fingerprint(self) -> str:
        """Identify the graph and the weights."""
        learnt = self._model.fingerprint() if self._model else f"untrained {self.model}"
        return f"embedding({self.graph.fingerprint()}, {learnt})"

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Propose the entities with the greatest shares.

        Raises:
            DriverError: If there is no trained embedding.
        """
        model = self._trained()
        answers: list[list[Completion]] = [[] for _ in patterns]
        source = f"embedding:{model.fingerprint()}"
        for query, scores, shares in self._scored(patterns):
            shares[query.stored] = 0.0
            found = [
                (-confidence(float(shares[number])), patterns[query.place].filled(model.entities[number]), number)
                for number in _best(shares, limit).tolist()
            ]
            answers[query.place] = [
                Completion(triple, -negative, (_evidence(model, float(scores[number]), source),))
                for negative, triple, number in sorted(found)[:limit]
            ]
        return answers

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the share of each candidate; 0 for unknown ids."""
        columns = candidate_numbers(candidates, self._trained().entity_numbers)
        answers = [[0.0] * len(ids) for ids in candidates]
        for query, _, shares in self._scored(patterns):
            wanted = columns[query.place]
            answers[query.place] = _rounded(np.where(wanted < 0, 0.0, shares[wanted])).tolist()
        return answers

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps that entities of the same classes, or with a step in common, have."""
        model = self._trained()
        if self._signatures is None:
            raise not_open(self)
        known, entities = model.relation_numbers, model.entity_numbers
        sets = [[node for node in nodes if node in entities] for nodes in node_sets]
        return [[step for step in steps if step.relation in known] for steps in self._signatures.offers(sets, inverse)]

    def fit(self, task: TrainingTask, training: EmbeddingFitSettings) -> Mapping[str, float]:
        """Train on the graph without the held-out facts and their twins; these facts select the best epoch.

        Raises:
            DriverError: If a package for training is missing, no triple is left, or the loss is not finite.
        """
        require_packages("srtk-plugin-embedding", "lightning", "torch")
        from srtk_plugin_embedding.held_out_facts import HeldOutFacts

        if self._table is None:
            raise not_open(self)
        left, again = without_held_out(self._table, task.held_out, training.twins)
        table = left.compact()
        if not len(table.triples):
            raise DriverError(
                f"{self.graph.source()} has no triple between entities to learn from, besides"
                f" {len(task.held_out)} held-out facts"
            )
        kind: Kind = self.model or "complex"
        whole = self._table.compact()
        hashes = whole.content_hash(), table.content_hash()
        facts = HeldOutFacts.of(task.held_out, table, whole, task.seed)

        def model(entities: npt.NDArray[np.float32], relations: npt.NDArray[np.float32]) -> EmbeddingModel:
            return EmbeddingModel(kind, table.entities, table.relations, entities, relations, *hashes)

        with quiet_lightning():
            from srtk_plugin_embedding.lightning_module import EmbeddingModule

            validate = (lambda *vectors: facts.figures(model(*vectors))) if len(facts) else None
            module = EmbeddingModule(kind, QueryAnswers.of(table), table, training, validate, task.folder, task.seed)
            best = fit(module, task.folder, training.logger, accelerator=training.accelerator)
        figures = module.figures
        found = {**figures, "triples": float(len(table.triples)), "held_out": float(len(facts))}
        found["twin_triples"] = float(len(again))
        trained = model(best["entities"].numpy(), best["relations"].numpy())
        self._use(attrs.evolve(trained, training={"fit": attrs.asdict(training), "seed": task.seed, **figures}))
        if task.validate is not None:
            found.update(task.validate())
        return found

    def save(self, folder: FilePath) -> None:
        """Write the embedding: its vectors, its ids, and the hash of its graph."""
        self._trained().save(folder)

    def load(self, folder: FilePath) -> None:
        """Load an embedding that ``save`` wrote.

        Raises:
            DriverError: If it cannot be read, has another scoring function than ``model``, or is of another graph.
        """
        if self._table is None:
            raise not_open(self)
        model = EmbeddingModel.load(folder)
        if self.model not in (None, model.kind):
            raise DriverError(
                f"the embedding in {folder} is {model.kind}, not {self.model}; leave `model` out, or train it again"
            )
        graph = self._table.content_hash()
        if graph not in (model.graph, model.trained_on):
            raise DriverError(
                f"the embedding in {folder} was trained on another graph than {self.graph.source()}: their triples"
                " differ; use it with the graph that it was trained on, or train one on this graph"
            )
        self._use(model)

    def _use(self, model: EmbeddingModel) -> None:
        if self._table is None:
            raise not_open(self)
        known = model.entity_numbers
        self._columns = np.array([known.get(id_, -1) for id_ in self._table.entities], dtype=np.int64)
        self._model = model

    def _trained(self) -> EmbeddingModel:
        if self._model is None:
            raise DriverError(
                "the embedding is not trained: add `train: {driver: completer}` to the recipe, or set `path` to the"
                " folder of a trained one"
            )
        return self._model

    def _queries(self, patterns: Sequence[Pattern]) -> Iterator[_Query]:
        """Yield the patterns whose parts the model knows, each with the stored fillers."""
        model, table = self._trained(), self._table
        if table is None:
            raise not_open(self)
        for place, pattern in enumerate(patterns):
            end, step = open_end(pattern)
            number, relation = model.entity_numbers.get(end), model.relation_numbers.get(step.relation)
            if number is not None and relation is not None:
                fillers = table.fillers(table.entity_numbers[end], table.relation_numbers[step.relation], step.inverse)
                columns = self._columns[fillers]
                side = len(model.relations) if step.inverse else 0
                yield _Query(place, number, relation + side, columns[columns >= 0])

    def _scored(self, patterns: Sequence[Pattern]) -> Iterator[tuple[_Query, Scores, Scores]]:
        """Yield each known pattern with the scores and the shares of all entities."""
        model = self._trained()
        for block in batched(list(self._queries(patterns)), BLOCK):
            scores = model.scores(np.array([q.end for q in block]), np.array([q.step for q in block]))
            for query, row in zip(block, scores, strict=True):
                shares = np.exp(row - row.max())
                yield query, row, shares / shares.sum()


def _best(shares: Scores, limit: int | None) -> Ints:
    """Return the entities with the greatest shares, unsorted: somewhat more than ``limit`` where shares are near."""
    least = _LEAST
    if limit is not None and limit < len(shares):
        at = len(shares) - max(limit, 1)
        least = max(least, float(np.partition(shares, at)[at]) * (1 - _NEAR))
    return np.flatnonzero(shares >= least)


def _rounded(shares: Scores) -> Scores:
    """Round as ``values.confidence`` does, all at once."""
    scale = 10.0 ** (5 - np.floor(np.log10(np.maximum(shares, _TINIEST))))
    found: Scores = np.minimum(np.round(shares * scale) / scale, confidence(1))
    return found


def _evidence(model: EmbeddingModel, score: float, source: str) -> Evidence:
    return Evidence("model", f"{NAMES[model.kind]} scores it {score:.2f}", source, rounded(score))
