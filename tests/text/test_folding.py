from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.text.folding import count_tokens, fold, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("São Paulo", "sao paulo"),
        ("N’Djamena", "N'Djamena"),
        ("new_york  City", "New York city"),
        ("Straße", "STRASSE"),
        ("Ｔｏｋｙｏ", "tokyo"),
        ("Guinea–Bissau", "guinea-bissau"),
    ],
)
def test_spellings_of_one_name_fold_alike(one, other):
    assert fold(one) == fold(other)


def test_marks_of_other_scripts_keep_their_meaning():
    assert fold("दिल्ली") != fold("दल्ल")


@given(st.text())
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet="aàéüñ ō-'’"))
def test_composed_and_decomposed_text_fold_alike(text):
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


def test_words_are_spans_of_the_original_text():
    text = "Who’s in São Paulo (N'Djamena)? 東京"
    assert [text[a:b] for a, b in words(text)] == ["Who’s", "in", "São", "Paulo", "N'Djamena", "東京"]
    decomposed = unicodedata.normalize("NFD", "São")
    assert words(decomposed) == [(0, 4)]


def test_tokens_are_words_and_marks():
    assert count_tokens("Riga | capital of | Latvia.") == 7
