from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_transformers.masked_texts import TokenRow, batch_count, batches, hide, token_rows

from srtk_framework.values import EntityMention, Entry

MASK = 4


@pytest.fixture
def tokenizer(masked_bert: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(masked_bert)


def words(tokenizer: Any, row: TokenRow, places: tuple[int, ...]) -> str:
    return " ".join(tokenizer.convert_ids_to_tokens([row.ids[place] for place in places]))


def test_a_row_knows_the_tokens_of_its_mentions(tokenizer: Any) -> None:
    entry = Entry("1", "the capital city is riga", mentions=(EntityMention(4, 16, "c"), EntityMention(20, 24, "r")))
    (row,) = token_rows(tokenizer, [entry], 64)
    assert words(tokenizer, row, tuple(range(len(row.ids)))) == "[CLS] the capital city is riga [SEP]"
    assert words(tokenizer, row, row.words) == entry.text
    assert [words(tokenizer, row, places) for places in row.mentions] == ["capital city", "riga"]


def test_a_long_text_is_divided_but_no_mention_is(tokenizer: Any) -> None:
    text = "who is the capital city of latvia where is riga"
    at = text.index("capital city")
    entry = Entry("1", text, mentions=(EntityMention(at, at + 12, "c"),))
    rows = token_rows(tokenizer, [entry], 6)
    assert [words(tokenizer, row, row.words) for row in rows] == [
        "who is the",
        "capital city of latvia",
        "where is riga",
    ]
    assert [[words(tokenizer, row, one) for one in row.mentions] for row in rows] == [[], ["capital city"], []]


def row_of(count: int, mentions: list[tuple[int, ...]]) -> TokenRow:
    return TokenRow((1, *range(10, 10 + count), 2), tuple(range(1, count + 1)), tuple(mentions))


@given(st.integers(1, 40), st.floats(0.01, 1), st.integers(0, 2**32))
def test_hidden_tokens_are_words_of_the_text(count: int, share: float, seed: int) -> None:
    row = row_of(count, [])
    hidden = hide(row, MASK, 100, share, 0.5, np.random.default_rng(seed))
    assert len(hidden.places) == len(set(hidden.places)) == min(count, max(1, round(share * count)))
    assert set(hidden.places) <= set(row.words)
    assert [row.ids[place] for place in hidden.places] == list(hidden.targets)
    kept = set(range(len(row.ids))) - set(hidden.places)
    assert all(hidden.ids[place] == row.ids[place] for place in kept)


@given(st.integers(0, 2**32))
def test_a_mention_is_hidden_whole_and_alone(seed: int) -> None:
    row = row_of(9, [(2, 3), (6,)])
    hidden = hide(row, MASK, 100, 0.15, 1.0, np.random.default_rng(seed))
    assert hidden.places in ((2, 3), (6,))
    assert [place for place, id_ in enumerate(hidden.ids) if id_ == MASK] == list(hidden.places)


@given(st.integers(1, 400), st.integers(1, 5), st.integers(0, 9))
def test_the_batches_of_a_pass_have_every_row_once(count: int, size: int, seed: int) -> None:
    rows = [row_of(1 + n % 7, []) for n in range(count)]
    found = batches(rows, size, np.random.default_rng(seed))
    assert sorted(at for batch in found for at in batch) == list(range(count))
    assert len(found) == batch_count(count, size)
    assert found == batches(rows, size, np.random.default_rng(seed))
