"""The reader ``gnn``: a graph network over the retrieved subgraph, trained on answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar

import attrs
import numpy as np
from srtk_plugin_training import fit, missing_packages, quiet_lightning, require_packages

from srtk_framework.roles import Encoder, KnowledgeGraph, Reader, TrainingTask, absent
from srtk_framework.text import unnamed_entities
from srtk_framework.values import (
    Alternative,
    Answer,
    DriverError,
    Literal,
    Question,
    RunError,
    Subgraph,
    rounded,
)
from srtk_plugin_graph_reader.decision import Decision
from srtk_plugin_graph_reader.fit_settings import GraphFitSettings
from srtk_plugin_graph_reader.inputs import Floats, GraphInput
from srtk_plugin_graph_reader.model import PROBE, GraphModel
from srtk_plugin_graph_reader.walks import support

logger = logging.getLogger(__name__)

_NAMED = 10
"""Names that a text has; the others are counted."""
_OTHERS = 3
"""Nodes below the threshold that are named as alternatives."""
# Least probability of an answer that is sure, or likely; the same as the reader `paths` has.
_SURE, _LIKELY = 0.7, 0.5


@attrs.define(eq=False)
class GraphReader(Reader):
    """Rate the nodes of a subgraph by a graph network, and answer with those above a threshold.

    The network passes messages from the topics of the question, over relations whose labels the words of the question
    attend to; entities have no vectors. So a model can read other graphs than the graph of its training. It stands in
    the place of NSM (He et al. 2021) and ReaRev (Mavromatis and Karypis 2022).

    The answers are the nodes above the threshold, the best one always. Their support is the walks over the relations
    that were attended to most. The probability in the trace is that of an answer right as a whole, calibrated on
    questions held out from training.

    Attributes:
        graph: Where names are read.
        encoder: Encodes the question, its words, and the labels of relations.
        path: Folder of a trained model; not needed in a recipe that trains.
    """

    learns: ClassVar[str] = "answers"
    reuse: ClassVar[str] = "reader: {use: gnn, path: FOLDER}"

    graph: KnowledgeGraph
    encoder: Encoder
    path: str | None = None
    _model: GraphModel | None = attrs.field(init=False, default=None, repr=False)
    _network: Any = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the model exists."""
        return absent("path", self.path, "train a model, or correct the path")

    def training_faults(self) -> list[str]:
        """Name the packages that are missing for training."""
        return missing_packages("srtk-plugin-graph-reader", "lightning")

    def open(self) -> None:
        """Read the model in ``path``."""
        if self.path is not None:
            self.load(FilePath(self.path).expanduser())

    def close(self) -> None:
        """Drop the model."""
        self._model = self._network = None

    def refuses(self) -> bool:
        """Return True: a subgraph without a topic and another node is refused."""
        return True

    def fingerprint(self) -> str:
        """Identify the graph, the encoder and the weights."""
        learnt = self._model.fingerprint() if self._model else "untrained"
        return f"gnn({self.graph.fingerprint()}, {self.encoder.fingerprint()}, {learnt})"

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Answer each question with the nodes above the threshold.

        Raises:
            DriverError: If there is no trained model.
        """
        if self._model is None:
            raise DriverError(
                "the reader is not trained: add `train: {driver: reader}` to the recipe, or set `path` to the folder of"
                " a trained one"
            )
        names = self._names(questions, subgraphs)
        inputs = [GraphInput.of(q, s, names) for q, s in zip(questions, subgraphs, strict=True)]
        vectors = self._vectors([one for one in inputs if one.fault() is None])
        return [self._answer(one, names, vectors) for one in inputs]

    def fit(self, task: TrainingTask, training: GraphFitSettings) -> Mapping[str, float]:
        """Learn from the questions whose subgraph has an answer; a share of them chooses epoch and threshold.

        Raises:
            DriverError: If a package for training is missing, or the loss is not finite.
            RunError: If no subgraph has an answer to its question.
        """
        require_packages("srtk-plugin-graph-reader", "lightning")
        import torch

        asked = [(one.question, one.subgraph or Subgraph()) for one in task.examples]
        names = self._names(*zip(*asked, strict=True)) if asked else {}
        lessons = [GraphInput.of(q, s, names).lesson(q.answers or ()) for q, s in asked]
        known = [one for one in lessons if one.gold.any() and one.given.fault() is None]
        if not known:
            raise RunError(f"none of {len(lessons)} training questions has an answer in its subgraph")
        if len(known) < len(lessons):
            logger.warning(
                "%d of %d training questions have no answer in their subgraph, and teach nothing; a greater budget may"
                " find more",
                *(len(lessons) - len(known), len(lessons)),
            )
        order = np.random.default_rng(task.seed).permutation(len(known)).tolist()
        held = int(training.validation * len(known))
        held_out, learning = [known[i] for i in order[:held]], [known[i] for i in order[held:]]
        vectors = self._vectors([one.given for one in known])
        (probe,) = self.encoder.encode([PROBE])
        shape = {"width": len(probe), "hidden": training.hidden, "rounds": training.rounds}
        with quiet_lightning():
            from srtk_plugin_graph_reader.lightning_module import GraphModule
            from srtk_plugin_graph_reader.network import GraphNetwork

            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(task.seed)
                network = GraphNetwork(**shape)
            module = GraphModule(network, learning, held_out, vectors, training, task.folder, task.seed)
            best = fit(module, task.folder, None, accelerator=training.accelerator, gradient_clip_val=1.0)
        network.load_state_dict(best)
        decision = Decision.best(module.cpu().rated(held_out or learning))
        weights = {name: one.numpy() for name, one in best.items()}
        figures = {
            **module.figures,
            "threshold": decision.threshold,
            "questions": float(len(learning)),
            "held_out_questions": float(held),
            "without_answer": float(len(lessons) - len(known)),
        }
        about = {"fit": attrs.asdict(training), "seed": task.seed, **figures}
        self._use(GraphModel(shape, weights, decision, probe, about))
        return {**figures, **(task.validate() if task.validate is not None else {})}

    def save(self, folder: FilePath) -> None:
        """Write the model.

        Raises:
            DriverError: If nothing was trained.
        """
        if self._model is None:
            raise DriverError("the reader has no trained model; train it, or name its folder in path")
        self._model.save(folder)

    def load(self, folder: FilePath) -> None:
        """Read a model that ``save`` wrote.

        Raises:
            DriverError: If it cannot be read, or is of another encoder.
        """
        model = GraphModel.load(folder)
        model.check(self.encoder)
        self._use(model)

    def _use(self, model: GraphModel) -> None:
        self._model, self._network = model, model.network()

    def _names(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> dict[str, str]:
        """Read the names of nodes, relations and of linked entities without a name."""
        ids = {id_ for subgraph in subgraphs for triple in subgraph.triples for id_ in triple}
        every = sorted({id_ for id_ in ids if not isinstance(id_, Literal)} | set(unnamed_entities(questions)))
        return dict(zip(every, self.graph.labels(every), strict=True)) if every else {}

    def _vectors(self, inputs: Sequence[GraphInput]) -> dict[str, Floats]:
        """Encode each distinct text once."""
        texts = sorted({text for one in inputs for text in (*one.texts, *one.relations)})
        return dict(zip(texts, self.encoder.encode(texts), strict=True)) if texts else {}

    def _answer(self, given: GraphInput, names: Mapping[str, str], vectors: Mapping[str, Floats]) -> Answer:
        """Rate the nodes of one subgraph."""
        from srtk_plugin_graph_reader.network import rated

        if (fault := given.fault()) is not None:
            return Answer(enough=False, missing=fault)
        assert self._model is not None
        decision = self._model.decision
        ratings, gates = rated(self._network, given, vectors)
        chosen = decision.chosen(ratings).tolist()
        others = [i for i in np.argsort(-ratings, kind="stable").tolist() if np.isfinite(ratings[i])]
        probability = decision.probability(ratings)
        ids = [given.nodes[i] for i in chosen]
        return Answer(
            text=_listed(ids, names),
            entities=tuple(ids),
            support=support(given, gates, chosen),
            certainty="sure" if probability >= _SURE else "likely" if probability >= _LIKELY else "unsure",
            alternatives=tuple(
                Alternative(_listed([given.nodes[i]], names), (given.nodes[i],))
                for i in others[len(chosen) :][:_OTHERS]
            ),
            trace={"probability": rounded(probability)},
        )


def _listed(ids: Sequence[str], names: Mapping[str, str]) -> str:
    texts = list(dict.fromkeys(one.lexical if isinstance(one, Literal) else names.get(one) or one for one in ids))
    if len(texts) > _NAMED:
        return f"{', '.join(texts[:_NAMED])} and {len(texts) - _NAMED} more"
    return ", ".join(texts)
