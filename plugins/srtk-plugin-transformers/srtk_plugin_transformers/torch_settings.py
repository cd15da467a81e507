"""Settings of a driver that runs a Hugging Face model in torch, and the loading of its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
from srtk_plugin_models import find_model

from srtk_framework.values import DriverError, SettingsError, at_least, one_of, refusal
from srtk_plugin_transformers.device import device_and_dtype, processor

GGUF = ".gguf"


@attrs.define(eq=False, kw_only=True, slots=False)
class TorchSettings:
    """Base of the drivers that run a model in torch; a driver derives from it and from its role.

    Attributes:
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``auto`` selects the best there is.
        dtype: Number type; ``auto`` is bfloat16 on CUDA, float32 elsewhere.
        threads: Number of CPU threads, each for one pass; by default as many as torch would use.
        unsafe_weights: Whether pickled weights may be read; they can run code, so the user must also set
            ``SRTK_TRUST=unsafe-weights`` in the environment.
        revision: Branch, tag or commit on the hub.
        trust_remote_code: Whether Python code that comes with the model may run; the user must also set
            ``SRTK_TRUST=remote-code`` in the environment.
    """

    rows: ClassVar[tuple[int, int]]
    """Rows of a pass on a CPU, and on a GPU, where the settings give none."""

    model: str
    batch_size: int | None = attrs.field(default=None, validator=at_least(1))
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = attrs.field(
        default="auto", validator=one_of(("auto", "float32", "bfloat16"))
    )
    threads: int | None = attrs.field(default=None, validator=at_least(1))
    unsafe_weights: bool = False
    revision: str | None = None
    trust_remote_code: bool = False

    _folder: Path | None = attrs.field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        of = f"for the model {self.model!r}"
        faults: list[tuple[tuple[str, ...], str]] = []
        if self.unsafe_weights and (text := refusal("unsafe-weights", f"`unsafe_weights: true` {of}")):
            faults.append((("unsafe_weights",), text))
        if self.trust_remote_code and (text := refusal("remote-code", f"`trust_remote_code: true` {of}")):
            faults.append((("trust_remote_code",), text))
        if faults:
            raise SettingsError(faults)

    def _find(self) -> Path:
        if self._folder is None:
            self._folder = find_model(self.model, self.revision, self.unsafe_weights, self.trust_remote_code)
        return self._folder

    def _place(self) -> tuple[str, str]:
        return device_and_dtype(self.device, self.dtype)

    def _load(self, folder: Path, dtype: str, kind: Callable[[Any], Any], noun: str) -> tuple[Any, Any]:
        """Load a tokenizer, and a model on the CPU; see ``load_model``."""
        return load_model(folder, self.model, dtype, self.unsafe_weights, self.trust_remote_code, kind, noun)

    def _rows(self, device: str) -> int:
        return self.batch_size or self.rows[device != "cpu"]

    def _fingerprint(self, name: str, parts: dict[str, Any]) -> str:
        """Identify a model by its parts, its shape of passes and the versions of its libraries."""
        device, dtype = self._place()
        every = {
            **parts,
            "rows": self._rows(device),
            "dtype": dtype,
            "processor": processor(device),
            **{package: version(package) for package in ("torch", "transformers", "tokenizers")},
        }
        return f"{name}(" + ", ".join(f"{part}={value}" for part, value in every.items()) + ")"


def load_model(
    folder: Path, name: str, dtype: str, pickled: bool, code: bool, kind: Callable[[Any], Any], noun: str = "model"
) -> tuple[Any, Any]:
    """Load a tokenizer, and a model on the CPU.

    ``kind`` returns the class of transformers for the settings of a model; ``noun`` names it in messages.
    """
    import torch
    import transformers
    from safetensors import SafetensorError

    where: dict[str, Any] = {"pretrained_model_name_or_path": folder, "trust_remote_code": code}
    if folder.suffix == GGUF:
        where |= {"pretrained_model_name_or_path": folder.parent, "gguf_file": folder.name}
    with quiet():
        try:
            config = transformers.AutoConfig.from_pretrained(**where)
            tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
            model, report = kind(config).from_pretrained(
                **where,
                config=config,
                dtype=getattr(torch, dtype),
                use_safetensors=None if pickled or folder.suffix == GGUF else True,
                output_loading_info=True,
            )
        except (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError) as error:
            reason = " ".join(str(error).split())
            raise DriverError(f"model {name!r} cannot be loaded from {folder}: {reason}") from error
    if absent := sorted(key for key in report["missing_keys"] if "pooler" not in key):
        raise DriverError(
            f"model {name!r}: the weights lack {len(absent)} tensors of {type(model).__name__} "
            f"({absent[0]}, ...); name a {noun} whose weights fit its config.json"
        )
    return tokenizer, model.eval()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers while it loads or saves; errors are raised as usual."""
    import logging

    from transformers.utils import logging as printing

    level, bar = printing.get_verbosity(), printing.is_progress_bar_enabled()
    printing.set_verbosity(logging.ERROR)
    printing.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        printing.set_verbosity(level)
        if bar:
            printing.enable_progress_bar()  # type: ignore[no-untyped-call]
