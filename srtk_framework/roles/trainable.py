"""Protocol of trainable drivers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Protocol, runtime_checkable

import attrs

from srtk_framework.roles.executor import Executor
from srtk_framework.roles.knowledge_graph import KnowledgeGraph
from srtk_framework.values import Entry, TrainingExample, Triple


@attrs.frozen
class GraphExamples:
    """Training examples with the graph that their paths lie in.

    Attributes:
        graph: The graph.
        examples: The examples, in a fixed order.
    """

    graph: KnowledgeGraph
    examples: Sequence[TrainingExample]


@attrs.frozen
class TrainingTask:
    """The input of a training.

    Attributes:
        examples: The training examples, in a fixed order; none for a driver that learns from a graph or from texts.
        validate: Returns metrics by name, computed with the driver as it is now: of the recipe's retrieval on
            the validation questions, of links, or of the facts held out; None where there is nothing to validate with.
        folder: Keeps checkpoints, logs, and whatever else a resumed training needs.
        seed: Of everything random.
        held_out: Facts of the driver's graph on which it must not train, sorted; it may stop by them, and learn from
            them how good its confidences are. Empty for a driver that does not learn from a graph.
        texts: Texts for a driver that learns from texts, in the order of the corpus.
        held_out_texts: Texts on which it must not train; it may stop by them.
        elsewhere: Examples about other graphs than the driver's, one entry for each set of the recipe; only for a
            driver whose class has ``several_graphs = True``.
        validate_topics: As ``validate``, on the validation questions of several topics; None where they are too few to
            choose anything by, for a driver that does not learn from paths, and in a worker process.
        executor: Computes parts of the training in several places; None for here.
    """

    examples: Sequence[TrainingExample]
    validate: Callable[[], Mapping[str, float]] | None
    folder: FilePath
    seed: int = 0
    held_out: Sequence[Triple] = ()
    texts: Sequence[Entry] = ()
    held_out_texts: Sequence[Entry] = ()
    elsewhere: Sequence[GraphExamples] = ()
    validate_topics: Callable[[], Mapping[str, float]] | None = None
    executor: Executor | None = None


@runtime_checkable
class Trainable(Protocol):
    """A driver of any role that a recipe can train; ``learns`` of its class names its material.

    The annotation of ``fit``'s second argument is an attrs class, the settings under ``train.fit`` in the recipe.
    """

    def fit(self, task: TrainingTask, training: Any) -> Mapping[str, float]:
        """Train, or resume an interrupted training from ``task.folder``; return the final metrics."""

    def save(self, folder: FilePath) -> None:
        """Write the trained weights, so that a driver in a new process computes the same after ``load``.

        With an executor, ``validate`` of a task calls it too, within ``fit``.
        """

    def load(self, folder: FilePath) -> None:
        """Read the files of ``save``; called after ``open``."""

    def fingerprint(self) -> str:
        """Identify the driver's computation, including trained weights."""


@runtime_checkable
class TrainingPreflight(Protocol):
    """A trainable driver that finds faults of a training before a run."""

    def training_faults(self) -> list[str]:
        """Return the faults of a training, a sentence each; nothing is loaded or opened."""
