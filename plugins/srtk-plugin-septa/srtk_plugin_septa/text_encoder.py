"""The encoder ``septa-text``: an encoder with the linear head that a training aligned with subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np

from srtk_framework.roles import Encoder, absent
from srtk_plugin_septa.model import SeptaModel
from srtk_plugin_septa.shape import Vectors


@attrs.define(eq=False)
class SeptaTextEncoder(Encoder):
    """Encode texts into the space that they share with subgraphs (SEPTA).

    Attributes:
        encoder: The encoder that the model was trained with, `transformers` where the training changed its weights.
        path: Folder of the trained model of `septa-graph`; null for the vectors of ``encoder`` as they are, which are
            compared with untrained `septa-graph` vectors.
    """

    encoder: Encoder
    path: str | None = None
    _model: SeptaModel | None = attrs.field(init=False, default=None, repr=False)
    _tuned: Encoder | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the model exists."""
        return absent("path", self.path, "train a model, or correct the path")

    def open(self) -> None:
        """Read the model."""
        if self.path is not None:
            self._model = SeptaModel.read(FilePath(self.path).expanduser())
            self._model.check(self.encoder, self.path)
            if self._model.text:
                from srtk_plugin_septa.fine_tuning import encoder_with, loaded

                self._tuned = encoder_with(self.encoder, loaded(self.encoder, self._model.text, self.path))

    def close(self) -> None:
        """Drop the model."""
        if self._tuned is not None:
            self._tuned.close()
        self._model = self._tuned = None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode each text, and pass its vector through the head."""
        rows = self._text().encode(texts)
        if self._model is None:
            return rows
        weight, bias = self._model.weight, self._model.bias
        found = np.empty((len(rows), len(bias)), dtype=np.float32)
        # One by one: the product of two matrices rounds a row otherwise where it stands among others.
        for at, row in enumerate(rows):
            found[at] = weight @ row + bias
        return found

    def learner(self) -> Any:
        """Return a copy of encoder and head for training, in float32 on the CPU; this encoder does not change.

        Raises:
            DriverError: If the encoder below cannot be trained.
        """
        from srtk_plugin_septa.fine_tuning import HeadedText, learner_of

        text = learner_of(self._text())
        return text if self._model is None else HeadedText(text, self._model.weight, self._model.bias)

    def take(self, module: Any) -> None:
        """Encode with the weights of a trained copy from now on; the fingerprint changes with them."""
        from srtk_plugin_septa.fine_tuning import encoder_with

        if self._model is None:
            self._tuned = encoder_with(self.encoder, module, self._tuned)
            return
        self._tuned = encoder_with(self.encoder, module.text, self._tuned)
        weight, bias = (one.detach().cpu().numpy().copy() for one in (module.head.weight, module.head.bias))
        self._model = attrs.evolve(self._model, weight=weight, bias=bias)

    def _text(self) -> Encoder:
        return self.encoder if self._tuned is None else self._tuned

    def weights_folder(self) -> FilePath | None:
        """Return the folder of the model."""
        return None if self._model is None or self.path is None else FilePath(self.path).expanduser()

    def fingerprint(self) -> str:
        """Identify the encoder and the weights."""
        return f"septa-text({self._text().fingerprint()}, {self._model.fingerprint() if self._model else 'untrained'})"
