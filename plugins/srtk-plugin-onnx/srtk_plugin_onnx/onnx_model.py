"""A model in ONNX Runtime: it encodes texts in passes over texts of one length, in parallel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from srtk_plugin_models import Dense, SentenceFolder, read_json

from srtk_framework.values import DriverError
from srtk_plugin_onnx.kept_graph import kept_graph
from srtk_plugin_onnx.model_source import GRAPHS, read_weights, token_text, tokenizer_settings, used_files

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

# Texts of at most this many tokens fill passes of ``batch_size`` rows; longer ones, the same number of tokens.
SHORT = 16

LEAST = 2  # Smallest number of tokens in a pass: ONNX Runtime multiplies one row alone by another kernel than several

INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class OnnxModel:
    """Tokenizer, session and the layers after it."""

    def __init__(
        self,
        folder: Path,
        name: str,
        settings: SentenceFolder,
        *,
        pooling: str,
        normalize: bool,
        max_length: int,
        batch_size: int,
        threads: int | None,
        int8: bool,
    ) -> None:
        self.name = name
        self.settings = settings
        self.pooling = pooling.split("+")
        self.normalize = normalize
        self.batch_size = batch_size
        config = read_json(folder / "config.json")
        said = tokenizer_settings(folder)
        self.tokenizer = read_tokenizer(folder, name)
        limits = [said.get("model_max_length"), config.get("max_position_embeddings")]
        known = [int(limit) for limit in limits if limit and 1 < limit < 1_000_000]
        # One position is left free, as in driver `transformers`, so that both cut a text at the same token.
        self.tokenizer.enable_truncation(min([max_length, *(limit - 1 for limit in known)]))
        pad = self.tokenizer.token_to_id(token_text(said.get("pad_token")) or "[PAD]")
        self.pad = int(pad if pad is not None else config.get("pad_token_id") or 0)
        self.dense = {layer: read_dense(layer) for layer in settings.layers if isinstance(layer, Dense)}
        self.session = open_session(folder, name, config, int8)
        self.inputs = [one.name for one in self.session.get_inputs()]
        if not {"input_ids"} <= set(self.inputs) <= INPUTS:
            raise DriverError(f"the graph of model {name!r} wants {self.inputs}, but only {sorted(INPUTS)} are given")
        outputs = [one.name for one in self.session.get_outputs()]
        self.output = "last_hidden_state" if "last_hidden_state" in outputs else outputs[0]
        count = threads or default_threads()
        self.pool = ThreadPoolExecutor(count) if count > 1 else None
        self.width = self.encode(["a"]).shape[1]

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()

    def encode(self, texts: Sequence[str]) -> Floats:
        """Encode each text as one row of a float32 matrix [n, d]."""
        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        tokens = self.tokenize(texts)
        passes = plan([len(row) for row in tokens], self.batch_size)
        run: Callable[..., Any] = self.pool.map if self.pool is not None and len(passes) > 1 else map
        found = list(run(lambda members: self.vectors([tokens[i] for i in members]), passes))
        vectors = np.empty((len(texts), found[0].shape[1]), dtype=np.float32)
        for members, rows in zip(passes, found, strict=True):
            vectors[members] = rows
        return vectors

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text; an empty text gets one of padding, so that it has a vector."""
        # Lone surrogates, which tokenizers refuse, are replaced.
        clean = [(self.settings.prompt + text).encode("utf-8", "replace").decode("utf-8") for text in texts]
        if self.settings.lower:
            clean = [text.lower() for text in clean]
        return [list(found.ids) or [self.pad] for found in self.tokenizer.encode_batch_fast(clean)]

    def vectors(self, rows: Sequence[Sequence[int]]) -> Floats:
        """Compute the vectors of token rows of one length in one pass."""
        size = len(rows[0])
        ids = np.full((len(rows), max(size, LEAST)), self.pad, dtype=np.int64)
        ids[:, :size] = rows
        mask = np.zeros_like(ids)
        mask[:, :size] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self.session.run([self.output], {name: given[name] for name in self.inputs})[0]
        if hidden.ndim != 3:
            raise DriverError(
                f"the graph of model {self.name!r} gives {self.output} with {hidden.ndim} dimensions, not states"
                " [rows, tokens, width]; export it for feature-extraction"
            )
        vectors = pooled(hidden[:, :size].astype(np.float32, copy=False), self.pooling)
        for layer in self.settings.layers:
            vectors = self._applied(layer, vectors)
        return unit(vectors) if self.normalize else vectors

    def _applied(self, layer: Any, vectors: Floats) -> Floats:
        if not isinstance(layer, Dense):
            return unit(vectors)
        weight, bias = self.dense[layer]
        if weight.shape[1] != vectors.shape[1]:
            raise DriverError(
                f"{layer.weights} takes {weight.shape[1]} numbers, but pooling {'+'.join(self.pooling)} of model"
                f" {self.name!r} gives {vectors.shape[1]}; leave pooling at auto"
            )
        # One text after the other: a product of matrices may add in another order than one of a matrix and a vector.
        return activated(layer.activation, np.stack([weight @ vector for vector in vectors]) + bias)


