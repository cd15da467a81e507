"""The subgraph encoder ``septa-graph``: message passing over the labels of a subgraph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np

from srtk_framework.roles import Encoder, KnowledgeGraph, SubgraphEncoder, absent
from srtk_framework.values import DriverError, Triple, batched
from srtk_plugin_septa.label_vectors import LabelVectors
from srtk_plugin_septa.model import SeptaModel
from srtk_plugin_septa.shape import Arrays, Vectors

_AT_ONCE = 256


@attrs.define(eq=False)
class SeptaGraphEncoder(SubgraphEncoder):
    """Encode subgraphs into the space that they share with texts (SEPTA).

    Attributes:
        graph: Graph with the labels of entities and relations.
        encoder: Encodes the labels; for a trained model, the encoder that it was trained with.
        path: Folder of a trained model; null for the mean of the label vectors, with which a training begins.
    """

    graph: KnowledgeGraph
    encoder: Encoder
    path: str | None = None
    _labels: LabelVectors | None = attrs.field(init=False, default=None, repr=False)
    _model: SeptaModel | None = attrs.field(init=False, default=None, repr=False)
    _network: Any = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the model exists."""
        return absent("path", self.path, "train a model, or correct the path")

    def open(self) -> None:
        """Read the model.

        Raises:
            DriverError: If the model cannot be read, or was trained with another encoder.
        """
        self._labels = LabelVectors(self.graph, self.encoder)
        if self.path is None:
            self._use(SeptaModel.untrained(self.encoder))
        else:
            model = SeptaModel.read(FilePath(self.path).expanduser())
            model.check(self.encoder, self.path)
            self._use(model)

    def close(self) -> None:
        """Drop the model and the label vectors."""
        self._labels = self._model = self._network = None

    def encode(self, subgraphs: Sequence[Sequence[Triple]], centres: Sequence[str]) -> Vectors:
        """Encode each subgraph."""
        import torch

        from srtk_plugin_septa.network import Batch

        if self._labels is None or self._model is None:
            raise DriverError("septa-graph is not open; call open first")
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
        weights = self._model.fingerprint() if self._model and self.path is not None else "untrained"
        return f"septa-graph({self.graph.source()}, {self.encoder.fingerprint()}, {weights})"

    def weights_folder(self) -> FilePath | None:
        """Return the folder of the model."""
        return None if self._model is None or self.path is None else FilePath(self.path).expanduser()

    def _use(self, model: SeptaModel) -> None:
        self._model, self._network = model, model.network()
