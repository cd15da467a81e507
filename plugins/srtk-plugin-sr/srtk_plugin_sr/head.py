"""The head of ``rerank``: a perceptron on frozen text vectors that gives the probability that a triple is needed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.records import beside, read_model, write_model
from srtk_framework.values import rounded

Array = npt.NDArray[Any]

_FORMAT = 2
_FILE = "head.json"
_WEIGHTS = ("inner", "inner_bias", "outer", "outer_bias", "mean", "spread")
_CLIP = 5.0
"""Largest standardised feature."""
# Brings cosines to the range of the other inputs.
_COSINE_SCALE = 4.0
# Logarithms of probabilities must be finite.
LEAST = 1e-6


@attrs.frozen(eq=False)
class HeadInput:
    """Input of the head for one question; texts are row numbers in a matrix of unit vectors.

    Attributes:
        question: Row of the question.
        texts: Rows of each triple's relation and path, of shape [triples, 2]; -1 for no path.
        features: Numeric features, of shape [triples, ``FEATURE_COUNT``].
        support: Number that other topics of the question add to the logit of each triple, of shape [triples].
    """

    question: int
    texts: npt.NDArray[np.int64]
    features: npt.NDArray[np.float64]
    support: npt.NDArray[np.float64]


def input_matrix(vectors: Array, given: HeadInput, mean: Array, spread: Array) -> Array:
    """Return the input of the first layer, of shape [triples, ``input_width``], in the type of ``vectors``.

    A row holds the vector of the question. For each text follow its vector, the elementwise product of both, and their
    cosine. Last come the features, standardised to mean 0 and standard deviation 1. Vectors are scaled so that an
    element is about 1.

    Args:
        vectors: Unit vectors of the texts [texts, d].
        given: Texts and features of one question.
        mean: Mean of each feature.
        spread: Standard deviation of each feature.
    """
    scale = vectors.dtype.type(np.sqrt(vectors.shape[1]))
    question = vectors[given.question] * scale
    parts = [np.broadcast_to(question, (len(given.texts), len(question)))]
    for numbers in given.texts.T:
        found = vectors[numbers] * (scale * (numbers >= 0)[:, None]).astype(vectors.dtype)
        product = found * question
        parts += [found, product, product.sum(axis=1, keepdims=True) * (_COSINE_SCALE / len(question))]
    parts.append(np.clip((given.features - mean) / spread, -_CLIP, _CLIP))
    return np.concatenate(parts, axis=1, dtype=vectors.dtype, casting="same_kind")


def input_width(dimensions: int, features: int) -> int:
    """Return the width of ``input_matrix`` for vectors of ``dimensions`` and a number of features."""
    return dimensions + 2 * (2 * dimensions + 1) + features


@attrs.frozen(eq=False)
class Head:
    """A perceptron with one hidden layer over ``input_matrix``, and Platt scaling of its logits.

    It computes in float64, so that rounded scores do not depend on the other triples of a batch.

    Attributes:
        weights: By name, float64 arrays of the two layers, and mean and standard deviation of the features.
        slope: Slope of Platt scaling (Platt 1999), which turns logits into probabilities.
        offset: Offset of Platt scaling.
        reads: Settings and encoder of the input, which must be the same as in training.
    """

    weights: Mapping[str, Array]
    slope: float
    offset: float
    reads: Mapping[str, Any]

    def logits(self, vectors: Array, given: HeadInput) -> Array:
        """Return the logit of each triple, before Platt scaling."""
        found = input_matrix(vectors.astype(np.float64), given, self.weights["mean"], self.weights["spread"])
        hidden = np.maximum(found @ self.weights["inner"].T + self.weights["inner_bias"], 0.0)
        result: Array = hidden @ self.weights["outer"][0] + self.weights["outer_bias"][0] + given.support
        return result

    def scores(self, vectors: Array, given: HeadInput) -> list[float]:
        """Return the logarithm of each triple's probability, rounded."""
        return log_probabilities(self.logits(vectors, given), self.slope, self.offset)

    def fingerprint(self) -> str:
        """Identify the weights and the scaling."""
        digest = hashlib.sha256(json.dumps(self._facts(), sort_keys=True).encode())
        for name in _WEIGHTS:
            digest.update(np.ascontiguousarray(self.weights[name], dtype="<f8").tobytes())
        return digest.hexdigest()[:24]

    def save(self, folder: FilePath) -> None:
        """Write ``head.safetensors`` and ``head.json``."""
        from safetensors.numpy import save

        weights = save({name: np.ascontiguousarray(self.weights[name]) for name in _WEIGHTS})
        write_model(folder / _FILE, self._facts(), {"head.safetensors": weights})

    @classmethod
    def load(cls, folder: FilePath) -> Head:
        """Read a head that ``save`` wrote.

        Raises:
            DriverError: If a file is missing, damaged, or not part of a head.
        """
        from safetensors.numpy import load_file

        file = folder / _FILE

        def parse(data: Any) -> Head:
            if data["format"] != _FORMAT:
                raise ValueError(f"its format is {data['format']}, not {_FORMAT}")
            weights = load_file(beside(file, data, "head.safetensors"))
            return cls({name: weights[name] for name in _WEIGHTS}, data["slope"], data["offset"], data["reads"])

        return read_model(file, "rerank", parse)

    def _facts(self) -> dict[str, Any]:
        return {"format": _FORMAT, "slope": self.slope, "offset": self.offset, "reads": dict(self.reads)}


def log_probabilities(logits: Array | Sequence[float], slope: float, offset: float) -> list[float]:
    """Return rounded logarithms of the probabilities of logits, at least the logarithm of ``LEAST``."""
    values = -np.logaddexp(0.0, -(slope * np.asarray(logits, dtype=np.float64) + offset))
    return [rounded(value) for value in np.maximum(values, np.log(LEAST))]
