from __future__ import annotations

import pytest
from srtk_plugin_sr.answer_kind import (
    GROUP,
    NUMBER,
    PERSON,
    PLACE,
    THING,
    TIME,
    TRUTH,
    WORK,
    answer_kind,
    end_kind,
    literal_kind,
    operates,
)
from srtk_plugin_sr.path_features import QuestionWords


@pytest.mark.parametrize(
    ("text", "kind", "noun"),
    [
        ("Who wrote it?", PERSON, ""),
        ("who wrote it", PERSON, ""),
        ("Where was she born?", PLACE, ""),
        ("In what year was it founded?", TIME, ""),
        ("Which films did he direct?", THING, "films"),
        ("list the films that he directed", THING, "films"),
        ("What is 's daughter's gender?", THING, "gender"),
        ("What does 's brother do?", THING, ""),
        ("Which building houses the archive?", THING, "building"),
        ("which film stars ¤", THING, "film"),
        ("Which river crosses ¤?", THING, "river"),
        ("What films ¤ acted in?", THING, "films"),
        ("Which country exports to ¤?", THING, "country"),
        ("Which football club ¤ plays for?", THING, "football club"),
        ("Which film stars are from ¤?", THING, "film stars"),
        ("Which film genres in ¤?", THING, "film genres"),
        ("which person directed the film", THING, "person directed"),
        ("Which ¤ players are there?", THING, "players"),
        ("List the film stars the critics praised.", THING, "film stars"),
    ],
)
def test_the_words_of_a_question_say_what_it_expects(text: str, kind: str, noun: str) -> None:
    found = answer_kind(text)
    assert (found.kind, found.noun) == (kind, noun)


def test_what_is_counted_are_things_in_plural() -> None:
    found = answer_kind("How many players are in the team?")
    assert (found.kind, found.noun, found.counted, found.several) == (THING, "players", True, True)
    assert found.end == PERSON


@pytest.mark.parametrize(
    ("label", "inverse", "kind"),
    [
        ("directed by", False, PERSON),
        ("directed by", True, WORK),
        ("place of birth", False, PLACE),
        ("date of death", False, TIME),
        ("place of birth", True, PERSON),
        ("plays in club", False, GROUP),
        ("instrument", False, None),
        ("", False, None),
    ],
)
def test_the_name_of_a_relation_says_what_a_step_leads_to(label: str, inverse: bool, kind: str | None) -> None:
    assert end_kind(label, inverse) == kind


@pytest.mark.parametrize(
    ("label", "kind"),
    [("1987", "time"), ("1987-05-03", "time"), ("12,500", "number"), ("Riga", None), ("5 km", "number")],
)
def test_dates_and_amounts_are_known_by_their_text(label: str, kind: str | None) -> None:
    assert literal_kind(label) == kind


@pytest.mark.parametrize(
    "text",
    ["the largest city of", "which films came out before", "the third son of", "more than one wife", "films of 1995"],
)
def test_an_order_a_comparison_or_a_year_is_an_operation(text: str) -> None:
    assert operates(text)


@pytest.mark.parametrize(
    "text",
    ["the guest of honour", "films in the West", "who bestowed it", "which priest is named after", "the first name of"],
)
def test_words_that_end_like_superlatives_are_none(text: str) -> None:
    assert not operates(text)


def test_a_mention_ends_the_phrase_of_the_kind_also_among_the_words_of_a_path() -> None:
    words = QuestionWords.of("Which building houses ¤ ?", True)
    assert words.kind.noun == "building"
    assert words.content == ("building", "houses")


@pytest.mark.parametrize(
    ("text", "noun", "several"),
    [
        ("How many big red old cars did he buy?", "big red old", False),
        ("Please name the actors", "", False),
        ("many players joined", "", False),
        ("Name two of the actors", "actors", True),
        ("In which cities was he?", "cities", True),
        ("Which bus is it?", "bus", False),
        ("Which class is it?", "class", False),
        ("Which crisis was it?", "crisis", False),
        ("Whose brother is he?", "brother", False),
        ("The total number of goals of ¤", "goals", True),
        ("Which film was made, which actor was in it?", "film", False),
        ("which land borders the sea", "land", False),
        ("which men carved the stone", "men carved", False),
        ("which river flows to ¤", "river", False),
        ("which rivers flows to ¤", "rivers flows", True),
        ("which river flow into ¤", "river flow", False),
        ("which states border the sea", "states", True),
        ("which crosses ¤", "crosses", True),
    ],
)
def test_the_noun_ends_where_the_next_phrase_begins(text: str, noun: str, several: bool) -> None:
    found = answer_kind(text)
    assert (found.noun, found.several) == (noun, several)


@pytest.mark.parametrize(
    ("text", "kind", "end", "phrase"),
    [
        ("Is she tall?", TRUTH, None, ""),
        ("How tall is she?", NUMBER, NUMBER, "number amount"),
        ("To whom did he write?", PERSON, PERSON, "person"),
        ("Since when is it so?", TIME, TIME, "date year"),
        ("Where is it?", PLACE, PLACE, "place location"),
        ("Which countries are near it?", THING, PLACE, "countries"),
        ("Which things are there?", THING, None, "things"),
        ("List them", THING, None, "them"),
    ],
)
def test_a_kind_has_the_ends_that_it_expects_and_a_text_for_relations(
    text: str, kind: str, end: str | None, phrase: str
) -> None:
    found = answer_kind(text)
    assert (found.kind, found.end, found.phrase) == (kind, end, phrase)


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("plays for club", GROUP),
        ("born in", PLACE),
        ("in", None),
        ("by", PERSON),
        ("is in country", PLACE),
        ("officer in charge", PERSON),
        ("of country", PLACE),
        ("number of children", NUMBER),
        ("children", PERSON),
        ("cities", PLACE),
        ("churches", None),
        ("date", TIME),
        ("film of year", WORK),
    ],
)
def test_the_word_before_a_preposition_names_what_a_step_leads_to(label: str, kind: str | None) -> None:
    assert end_kind(label, False) == kind


@pytest.mark.parametrize(
    ("label", "kind"),
    [(" 1987 ", TIME), ("12", NUMBER), ("12345", NUMBER), ("3 May 1987", TIME), ("", None), ("5.May.1987", TIME)],
)
def test_a_year_has_three_or_four_digits(label: str, kind: str | None) -> None:
    assert literal_kind(label) == kind
