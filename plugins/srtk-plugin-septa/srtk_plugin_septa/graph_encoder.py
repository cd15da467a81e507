"""The subgraph encoder ``septa-graph``: message passing over the labels of a subgraph."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar

import attrs
import numpy as np
from srtk_plugin_training import fit, missing_packages, quiet_lightning, require_packages

from srtk_framework.roles import Corpus, Encoder, KnowledgeGraph, SubgraphEncoder, TrainingTask, absent, not_open
from srtk_framework.values import DriverError, Triple, batched
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.label_vectors import LabelVectors
from srtk_plugin_septa.model import GRAPH, TEXT, SeptaModel
from srtk_plugin_septa.pairs import Pairs
from srtk_plugin_septa.shape import Arrays, Shape, Vectors
from srtk_plugin_septa.subgraphs import SubgraphCorpus

_AT_ONCE = 256  # Subgraphs that are encoded together, so that memory does not grow with their number


@attrs.define(eq=False)
class SeptaGraphEncoder(SubgraphEncoder):
    """Encode subgraphs into the space that they share with texts (SEPTA).

    Attributes:
        graph: Graph with the labels of entities and relations.
        encoder: Encodes the labels; for a trained model, the encoder that it was trained with.
        path: Folder of a trained model; null for the mean of the label vectors, with which a training begins.
        corpus: Subgraphs and their texts to train on; null for those that `subgraphs` samples from ``graph``. Not
            needed in a recipe that uses a trained model.
    """

    learns: ClassVar[str] = "graph"
    reuse: ClassVar[str] = "subgraph_encoder: {use: septa-graph, path: FOLDER, encoder: {use: …}}"

    graph: KnowledgeGraph
    encoder: Encoder
    path: str | None = None
    corpus: Corpus | None = None
    _labels: LabelVectors | None = attrs.field(init=False, default=None, repr=False)
    _model: SeptaModel | None = attrs.field(init=False, default=None, repr=False)
    _trained: bool = attrs.field(init=False, default=False, repr=False)
    _network: Any = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the model exists."""
        return absent("path", self.path, "train a model, or correct the path")

    def training_faults(self) -> list[str]:
        """Return which packages are missing for training."""
        return missing_packages("srtk-plugin-septa", "lightning")

    def open(self) -> None:
        """Read the model."""
        self._labels = LabelVectors(self.graph, self.encoder)
        if self.path is None:
            self._use(SeptaModel.untrained(self.encoder), trained=False)
        else:
            self.load(FilePath(self.path).expanduser())

    def close(self) -> None:
        """Drop the model and the label vectors."""
        self._labels = self._model = self._network = None

    def encode(self, subgraphs: Sequence[Sequence[Triple]], centres: Sequence[str]) -> Vectors:
        """Encode each subgraph."""
        import torch

        from srtk_plugin_septa.network import Batch

        if self._labels is None or self._model is None:
            raise not_open(self)
        rows = np.empty((len(centres), self._model.shape.dimensions), dtype=np.float32)
        place = 0
        for some in batched(zip(subgraphs, centres, strict=True), _AT_ONCE):
            arrays = [Arrays.of(triples, centre) for triples, centre in some]
            for one, (nodes, relations) in zip(arrays, self._labels.of(arrays), strict=True):
                # One by one: a product of matrices rounds a row otherwise where it stands among others.
                batch = Batch.of([one], torch.from_numpy(nodes), torch.from_numpy(relations))
                with torch.no_grad():
                    rows[place] = self._network(batch)[0].numpy()
                place += 1
        return rows

    def fingerprint(self) -> str:
        """Identify the labels, the encoder and the weights."""
        weights = self._model.fingerprint() if self._model and self._trained else "untrained"
        if self.corpus is not None:
            weights = f"{weights}, {self.corpus.fingerprint()}"
        return f"septa-graph({self.graph.source()}, {self.encoder.fingerprint()}, {weights})"

    def weights_folder(self) -> FilePath | None:
        """Return the folder of the model."""
        return None if self._model is None or self.path is None else FilePath(self.path).expanduser()

    def fit(self, task: TrainingTask, training: SeptaFitSettings) -> Mapping[str, float]:
        """Align subgraphs with their texts; the weights of ``encoder`` stay as they are, a copy of it may learn.

        Centres are held out, chosen by a hash of their ids; other subgraphs may still have triples of theirs.

        Raises:
            DriverError: If a package for training is missing, facts are held out, there are fewer than two subgraphs,
                the encoder is to learn and cannot, or the loss is not finite.
        """
        require_packages("srtk-plugin-septa", "lightning")
        if task.held_out:
            raise DriverError(
                "septa-graph learns from whole subgraphs and holds centres out; omit held_out, and set fit.validation"
            )
        text: Any = None
        if not training.frozen:
            from srtk_plugin_septa.fine_tuning import learner_of

            text = learner_of(self.encoder)
        corpus: Corpus = self.corpus or SubgraphCorpus(graph=self.graph)
        if self.corpus is None:
            corpus.open()
        entries = [entry for entry in corpus.read() if entry.triples and entry.text]
        if len(entries) < 2:
            raise DriverError(f"{corpus.fingerprint()} has {len(entries)} subgraphs; two are the least to learn from")
        pairs = Pairs.of(entries, self.graph, self.encoder, training.views, text and text.tokenize)
        order = sorted(range(len(entries)), key=lambda i: (_place(entries[i].id, task.seed), i))
        held = min(training.validation, len(entries) // 10)
        validation, learning = np.array(order[:held], dtype=np.int64), np.array(sorted(order[held:]), dtype=np.int64)
        width = pairs.labels.shape[1]
        shape = Shape(width, training.dimensions or width, training.hidden)
        with quiet_lightning():
            from srtk_plugin_septa.alignment import AlignmentModule

            module = AlignmentModule(shape, pairs, learning, validation, training, task.folder, task.seed, text)
            machine = {name: getattr(training, name) for name in ("accelerator", "devices", "strategy")}
            found = fit(module, task.folder, None, **machine)
        best, figures = {name: weights.numpy() for name, weights in found.items()}, module.figures
        graph, learnt = (
            {name.removeprefix(begin): value for name, value in best.items() if name.startswith(begin)}
            for begin in (GRAPH, TEXT)
        )
        probe = SeptaModel.untrained(self.encoder).probe
        known = {"fit": attrs.asdict(training), "seed": task.seed, "corpus": corpus.fingerprint(), **figures}
        self._use(SeptaModel(shape, graph, best["weight"], best["bias"], probe, known, learnt), trained=True)
        return {**figures, "subgraphs": float(len(learning)), "held_out_subgraphs": float(held)}

    def save(self, folder: FilePath) -> None:
        """Write the weights of both encoders."""
        if self._model is None or not self._trained:
            raise DriverError("septa-graph has no trained model; train it, or name its folder in path")
        self._model.save(folder)

    def load(self, folder: FilePath) -> None:
        """Read a model that ``save`` wrote."""
        model = SeptaModel.read(folder)
        model.check(self.encoder, str(folder))
        self._use(model, trained=True)

    def _use(self, model: SeptaModel, trained: bool) -> None:
        self._trained = trained
        self._model, self._network = model, model.network()


def _place(id_: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}\t{id_}".encode("utf-8", "surrogatepass")).hexdigest()
