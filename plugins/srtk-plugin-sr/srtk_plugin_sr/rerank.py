"""The ``rerank`` expander: score another expander's triples with a trained head, and keep as many as are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_training import require_packages

from srtk_framework.graph import finish
from srtk_framework.roles import Encoder, Expander, KnowledgeGraph, TrainingTask, absent, not_open
from srtk_framework.text import unnamed_entities, without_mentions
from srtk_framework.values import (
    Budget,
    DriverError,
    Question,
    Step,
    Subgraph,
    at_least,
    between,
    one_of,
    positive,
    rounded,
)
from srtk_plugin_sr.candidates import Candidates, candidates_of
from srtk_plugin_sr.cutoff import Cutoff, connected_order
from srtk_plugin_sr.features import index_nodes, triple_features
from srtk_plugin_sr.fit_settings import HeadFitSettings
from srtk_plugin_sr.head import LEAST, Head, HeadInput
from srtk_plugin_sr.head_trainer import TrainingQuestion, train_head
from srtk_plugin_sr.labelled_subgraphs import LabelledSubgraph, labelled_subgraphs
from srtk_plugin_sr.templates import FORMS, readable
from srtk_plugin_sr.vectors import Matrix, TextIndex, VectorStore, default_folder, unit

_PROBE = "What is the capital of the country that borders it?"
"""Text whose vector identifies the encoder that a head was trained with."""
_SAME = 0.99
"""Least cosine of two vectors of that text that come from the same encoder."""


@attrs.define(eq=False)
class RerankExpander(Expander):
    """Re-rank the triples of another expander, and cut the ranking where the expected F is greatest.

    For each triple, a perceptron reads frozen vectors of the question, the relation and the path to the triple, their
    products, directed distances from the links within the triples (SubgraphRAG, Li et al., ICLR 2025), and the inner
    expander's scores and ranks. Its outputs are calibrated on held-out questions. The chain from a link to a triple
    scores no less than the triple, so that the triples kept are connected. A triple's score is the logarithm of its
    probability. Provenance and qualifiers are those of the inner expander.

    Where a question has several topics and the inner expander gives paths, the odds of a triple on a path that meets
    those of another topic are as many times greater as its mass would be in `beam`, in training too, so that the head
    learns what remains (see ``graph.topic_joins``). A head reads each triple by itself, and sees what is to hold of all
    topics from one of them: of n topics, it has the share 1/n of the probability, and the inner expander's order the
    rest, in which the triples in place k are as probable as the head's best divided by k squared.

    Attributes:
        inner: Expander that finds the triples; give it a budget of its own, such as 200 triples.
        encoder: Encodes the texts.
        graph: Graph that has the labels, and in which paths of examples are followed in training.
        budget: Limits on the triples that are kept.
        keep: `f1` (for each question, the number that makes the expected F greatest), `threshold` (those above a
            probability), or `all` (order them only; the budget may cut).
        beta: Weight of recall against precision in F: 2 keeps more, 0.5 fewer.
        threshold: Probability for `keep: threshold`; by default the one found in training.
        model: Folder of a trained head; not needed in a recipe that trains one.
        entities: Also read the vectors of the labels of subject and object.
        rounds: Rounds of the directed distances.
        mention: Replaces the linked entities' mentions in the question; null leaves the text as it is.
        cache: Folder that keeps vectors between runs; by default in the user's cache folder, "" for none.
    """

    learns: ClassVar[str] = "paths"

    inner: Expander
    encoder: Encoder
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    keep: Literal["f1", "threshold", "all"] = attrs.field(default="f1", validator=one_of(("f1", "threshold", "all")))
    beta: float = attrs.field(default=1.0, validator=positive)
    threshold: float | None = attrs.field(default=None, validator=between(above=0, below=1))
    model: str | None = None
    entities: bool = False
    rounds: int = attrs.field(default=3, validator=at_least(1))
    mention: str | None = None
    cache: str | None = None
    _head: Head | None = attrs.field(init=False, default=None, repr=False)
    _store: VectorStore | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the trained head exists."""
        return absent("model", self.model)

    def open(self) -> None:
        """Read the vectors that earlier runs cached and the head in ``model``.

        Raises:
            DriverError: If the head cannot be read or was trained differently.
        """
        folder = default_folder() if self.cache is None else FilePath(self.cache).expanduser() if self.cache else None
        self._store = VectorStore(folder, self.encoder.fingerprint())
        if self.model is not None:
            self.load(FilePath(self.model).expanduser())

    def close(self) -> None:
        """Write the new vectors to the cache."""
        if self._store:
            self._store.save()

    def fingerprint(self) -> str:
        """Identify the drivers that this one uses, the settings and the weights."""
        apart = ("inner", "encoder", "graph", "model", "cache")
        settings = {
            field.name: getattr(self, field.name)
            for field in attrs.fields(type(self))
            if field.init and field.name not in apart
        }
        within = ", ".join(one.fingerprint() for one in (self.inner, self.encoder, self.graph))
        learnt = self._head.fingerprint() if self._head else "untrained"
        return f"rerank({within}, {settings!r}, {learnt})"

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Expand with the inner expander, score its triples, and keep the best within the budget.

        Raises:
            DriverError: If the head is not trained.
        """
        if self._head is None:
            raise DriverError(
                "the head is not trained: add `train: {driver: expander, questions: …, supervision: …}` to the recipe,"
                " or set `model` to the folder of a trained one"
            )
        if not questions:
            return []
        candidates = candidates_of(self.graph, questions, self.inner.expand(questions))
        inputs, vectors = self._inputs(candidates)
        ranked = [
            self._reranked(self._head, one, given, vectors) for one, given in zip(candidates, inputs, strict=True)
        ]
        return finish(self.graph, ranked, self.budget)

    def fit(self, task: TrainingTask, training: HeadFitSettings) -> Mapping[str, float]:
        """Train the head on the triples that the inner expander finds for the examples' questions.

        Raises:
            DriverError: If a package for training is missing, no triple found is needed, or the loss is not finite.
        """
        require_packages("srtk-plugin-sr", "lightning", "torch")
        task.folder.mkdir(parents=True, exist_ok=True)
        checkpoints = task.folder / "checkpoints"
        checkpoints.mkdir(exist_ok=True)
        file = checkpoints / "found.jsonl"
        labelled = list(labelled_subgraphs(self.inner, self.graph, task.examples, self.budget.hub, file))
        data, vectors = self._training_questions(labelled)
        # F does not change where all triples are kept; the weights that cut best also order well.
        cutoff = Cutoff("f1" if self.keep == "all" else self.keep, self.beta)
        self._head, figures = train_head(data, vectors, training, cutoff, self._reads(), task.folder, task.seed)
        if task.validate is not None:
            figures.update(task.validate())
        if self._store:
            self._store.save()
        return figures

    def save(self, folder: FilePath) -> None:
        """Write the head: its weights and the settings that it was trained with."""
        if self._head is None:
            raise DriverError("there is no trained head to save; train one first")
        self._head.save(folder)

    def load(self, folder: FilePath) -> None:
        """Load a head that ``save`` wrote.

        Raises:
            DriverError: If it cannot be read, or was trained with other settings or another encoder.
        """
        head = Head.load(folder)
        mine = self._reads()
        wrong = [name for name in ("entities", "rounds", "mention") if head.reads.get(name) != mine[name]]
        if wrong:
            theirs = ", ".join(f"{name}: {head.reads.get(name)!r}" for name in wrong)
            raise DriverError(f"the head in {folder} was trained with {theirs}; set the same, or train it again")
        probe = head.reads["probe"]
        if len(probe) != len(mine["probe"]) or float(np.dot(probe, mine["probe"])) < _SAME:
            raise DriverError(f"the head in {folder} was trained with another encoder; use that one, or train it again")
        self._head = head

    def _reads(self) -> dict[str, Any]:
        """Return the settings of the head's input, and the encoder's vector of one text."""
        probe = [round(float(value), 4) for value in unit(self.encoder.encode([_PROBE]))[0]]
        settings = {name: getattr(self, name) for name in ("entities", "rounds", "mention")}
        return {**settings, "probe": probe}

    def _inputs(self, candidates: Sequence[Candidates]) -> tuple[list[HeadInput], Matrix]:
        """Return the head's input for each question, and the vectors of all texts in it."""
        labels = self._labels([one.question for one in candidates], [one.found for one in candidates])
        queries, texts = TextIndex(), TextIndex()
        numbers = [queries.number(self._query(one.question, labels)) for one in candidates]
        columns = [self._texts(one.found, labels, texts) for one in candidates]
        vectors = self._vectors(queries.texts(), texts.texts())
        first = len(texts.texts())
        features = [
            triple_features(one.found, index_nodes(one.found.triples, one.starts), self.rounds) for one in candidates
        ]
        inputs = [
            HeadInput(first + n, column, row, one.support)
            for n, column, row, one in zip(numbers, columns, features, candidates, strict=True)
        ]
        return inputs, vectors

    def _labels(self, questions: Sequence[Question], found: Sequence[Subgraph]) -> dict[str, str]:
        needed = {step.relation for subgraph in found for path in subgraph.paths for step in path.steps}
        needed.update(triple.relation for subgraph in found for triple in subgraph.triples)
        if self.entities:
            needed.update(end for s in found for triple in s.triples for end in (triple.subject, triple.object))
        if self.mention is not None:
            needed.update(unnamed_entities(questions))
        ids = sorted(needed)
        return dict(zip(ids, self.graph.labels(ids), strict=True)) if ids else {}

    def _query(self, question: Question, labels: Mapping[str, str]) -> str:
        """Return the text of a question with its mentions masked."""
        if self.mention is None:
            return question.text
        return without_mentions(question, question.links, labels, self.mention)

    def _texts(self, subgraph: Subgraph, labels: Mapping[str, str], texts: TextIndex) -> npt.NDArray[np.int64]:
        """Return the numbers of each triple's texts (see ``HeadInput.texts``)."""
        templates = FORMS["plain"]
        paths = [
            texts.number(templates.join.join(templates.step(step, labels[step.relation]) for step in path.steps))
            for path in subgraph.paths
        ]
        rows = []
        for triple, rank in zip(subgraph.triples, subgraph.path_of, strict=True):
            row = [texts.number(templates.step(Step(triple.relation), labels[triple.relation]))]
            row.append(paths[rank] if rank >= 0 else -1)
            if self.entities:
                row += [texts.number(readable(labels[end])) for end in (triple.subject, triple.object)]
            rows.append(row)
        return np.array(rows, dtype=np.int64).reshape(len(rows), 4 if self.entities else 2)

    def _vectors(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts, then of queries; new ones are encoded in one call, and only texts are cached."""
        if self._store is None:
            raise not_open(self)
        missing = self._store.missing(texts)
        new = unit(self.encoder.encode([*queries, *missing])) if queries or missing else np.zeros((0, 1), np.float32)
        self._store.add(missing, new[len(queries) :])
        known = self._store.rows(texts) if texts else new[:0]
        return np.concatenate([known, new[: len(queries)]])

    def _reranked(self, head: Head, candidates: Candidates, given: HeadInput, vectors: Matrix) -> Subgraph:
        """Order the triples of one question by the head's scores, and cut them by the rule ``keep``."""
        found = candidates.found
        if not found.triples:
            return found
        own = shared(head.scores(vectors, given), found.scores, candidates.topics)
        order, scores = connected_order(found.triples, own, candidates.starts.keys())
        whole = attrs.evolve(found.ordered(order), scores=tuple(scores), trace={**found.trace, "reranked": len(order)})
        kept = Cutoff(self.keep, self.beta).count(scores, head.threshold if self.threshold is None else self.threshold)
        return whole.first(kept, "rerank")

    def _training_questions(self, labelled: Sequence[LabelledSubgraph]) -> tuple[list[TrainingQuestion], Matrix]:
        """Prepare the subgraphs that have triples for training."""
        labelled = [one for one in labelled if one.found.triples]
        questions = [one.example.question for one in labelled]
        candidates = candidates_of(self.graph, questions, [one.found for one in labelled])
        inputs, vectors = self._inputs(candidates)
        data = [
            TrainingQuestion(
                name=one.example.question.id,
                text=one.example.question.text,
                given=given,
                targets=np.array([one.gold.get(triple, 0.0) for triple in one.found.triples], np.float32),
                total=sum(one.gold.values()),
                triples=one.found.triples,
                starts=tuple(theirs.starts),
            )
            for one, given, theirs in zip(labelled, inputs, candidates, strict=True)
        ]
        return data, vectors


def shared(scores: Sequence[float], inner: Sequence[float], topics: int) -> list[float]:
    """Return the head's scores, shared with the inner expander's order where a question has several topics.

    Args:
        scores: Logarithms of the head's probabilities.
        inner: The inner expander's scores of the same triples; only their order counts.
        topics: Number of topics; the head's share is 1 / topics.
    """
    if topics < 2 or not len(scores):
        return list(scores)
    place = {score: at for at, score in enumerate(sorted(set(inner), reverse=True), start=1)}
    most = math.exp(max(scores))
    mixed = [
        math.exp(score) / topics + (1 - 1 / topics) * most / place[other] ** 2
        for score, other in zip(scores, inner, strict=True)
    ]
    return [rounded(math.log(max(one, LEAST))) for one in mixed]
