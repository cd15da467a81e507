"""Files of the models of this plugin, networks of their weights, and a probe of their encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from srtk_framework.records import beside, read_model, write_model
from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError
from srtk_plugin_septa.shape import Vectors

# A text whose vector tells whether an encoder is the one that a model was trained with.
PROBE = "Riga is the capital of Latvia."
# Least cosine of two vectors of the probe by one encoder, whose libraries differ in the last digits alone.
_LEAST_COSINE = 0.999
_WEIGHTS = ".safetensors"


def save_model(file: Path, settings: Mapping[str, Any], weights: Mapping[str, Vectors]) -> None:
    """Write the settings of a model, and its weights beside them."""
    from safetensors.numpy import save

    content = save({name: np.ascontiguousarray(value) for name, value in weights.items()})
    write_model(file, settings, {file.with_suffix(_WEIGHTS).name: content})


def load_model(file: Path) -> tuple[dict[str, Any], dict[str, Vectors]]:
    """Read the settings and the weights of a model that ``save_model`` wrote."""
    from safetensors.numpy import load_file

    def parse(known: Any) -> tuple[dict[str, Any], dict[str, Vectors]]:
        weights = load_file(beside(file, known, file.with_suffix(_WEIGHTS).name))
        del known["files"]
        return known, weights

    return read_model(file, file.stem, parse)


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
