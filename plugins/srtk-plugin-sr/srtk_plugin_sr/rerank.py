"""The ``rerank`` expander: score another expander's triples with a trained head, and keep as many as are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_training import require_packages

from srtk_framework.graph import finish, instance_triples
from srtk_framework.roles import Encoder, Expander, KnowledgeGraph, TrainingTask, absent, not_open
from srtk_framework.text import link_topics, unnamed_entities, without_mentions
from srtk_framework.values import (
    Budget,
    DriverError,
    Question,
    Step,
    Subgraph,
    TrainingExample,
    Triple,
    batched,
    one_of,
    positive,
    rounded,
)
from srtk_plugin_sr.cutoff import best_count, connected_order
from srtk_plugin_sr.features import index_nodes, triple_features
from srtk_plugin_sr.fit_settings import HeadFitSettings
from srtk_plugin_sr.head import LEAST, Head, HeadInput
from srtk_plugin_sr.templates import FORMS
from srtk_plugin_sr.topic_joins import topic_joins
from srtk_plugin_sr.vectors import Matrix, TextIndex, VectorStore, default_folder, unit

if TYPE_CHECKING:
    from srtk_plugin_sr.head_trainer import TrainingQuestion

_AT_ONCE = 32
"""Questions of a training that are expanded together."""
_PROBE = "What is the capital of the country that borders it?"
"""Text whose vector identifies the encoder that a head was trained with."""
# ONNX and torch, or a CPU and a GPU, differ in the last digits of the same model's vectors.
_SAME = 0.99


@attrs.frozen(eq=False)
class Candidates:
    """Result of the inner expander for one question.

    Attributes:
        question: The question.
        found: The inner expander's subgraph, with the joins of the paths among its triples.
        starts: The linked nodes with their link scores, between 0 and 1.
        topics: Number of topics of the question.
        support: Logarithm of the factor by which other topics of the question raise each triple, of shape [triples];
            0 with one topic.
    """

    question: Question
    found: Subgraph
    starts: Mapping[str, float]
    topics: int
    support: npt.NDArray[np.float64]


@attrs.define(eq=False)
class RerankExpander(Expander):
    """Re-rank the triples of another expander, and cut the ranking where the expected F is greatest.

    For each triple, a perceptron reads frozen vectors of the question, the relation and the path to the triple, and
    their products. It also reads directed distances from the links within the triples (SubgraphRAG, Li et al., ICLR
    2025), and the inner expander's scores and ranks. Its outputs are calibrated on held-out questions. The chain from a
    link to a triple scores no less than the triple, so that the triples kept are connected. A triple's score is the
    logarithm of its probability. Provenance and qualifiers come from the inner expander.

    Where the paths of several topics meet, the odds of their triples rise by the same factor as their mass in `beam`,
    in training too (see ``graph.topic_joins``). But a head reads each triple by itself, from a single topic. So of n
    topics it has the share 1/n of the probability, and the inner expander's order has the rest: the triples in place k
    are as probable as the head's best divided by k squared.

    Attributes:
        inner: Expander that finds the triples; give it a budget of its own, such as 200 triples.
        encoder: Encodes the texts.
        graph: Graph that has the labels, and the triples on the paths of examples in training.
        budget: Limits on the triples that are kept.
        keep: `f1` (for each question, the number that makes the expected F greatest) or `all` (order them only; the
            budget may cut).
        beta: Weight of recall against precision in F: 2 keeps more, 0.5 fewer.
        model: Folder of a trained head; not needed in a recipe that trains it.
        mention: Replaces the linked entities' mentions in the question; null leaves the text as it is.
        cache: Folder that keeps vectors between runs; by default in the user's cache folder, "" for none.
    """

    learns: ClassVar[str] = "paths"

    inner: Expander
    encoder: Encoder
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    keep: Literal["f1", "all"] = attrs.field(default="f1", validator=one_of(("f1", "all")))
    beta: float = attrs.field(default=1.0, validator=positive)
    model: str | None = None
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
        from srtk_plugin_sr.head_trainer import train_head

        data, vectors = self._training_questions(task.examples)
        # Where all triples are kept, F is the same for all weights; the weights that cut best also order well.
        self._head, figures = train_head(data, vectors, training, self.beta, self._reads(), task.folder, task.seed)
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
        if (theirs := head.reads.get("mention")) != self.mention:
            raise DriverError(
                f"the head in {folder} was trained with mention: {theirs!r}; set the same, or train it again"
            )
        probe = head.reads["probe"]
        if len(probe) != len(mine["probe"]) or float(np.dot(probe, mine["probe"])) < _SAME:
            raise DriverError(f"the head in {folder} was trained with another encoder; use that one, or train it again")
        self._head = head

    def _reads(self) -> dict[str, Any]:
        """Return the settings of the head's input, and the encoder's vector of one text."""
        probe = [round(float(value), 4) for value in unit(self.encoder.encode([_PROBE]))[0]]
        return {"mention": self.mention, "probe": probe}

    def _inputs(self, candidates: Sequence[Candidates]) -> tuple[list[HeadInput], Matrix]:
        """Return the head's input for each question, and the vectors of all texts in it."""
        labels = self._labels([one.question for one in candidates], [one.found for one in candidates])
        queries, texts = TextIndex(), TextIndex()
        numbers = [queries.number(self._query(one.question, labels)) for one in candidates]
        columns = [self._texts(one.found, labels, texts) for one in candidates]
        vectors = self._vectors(queries.texts(), texts.texts())
        first = len(texts.texts())
        features = [triple_features(one.found, index_nodes(one.found.triples, one.starts)) for one in candidates]
        inputs = [
            HeadInput(first + n, column, row, one.support)
            for n, column, row, one in zip(numbers, columns, features, candidates, strict=True)
        ]
        return inputs, vectors

    def _labels(self, questions: Sequence[Question], found: Sequence[Subgraph]) -> dict[str, str]:
        needed = {step.relation for subgraph in found for path in subgraph.paths for step in path.steps}
        needed.update(triple.relation for subgraph in found for triple in subgraph.triples)
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
        rows = [
            [
                texts.number(templates.step(Step(triple.relation), labels[triple.relation])),
                paths[rank] if rank >= 0 else -1,
            ]
            for triple, rank in zip(subgraph.triples, subgraph.path_of, strict=True)
        ]
        return np.array(rows, dtype=np.int64).reshape(len(rows), 2)

    def _vectors(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts, then of queries, with a single call to the encoder; only texts are cached."""
        if self._store is None:
            raise not_open(self)
        missing = self._store.missing(texts)
        new = unit(self.encoder.encode([*queries, *missing])) if queries or missing else np.zeros((0, 1), np.float32)
        # Questions come once, so that their vectors would only fill the cache.
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
        return whole.first(len(scores) if self.keep == "all" else best_count(scores, self.beta), "rerank")

    def _training_questions(self, examples: Sequence[TrainingExample]) -> tuple[list[TrainingQuestion], Matrix]:
        """Expand the questions of examples, and label the triples that are found."""
        from srtk_plugin_sr.head_trainer import TrainingQuestion

        found = [
            (example, subgraph, needed_triples(self.graph, example, self.budget.hub))
            for batch in batched(examples, _AT_ONCE)
            for example, subgraph in zip(batch, self.inner.expand([one.question for one in batch]), strict=True)
            if subgraph.triples
        ]
        questions = [example.question for example, _, _ in found]
        candidates = candidates_of(self.graph, questions, [subgraph for _, subgraph, _ in found])
        inputs, vectors = self._inputs(candidates)
        data = [
            TrainingQuestion(
                name=example.question.id,
                text=example.question.text,
                given=given,
                targets=np.array([gold.get(triple, 0.0) for triple in subgraph.triples], np.float32),
                total=sum(gold.values()),
                triples=subgraph.triples,
                starts=tuple(theirs.starts),
            )
            for (example, subgraph, gold), given, theirs in zip(found, inputs, candidates, strict=True)
        ]
        return data, vectors


def candidates_of(graph: KnowledgeGraph, questions: Sequence[Question], found: Sequence[Subgraph]) -> list[Candidates]:
    """Return the candidates of questions; their linked nodes are read with one call to the graph."""
    frontiers = iter(graph.frontiers([[link.entity] for question in questions for link in question.links]))
    rows = []
    for question, subgraph in zip(questions, found, strict=True):
        nodes: dict[str, tuple[str, ...]] = {}
        starts: dict[str, float] = {}
        for link in question.links:
            nodes[link.entity] = tuple(next(frontiers).ids())
            for node in nodes[link.entity]:
                starts[node] = max(starts.get(node, 0.0), min(max(link.score, 0.0), 1.0))
        topics = link_topics(question.links)
        factors, joins = topic_joins(subgraph, topics, nodes)
        support = np.log([factors.get(triple, 1.0) for triple in subgraph.triples])
        found_here, count = attrs.evolve(subgraph, joins=joins), len(set(topics.values()))
        rows.append(Candidates(question, found_here, dict(sorted(starts.items())), count, support))
    return rows


def needed_triples(graph: KnowledgeGraph, example: TrainingExample, hub: int | None) -> dict[Triple, float]:
    """Return the gold triples of an example, else the triples on its paths' complete instances that end in an answer.

    Each has the quality of the best path that it is on, at most 1, and a gold triple has 1. At most ``hub`` neighbours
    of a node are read.
    """
    question = example.question
    if question.gold_triples is not None:
        return dict.fromkeys(question.gold_triples, 1.0)

    def read(nodes: Sequence[str], step: Step) -> Sequence[Triple]:
        [found] = graph.triples(graph.frontiers([nodes]), [step], hub)
        return found

    needed: dict[Triple, float] = {}
    for path in example.paths:
        quality = min(path.score, 1.0)
        if quality > 0:
            for triple in instance_triples(read, path.entity, path.steps, question.answers):
                needed[triple] = max(quality, needed.get(triple, 0.0))
    return needed


def shared(scores: Sequence[float], inner: Sequence[float], topics: int) -> list[float]:
    """Return the head's scores, shared with the inner expander's order where a question has several topics.

    Scores are logarithms of probabilities; only the order of the ``inner`` ones counts. The head's share is 1 / topics.
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
