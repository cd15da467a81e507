"""Vectors of texts, those about entities kept from batch to batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Encoder

MOST_KEPT = 20_000
"""Texts about entities whose vectors are kept; beyond that all are forgotten, and it starts anew."""

Vector = npt.NDArray[np.float32]


@attrs.define
class Vectors:
    """Encodes texts to vectors of length 1, each batch by at most one call.

    Attributes:
        encoder: Encodes.
        kept: Vectors of texts about entities, which come again and again.
    """

    encoder: Encoder
    kept: dict[str, Vector] = attrs.field(factory=dict, repr=False)

    def of(self, asked: Sequence[str], told: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each text.

        Args:
            asked: Texts that are not likely to come again.
            told: Texts about entities.
        """
        found = {text: self.kept[text] for text in told if text in self.kept}
        missing = [text for text in dict.fromkeys([*told, *asked]) if text not in found]
        if missing:
            matrix: Any = self.encoder.encode(missing)
            matrix = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
            found.update(zip(missing, matrix, strict=True))
            if len(self.kept) + len(told) > MOST_KEPT:
                self.kept.clear()
            # Copies, so that a kept vector does not hold the whole matrix in memory.
            self.kept.update({text: found[text].copy() for text in told if text not in self.kept})
        return found
