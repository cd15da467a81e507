"""The trained model: the graph network and the head of the text encoder, which are read from one folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np

from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError
from srtk_plugin_septa.model_files import PROBE, check_encoder, digest_of, load_model, network_of, save_model
from srtk_plugin_septa.shape import Shape, Vectors

SETTINGS = "septa.json"
# Beginnings of the names of weights: of the graph network, and of a text encoder that learnt too.
GRAPH, TEXT = "graph.", "text."


@attrs.frozen(eq=False)
class SeptaModel:
    """Weights of a graph network and of the head of a text encoder.

    Attributes:
        shape: Sizes of the network.
        graph: Weights of the network by name.
        weight: Weight of the text head, [dimensions, input].
        bias: Bias of the text head, [dimensions].
        probe: The encoder's vector of ``PROBE``.
        training: Settings, corpus and figures of the training.
        text: Weights of the text encoder by name; none where they are those of the encoder given.
    """

    shape: Shape
    graph: Mapping[str, Vectors]
    weight: Vectors
    bias: Vectors
    probe: Vectors
    training: Mapping[str, Any] = attrs.field(factory=dict)
    text: Mapping[str, Vectors] = attrs.field(factory=dict)

    @classmethod
    def untrained(cls, encoder: Encoder, seed: int = 0) -> SeptaModel:
        """Make the weights with which a training begins; both heads pass on the encoder's vectors."""
        import torch

        from srtk_plugin_septa.network import GraphNetwork

        (probe,) = encoder.encode([PROBE])
        shape = Shape(len(probe), len(probe))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = GraphNetwork(shape)
        weight = np.eye(shape.dimensions, shape.input, dtype=np.float32)
        return cls(shape, tensors(network), weight, np.zeros(shape.dimensions, dtype=np.float32), probe)

    def network(self) -> Any:
        """Build the graph network with these weights, for use."""
        from srtk_plugin_septa.network import GraphNetwork

        return network_of(lambda: GraphNetwork(self.shape), self.graph, SETTINGS)

    def fingerprint(self) -> str:
        """Return a hash of the weights."""
        return digest_of(self.shape, {**self.graph, "weight": self.weight, "bias": self.bias, **self._text()})

    def _text(self) -> dict[str, Vectors]:
        return {f"{TEXT}{name}": value for name, value in self.text.items()}

    def check(self, encoder: Encoder, where: str) -> None:
        """Refuse an encoder whose vectors are not those that the model was trained with."""
        check_encoder(encoder, self.probe, f"model in {where}")

    def save(self, folder: FilePath) -> None:
        """Write the weights and the settings."""
        graph = {f"{GRAPH}{name}": value for name, value in self.graph.items()}
        weights = {**graph, **self._text(), "weight": self.weight, "bias": self.bias, "probe": self.probe}
        save_model(folder / SETTINGS, {"shape": attrs.asdict(self.shape), "training": dict(self.training)}, weights)

    @classmethod
    def read(cls, folder: FilePath) -> SeptaModel:
        """Read a model that ``save`` wrote."""
        settings, found = load_model(folder / SETTINGS)
        try:
            shape = Shape(**settings["shape"])
            parts = {name: found.pop(name) for name in ("weight", "bias", "probe")}
        except (KeyError, TypeError) as error:
            raise DriverError(f"{folder} holds another kind of model ({error}); train the model again") from error
        if parts["weight"].shape != (shape.dimensions, shape.input) or parts["bias"].shape != (shape.dimensions,):
            raise DriverError(f"the weights of the model in {folder} do not fit {SETTINGS}; train the model again")
        text = {name.removeprefix(TEXT): found.pop(name) for name in list(found) if name.startswith(TEXT)}
        graph = {name.removeprefix(GRAPH): value for name, value in found.items()}
        head = graph.get("head.weight")
        if head is None or head.shape != (shape.dimensions, 3 * shape.input + 2 * shape.hidden):
            raise DriverError(f"{folder} holds a model of another version; train the model again")
        return cls(shape, graph, **parts, training=settings.get("training", {}), text=text)


def tensors(network: Any) -> dict[str, Vectors]:
    """Return the weights of a network as arrays."""
    return {name: value.detach().cpu().numpy().copy() for name, value in network.state_dict().items()}
