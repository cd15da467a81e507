"""Mentions found without a model: capitals, quotation marks, names of a list."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_wikidata.mention_detection import capitals, detect, detect_all, names, parts, quotes


def cut(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Where is Hakata Ward?", ["Hakata Ward"]),
        ("Is Riga near Jurmala", ["Riga", "Jurmala"]),
        ("Riga", ["Riga"]),
        ("Who directed The Lord of the Rings?", ["The Lord of the Rings"]),
        ("is the sea of rivers blue", []),
        ("Who is J. R. R. Tolkien? He wrote.", ["J. R. R. Tolkien"]),
        ("Was it Van Gogh or O'Neill of AT&T's board?", ["Van Gogh", "O'Neill of AT&T"]),
        ("What of the U.S. and AC/DC?", ["U.S. and AC/DC"]),
        ("Who is in Star Wars: A New Hope?", ["Star Wars: A New Hope"]),
        ("What did Łódź's mayor say on l'Italie?", ["Łódź", "Italie"]),
        ("When did Apollo 11 land in 1969?", ["Apollo 11"]),
        ("France, Germany and (Spain).", ["France", "Germany", "Spain"]),
        ("Где находится Рига?", ["Рига"]),
        ("WHAT IS RIGA", ["RIGA"]),
        ("It rains. Who saw Riga?", ["Riga"]),
        ("İİİ x", ["İİİ"]),
        ("日本はどこ", []),
        ("", []),
    ],
)
def test_words_in_capitals_are_mentions(text: str, wanted: list[str]) -> None:
    assert cut(text, capitals(text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('who wrote "the old man"?', ["the old man"]),
        ("who wrote “ the old man ”?", ["the old man"]),
        ("wer schrieb „der alte Mann“", ["der alte Mann"]),
        ("qui a écrit « le vieil homme »", ["le vieil homme"]),
        ("誰が『老人と海』を書いた", ["老人と海"]),
        ("don't say it's 'my way' or the dogs' way", ["my way"]),
        ('מי כתב את "מלחמה ושלום"?', ["מלחמה ושלום"]),
        ('"" "?!"', []),
    ],
)
def test_what_is_quoted_is_a_mention(text: str, wanted: list[str]) -> None:
    assert cut(text, quotes(text)) == wanted


def test_known_names_are_mentions_the_longest_first() -> None:
    listed = {"old man and the sea", "sea", "robert", "in"}
    text = "who is in old man and the sea with Robert's dog in"
    found = names([text], lambda some: [name in listed for name in some])
    assert cut(text, found[0]) == ["old man and the sea", "Robert"]


def test_all_names_are_asked_about_at_once() -> None:
    calls = []

    def known(some: Sequence[str]) -> list[bool]:
        calls.append(some)
        return [False] * len(some)

    assert detect_all(["a b", "c d"], ["names"], known) == [[], []]
    assert len(calls) == 1


def test_of_overlapping_mentions_the_longest_is_kept() -> None:
    text = 'Who sang "My way to Riga"?'
    assert cut(text, detect(text)) == ["My way to Riga"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("France and Germany", ["France", "Germany"]),
        ("Lord of the Rings and Schindler's List", ["Lord of the Rings", "Schindler's List"]),
        ("Schindler's List", ["Schindler", "List"]),
        ("AT&T & Bell Labs", ["AT&T", "Bell Labs"]),
        ("Star Wars: A New Hope", ["Star Wars", "A New Hope"]),
        ("University of Latvia", ["University", "Latvia"]),
        ("Old Riga Town", ["Riga Town", "Old Riga"]),
        ("Apollo 11", ["Apollo"]),
        ("Riga", []),
    ],
)
def test_a_mention_is_divided_at_its_weakest_joint(text: str, wanted: list[str]) -> None:
    assert cut(text, parts(text, (0, len(text)))) == wanted


@given(st.text(max_size=60))
def test_spans_lie_inside_apart_and_have_no_blanks_around(text: str) -> None:
    found = detect(text, ("capitals", "quotes", "names"), lambda some: [len(name) % 3 == 0 for name in some])
    assert found == sorted(found)
    bounds = [place for span in found for place in span]
    assert [0, *bounds, len(text)] == sorted([0, *bounds, len(text)])
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in found)


@given(st.text(st.sampled_from("AaÄ 's&.\"1o f"), max_size=30))
def test_parts_are_shorter_than_the_mention_and_inside_of_it(text: str) -> None:
    for start, end in detect(text):
        for first, last in parts(text, (start, end)):
            assert start <= first < last <= end
            assert last - first < end - start
