"""The ``transformers`` encoder: text vectors from any Hugging Face encoder, bit for bit the same in any batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from srtk_plugin_models import SentenceSettings, check_weights, files_hash, find_model

from srtk_framework.roles import Encoder, not_open
from srtk_plugin_transformers.encoder_model import EncoderModel, load, marks_first_token
from srtk_plugin_transformers.torch_settings import TorchSettings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from srtk_plugin_transformers.trainable_module import TrainableModule


@attrs.define(eq=False, kw_only=True)
class TransformersEncoder(TorchSettings, SentenceSettings, Encoder):
    """Encode texts with a Hugging Face encoder, or with the encoder of an encoder-decoder.

    The vector of a text is bit for bit the same in any batch. Each text is padded to a length that depends on its own
    tokens only, and is computed in a forward pass with a fixed number of rows. On a CPU each pass is computed by one
    thread and several passes run in parallel, so that the vector does not depend on the number of threads either.

    Attributes:
        batch_size: Rows of a pass of short texts; by default 32 on a CPU, 512 on a GPU.
    """

    rows: ClassVar[tuple[int, int]] = (32, 512)

    model: str = "minilm"
    _encoder: EncoderModel | None = attrs.field(init=False, default=None, repr=False)
    _trained: Mapping[str, Any] | None = attrs.field(init=False, default=None, repr=False)
    _trained_hash: str = attrs.field(init=False, default="", repr=False)

    def open(self) -> None:
        """Load tokenizer and weights."""
        device, dtype = self._place()
        check_weights(self._find(), self.model, self.unsafe_weights)
        self._encoder = self._loaded(device, dtype, self.threads)
        self._warn_of_guessed_pooling(self._find())
        if self._trained is not None:
            self._encoder.model.load_state_dict(self._trained)

    def close(self) -> None:
        """Release the weights and the threads."""
        if self._encoder is not None:
            self._encoder.close()
            self._encoder = None

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d]."""
        if self._encoder is None:
            raise not_open(self)
        return self._encoder.encode(texts)

    def fingerprint(self) -> str:
        """Identify the model's files, the settings that change vectors, the versions, and the kind of processor."""
        folder = self._find()
        parts = {
            "files": self._trained_hash or files_hash(folder, self.unsafe_weights, self.trust_remote_code),
            "pooling": self._pooling(folder),
            "normalize": self.normalize,
            "max_length": self._length(folder),
            "prompt": self._settings(folder).prompt,
        }
        return self._fingerprint("transformers", parts)

    def learner(self) -> TrainableModule:
        """Return a copy of the model in float32, on the CPU, for training; this encoder does not change.

        Raises:
            DriverError: If the folder has layers or settings of sentence-transformers that a training does not save.
        """
        from srtk_plugin_transformers.trainable_module import TrainableModule, check_trainable

        check_trainable(self._settings(self._find()), self.model)
        module = TrainableModule(self._loaded("cpu", "float32", 1))
        if self._trained is not None:
            module.model.load_state_dict(self._trained)
        return module

    def take(self, module: TrainableModule) -> None:
        """Encode with the weights of a trained copy from now on; the fingerprint changes with them."""
        from srtk_plugin_transformers.trainable_module import weights_hash

        if self._encoder is None:
            raise not_open(self)
        self._trained = {name: value.detach().cpu().clone() for name, value in module.model.state_dict().items()}
        self._trained_hash = weights_hash(self._trained)
        self._encoder.model.load_state_dict(self._trained)

    def save(self, folder: Path) -> None:
        """Write tokenizer, weights (safetensors) and pooling to a folder, for use as ``model``."""
        from srtk_plugin_transformers.trainable_module import save_model

        source = self._find()
        state = self._trained if self._trained is not None else self.learner().model.state_dict()
        save_model(
            folder, source, self.model, state, self._pooling(source), self.unsafe_weights, self.trust_remote_code
        )

    def load(self, folder: Path) -> None:
        """Encode with the model that ``save`` wrote from now on."""
        is_open = self._encoder is not None
        self.close()
        self._folder, self._trained, self._trained_hash = find_model(str(folder), None, False, False), None, ""
        if is_open:
            self.open()

    def weights_folder(self) -> Path | None:
        """Return the folder of the weights in use; None after a training whose weights are only in memory."""
        return None if self._trained is not None else self._find()

    def _loaded(self, device: str, dtype: str, threads: int | None) -> EncoderModel:
        folder = self._find()
        tokenizer, model = load(folder, self.model, device, dtype, self.unsafe_weights, self.trust_remote_code)
        return EncoderModel(
            tokenizer,
            model,
            pooling=self._pooling(folder),
            normalize=self.normalize,
            max_length=self._length(folder),
            settings=self._settings(folder),
            batch_size=self._rows(device),
            threads=threads,
        )

    def _marks_first_token(self, folder: Path) -> bool:
        return marks_first_token(folder, self.trust_remote_code)
