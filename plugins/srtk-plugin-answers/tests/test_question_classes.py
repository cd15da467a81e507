"""The class of what a question asks for, and which nodes have it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_answers import question_classes
from srtk_plugin_answers.choices import Choice, _has_role, unknown_names
from srtk_plugin_answers.end_classes import _most_shared, of_class
from srtk_plugin_answers.graph_names import GraphNames
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.path_scores import PathScores, ScoreUnit
from srtk_plugin_answers.question_classes import (
    asked_classes,
    asks_for_several,
    is_of_agent,
    role_words,
    shared_words,
    singular,
    stems_of,
)
from srtk_plugin_answers.statement_years import _held
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import Link, Literal, Question, RankedPath, Schema, Step


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Which city in ¤ has the most inhabitants?", "city"),
        ("Which country exports to the most countries?", "country"),
        ("In which countries is ¤ spoken?", "country"),
        ("which city borders ¤", "city"),
        ("Name the female singers who were born in ¤.", "female singer"),
        ("List all films by ¤", "film"),
        ("Give me all the cities in ¤", "city"),
        ("What is the most populous city of ¤?", "most populous city"),
        ("What is ¤'s profession?", "profession"),
        ("What is Ann Smith's profession?", "profession"),
        ("What was J. R. R. Tolkien's profession?", "profession"),
        ("How many countries border ¤?", "country"),
        ("Of the countries with ¤ as a language, which is first?", "country"),
        ("Which of the films directed by ¤ won?", "film"),
        ("Which two rivers flow through ¤?", "river"),
        ("What are the names of the provinces of ¤?", "province"),
        ("Tell me the number of time zones of ¤.", "time zone"),
        ("who is a musician signed to ¤", "musician"),
        ("Who wrote ¤?", "person"),
        ("Name someone who plays the ¤", "person"),
        ("what kind of music does ¤ play", "music genre"),
        ("what is the name of the 1987 crime film", "crime film"),
    ],
)
def test_the_phrase_after_the_word_that_asks_names_the_class(text: str, phrase: str) -> None:
    assert phrase in asked_classes(text)


@pytest.mark.parametrize(
    "text",
    [
        "When was ¤ born?",
        "Where is ¤?",
        "What is ¤?",
        "What treats a ¤?",
        "Which",
        "",
        "Is ¤ a city?",
        "Why?",
        "By whom was ¤ made?",
        "Which who is ¤?",
        "Please name the films of ¤",
        "What is ¤'s?",
    ],
)
def test_some_questions_name_no_class(text: str) -> None:
    assert asked_classes(text) == ()


def test_two_nouns_before_other_prepositions_are_one_phrase() -> None:
    assert "film" not in asked_classes("Which film genres in ¤ are rare?")


def test_a_verb_that_may_belong_to_the_phrase_is_left_out_in_another() -> None:
    assert asked_classes("which artists perform folk music?") == ("artists perform folk music", "artist")


@pytest.mark.parametrize(
    ("phrase", "label", "words"),
    [
        ("city", "City", 1),
        ("city", "big city", 1),
        ("city", "city of the United States", 1),
        ("city", "capital city in Japan", 1),
        ("province", "Province (type of division)", 1),
        ("female singer", "singer", 1),
        ("record label", "record label", 2),
        ("genre", "music genre", 1),
        ("country", "countries bordering the sea", 0),
        ("city", "city council", 0),
        ("form of government", "form of government", 3),
        ("film", "", 0),
        ("flight", "in flight", 1),
        ("flight", "in flight of fancy", 1),
        ("state", "in", 0),
        ("head of state", "heads of state", 0),
        ("head of states", "head of states", 0),
    ],
)
def test_a_phrase_fits_a_label_with_the_same_head(phrase: str, label: str, words: int) -> None:
    assert shared_words([phrase], label) == words


@pytest.mark.parametrize(
    ("several", "one"),
    [
        *[("cities", "city"), ("films", "film"), ("movies", "movie"), ("boxes", "box"), ("classes", "class")],
        *[("women", "woman"), ("series", "series"), ("people", "person"), ("churches", "church"), ("bus", "bus")],
        *[("cars", "car"), ("yes", "yes"), ("seamen", "seaman"), ("semen", "semen"), ("policewomen", "policewoman")],
    ],
)
def test_plurals_are_folded(several: str, one: str) -> None:
    assert singular(several) == singular(one) == one


@given(st.from_regex(r"[a-z]{1,12}", fullmatch=True))
def test_a_word_fits_the_label_that_it_is(word: str) -> None:
    assert shared_words([singular(word)], word) == 1


@given(st.text())
def test_any_text_gives_phrases_of_words(text: str) -> None:
    assert all(phrase.split() for phrase in asked_classes(text))


FACTS = [
    ["riga", "type", "c1"],
    ["latvia", "type", "c2"],
    ["daugava", "type", "c3"],
    ["c1", "above", "c4"],
    ["c5", "above", "c1"],
    ["ogre", "type", "c5"],
]
LABELS = {"c1": "capital", "c2": "country", "c3": "river", "c4": "city", "c5": "seat"}
TYPED = Schema(type_relations=("type",), subclass_relations=("above",))


def memory(**more: Any) -> MemoryGraph:
    graph = MemoryGraph(triples=FACTS, labels=LABELS, **more)
    graph.open()
    return graph


def test_a_class_is_named_by_itself_or_by_the_one_above_it() -> None:
    nodes = ["riga", "latvia", "ogre", "nowhere"]
    found = of_class(
        PathReads(memory(), 100),
        GraphNames(memory(), TYPED),
        [["capital"], ["city"], ["country"], ["lake"], []],
        [nodes] * 5,
    )
    assert found == [frozenset(some) for some in (["riga", "ogre"], ["riga"], ["latvia"], [], [])]


def test_other_names_of_a_class_count() -> None:
    graph = memory(aliases={"c3": ["stream"]})
    [found] = of_class(PathReads(graph, 100), GraphNames(graph, TYPED), [["stream"]], [["daugava", "riga"]])
    assert found == {"daugava"}


def test_a_class_that_shares_more_words_leaves_out_one_that_shares_fewer() -> None:
    graph = MemoryGraph(
        triples=[["a", "type", "x"], ["b", "type", "y"]], labels={"x": "record label", "y": "paper label"}
    )
    graph.open()
    nodes = [["a", "b"]]
    assert of_class(PathReads(graph, 100), GraphNames(graph, TYPED), [["record label"]], nodes) == [{"a"}]
    assert of_class(PathReads(graph, 100), GraphNames(graph, TYPED), [["label"]], nodes) == [{"a", "b"}]


@pytest.mark.parametrize(
    ("phrase", "relation", "of_object", "words"),
    [
        ("language", "official language", True, 1),
        ("official language", "official language", True, 2),
        ("language", "official language", False, 0),
        ("city", "city country", False, 1),
        ("country", "city country", True, 1),
        ("city", "city country", True, 0),
        ("language", "language spoken", False, 0),
        ("city", "city", False, 0),
        ("city", "", False, 0),
        ("customer", "customer ID", True, 1),
        ("customer", "customer ID", False, 0),
        ("customer", "big customer ID", True, 1),
        ("very big country", "city in big country", True, 2),
        ("big country", "province of country", True, 1),
        ("city", "the city country", False, 1),
        ("id", "id", True, 1),
        ("country", "city in country", True, 1),
        ("city", "city in country", True, 0),
        ("city", "city in country", False, 1),
        ("big city", "big city in country", False, 2),
        ("country", "in country", True, 1),
        ("country", "in the country in dispute", True, 0),
        ("province", "province of country", True, 1),
        ("country", "province of country", True, 1),
        ("city", "city directed", False, 0),
        ("film", "film by", True, 0),
        ("film", "film of", False, 0),
    ],
)
def test_a_relation_says_what_its_object_and_its_subject_are(
    phrase: str, relation: str, of_object: bool, words: int
) -> None:
    assert role_words([phrase], relation, of_object) == words


def test_a_plural_asks_for_several() -> None:
    assert asks_for_several("Which cities are in ¤?")
    assert asks_for_several("How many cities are in ¤?")
    assert not asks_for_several("Which city is in ¤?")
    assert not asks_for_several("Where is ¤?")


@pytest.mark.parametrize(
    ("relation", "by"),
    [
        ("directed by", True),
        ("by", False),
        ("by whom", False),
        ("made by hand", False),
        ("born in", False),
        ("", False),
    ],
)
def test_a_relation_has_its_object_do_something_where_it_ends_in_by(relation: str, by: bool) -> None:
    assert is_of_agent(relation) is by


def test_the_nodes_that_share_most_words_are_kept_and_none_where_no_word_is_shared() -> None:
    assert _most_shared({"a": 1, "b": 2, "c": 2}) == {"b", "c"}
    assert _most_shared({"a": 0, "b": 0}) == _most_shared({}) == frozenset()


@pytest.mark.parametrize(
    ("text", "links", "relations", "unknown"),
    [
        ("Who wrote Emma", (), (), ["Emma"]),
        ("Wrote Emma", (), (), []),  # of two words none may be told
        ("who Wrote Emma", (), (), []),  # all but the first begin with capitals
        ("Who wrote Emma in Riga?", (Link("e", 1.0, 10, 14),), (), ["Riga"]),
        ("Who wrote Emma in Riga?", (Link("e", 1.0, 10, 15),), ("riga",), []),
        ("Who wrote Emma in Riga?", (Link("e"),), (), []),
    ],
)
def test_names_that_no_link_covers_are_unknown(
    text: str, links: tuple[Link, ...], relations: tuple[str, ...], unknown: list[str]
) -> None:
    assert unknown_names(Question("q", text, links), relations) == unknown


@pytest.mark.parametrize(
    ("qualifiers", "held"),
    [
        ([], 0),
        ([("other", 2000)], 0),
        ([("start", 1999)], 1),
        ([("start", 2000)], 1),
        ([("start", 2000.9)], 1),  # a day within the year
        ([("start", 2001)], -1),
        ([("end", 2000)], 1),
        ([("end", 1999.9)], -1),
        ([("start", 1990), ("end", 2010)], 1),
        ([("start", 1990), ("end", 1995)], -1),
        ([("end", 2010), ("start", 2005)], -1),
        ([("start end", 1990)], 0),  # neither of the two
    ],
)
def test_qualifiers_hold_in_a_year_from_their_start_to_their_end(
    qualifiers: list[tuple[str, float]], held: int
) -> None:
    words = {relation: frozenset(relation.split()) for relation, _ in qualifiers}
    typed = [(relation, Literal.make(str(value), "xsd:decimal")) for relation, value in qualifiers]
    assert _held(typed, words, 2000) == held


@pytest.mark.parametrize(("ends", "has"), [("", False), ("a", True), ("ax", True), ("axy", False), ("abxy", True)])
def test_half_of_the_ends_are_enough_for_a_role(ends: str, has: bool) -> None:
    choice = Choice(RankedPath("s", (), 0.0), dict.fromkeys(ends, ()), False)
    assert _has_role(choice, SimpleNamespace(roles={"a", "b"})) is (has or not ends)
    assert not _has_role(choice, SimpleNamespace(roles=()))


def test_scores_of_a_measured_unit_count_from_the_end() -> None:
    scorer = SimpleNamespace(
        score=lambda texts, paths, rows: [[float(at * at) for at in range(len(row))] for row in rows]
    )
    steps = [[Step("r"), Step("s"), Step("t")], [Step("r")], []]
    plain = PathScores(scorer, (), ScoreUnit())
    assert plain.numbers([""] * 3, [()] * 3, steps) == [[0.0, 1.0, 4.0], [0.0], []]
    measured = PathScores(scorer, (), ScoreUnit(2.0, measured=True))
    assert measured.numbers([""] * 3, [()] * 3, steps) == [[-9.0, -8.0, -5.0], [-1.0], []]
    assert measured.rows([""] * 3, [()] * 3, steps) == [[-4.5, -4.0, -2.5], [-0.5], []]


def test_a_unit_is_measured_from_the_first_steps_and_its_lift_from_the_end() -> None:
    numbers = {"r": 4.0, "s": 10.0, "t": 1.0}
    scorer = SimpleNamespace(
        score=lambda texts, paths, rows: [[numbers.get(step.relation, 2.0) for step in row] for row in rows]
    )
    unit = ScoreUnit.of(scorer, "", [[Step("r"), Step("s"), Step("t")], [], [Step("r")]])
    assert unit.measured
    assert unit.lift == pytest.approx((10.0 - 2.0) / unit.size)
    assert ScoreUnit.of(scorer, "", [[]]) == ScoreUnit(float("inf"), measured=True)


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("Which country exports to the most?", ("country", "country export")),
        ("Which sales country exports to the most?", ("sales country", "sales country export", "sale")),
        ("Which river mouth across it?", ("river mouth",)),
        ("Which exports to ¤?", ("export",)),
        ("Which film ¤?", ("film",)),
        ("Which big city adjoins ¤?", ("big city", "big city adjoin")),
        ("Which big city adjoins the sea?", ("big city", "big city adjoin")),
        ("Which big city adjoins?", ("big city adjoin",)),
        ("Name someone tall", ("person", "human")),
        ("Name tall someone", ("tall someone",)),
        (
            "What musical style of dance is it?",
            *[("dance style", "dance genre", "dance type", "style of dance", "genre of dance", "type of dance")],
        ),
        ("What musical style of it?", ("musical style",)),
        ("How much water is in ¤?", ("water",)),
        ("How is water made in ¤?", ()),
        ("Of all films by ¤, one won", ("film",)),
        ("Of films by ¤, one won", ()),
        ("Who is the musician of ¤?", ("musician", "person", "human")),
        ("Who is musician of ¤?", ("person", "human")),
        ("Which 3 films won?", ("film",)),
        ("Which merchant king ruled ¤?", ("merchant king",)),
        ("Which artist acted in ¤?", ("artist",)),
        ("Which fixed star is it?", ("fixed star",)),
        ("what treats an ache", ()),
        ("who treats an ache", ("person", "human")),
        ("Which ¤'s films won?", ("film",)),
    ],
)
def test_the_phrases_of_a_class_come_the_likeliest_first(text: str, phrases: tuple[str, ...]) -> None:
    assert asked_classes(text) == phrases


def test_words_of_three_letters_have_no_stem_and_longer_ones_their_first_four() -> None:
    assert stems_of("The art of directing cities, directors") == {"dire", "city"}


def test_words_that_ask_order_or_bound_are_no_names() -> None:
    parts = {
        name: getattr(question_classes, f"_{name}") for name in ("ASK", "ORDER", "BE", "SKIPPED", "FORM", "BOUNDS")
    }
    assert all(words <= question_classes.STOP_WORDS for words in parts.values())
    assert all(parts[name] <= question_classes.ASKING for name in ("ASK", "ORDER", "BE", "SKIPPED"))
    assert parts["BOUNDS"] >= question_classes._DETERMINERS
    assert {"how", "the", "of"} <= question_classes.STOP_WORDS
