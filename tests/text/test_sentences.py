"""Sentences of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.text import sentences


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Riga is a city. It lies in Latvia.", ["Riga is a city.", "It lies in Latvia."]),
        ("Is it? Yes! Good…  And then", ["Is it?", "Yes!", "Good…", "And then"]),
        ("J. R. R. Tolkien wrote it. J.R.R. Tolkien died.", ["J. R. R. Tolkien wrote it.", "J.R.R. Tolkien died."]),
        ("He met Dr. No in St. Petersburg. Why?", ["He met Dr. No in St. Petersburg.", "Why?"]),
        ("It is 3.5 m. tall, e.g. here. End.", ["It is 3.5 m. tall, e.g. here.", "End."]),
        ("He said (twice.) Then he left.", ["He said (twice.)", "Then he left."]),
        ("日本。東京です。", ["日本。", "東京です。"]),
        ("a title\n\nthe text", ["a title", "the text"]),
        (" \n\n ", []),
        ("", []),
    ],
)
def test_a_text_is_split_where_its_sentences_end(text, wanted):
    assert [text[start:end] for start, end in sentences(text)] == wanted


@given(st.text(alphabet="aA. !?\n。\"'").map(str))
def test_sentences_are_in_order_and_leave_out_blanks_alone(text):
    spans = sentences(text)
    places = [place for span in spans for place in range(*span)]
    assert places == sorted(set(places))
    assert all(text[place].isspace() for place in set(range(len(text))) - set(places))
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
