"""Tiny models with random weights, made on the spot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_transformers.encoder import TransformersEncoder
from srtk_plugin_transformers.generator import TransformersGenerator

WORDS = [
    "what",
    "is",
    "the",
    "capital",
    "of",
    "latvia",
    "riga",
    "official",
    "language",
    "country",
    "city",
    "born",
    "in",
    "who",
    "where",
    "film",
    "directed",
    "by",
    "tallinn",
    "oslo",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

Make = Callable[..., TransformersEncoder]


def save_tokenizer(folder: Path, longest: int = 64) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **names).save_pretrained(folder)


def save(model: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return folder


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a BERT of two layers."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(SPECIAL) + len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    return save(BertModel(config), tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def masked_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a BERT of two layers and its masked language model's head."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(6)
    config = BertConfig(
        vocab_size=len(SPECIAL) + len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.4,
    )
    return save(BertForMaskedLM(config), tmp_path_factory.mktemp("masked-bert"))


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole T5, encoder and decoder."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(2)
    config = T5Config(
        vocab_size=len(SPECIAL) + len(WORDS),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        num_decoder_layers=1,
    )
    return save(T5ForConditionalGeneration(config), tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="session")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an encoder-decoder that has no class of its own for the encoder."""
    import torch
    from transformers import BartConfig, BartModel

    torch.manual_seed(3)
    config = BartConfig(
        vocab_size=len(SPECIAL) + len(WORDS),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        pad_token_id=0,
    )
    return save(BartModel(config), tmp_path_factory.mktemp("bart"))


def save_bytes_tokenizer(folder: Path, longest: int) -> int:
    """Save a tokenizer whose words are single bytes; return how many there are."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(["<pad>", "<end>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=longest, pad_token="<pad>", eos_token="<end>"
    ).save_pretrained(folder)
    return len(vocabulary)


@pytest.fixture(scope="session")
def gpt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a GPT-2 of two layers that reads bytes."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("gpt")
    size = save_bytes_tokenizer(folder, 700)
    torch.manual_seed(4)
    config = GPT2Config(
        vocab_size=size, n_positions=700, n_embd=32, n_layer=2, n_head=2, initializer_range=0.4, eos_token_id=1
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def writing_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a T5 that reads and writes bytes."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("writing-t5")
    size = save_bytes_tokenizer(folder, 700)
    torch.manual_seed(5)
    config = T5Config(
        vocab_size=size,
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        initializer_factor=2.0,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture
def writer() -> Iterator[Callable[..., TransformersGenerator]]:
    """Open generators on the CPU with one thread, unless set otherwise, and close them at the end."""
    opened: list[TransformersGenerator] = []

    def build(model: Path | str, **settings: Any) -> TransformersGenerator:
        made = TransformersGenerator(
            model=str(model), **{"threads": 1, "device": "cpu", "dtype": "float32", "length": 12, **settings}
        )
        opened.append(made)
        made.open()
        return made

    yield build
    for one in opened:
        one.close()


@pytest.fixture
def make() -> Iterator[Make]:
    """Open encoders on the CPU with one thread, unless set otherwise, and close them at the end."""
    opened: list[TransformersEncoder] = []

    def build(model: Path | str, **settings: Any) -> TransformersEncoder:
        encoder = TransformersEncoder(model=str(model), **{"threads": 1, "device": "cpu", **settings})
        opened.append(encoder)
        encoder.open()
        return encoder

    yield build
    for encoder in opened:
        encoder.close()
