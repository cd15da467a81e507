"""A small BERT with random weights, written without torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from srtk_plugin_onnx.encoder import OnnxEncoder

TEXT = "what is the capital of latvia riga official language country city born in who where film directed by"
WORDS = TEXT.split(" ")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WIDTH, INNER, LAYERS, POSITIONS = 32, 64, 2, 64

Make = Callable[..., OnnxEncoder]


def save_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), SPECIAL, strict=True))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": POSITIONS, **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def save_bert(folder: Path, **changes: Any) -> Path:
    """Write a BERT of two layers."""
    from safetensors.numpy import save_file

    rng = np.random.default_rng(7)
    words = len(SPECIAL) + len(WORDS)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (words, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (rows, columns)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (rows,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shapes[f"encoder.layer.{layer}.{name}.bias"] = (WIDTH,)
    weights = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": words,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": INNER,
        "max_position_embeddings": POSITIONS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "type_vocab_size": 2,
        "pad_token_id": 0,
        **changes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config))
    save_tokenizer(folder)
    return folder


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a BERT of two layers."""
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def make() -> Iterator[Make]:
    """Open encoders with one thread, unless set otherwise, and close them at the end."""
    opened: list[OnnxEncoder] = []

    def build(model: Path | str, **settings: Any) -> OnnxEncoder:
        encoder = OnnxEncoder(model=str(model), **{"threads": 1, **settings})
        opened.append(encoder)
        encoder.open()
        return encoder

    yield build
    for encoder in opened:
        encoder.close()
