"""The trained model: weights, decision, and a probe of the encoder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from srtk_framework.records import beside, read_model, write_model
from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError
from srtk_plugin_graph_reader.decision import Decision
from srtk_plugin_graph_reader.inputs import Floats

SETTINGS, WEIGHTS = "graph_reader.json", "graph_reader.safetensors"
PROBE = "Riga is the capital of Latvia."
"""A text whose vector tells whether an encoder is the encoder of the training."""
# Least cosine of two vectors of the probe by one encoder, whose libraries differ in the last digits alone.
_LEAST_COSINE = 0.999


@attrs.frozen(eq=False)
class GraphModel:
    """A trained network.

    Attributes:
        shape: ``width``, ``hidden`` and ``rounds`` of the network.
        weights: Its weights by name.
        decision: How its ratings become answers.
        probe: Vector of a probe by the encoder.
        training: What the model was trained with, for people.
    """

    shape: Mapping[str, int]
    weights: Mapping[str, Floats]
    decision: Decision
    probe: Floats
    training: Mapping[str, Any] = attrs.field(factory=dict)

    def network(self) -> Any:
        """Build the network with these weights, for use.

        Raises:
            DriverError: If the weights do not fit.
        """
        import torch

        from srtk_plugin_graph_reader.network import GraphNetwork

        try:
            with torch.random.fork_rng(devices=[]):
                network = GraphNetwork(**self.shape)
            network.load_state_dict({name: torch.from_numpy(np.array(one)) for name, one in self.weights.items()})
        except (RuntimeError, TypeError, ValueError) as error:
            raise DriverError(f"the weights of the model do not fit {SETTINGS}; train the reader again") from error
        return network.eval().requires_grad_(False)

    def fingerprint(self) -> str:
        """Return a hash of the weights and the decision."""
        known = json.dumps([dict(sorted(self.shape.items())), attrs.asdict(self.decision)])
        digest = hashlib.sha256(known.encode())
        for name, value in sorted(self.weights.items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(value, dtype="<f4").tobytes())
        return digest.hexdigest()[:32]

    def save(self, folder: Path) -> None:
        """Write the model into a folder."""
        from safetensors.numpy import save

        arrays = {**{f"network.{name}": one for name, one in self.weights.items()}, "probe": self.probe}
        content = save({name: np.ascontiguousarray(one) for name, one in arrays.items()})
        facts = {"shape": self.shape, "decision": attrs.asdict(self.decision), "training": self.training}
        write_model(folder / SETTINGS, facts, {WEIGHTS: content})

    @classmethod
    def load(cls, folder: Path) -> GraphModel:
        """Read a model that ``save`` wrote.

        Raises:
            DriverError: If it cannot be read, or is damaged.
        """
        from safetensors.numpy import load_file

        def parse(known: Any) -> GraphModel:
            arrays = load_file(beside(folder / SETTINGS, known, WEIGHTS))
            decision = Decision(float(known["decision"]["threshold"]), tuple(map(float, known["decision"]["weights"])))
            probe = arrays.pop("probe")
            weights = {name.removeprefix("network."): one for name, one in arrays.items()}
            return cls(known["shape"], weights, decision, probe, known["training"])

        return read_model(folder / SETTINGS, "gnn", parse)

    def check(self, encoder: Encoder) -> None:
        """Refuse an encoder other than the encoder of the training.

        Raises:
            DriverError: If its vectors are others.
        """
        (given,) = encoder.encode([PROBE])
        norms = float(np.linalg.norm(given) * np.linalg.norm(self.probe))
        if given.shape != self.probe.shape or float(given @ self.probe) < _LEAST_COSINE * norms:
            raise DriverError(
                "the encoder is not the one that the reader was trained with: it has other vectors; name that encoder,"
                " or train with this one"
            )
