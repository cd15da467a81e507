"""The ``rerank`` expander: score what another expander found by a small learned head, and keep as much as is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Literal

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import finish
from srtk_framework.roles import Course, Encoder, Expander, KnowledgeGraph
from srtk_framework.values import Budget, DriverError, Question, Step, Subgraph
from srtk_plugin_sr.cutoff import connected_order
from srtk_plugin_sr.features import numbers, placed
from srtk_plugin_sr.fit_settings import Texts
from srtk_plugin_sr.head import Head, Rows
from srtk_plugin_sr.head_trainer import HeadTraining, train_head
from srtk_plugin_sr.held_out import Lot, Rule
from srtk_plugin_sr.labelled_subgraphs import Example, examples
from srtk_plugin_sr.links import name_of, names_needed, without_mention
from srtk_plugin_sr.templates import FORMS, readable
from srtk_plugin_sr.vectors import Matrix, VectorStore, default_folder, unit

_PROBE = "What is the capital of the country that borders it?"
_SAME = 0.99
"""Cosine above which two vectors of one text are taken to come from one encoder."""


@attrs.define(eq=False)
class RerankExpander(Expander):
    """Re-rank the triples that another expander found, and cut them where the expected F is greatest.

    A perceptron reads, for each triple, the frozen vectors of the question, the relation and the path that led to it,
    their products, directed distances from the links within the triples found (after SubgraphRAG, Li et al.,
    ICLR 2025), and the inner scores and ranks. Its outputs are made probabilities on held-out questions.
    A triple's chain to a link scores no less than the triple itself, so that whatever is kept hangs together. A
    triple's score is the logarithm of its probability.

    Attributes:
        inner: Finds the triples to choose from; give it a budget of its own, such as 200 triples.
        encoder: Gives the vectors.
        graph: Gives labels and, for training, walks the lessons' paths.
        budget: Limits on what is kept.
        keep: `f1` (per question, as many as make the expected F greatest), `threshold` (those above one probability),
            or `all` (only order them; the budget may cut).
        beta: Weight of recall against precision in F: 2 keeps more, 0.5 less.
        threshold: Probability for `keep: threshold`; the one learnt by default.
        model: Folder of a trained head; a recipe that trains needs none.
        entities: Also read the vectors of the labels of subject and object.
        rounds: Rounds of the directed distances.
        mention: What stands for the linked entities' mentions in the question; null leaves the text.
        cache: Folder that keeps vectors between runs; the user's cache folder by default, "" for none.
    """

    inner: Expander
    encoder: Encoder
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    keep: Literal["f1", "threshold", "all"] = "f1"
    beta: float = 1.0
    threshold: float | None = None
    model: str | None = None
    entities: bool = False
    rounds: int = 3
    mention: str | None = None
    cache: str | None = None
    _head: Head | None = attrs.field(init=False, default=None, repr=False)
    _store: VectorStore | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Check the settings, read the vectors that an earlier run kept, and the head, if one is named."""
        if self.keep not in ("f1", "threshold", "all"):
            raise DriverError(f"keep is {self.keep!r}; use f1, threshold or all")
        if not self.beta > 0:
            raise DriverError(f"beta is {self.beta}; it must be above 0")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise DriverError(f"threshold is {self.threshold}; it must lie between 0 and 1")
        if self.rounds < 1:
            raise DriverError(f"rounds is {self.rounds}; it must be at least 1")
        folder = default_folder() if self.cache is None else FilePath(self.cache).expanduser() if self.cache else None
        self._store = VectorStore(folder, self.encoder.fingerprint())
        if self.model is not None:
            self.load(FilePath(self.model).expanduser())

    def close(self) -> None:
        """Keep the new vectors for the next run."""
        if self._store:
            self._store.save()

    def fingerprint(self) -> str:
        """Identify the drivers within, the settings and the weights."""
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
        """Expand by the inner expander, score its triples, keep the best, and finish within the budget."""
        if self._head is None:
            raise DriverError(
                "the head is not trained: add `train: {driver: expander, questions: …, supervision: …}` to the recipe,"
                " or name the folder of a trained one as `model:`"
            )
        if not questions:
            return []
        found = self.inner.expand(questions)
        starts = self._starts(questions)
        rows, vectors = self._rows(questions, found, starts)
        ranked = [
            self._ranked(self._head, subgraph, row, vectors, start)
            for subgraph, row, start in zip(found, rows, starts, strict=True)
        ]
        return finish(self.graph, ranked, self.budget)

    def fit(self, course: Course, training: HeadTraining) -> Mapping[str, float]:
        """Train the head on what the inner expander finds for the lessons' questions."""
        course.folder.mkdir(parents=True, exist_ok=True)
        checkpoints = course.folder / "checkpoints"
        checkpoints.mkdir(exist_ok=True)
        made = list(examples(self.inner, self.graph, course.lessons, self.budget.hub, checkpoints / "found.jsonl"))
        lots, vectors = self._lots(made)
        # Where all is kept, F tells nothing; the weights that would cut best also order well.
        rule = Rule("f1" if self.keep == "all" else self.keep, self.beta)
        self._head, figures = train_head(lots, vectors, training, rule, self._reads(), course.folder, course.seed)
        if course.validate is not None:
            figures.update(course.validate())
        if self._store:
            self._store.save()
        return figures

    def save(self, folder: FilePath) -> None:
        """Write the head's weights and what it reads."""
        if self._head is None:
            raise DriverError("there is no trained head to save; train one first")
        self._head.save(folder)

    def load(self, folder: FilePath) -> None:
        """Take over a head that ``save`` wrote; it must have been trained with the same settings and encoder."""
        head = Head.load(folder)
        mine = self._reads()
        wrong = [name for name in ("entities", "rounds", "mention") if head.reads.get(name) != mine[name]]
        if wrong:
            told = ", ".join(f"{name}: {head.reads.get(name)!r}" for name in wrong)
            raise DriverError(f"the head in {folder} was trained with {told}; set the same, or train anew")
        theirs = head.reads["probe"]
        if len(theirs) != len(mine["probe"]) or float(np.dot(theirs, mine["probe"])) < _SAME:
            raise DriverError(f"the head in {folder} was trained with another encoder; use that one, or train anew")
        self._head = head

    def _reads(self) -> dict[str, Any]:
        """Tell what the head's inputs are made of, the encoder by its vector of one text."""
        probe = [round(float(value), 4) for value in unit(self.encoder.encode([_PROBE]))[0]]
        settings = {name: getattr(self, name) for name in ("entities", "rounds", "mention")}
        return {**settings, "probe": probe}

    def _starts(self, questions: Sequence[Question]) -> list[dict[str, float]]:
        """Return the nodes that each question's links stand for, with the links' scores."""
        made = iter(self.graph.frontiers([[link.entity] for question in questions for link in question.links]))
        starts: list[dict[str, float]] = []
        for question in questions:
            nodes: dict[str, float] = {}
            for link in question.links:
                for node in next(made).ids():
                    nodes[node] = max(nodes.get(node, 0.0), min(max(link.score, 0.0), 1.0))
            starts.append(dict(sorted(nodes.items())))
        return starts

    def _rows(
        self, questions: Sequence[Question], found: Sequence[Subgraph], starts: Sequence[Mapping[str, float]]
    ) -> tuple[list[Rows], Matrix]:
        """Turn what was found into what a head reads, and the vectors of all texts that occur."""
        labels = self._labels(questions, found)
        asked, texts = Texts(), Texts()
        worded = [asked.number(self._asked(question, labels)) for question in questions]
        columns = [self._texts(subgraph, labels, texts) for subgraph in found]
        vectors = self._vectors(asked.all(), texts.all())
        shift = len(texts.all())
        rows = [
            Rows(shift + number, column, numbers(subgraph, placed(subgraph.triples, start), self.rounds))
            for number, column, subgraph, start in zip(worded, columns, found, starts, strict=True)
        ]
        return rows, vectors

    def _labels(self, questions: Sequence[Question], found: Sequence[Subgraph]) -> dict[str, str]:
        wanted = {step.relation for subgraph in found for path in subgraph.paths for step in path.steps}
        wanted.update(triple.relation for subgraph in found for triple in subgraph.triples)
        if self.entities:
            wanted.update(end for s in found for triple in s.triples for end in (triple.subject, triple.object))
        if self.mention is not None:
            wanted.update(names_needed(questions))
        ids = sorted(wanted)
        return dict(zip(ids, self.graph.labels(ids), strict=True)) if ids else {}

    def _asked(self, question: Question, labels: Mapping[str, str]) -> str:
        """Return the words of a question, the mentions of its links replaced from the last to the first."""
        if self.mention is None:
            return question.text
        spans = sorted(question.links, key=lambda link: -1 if link.start is None else link.start, reverse=True)
        whole, text = len(question.text), question.text
        for link in spans:
            if link.start is None or link.end is None or link.end <= whole:
                text = without_mention(attrs.evolve(question, text=text), link, name_of(link, labels), self.mention)
                whole = whole if link.start is None else link.start
        return text

    def _texts(self, subgraph: Subgraph, labels: Mapping[str, str], texts: Texts) -> npt.NDArray[np.int64]:
        """Number the texts of each triple: relation, path, and where they are read subject and object."""
        words = FORMS["plain"]
        paths = [
            texts.number(words.join.join(words.step(step, labels[step.relation]) for step in path.steps))
            for path in subgraph.paths
        ]
        rows = []
        for triple, rank in zip(subgraph.triples, subgraph.path_of, strict=True):
            row = [texts.number(words.step(Step(triple.relation), labels[triple.relation]))]
            row.append(paths[rank] if rank >= 0 else -1)
            if self.entities:
                row += [texts.number(readable(labels[end])) for end in (triple.subject, triple.object)]
            rows.append(row)
        return np.array(rows, dtype=np.int64).reshape(len(rows), 4 if self.entities else 2)

    def _vectors(self, asked: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Encode what is new in one call; of questions nothing is kept."""
        if self._store is None:
            raise DriverError("the expander is not open; call open() first")
        missing = self._store.missing(texts)
        new = unit(self.encoder.encode([*asked, *missing])) if asked or missing else np.zeros((0, 1), np.float32)
        self._store.add(missing, new[len(asked) :])
        known = self._store.rows(texts) if texts else new[:0]
        return np.concatenate([known, new[: len(asked)]])

    def _ranked(
        self, head: Head, found: Subgraph, rows: Rows, vectors: Matrix, starts: Mapping[str, float]
    ) -> Subgraph:
        """Order the triples of one question by the head, and drop what the rule does not keep."""
        if not found.triples:
            return found
        order, scores = connected_order(found.triples, head.scores(vectors, rows), starts.keys())
        # Provenance and qualifiers are absent in the subgraphs of an inner expander that does not fill them in.
        columns = {
            name: tuple(column[i] for i in order)
            for name in ("triples", "path_of", "provenance", "qualifiers")
            if (column := getattr(found, name))
        }
        whole = attrs.evolve(
            found,
            scores=tuple(scores),
            trace={**found.trace, "reranked": len(order)},
            answer=found.answer and found.answer.moved(found.triples, columns["triples"]),
            **columns,
        )
        kept = Rule(self.keep, self.beta).count(scores, head.threshold if self.threshold is None else self.threshold)
        return whole.first(kept, "rerank")

    def _lots(self, made: Sequence[Example]) -> tuple[list[Lot], Matrix]:
        """Prepare the examples with candidates for training."""
        made = [example for example in made if example.found.triples]
        questions = [example.lesson.question for example in made]
        starts = self._starts(questions)
        rows, vectors = self._rows(questions, [example.found for example in made], starts)
        lots = [
            Lot(
                name=example.lesson.question.id,
                text=example.lesson.question.text,
                rows=row,
                targets=np.array([example.right.get(triple, 0.0) for triple in example.found.triples], np.float32),
                total=sum(example.right.values()),
                triples=example.found.triples,
                starts=tuple(start),
            )
            for example, row, start in zip(made, rows, starts, strict=True)
        ]
        return lots, vectors
