"""Files of the models of this plugin, networks of their weights, and a probe of their encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from srtk_framework.records import read_json
from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError, InputError
from srtk_plugin_septa.shape import Vectors

# A text whose vector tells whether an encoder is the one that a model was trained with.
PROBE = "Riga is the capital of Latvia."
# Least cosine of two vectors of the probe by one encoder, whose libraries differ in the last digits alone.
_LEAST_COSINE = 0.999


def read_model(folder: Path, settings: str, weights: str) -> tuple[dict[str, Any], dict[str, Vectors]]:
    """Read the settings and the weights of a model from the two files of these names."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    if not (folder / settings).is_file() or not (folder / weights).is_file():
        raise DriverError(f"{folder} holds no {settings} and {weights}; name a folder that a training wrote")
    try:
        known: Any = read_json(folder / settings)
    except InputError as error:
        raise DriverError(f"{error}; train the model again") from error
    if not isinstance(known, dict):
        raise DriverError(f"{folder / settings} holds no settings of a model; train the model again")
    try:
        return known, load_file(folder / weights)
    except SafetensorError as error:
        raise DriverError(f"{folder / weights} cannot be read ({error}); train the model again") from error


def network_of(make: Callable[[], Any], weights: Mapping[str, Vectors], settings: str) -> Any:
    """Make a network and give it weights, for use; an error names the file of the settings."""
    import torch

    def filled() -> Any:
        with torch.random.fork_rng(devices=[]):
            network = make()
        network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
        return network

    try:
        network = filled()
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        raise DriverError(f"the weights of the model do not fit {settings}; train the model again") from error
    return network.eval().requires_grad_(False)


def digest_of(settings: object, weights: Mapping[str, Vectors]) -> str:
    """Return a hash of settings and weights."""
    digest = hashlib.sha256(repr(settings).encode())
    for name, value in sorted(weights.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(value, dtype="<f4").tobytes())
    return digest.hexdigest()[:32]


def check_encoder(encoder: Encoder, probe: Vectors, model: str) -> None:
    """Refuse an encoder other than the encoder of the training, whose vector of ``PROBE`` is given."""
    (given,) = encoder.encode([PROBE])
    norms = float(np.linalg.norm(given) * np.linalg.norm(probe))
    if given.shape != probe.shape or float(given @ probe) < _LEAST_COSINE * norms:
        raise DriverError(
            f"the encoder is not the one that the {model} was trained with: it has other vectors; name that encoder, or"
            " train with this one"
        )
