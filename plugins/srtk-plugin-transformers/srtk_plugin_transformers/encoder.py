"""The ``transformers`` encoder: texts to vectors by any Hugging Face encoder, bit for bit the same in any batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError
from srtk_plugin_transformers.computing import device_and_dtype, processor
from srtk_plugin_transformers.models import check_weights, files_hash, find_model, stored_pooling
from srtk_plugin_transformers.network import Network, load

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from srtk_plugin_transformers.learning import TextModule

_positive = attrs.validators.optional(attrs.validators.ge(1))


@attrs.define(eq=False)
class TransformersEncoder(Encoder):
    """Texts to vectors by a Hugging Face encoder, or the encoder part of an encoder-decoder.

    A text's vector is bit for bit the same whatever is encoded with it. Each text is padded to a length
    that its own tokens decide, and goes through the model in a pass of a fixed number of rows. On a CPU
    every pass is computed by one thread and several passes run side by side, so that the vector does not
    depend on the number of threads either.

    Attributes:
        model: ``minilm``, a folder made by ``save_pretrained``, or a name on the Hugging Face hub.
        pooling: ``cls``, ``mean`` or ``last`` token; ``auto`` does as the model's own settings say, else mean.
        normalize: Whether vectors have length 1.
        max_length: Most tokens of a text; what is longer is cut off at its end.
        batch_size: Rows of a pass of short texts; by default 32 on a CPU, 512 on a GPU.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``auto`` takes the best there is.
        dtype: Numbers to compute with; ``auto`` is bfloat16 on CUDA, float32 elsewhere.
        threads: CPU threads; by default as many as torch would use.
        unsafe_weights: Whether pickled weights may be read; they can run code.
        revision: Branch, tag or commit on the hub.
        trust_remote_code: Whether Python code that comes with the model may run.
    """

    model: str = "minilm"
    pooling: Literal["auto", "cls", "mean", "last"] = attrs.field(
        default="auto", validator=attrs.validators.in_(("auto", "cls", "mean", "last"))
    )
    normalize: bool = True
    max_length: int = attrs.field(default=128, validator=attrs.validators.ge(1))
    batch_size: int | None = attrs.field(default=None, validator=_positive)
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = attrs.field(
        default="auto", validator=attrs.validators.in_(("auto", "float32", "bfloat16"))
    )
    threads: int | None = attrs.field(default=None, validator=_positive)
    unsafe_weights: bool = False
    revision: str | None = None
    trust_remote_code: bool = False

    _folder: Path | None = attrs.field(init=False, default=None, repr=False)
    _network: Network | None = attrs.field(init=False, default=None, repr=False)
    _learnt: Mapping[str, Any] | None = attrs.field(init=False, default=None, repr=False)
    _learnt_hash: str = attrs.field(init=False, default="", repr=False)

    def open(self) -> None:
        """Load tokenizer and weights.

        Raises:
            DriverError: If the model, its weights or the device is not there.
        """
        device, dtype = device_and_dtype(self.device, self.dtype)
        check_weights(self._find(), self.model, self.unsafe_weights)
        self._network = self._loaded(device, dtype, self.threads)
        if self._learnt is not None:
            self._network.model.load_state_dict(self._learnt)

    def close(self) -> None:
        """Let go of the weights and the threads."""
        if self._network is not None:
            self._network.close()
            self._network = None

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d]."""
        if self._network is None:
            raise DriverError(f"the encoder of model {self.model!r} is not open; call open() first")
        return self._network.encode(texts)

    def fingerprint(self) -> str:
        """Identify the vectors: files of the model, settings that change them, versions, kind of processor."""
        device, dtype = device_and_dtype(self.device, self.dtype)
        folder = self._find()
        parts = {
            "files": self._learnt_hash or files_hash(folder, self.unsafe_weights, self.trust_remote_code),
            "pooling": self._pooling(folder),
            "normalize": self.normalize,
            "max_length": self.max_length,
            "rows": self._rows(device),
            "dtype": dtype,
            "processor": processor(device),
            **{name: version(name) for name in ("torch", "transformers", "tokenizers")},
        }
        return "transformers(" + ", ".join(f"{name}={value}" for name, value in parts.items()) + ")"

    def learner(self) -> TextModule:
        """Return a copy of the network in float32, on the CPU, to be trained; this encoder stays as it is."""
        from srtk_plugin_transformers.learning import TextModule

        module = TextModule(self._loaded("cpu", "float32", 1))
        if self._learnt is not None:
            module.model.load_state_dict(self._learnt)
        return module

    def take(self, module: TextModule) -> None:
        """Compute with the weights of a trained copy from now on; the fingerprint changes with them."""
        from srtk_plugin_transformers.learning import weights_hash

        if self._network is None:
            raise DriverError(f"the encoder of model {self.model!r} is not open; call open() first")
        self._learnt = {name: value.detach().cpu().clone() for name, value in module.model.state_dict().items()}
        self._learnt_hash = weights_hash(self._learnt)
        self._network.model.load_state_dict(self._learnt)

    def save(self, folder: Path) -> None:
        """Write tokenizer, weights (safetensors) and pooling as a folder that ``model`` can name."""
        from srtk_plugin_transformers.learning import save_model

        source = self._find()
        state = self._learnt if self._learnt is not None else self.learner().model.state_dict()
        save_model(
            folder, source, self.model, state, self._pooling(source), self.unsafe_weights, self.trust_remote_code
        )

    def load(self, folder: Path) -> None:
        """Compute with the model that ``save`` wrote."""
        is_open = self._network is not None
        self.close()
        self._folder, self._learnt, self._learnt_hash = find_model(str(folder), None, False, False), None, ""
        if is_open:
            self.open()

    def _loaded(self, device: str, dtype: str, threads: int | None) -> Network:
        folder = self._find()
        tokenizer, model = load(folder, self.model, device, dtype, self.unsafe_weights, self.trust_remote_code)
        return Network(
            tokenizer,
            model,
            pooling=self._pooling(folder),
            normalize=self.normalize,
            max_length=self.max_length,
            batch_size=self._rows(device),
            threads=threads,
        )

    def _find(self) -> Path:
        if self._folder is None:
            self._folder = find_model(self.model, self.revision, self.unsafe_weights, self.trust_remote_code)
        return self._folder

    def _pooling(self, folder: Path) -> str:
        return stored_pooling(folder) if self.pooling == "auto" else self.pooling

    def _rows(self, device: str) -> int:
        return self.batch_size or (32 if device == "cpu" else 512)
