"""The ``onnx`` encoder: text vectors by ONNX Runtime, bit for bit the same in any batch, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs
from srtk_plugin_models import SentenceSettings

from srtk_framework.roles import Encoder, not_open
from srtk_framework.values import at_least, one_of
from srtk_plugin_onnx.model_source import processor, source_folder, source_hash, tokenizer_settings
from srtk_plugin_onnx.onnx_model import OnnxModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@attrs.define(eq=False, kw_only=True)
class OnnxEncoder(SentenceSettings, Encoder):
    """Encode texts with a Hugging Face encoder in ONNX Runtime on the CPU.

    The graph of a BERT is written from its safetensors weights; other models need a graph in their folder
    (``onnx/model.onnx``). The vector of a text is bit for bit the same in any batch: a pass holds texts of one number
    of tokens, and is computed by one thread.

    Attributes:
        batch_size: Rows of a pass of short texts.
        weights: `float32`, or `int8` for the products of a BERT in whole numbers of 8 bits: little more than half of
            the time on processors with VNNI, vectors of a cosine of .997 to those of float32.
        threads: Number of threads; by default ``OMP_NUM_THREADS``, else as many as there are processors.
    """

    batch_size: int = attrs.field(default=32, validator=at_least(1))
    weights: Literal["float32", "int8"] = attrs.field(default="float32", validator=one_of(("float32", "int8")))
    threads: int | None = attrs.field(default=None, validator=at_least(1))
    _loaded: OnnxModel | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Load tokenizer and weights."""
        folder = self._find()
        self._warn_of_guessed_pooling(folder)
        self._loaded = OnnxModel(
            folder,
            self.model,
            self._settings(folder),
            pooling=self._pooling(folder),
            normalize=self.normalize,
            max_length=self._length(folder),
            batch_size=self.batch_size,
            threads=self.threads,
            int8=self.weights == "int8",
        )

    def close(self) -> None:
        """Release the weights and the threads."""
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d]."""
        if self._loaded is None:
            raise not_open(self)
        return self._loaded.encode(texts)

    def fingerprint(self) -> str:
        """Identify the model's files, the settings that change vectors, the versions, and the kind of processor."""
        folder = self._find()
        settings = self._settings(folder)
        parts = {
            "files": source_hash(folder, self.model, settings),
            "pooling": self._pooling(folder),
            "normalize": self.normalize,
            "max_length": self._length(folder),
            "lower": settings.lower,
            "prompt": settings.prompt,
            **({"weights": self.weights} if self.weights != "float32" else {}),
            "processor": processor(),
            **{name: version(name) for name in ("onnxruntime", "tokenizers")},
        }
        return "onnx(" + ", ".join(f"{name}={value}" for name, value in parts.items()) + ")"

    def weights_folder(self) -> Path | None:
        """Return the folder of the weights in use."""
        return self._find()

    def _find(self) -> Path:
        if self._folder is None:
            self._folder = source_folder(self.model, self.revision)
        return self._folder

    def _marks_first_token(self, folder: Path) -> bool:
        said = tokenizer_settings(folder)
        return bool(said.get("cls_token")) or "Bert" in str(said.get("tokenizer_class", ""))
