"""A Hugging Face encoder as a trainable torch module, and the folder that its weights are saved to.

Importing it imports torch, which takes seconds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from srtk_plugin_models import Dense, SentenceFolder

from srtk_framework.records import write_manifest
from srtk_framework.values import DriverError
from srtk_plugin_transformers.encoder_model import EncoderModel, load
from srtk_plugin_transformers.torch_settings import quiet

_MODES = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "last": "pooling_mode_lasttoken",
}


class TrainableModule(torch.nn.Module):
    """Maps token rows to vectors with gradients, with the truncation, pooling and normalisation of encoding."""

    def __init__(self, encoder: EncoderModel) -> None:
        super().__init__()
        self.model = encoder.model
        self._encoder = encoder

    @property
    def most_tokens(self) -> int:
        """Maximum number of tokens of a text, in training as in encoding."""
        return self._encoder.most_tokens

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, truncated as in encoding; no row is empty."""
        return self._encoder.tokenize(texts)

    def forward(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the pooled vectors [n, d] of token rows, which are padded on the right to the longest."""
        device = self.model.device
        sizes = torch.tensor([len(row) for row in rows])
        ids = torch.full((len(rows), int(sizes.max())), self._encoder.pad, dtype=torch.long)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
        mask = (torch.arange(ids.shape[1]) < sizes[:, None]).long()
        ids, mask, sizes = ids.to(device), mask.to(device), sizes.to(device)
        hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        vectors: torch.Tensor = self._encoder.pooled(hidden.float(), mask, sizes)
        return vectors

    def save_memory(self) -> None:
        """Recompute activations in the backward pass instead of storing them."""
        if not getattr(self.model, "supports_gradient_checkpointing", False):
            raise DriverError(
                f"{type(self.model).__name__} does not support gradient checkpointing; leave checkpointing out"
            )
        self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})


def check_trainable(settings: SentenceFolder, name: str) -> None:
    """Check that a saved copy of a model computes the same vectors.

    Raises:
        DriverError: If it has a dense layer, a default prompt, or turns texts to small letters.
    """
    found = [
        what
        for what, there in (
            ("a Dense module", any(isinstance(layer, Dense) for layer in settings.layers)),
            (f"the prompt {settings.prompt!r}", bool(settings.prompt)),
            ("do_lower_case", settings.lower),
        )
        if there
    ]
    if found:
        raise DriverError(f"model {name!r} has {' and '.join(found)}, which a training does not keep; train another")


def weights_hash(state: Mapping[str, Any]) -> str:
    """Hash the weights of a model: names, shapes and bytes."""
    whole = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        whole.update(f"{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        whole.update(tensor.view(torch.uint8).numpy().tobytes() if tensor.ndim else bytes(str(tensor.item()), "utf-8"))
    return whole.hexdigest()[:32]


def save_model(
    target: Path, source: Path, name: str, state: Mapping[str, Any], pooling: str, pickled: bool, code: bool
) -> None:
    """Write a folder that ``AutoModel`` and ``AutoTokenizer`` load, with the pooling settings beside the weights.

    Training started from the model in ``source``. Of an encoder-decoder, the state has the weights of the encoder.
    """
    import transformers

    tokenizer, model = load(source, name, "cpu", "float32", pickled, code)
    model.load_state_dict(state)
    target.mkdir(parents=True, exist_ok=True)
    with quiet():
        whole: Any = model
        if model.config.is_encoder_decoder and type(model.config) not in (transformers.MODEL_FOR_TEXT_ENCODING_MAPPING):
            # Such a model can be loaded only as a whole; its encoder gets the new weights.
            whole = transformers.AutoModel.from_pretrained(
                source, dtype=torch.float32, use_safetensors=None if pickled else True, trust_remote_code=code
            )
            whole.get_encoder().load_state_dict(state)
        whole.save_pretrained(target)
        tokenizer.save_pretrained(target)
    width = int(model.config.get_text_config().hidden_size)
    folder = target / "1_Pooling"
    folder.mkdir(exist_ok=True)
    modes = {mode: key in pooling.split("+") for key, mode in _MODES.items()}
    _write(folder / "config.json", {"word_embedding_dimension": width, **modes})
    modules = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]
    _write(
        target / "modules.json",
        [
            {"idx": int(i), "name": i, "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, path, kind in modules
        ],
    )
    (target / "2_Normalize").mkdir(exist_ok=True)
    write_manifest(target)


def _write(file: Path, data: Any) -> None:
    file.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
