"""Mentions found without a model: capitals and quotation marks; and how they are divided."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.text.mentions import (
    best_apart,
    by_form,
    capitals,
    link_shares,
    link_topics,
    name_parts,
    quotes,
    tidied,
    unnamed_entities,
    without_mentions,
)
from srtk_framework.values import Link, Mention, Question


def found(text: str, apart: bool = True) -> list[str]:
    row = by_form([text])[0]
    return [text[mention.start : mention.end] for mention in (best_apart(row) if apart else row)]


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
def test_quoted_text_is_a_mention(text: str, wanted: list[str]) -> None:
    assert cut(text, quotes(text)) == wanted


def test_a_mention_is_a_name_or_a_quotation() -> None:
    assert by_form(['Who in Riga sang "my way"?']) == [[Mention(7, 11, 0.9, "name"), Mention(18, 24, 1.0, "quote")]]
    assert by_form(['"Riga"']) == [[Mention(1, 5, 1.0, "quote")]]


def test_of_overlapping_mentions_all_or_the_longest_are_kept() -> None:
    text = 'Who sang "My way to Riga"?'
    assert found(text, apart=False) == ["My", "My way to Riga", "Riga"]
    assert found(text) == ["My way to Riga"]


def test_of_overlapping_mentions_a_better_one_goes_before_a_longer_one() -> None:
    long, short, other = Mention(0, 9, 0.5), Mention(4, 6, 0.8), Mention(8, 12, 0.8)
    assert best_apart([long, short, other]) == [short, other]
    assert best_apart([long, attrs.evolve(short, score=0.5)]) == [long]
    assert best_apart([Mention(0, 3), Mention(2, 5)]) == [Mention(0, 3)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("👩‍🚀🇱🇻 Łódź 👍🏽?", ["Łódź"]),
        ("e\u0301e\u0301 from E\u0301vora\u0301 \U0001d11e", ["E\u0301vora\u0301"]),
        ("איפה נמצאת Ri\u0307ga? “מלחמה ושלום” 😀", ["Ri\u0307ga", "מלחמה ושלום"]),
        ("أين تقع «مدينة رِيغا»؟", ["مدينة رِيغا"]),
        ("\u202eRiga\u202c", ["Riga"]),
    ],
)
def test_spans_are_right_among_emoji_combining_marks_and_right_to_left_scripts(text: str, wanted: list[str]) -> None:
    assert found(text) == wanted


def test_tidied_spans_have_whole_letters_and_no_outer_blanks() -> None:
    assert tidied("a  b ", 1, 5) == (3, 4)
    assert tidied("xe\u0301\u0323y", 1, 2) == (1, 4)
    assert tidied("xe\u0301\u0323y", 3, 5) == (1, 5)
    assert tidied("   ", 0, 3) == (3, 3)


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
    assert cut(text, name_parts(text, (0, len(text)))) == wanted


@given(st.text(max_size=60))
def test_spans_are_inside_the_text_sorted_and_without_outer_blanks(text: str) -> None:
    row = by_form([text])[0]
    spans = [(mention.start, mention.end) for mention in row]
    assert spans == sorted(set(spans))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(text[start:end].strip() == text[start:end] for start, end in spans)
    bounds = [place for mention in best_apart(row) for place in (mention.start, mention.end)]
    assert bounds == sorted(bounds)


@given(st.text(st.sampled_from("AaÄ 's&.\"1o f"), max_size=30))
def test_parts_are_shorter_than_the_mention_and_inside_of_it(text: str) -> None:
    for mention in by_form([text])[0]:
        for first, last in name_parts(text, (mention.start, mention.end)):
            assert mention.start <= first < last <= mention.end
            assert last - first < mention.end - mention.start


def question(text: str, *links: Link) -> Question:
    return Question("q", text, links)


def without(asked: Question, stand_in: str, **labels: str) -> str:
    return without_mentions(asked, asked.links, labels, stand_in)


def test_links_of_one_span_share_by_their_scores():
    links = (Link("a", 0.6, 0, 4), Link("b", 0.2, 0, 4), Link("c", 0.3), Link("d", 0.5, 6, 9))
    assert link_shares(links) == pytest.approx([0.75, 0.25, 1.0, 1.0])


def test_links_of_one_span_without_any_score_have_equal_shares():
    assert link_shares((Link("a", 0.0, 0, 1), Link("b", 0.0, 0, 1))) == [0.5, 0.5]


def test_an_entity_linked_twice_in_one_span_counts_once():
    links = (Link("a", 0.5, 0, 1), Link("a", 0.5, 0, 1), Link("b", 0.5, 0, 1))
    assert link_shares(links) == [0.5, 0.5, 0.5]


def test_mentions_are_replaced_by_their_spans():
    asked = question("Who runs Oslo and Riga?", Link("o", 1.0, 9, 13), Link("r", 1.0, 18, 22), Link("r2", 0.5, 18, 22))
    assert without(asked, "it") == "Who runs it and it?"


def test_only_the_mentions_of_the_given_links_are_replaced():
    asked = question("Who runs Oslo and Riga?", Link("o", 1.0, 9, 13), Link("r", 1.0, 18, 22))
    assert without_mentions(asked, asked.links[:1], {}, "it") == "Who runs it and Riga?"


def test_of_overlapping_mentions_the_one_that_begins_last_is_replaced():
    asked = question("Who runs New York City?", Link("a", 1.0, 9, 17), Link("b", 1.0, 13, 22))
    assert without(asked, "it") == "Who runs New it?"


def test_mentions_without_spans_are_found_by_name():
    asked = question("who is parent of sebastian_i_of_portugal ?", Link("s", name="Sebastian I of Portugal"), Link("p"))
    assert without(asked, "", p="port") == "who is parent of ?"


def test_a_name_within_a_word_is_no_mention():
    assert without(question("Annex of Ann", Link("ann")), "", ann="ann") == "Annex of"


def test_a_question_that_is_nothing_but_a_mention_stays():
    assert without(question("Oslo?", Link("o", 1.0, 0, 4)), "") == "Oslo?"


def test_only_links_with_neither_span_nor_name_need_a_label():
    links = (Link("b"), Link("c", name="C"), Link("d", 1.0, 0, 2), Link("a"), Link("b"))
    assert unnamed_entities([question("Who?", *links)]) == ["a", "b"]


def test_a_name_inside_a_word_is_no_mention():
    assert without_mentions(Question("q", "Annex of Ann"), [Link("ann", name="ann")], {}, "") == "Annex of"


def test_a_question_that_is_nothing_but_the_mention_stays():
    assert without_mentions(Question("q", "Ann?"), [Link("ann", 1.0, 0, 3)], {}, "") == "Ann?"


def test_links_with_overlapping_spans_are_alternatives_of_one_topic():
    links = [Link("york", 1.0, 4, 8), Link("ny", 1.0, 0, 8), Link("paris", 1.0, 12, 17), Link("nyc", 1.0, 0, 8)]
    assert link_topics(links) == {"york": 0, "ny": 0, "paris": 1, "nyc": 0}


def test_links_without_a_span_are_topics_of_their_own():
    assert link_topics([Link("a"), Link("b"), Link("c", 1.0, 0, 1), Link("a", 1.0, 0, 1)]) == {"a": 1, "b": 2, "c": 0}
