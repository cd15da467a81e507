"""A Hugging Face encoder in memory: it encodes texts in forward passes of fixed shape, in parallel on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from srtk_plugin_models import Dense, SentenceFolder

from srtk_framework.values import DriverError
from srtk_plugin_transformers.device import PassPool, enough_memory
from srtk_plugin_transformers.forward_pass import Pass, SmallShapes, padded, plan
from srtk_plugin_transformers.torch_settings import load_model, quiet

if TYPE_CHECKING:
    import numpy.typing as npt


PLAIN = SentenceFolder()


class EncoderModel:
    """A tokenizer and an encoder in memory, with the threads that compute its forward passes."""

    def __init__(
        self,
        tokenizer: Any,
        model: Any,
        *,
        pooling: str,
        normalize: bool,
        max_length: int,
        batch_size: int,
        threads: int | None,
        settings: SentenceFolder = PLAIN,
    ) -> None:
        import torch

        self.torch = torch
        self.tokenizer = tokenizer
        self.model = model
        self.settings = settings
        self.pooling = pooling.split("+")
        self.normalize = normalize
        self.batch_size = batch_size
        self.device = model.device
        self.limit = longest_input(tokenizer, model.config)
        self.most_tokens = min(max_length, self.limit - 1) if self.limit else max_length
        self.pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self.dense = {layer: read_dense(layer, self.device) for layer in settings.layers if isinstance(layer, Dense)}
        self.width = int(model.config.get_text_config().hidden_size) * len(self.pooling)
        for layer, (weight, _) in self.dense.items():
            if weight.shape[1] != self.width:
                raise DriverError(
                    f"{layer.weights} takes {weight.shape[1]} numbers, but pooling {pooling} gives {self.width};"
                    " leave pooling at auto"
                )
            self.width = len(weight)
        self.small = SmallShapes()
        self.pool = PassPool(self.device, threads)

    def close(self) -> None:
        """End the threads."""
        self.pool.close()

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d]."""
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        if not texts:
            return vectors
        tokens = self.tokenize(texts)
        passes = plan([len(row) for row in tokens], self.limit, self.batch_size)
        found = self.pool.map(lambda one: self.vectors(one, tokens), passes)
        for one, rows in zip(passes, found, strict=True):
            vectors[list(one.members)] = rows
        return vectors

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text; an empty text gets one of padding, so that it has a vector."""
        # Lone surrogates, which tokenizers refuse, are replaced.
        clean = [(self.settings.prompt + text).encode("utf-8", "replace").decode("utf-8") for text in texts]
        if self.settings.lower:
            clean = [text.lower() for text in clean]
        rows = self.tokenizer(
            clean,
            truncation=True,
            max_length=self.most_tokens,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        return [list(row) or [self.pad] for row in rows]

    def vectors(self, one: Pass, tokens: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        """Compute one pass in its full shape, or in a smaller shape that is known to give the same bits."""
        members = [tokens[i] for i in one.members]

        def same(small: Any, whole: Any, rows: int) -> bool:
            return self.torch.equal(small[0], whole[0][:rows]) and np.array_equal(small[1], whole[1][:rows])

        found = self.small.computed(one, lambda rows: self.forward(members, one.length, rows), same)
        vectors: npt.NDArray[np.float32] = found[1][: len(members)]
        return vectors

    def forward(self, members: Sequence[Sequence[int]], length: int, rows: int) -> tuple[Any, npt.NDArray[np.float32]]:
        """Return the last hidden states [rows, length, d] and the pooled vectors [rows, d] of token rows.

        Rows are padded on the right to ``length``; spare rows repeat the first.
        """
        torch = self.torch
        ids, sizes = padded(members, length, rows, self.pad)
        mask = (np.arange(length) < sizes[:, None]).astype(np.int64)
        with torch.inference_mode():
            on = [torch.from_numpy(array).to(self.device) for array in (ids, mask, sizes)]
            with enough_memory(f"{rows} texts"):
                hidden = self.model(input_ids=on[0], attention_mask=on[1]).last_hidden_state
            vectors = self.pooled(hidden.float(), on[1], on[2])
            return hidden, vectors.cpu().numpy()

    def pooled(self, hidden: Any, mask: Any, sizes: Any) -> Any:
        """Pool hidden states [rows, length, d] to vectors [rows, d]."""
        torch = self.torch
        shown = mask[:, :, None].to(hidden.dtype)
        parts = []
        for way in self.pooling:
            if way == "cls":
                parts.append(hidden[:, 0])
            elif way == "last":
                parts.append(hidden[torch.arange(len(hidden), device=hidden.device), sizes - 1])
            elif way == "max":
                parts.append(hidden.masked_fill(shown == 0, -torch.inf).amax(1))
            elif way == "weightedmean":
                shares = shown * torch.arange(1, hidden.shape[1] + 1, device=hidden.device)[None, :, None]
                parts.append((hidden * shares).sum(1) / shares.sum(1))
            else:
                count = sizes if way == "mean" else sizes.sqrt()
                parts.append((hidden * shown).sum(1) / count[:, None])
        vectors = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
        for layer in self.settings.layers:
            vectors = self._applied(layer, vectors)
        return torch.nn.functional.normalize(vectors, dim=-1) if self.normalize else vectors

    def _applied(self, layer: Any, vectors: Any) -> Any:
        torch = self.torch
        if not isinstance(layer, Dense):
            return torch.nn.functional.normalize(vectors, dim=-1)
        return getattr(torch.nn, layer.activation)()(torch.nn.functional.linear(vectors, *self.dense[layer]))


def read_dense(layer: Dense, device: Any) -> tuple[Any, Any]:
    """Read matrix [out, in] and offset [out], or None, of a dense layer in float32."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        stored = load_file(layer.weights)
    except (OSError, SafetensorError) as error:
        raise DriverError(f"{layer.weights} cannot be read ({error}); fetch the model again") from error
    if "linear.weight" not in stored:
        raise DriverError(f"{layer.weights} has no linear.weight; fetch the model again")
    bias = stored.get("linear.bias")
    return stored["linear.weight"].float().to(device), None if bias is None else bias.float().to(device)


def load(folder: Path, name: str, device: str, dtype: str, pickled: bool, code: bool) -> tuple[Any, Any]:
    """Load a tokenizer and an encoder; of an encoder-decoder only the encoder. Arguments as in ``load_model``."""
    import transformers

    def kind(config: Any) -> Any:
        is_encoder = type(config) in transformers.MODEL_FOR_TEXT_ENCODING_MAPPING
        return transformers.AutoModelForTextEncoding if is_encoder else transformers.AutoModel

    tokenizer, model = load_model(folder, name, dtype, pickled, code, kind)
    if model.config.is_encoder_decoder and kind(model.config) is transformers.AutoModel:
        model = model.get_encoder()
    return tokenizer, model.to(device).eval()


def marks_first_token(folder: Path, code: bool) -> bool:
    """Return whether a tokenizer has a classification token, by which SRTK 0.0.7 chooses how it pools."""
    import transformers

    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=code)
    return tokenizer.cls_token is not None


def longest_input(tokenizer: Any, config: Any) -> int | None:
    """Return the maximum number of tokens that a model accepts, or None if its positions are relative."""
    limits = [tokenizer.model_max_length]
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    if positions:
        limits.append(positions)
    known = [int(limit) for limit in limits if 1 < limit < 1_000_000]
    return min(known) if known else None
