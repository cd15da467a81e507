"""The ``onnx`` encoder: text vectors by ONNX Runtime, bit for bit the same in any batch, without torch."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs

from srtk_framework.models import SentenceFolder, folder_faults, read_sentence_folder
from srtk_framework.roles import Encoder, not_open
from srtk_framework.values import at_least, one_of
from srtk_plugin_onnx.model_source import processor, source_folder, source_hash, tokenizer_settings
from srtk_plugin_onnx.onnx_model import OnnxModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


logger = logging.getLogger(__name__)

MAX_LENGTH = 128


@attrs.define(eq=False)
class OnnxEncoder(Encoder):
    """Encode texts with a Hugging Face encoder in ONNX Runtime, in float32 on the CPU.

    The graph of a BERT is written from its safetensors weights; other models need a graph in their folder
    (``onnx/model.onnx``). The vector of a text is bit for bit the same in any batch: a pass holds texts of one number
    of tokens, and is computed by one thread.

    Attributes:
        model: ``minilm``, a folder made by ``save_pretrained``, or a name on the Hugging Face hub.
        pooling: ``cls``, ``mean`` or ``last`` token; ``auto`` uses the model's own setting, else mean, and ``srtk`` the
            model's own setting, else the pooling of SRTK: the first token if the tokenizer marks one, else the mean.
        normalize: Whether vectors have length 1.
        max_length: Maximum number of tokens of a text, the rest of which is cut off; by default the model's own
            setting, else 128.
        prompt: Name of one of the model's prompts, put before each text; by default its default prompt, if it has one.
        batch_size: Rows of a pass of short texts.
        threads: Number of threads; by default ``OMP_NUM_THREADS``, else as many as there are processors.
        revision: Branch, tag or commit on the hub.
    """

    model: str = "minilm"
    pooling: Literal["auto", "cls", "mean", "last", "srtk"] = attrs.field(
        default="auto", validator=one_of(("auto", "cls", "mean", "last", "srtk"))
    )
    normalize: bool = True
    max_length: int | None = attrs.field(default=None, validator=at_least(1))
    prompt: str | None = None
    batch_size: int = attrs.field(default=32, validator=at_least(1))
    threads: int | None = attrs.field(default=None, validator=at_least(1))
    revision: str | None = None

    _folder: Path | None = attrs.field(init=False, default=None, repr=False)
    _loaded: OnnxModel | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check the folder of the model, if it is one."""
        return folder_faults(self.model, self.prompt)

    def open(self) -> None:
        """Load tokenizer and weights.

        Raises:
            DriverError: If the model or one of its files does not exist.
        """
        folder = self._find()
        settings = self._settings(folder)
        if self.pooling == "auto" and settings.pooling is None:
            logger.warning(
                "model %r does not say how its vectors are pooled, so they are the mean of all tokens; set pooling:"
                " srtk if SRTK trained it, or mean to say so",
                self.model,
            )
        self._loaded = OnnxModel(
            folder,
            self.model,
            settings,
            pooling=self._pooling(folder, settings),
            normalize=self.normalize,
            max_length=self._length(settings),
            batch_size=self.batch_size,
            threads=self.threads,
        )

    def close(self) -> None:
        """Release the weights and the threads."""
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d].

        Raises:
            DriverError: If the encoder is not open.
        """
        if self._loaded is None:
            raise not_open(self)
        return self._loaded.encode(texts)

    def fingerprint(self) -> str:
        """Identify the model's files, the settings that change vectors, the versions, and the kind of processor."""
        folder = self._find()
        settings = self._settings(folder)
        parts = {
            "files": source_hash(folder, self.model, settings),
            "pooling": self._pooling(folder, settings),
            "normalize": self.normalize,
            "max_length": self._length(settings),
            "lower": settings.lower,
            "prompt": settings.prompt,
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

    def _settings(self, folder: Path) -> SentenceFolder:
        return read_sentence_folder(folder, self.prompt)

    def _length(self, settings: SentenceFolder) -> int:
        return self.max_length or settings.max_length or MAX_LENGTH

    def _pooling(self, folder: Path, settings: SentenceFolder) -> str:
        if self.pooling == "srtk":
            said = tokenizer_settings(folder)
            marked = said.get("cls_token") or "Bert" in str(said.get("tokenizer_class", ""))
            return settings.pooling or ("cls" if marked else "mean")
        return settings.pooling or "mean" if self.pooling == "auto" else self.pooling
