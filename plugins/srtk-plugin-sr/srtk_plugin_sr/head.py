"""A small head on frozen text vectors: the probability that a triple belongs to the answer of a question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import DriverError, rounded

Array = npt.NDArray[Any]

_FORMAT = 1
_WEIGHTS = ("inner", "inner_bias", "outer", "outer_bias", "mean", "spread")
_CLIP = 5.0
_COSINES = 4.0
LEAST = 1e-6
"""The least probability, so that its logarithm is finite."""


@attrs.frozen(eq=False)
class Rows:
    """The triples of one question as a head reads them; texts by their number in a table of unit vectors.

    Attributes:
        question: Text of the question.
        texts: Of shape [triples, kinds]: relation, path, perhaps subject and object; -1 for no text.
        numbers: Of shape [triples, ``features.width``].
    """

    question: int
    texts: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.float64]


def inputs(vectors: Array, rows: Rows, mean: Array, spread: Array) -> Array:
    """Put the triples of one question side by side, of shape [triples, ``input_width``], in the type of ``vectors``.

    The question, and per kind of text its vector, its product with the question element by element, and their
    cosine; then the numbers, brought to mean 0 and spread 1. Vectors are scaled so that an element is about 1.
    """
    count, kinds = rows.texts.shape
    scale = vectors.dtype.type(np.sqrt(vectors.shape[1]))
    question = vectors[rows.question] * scale
    parts = [np.broadcast_to(question, (count, len(question)))]
    for kind in range(kinds):
        numbers = rows.texts[:, kind]
        found = vectors[numbers] * (scale * (numbers >= 0)[:, None]).astype(vectors.dtype)
        product = found * question
        parts += [found, product, product.sum(axis=1, keepdims=True) * (_COSINES / len(question))]
    parts.append(np.clip((rows.numbers - mean) / spread, -_CLIP, _CLIP))
    return np.concatenate(parts, axis=1, dtype=vectors.dtype, casting="same_kind")


def input_width(dimensions: int, kinds: int, numbers: int) -> int:
    """Return how many numbers ``inputs`` gives for a triple."""
    return dimensions + kinds * (2 * dimensions + 1) + numbers


@attrs.frozen(eq=False)
class Head:
    """A perceptron of two layers over ``inputs``, then a straight line that makes its logits probabilities.

    It is computed in float64, so that rounded scores do not depend on the other triples of a batch.

    Attributes:
        weights: By name, float64 arrays of the two layers, and mean and spread of the numbers.
        slope: Of the line (Platt 1999).
        offset: Of the line.
        threshold: The probability from which on triples are kept, where not every question has its own size.
        reads: What the inputs were made of: the settings and the encoder; another one is refused.
    """

    weights: Mapping[str, Array]
    slope: float
    offset: float
    threshold: float
    reads: Mapping[str, Any]

    def logits(self, vectors: Array, rows: Rows) -> Array:
        """Return the logit of each triple before the line."""
        found = inputs(vectors.astype(np.float64), rows, self.weights["mean"], self.weights["spread"])
        hidden = np.maximum(found @ self.weights["inner"].T + self.weights["inner_bias"], 0.0)

        result: Array = hidden @ self.weights["outer"][0] + self.weights["outer_bias"][0]
        return result

    def scores(self, vectors: Array, rows: Rows) -> list[float]:
        """Return the logarithm of each triple's probability, rounded."""
        return log_probabilities(self.logits(vectors, rows), self.slope, self.offset)

    def fingerprint(self) -> str:
        """Identify weights, line and threshold."""
        digest = hashlib.sha256(json.dumps(self._facts(), sort_keys=True).encode())
        for name in _WEIGHTS:
            digest.update(np.ascontiguousarray(self.weights[name], dtype="<f8").tobytes())
        return digest.hexdigest()[:24]

    def save(self, folder: FilePath) -> None:
        """Write ``head.safetensors`` and ``head.json``."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file({name: np.ascontiguousarray(self.weights[name]) for name in _WEIGHTS}, folder / "head.safetensors")
        text = json.dumps(self._facts(), indent=2, sort_keys=True, ensure_ascii=False)
        (folder / "head.json").write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: FilePath) -> Head:
        """Read what ``save`` wrote.

        Raises:
            DriverError: If a file is missing or is not such a file.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            facts = json.loads((folder / "head.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DriverError(f"{folder} holds no trained head: head.json cannot be read ({error})") from error
        if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
            raise DriverError(f"{folder / 'head.json'} is not of format {_FORMAT}; train the head anew")
        try:
            weights = load_file(folder / "head.safetensors")
        except (OSError, SafetensorError) as error:
            raise DriverError(f"{folder} holds no trained head: head.safetensors cannot be read ({error})") from error
        if sorted(weights) != sorted(_WEIGHTS):
            raise DriverError(f"{folder / 'head.safetensors'} does not hold {', '.join(_WEIGHTS)}; train the head anew")
        return cls(weights, facts["slope"], facts["offset"], facts["threshold"], facts["reads"])

    def _facts(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "slope": self.slope,
            "offset": self.offset,
            "threshold": self.threshold,
            "reads": dict(self.reads),
        }


def log_probabilities(logits: Array | Sequence[float], slope: float, offset: float) -> list[float]:
    """Turn logits into rounded logarithms of probabilities, none below that of ``LEAST``."""
    values = -np.logaddexp(0.0, -(slope * np.asarray(logits, dtype=np.float64) + offset))
    return [rounded(value) for value in np.maximum(values, np.log(LEAST))]
