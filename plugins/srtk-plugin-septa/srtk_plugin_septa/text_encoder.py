"""The encoder ``septa-text``: any encoder with the linear head that a training aligned with subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

import attrs
import numpy as np

from srtk_framework.roles import Encoder, absent
from srtk_plugin_septa.model import SeptaModel
from srtk_plugin_septa.shape import Vectors


@attrs.define(eq=False)
class SeptaTextEncoder(Encoder):
    """Encode texts into the space that they share with subgraphs (SEPTA).

    Attributes:
        encoder: The encoder that the model was trained with.
        path: Folder of the trained model of `septa-graph`; null for the vectors of ``encoder`` as they are, which are
            compared with untrained `septa-graph` vectors.
    """

    encoder: Encoder
    path: str | None = None
    _model: SeptaModel | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the model exists."""
        return absent("path", self.path, "train a model, or correct the path")

    def open(self) -> None:
        """Read the model."""
        if self.path is not None:
            self._model = SeptaModel.read(FilePath(self.path).expanduser())
            self._model.check(self.encoder, self.path)

    def close(self) -> None:
        """Drop the model."""
        self._model = None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode each text, and pass its vector through the head."""
        rows = self.encoder.encode(texts)
        if self._model is None:
            return rows
        weight, bias = self._model.weight, self._model.bias
        found = np.empty((len(rows), len(bias)), dtype=np.float32)
        # One by one: the product of two matrices rounds a row otherwise where it stands among others.
        for at, row in enumerate(rows):
            found[at] = weight @ row + bias
        return found

    def weights_folder(self) -> FilePath | None:
        """Return the folder of the model."""
        return None if self._model is None or self.path is None else FilePath(self.path).expanduser()

    def fingerprint(self) -> str:
        """Identify the encoder and the weights."""
        return f"septa-text({self.encoder.fingerprint()}, {self._model.fingerprint() if self._model else 'untrained'})"