def plan(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Group texts of the same number of tokens into passes, longest first, so that no text is padded."""
    by_length: dict[int, list[int]] = {}
    for i, tokens in enumerate(lengths):
        by_length.setdefault(tokens, []).append(i)
    passes = []
    for length in sorted(by_length, reverse=True):
        members, rows = by_length[length], max(1, min(batch_size, batch_size * SHORT // length))
        passes += [members[i : i + rows] for i in range(0, len(members), rows)]
    return passes


def pooled(hidden: Floats, ways: Sequence[str]) -> Floats:
    """Pool states [rows, tokens, d] without padding to vectors; several ways are laid end to end."""
    tokens = hidden.shape[1]
    parts = []
    for way in ways:
        if way == "cls":
            parts.append(hidden[:, 0])
        elif way == "last":
            parts.append(hidden[:, -1])
        elif way == "max":
            parts.append(hidden.max(axis=1))
        elif way == "weightedmean":
            shares = np.arange(1, tokens + 1, dtype=np.float32)[None, :, None]
            parts.append((hidden * shares).sum(axis=1) / shares.sum())
        else:
            count = tokens if way == "mean" else np.sqrt(tokens)
            parts.append(hidden.sum(axis=1) / np.float32(count))
    return np.concatenate(parts, axis=1)


def unit(vectors: Floats) -> Floats:
    """Return vectors of length 1; a zero vector stays zero."""
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    found: Floats = vectors / np.maximum(lengths, np.float32(1e-12))
    return found


def activated(name: str, values: Floats) -> Floats:
    """Apply an activation of a dense layer."""
    found: Floats
    if name == "Tanh":
        found = np.tanh(values)
    elif name == "ReLU":
        found = np.maximum(values, np.float32(0))
    elif name == "Sigmoid":
        found = np.float32(1) / (np.float32(1) + np.exp(-values))
    else:
        found = values
    return found


def read_dense(layer: Dense) -> tuple[Floats, Floats]:
    """Read matrix [out, in] and offset [out] of a dense layer."""
    stored = read_weights([layer.weights], str(layer.weights))
    if "linear.weight" not in stored:
        raise DriverError(f"{layer.weights} has no linear.weight; fetch the model again")
    weight = stored["linear.weight"]
    return weight, stored.get("linear.bias", np.zeros(len(weight), dtype=np.float32))


def read_tokenizer(folder: Path, name: str) -> Any:
    """Read the tokenizer of a folder."""
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if not file.is_file():
        raise DriverError(
            f"model {name!r} has no tokenizer.json in {folder}; save its tokenizer again with transformers"
            " (AutoTokenizer.from_pretrained(...).save_pretrained(...)), or set use: transformers"
        )
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:
        raise DriverError(f"{file} is no tokenizer ({error}); fetch the model again") from error
    tokenizer.no_padding()
    return tokenizer


def open_session(folder: Path, name: str, config: dict[str, Any], int8: bool) -> Any:
    """Open a session on a model, whose passes are each computed by one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # How threads share an addition changes its last bits; passes run in parallel instead.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    files = used_files(folder, name)
    own = files[0].name == Path(GRAPHS[-1]).name
    if own and int8:
        raise DriverError(
            f"weights: int8 is for the graph of a BERT, written from its safetensors; {files[0]} is a graph of model"
            f" {name!r} as it is, so omit it"
        )
    with nullcontext(files[0]) if own else kept_graph(files, name, config, int8) as graph:
        try:
            return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            reason = " ".join(str(error).split())
            raise DriverError(f"ONNX Runtime cannot load model {name!r} from {folder}: {reason}") from error


def default_threads() -> int:
    """Return ``OMP_NUM_THREADS`` if it is set, else the number of processors this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked):
        return int(asked)
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
