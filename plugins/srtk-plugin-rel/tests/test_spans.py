"""Offsets of services, whatever they count, become spans of the original text."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_rel.spans import SCHEMES, Claim, locate

COUNTS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "utf16": lambda text: len(text.encode("utf-16-le")) // 2,
    "bytes": lambda text: len(text.encode()),
    "unescaped": lambda text: len(html.unescape(text)),
    "collapsed": lambda text: len(" ".join(text.split())) + (text[-1:].isspace() and bool(text.strip())),
    "nfc": lambda text: len(unicodedata.normalize("NFC", text)),
    "nfd": lambda text: len(unicodedata.normalize("NFD", text)),
    "lower": lambda text: len(text.lower()),
}
LETTERS = st.text(
    alphabet=st.sampled_from("aZé \u0301ßİﬁ😀\U0001d50a日שלام‏‎각ᄀ\u1161&;#<\u00a0"), max_size=12
)  # fmt: skip


def claims(text: str, spans: list[tuple[int, int]], count: str) -> list[Claim]:
    size = COUNTS[count]
    return [Claim(size(text[:start]), size(text[:end]), text[start:end]) for start, end in spans]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    "before",
    [
        "", "😀😀 ", "e\u0301e\u0301 ", "שלום ירושלים ", "a &amp; b ", "  \n ", "İİ ", "日本国 ", "\u1100\u1161 ",
        "\u202eab\u202c ", "👩\u200d👩\u200d👧 ",
    ],
)  # fmt: skip
def test_a_mention_is_found_whatever_the_service_counts(count: str, before: str) -> None:
    text = before + "Riga and Ri\u0304ga"
    spans = [(len(before), len(before) + 4), (len(before) + 9, len(text))]
    assert locate(text, claims(text, spans, count)) == spans


@given(LETTERS, LETTERS, st.sampled_from(["characters", "utf16", "bytes"]))
def test_a_name_that_stands_once_is_always_found(before: str, after: str, count: str) -> None:
    text = f"{before}|QWK|{after}"
    span = (len(before) + 1, len(before) + 4)
    assert locate(text, claims(text, [span], count)) == [span]


@given(st.lists(LETTERS, min_size=2, max_size=5), st.sampled_from(["characters", "utf16", "bytes"]))
def test_a_fixed_scheme_distinguishes_equal_names(parts: list[str], count: str) -> None:
    text = "QWK".join(f"|{part}|" for part in parts)
    starts = [at for at in range(len(text)) if text.startswith("QWK", at)]
    spans = [(at, at + 3) for at in starts]
    assert locate(text, claims(text, spans, count), count) == spans


@given(
    st.text(max_size=20),
    st.integers(-3, 30),
    st.integers(-3, 30),
    st.text(max_size=4),
    st.sampled_from(["auto", *SCHEMES]),
)
def test_no_claim_leads_outside_of_the_text_or_to_blanks(
    text: str, start: int, end: int, spot: str, scheme: str
) -> None:
    (span,) = locate(text, [Claim(start, end, spot)], scheme)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)
        mention = text[span[0] : span[1]]
        assert mention == mention.strip()


def test_the_nearest_of_equal_names_is_taken_when_the_offset_is_off() -> None:
    assert locate("Riga, Riga and Riga", [Claim(7, 11, "Riga")]) == [(6, 10)]


def test_a_mention_without_offsets_is_looked_up() -> None:
    assert locate("Where is riga?", [Claim(None, None, "RIGA")]) == [(9, 13)]


def test_a_mention_of_other_blanks_and_widths_is_looked_up() -> None:
    assert locate("in  Hakata \n Ward?", [Claim(90, 99, "ｈakata ward")]) == [(4, 17)]


def test_a_mention_that_is_not_in_the_text_has_no_span() -> None:
    assert locate("Where is Riga?", [Claim(9, 13, "Tallinn")]) == [None]


def test_offsets_without_a_mention_are_trusted_inside_of_the_text() -> None:
    assert locate("Where is Riga?", [Claim(8, 13), Claim(9, 99)]) == [(9, 13), None]
