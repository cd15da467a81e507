"""The dictionary linker: names in texts, their order, and laws for any text."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.dictionary.word_spans import Words
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.roles import Encoder
from srtk_framework.testing import EntityLinkerConformance, OracleGraph
from srtk_framework.text import fold, words


class TestDictionaryLinker(EntityLinkerConformance):
    name = "dictionary"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> DictionaryLinker:
        return DictionaryLinker(graph)


NAMES = """$9.99|M*A*S*H|"Weird Al" Yankovic|(500) Days of Summer|Mr. & Mrs. Smith|Airplane!|Who's That Girl?
Warner Bros.|S.W.A.T.|...All the Marbles|'Til There Was You|It|Up|The Who|What If|Jaws|director
actors|Paris|Denver|Batman|Batman Begins|New York|New York Times|Times Square|東京|日本|君の名は。
서울|กรุงเทพ|Åsa Larsson|José Martí|हिन्दी|Санкт-Петербург|القاهرة|O'Connor|L'Avventura|Italie
Spider-Man|frederica_of_mecklenburg-strelitz|C++|.45|$|🎬|AT&T|007|Elena|the Judge|Judge Dredd|Dredd
Straße|İstanbul|Robert Downey, Jr.|U.S.|Rosemary's Baby|Ghost in the Shell|Shell|Ελλάδα
10 Items or Less|10"""


@pytest.fixture(scope="module")
def films() -> MemoryGraph:
    return MemoryGraph([[name, "in", "list"] for name in NAMES.replace("\n", "|").split("|")])


def mentions(linker: DictionaryLinker, text: str) -> list[tuple[str, str]]:
    return [(text[link.start : link.end], link.entity) for link in linker.link([text])[0]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # Marks that belong to a name, and marks that do not.
        ("who directed $9.99?", ["$9.99"]),
        ("Who acted in M*A*S*H?", ["M*A*S*H"]),
        ('songs by "Weird Al" Yankovic', ['"Weird Al" Yankovic']),
        ("what about (500) Days of Summer?", ["(500) Days of Summer"]),
        ("who wrote Mr. & Mrs. Smith.", ["Mr. & Mrs. Smith"]),
        ("who was in Airplane!", ["Airplane!"]),
        ("who directed Who's That Girl?", ["Who's That Girl?"]),
        ("films by Warner Bros. in Paris", ["Warner Bros.", "Paris"]),
        ("who starred in S.W.A.T.?", ["S.W.A.T."]),
        ("who made ...All the Marbles", ["...All the Marbles"]),
        ("who made 'Til There Was You", ["'Til There Was You"]),
        ("Robert Downey, Jr. in the U.S.", ["Robert Downey, Jr.", "U.S."]),
        ("invented C++?", ["C++"]),
        ("the film .45", [".45"]),
        ("how much $ is it", ["$"]),
        ("works at AT&T?", ["AT&T"]),
        ("[Jaws], (Up) and “Denver”", ["Jaws", "Up", "Denver"]),
        ("Paris/Denver", ["Paris", "Denver"]),
        # Possessives, hyphens, elisions, typographic marks.
        ("Which films are Elena's?", ["Elena"]),
        ("what are Elena’ films", ["Elena"]),
        ("Rosemary's Baby's end", ["Rosemary's Baby"]),
        ("spider-man films", ["Spider-Man"]),
        ("Jaws-like films", ["Jaws"]),
        ("What did O’Connor write", ["O'Connor"]),
        ("réalisateur de L’Avventura", ["L'Avventura"]),
        ("que sait-on de l'Italie", ["Italie"]),
        # Ids in the text.
        (
            "which nationality is frederica_of_mecklenburg-strelitz 's couple ?",
            ["frederica_of_mecklenburg-strelitz"],
        ),
        ("what is in new_york", ["New York"]),
        # Longest match, overlaps.
        ("who was in Batman, Batman Begins and Jaws", ["Batman", "Batman Begins", "Jaws"]),
        ("the New York Times", ["New York Times"]),
        ("New York Times Square", ["New York", "Times Square"]),
        ("films by the Judge Dredd director", ["Judge Dredd"]),
        ("who directed Ghost in the Shell", ["Ghost in the Shell"]),
        ("who made 10 Items or Less", ["10 Items or Less"]),
        # Function words and common words.
        ("what is it up to", []),
        ("who directed It", ["It"]),
        ('who directed "it"', ["It"]),
        ("Up", []),
        ("songs of The Who", ["The Who"]),
        ("Which actors were in Jaws by the director", ["Jaws"]),
        ("who are the actors", ["actors"]),
        ("Who Directed The Film Jaws", ["Jaws"]),
        # Case and form.
        ("asa larsson", ["Åsa Larsson"]),
        ("JOSÉ MARTÍ", ["José Martí"]),
        ("jose\u0301 marti\u0301 was born", ["José Martí"]),
        ("STRASSE", ["Straße"]),
        ("istanbul", ["İstanbul"]),
        ("Paris\nNew \t York", ["Paris", "New York"]),
        # Other scripts.
        ("東京は日本の首都ですか", ["東京", "日本"]),
        ("「君の名は。」の監督は誰", ["君の名は。"]),
        ("서울의 인구는?", ["서울"]),
        ("กรุงเทพอยู่ที่ไหน", ["กรุงเทพ"]),
        ("हिन्दी में", ["हिन्दी"]),
        ("где находится Санкт-Петербург?", ["Санкт-Петербург"]),
        ("أين تقع القاهرة؟", ["القاهرة"]),
        ("ΕΛΛΆΔΑ", ["Ελλάδα"]),
        ("🎬 who made 🎬Jaws🎬", ["🎬", "Jaws"]),
        ("who made 🎬?", ["🎬"]),
        # Nothing.
        ("", []),
        (" \n", []),
        ("???", []),
        ("nobody knows", []),
    ],
)
def test_names_are_found_in_text(films: MemoryGraph, text: str, found: list[str]) -> None:
    assert [entity for _, entity in mentions(DictionaryLinker(films), text)] == found


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("🎬🎬 Jaws", "Jaws"),
        ("\U0001d50a\u0301 jose\u0301 marti\u0301!", "jose\u0301 marti\u0301"),
        ("\u202bأين القاهرة؟\u202c", "القاهرة"),
        ("İİ İstanbul'da", "İstanbul"),
        ("ﬁﬃ Spider-Man", "Spider-Man"),
    ],
)
def test_spans_count_characters_of_the_text_as_given(films: MemoryGraph, text: str, mention: str) -> None:
    assert [found for found, _ in mentions(DictionaryLinker(films), text)] == [mention]


def test_overlapping_names_are_all_given_when_longest_is_false(films: MemoryGraph) -> None:
    linker = DictionaryLinker(films, longest=False)
    found = [entity for _, entity in mentions(linker, "the New York Times")]
    assert sorted(found) == ["New York", "New York Times"]


def test_names_longer_than_max_words_are_not_found(films: MemoryGraph) -> None:
    assert mentions(DictionaryLinker(films, max_words=2), "New York Times") == [("New York", "New York")]


def test_stop_words_may_be_replaced(films: MemoryGraph) -> None:
    assert mentions(DictionaryLinker(films, stop_words=["jaws"]), "is jaws up") == [("up", "Up")]


def test_the_stop_words_of_a_language_are_used() -> None:
    graph = MemoryGraph([["die", "r", "das"]])
    assert mentions(DictionaryLinker(graph, languages=["de"]), "wie ist die Lage") == []
    assert mentions(DictionaryLinker(graph, languages=["en"]), "wie ist die Lage") == [("die", "die")]


def test_the_better_known_entity_of_a_name_comes_first() -> None:
    triples = [["Q9", "in", f"c{number}"] for number in range(9)] + [["Q1", "in", "c1"], ["Q2", "in", "c1"]]
    graph = MemoryGraph(triples, labels={"Q1": "Paris", "Q2": "Paris", "Q9": "Paris"})
    links = DictionaryLinker(graph, n_best=3).link(["Where is Paris?"])[0]
    assert [link.entity for link in links] == ["Q9", "Q1", "Q2"]
    assert links[0].score > links[1].score == links[2].score
    assert {(link.start, link.end, link.name) for link in links} == {(9, 14, "Paris")}


def test_only_close_alternatives_are_kept_on_request() -> None:
    triples = [[id_, "in", f"c{number}"] for id_, most in (("Q1", 9), ("Q2", 8), ("Q3", 1)) for number in range(most)]
    graph = MemoryGraph(triples, labels=dict.fromkeys(("Q1", "Q2", "Q3"), "Paris"))
    links = DictionaryLinker(graph, n_best=3, alternatives=0.95).link(["Where is Paris?"])[0]
    assert [link.entity for link in links] == ["Q1", "Q2"]
    (link,) = DictionaryLinker(graph, n_best=3, alternatives=1.0).link(["Where is Paris?"])[0]
    assert link.entity == "Q1"


def test_the_same_letters_come_before_other_case_and_labels_before_aliases() -> None:
    triples = [[id_, "in", "list"] for id_ in ("Q1", "Q2", "Q3")]
    graph = MemoryGraph(triples, labels={"Q1": "PARIS", "Q2": "Paris", "Q3": "Lutetia"}, aliases={"Q3": ["Paris"]})
    links = DictionaryLinker(graph, n_best=3).link(["Where is Paris?"])[0]
    assert [link.entity for link in links] == ["Q2", "Q1", "Q3"]


def test_links_below_min_score_are_dropped(films: MemoryGraph) -> None:
    text = "films of elena"
    score = DictionaryLinker(films).link([text])[0][0].score
    assert mentions(DictionaryLinker(films, min_score=score), text) == [("elena", "Elena")]
    assert mentions(DictionaryLinker(films, min_score=score + 0.01), text) == []


def test_a_common_word_beside_a_name_is_kept_when_asked_for(films: MemoryGraph) -> None:
    assert mentions(DictionaryLinker(films, keep=0.0), "Which actors were in Jaws") == [
        ("actors", "actors"),
        ("Jaws", "Jaws"),
    ]


def test_part_of_a_longer_name_scores_less(films: MemoryGraph) -> None:
    whole, part = DictionaryLinker(films).link(["Which films are by Elena", "Which films are by Elena Lyadova"])
    assert part[0].score < whole[0].score


def test_a_word_for_a_relation_of_another_mention_is_no_mention() -> None:
    graph = MemoryGraph([["jaws", "directed_by", "steven spielberg"], ["jaws", "tagged", "director"]])
    assert mentions(DictionaryLinker(graph), "who was the director of jaws") == [("jaws", "jaws")]
    assert mentions(DictionaryLinker(graph), "what is tagged director") == [("director", "director")]


def test_a_name_without_letters_is_no_word_for_a_relation() -> None:
    graph = MemoryGraph([["🎬", "of", "jaws"]])
    alone, beside = DictionaryLinker(graph).link(["🎬", "🎬 with jaws"])
    assert beside[0].score == alone[0].score


@attrs.define(eq=False)
class CountWords(Encoder):
    """Encodes a text by which of some words it has."""

    known: Sequence[str]

    def encode(self, texts: Sequence[str]) -> Any:
        rows = [[float(word in fold(text)) for word in self.known] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), len(self.known))


def test_an_encoder_prefers_the_entity_whose_facts_fit_the_question() -> None:
    triples = [["Q1", "capital", "France"], ["Q1", "river", "Seine"], ["Q2", "character", "Troy"]]
    graph = MemoryGraph([*triples, ["Q1", "in", "Europe"]], labels={"Q1": "Paris", "Q2": "Paris"})
    linker = DictionaryLinker(graph, encoder=CountWords(["river", "character"]), n_best=2)
    found = linker.link(["Which river flows through Paris?", "Which character is Paris?"])
    assert [[link.entity for link in links] for links in found] == [["Q1", "Q2"], ["Q2", "Q1"]]


def test_an_encoder_is_not_asked_where_no_name_is_ambiguous(films: MemoryGraph) -> None:
    linker = DictionaryLinker(films, encoder=CountWords([]))
    assert mentions(linker, "who directed Jaws") == [("Jaws", "Jaws")]


@attrs.define(eq=False)
class Counting(MemoryGraph):
    """Counts the calls of ``find``."""

    calls: list[int] = attrs.field(factory=list)

    def find(self, names: Sequence[str]) -> list[list[str]]:
        self.calls.append(len(names))
        return super().find(names)


def test_a_batch_of_texts_is_looked_up_by_one_call_without_repetition() -> None:
    graph = Counting([["Jaws", "r", "x"]])
    DictionaryLinker(graph).link(["who made Jaws"] * 5)
    DictionaryLinker(graph).link(["who made Jaws"])
    assert len(graph.calls) == 2
    assert graph.calls[0] == graph.calls[1]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"languages": ["xx"]}, r"languages\[0\] must be one of en, de"),
        ({"weights": {"fame": 1.0}}, r"weights\['fame'\] must be one of "),
        ({"weights": {"match": -1.0}}, "must be at least 0"),
        ({"weights": {"match": 0.0, "popularity": 0.0, "length": 0.0}}, "set one above 0"),
        ({"weights": {"context": -1.0}}, "must be at least 0"),
        ({"min_score": 2.0}, "min_score must be from 0 to 1, not 2.0"),
        ({"keep": -0.1}, "keep must be from 0 to 1, not -0.1"),
        ({"alternatives": 1.5}, "alternatives must be from 0 to 1, not 1.5"),
        ({"n_best": 0}, "n_best must be at least 1, not 0"),
        ({"max_words": 0}, "max_words must be at least 1"),
        ({"candidates": 0}, "candidates must be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(films: MemoryGraph, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        DictionaryLinker(films, **settings)


def test_the_fingerprint_names_graph_and_settings(films: MemoryGraph) -> None:
    prints = {
        DictionaryLinker(films).fingerprint(),
        DictionaryLinker(films, n_best=2).fingerprint(),
        DictionaryLinker(MemoryGraph([["a", "r", "b"]])).fingerprint(),
    }
    assert len(prints) == 3
    assert DictionaryLinker(films).fingerprint() in prints


def test_words_of_the_core_are_among_the_spans(films: MemoryGraph) -> None:
    from srtk_plugin_local.dictionary.word_spans import Words

    text = "Who starred in Spider-Man, O'Connor's Baby and M*A*S*H by AT&T?"
    places = {(start, end) for _, start, end, _, _ in Words(text, frozenset()).spans(5)}
    assert set(words(text)) <= places


DRAWN_NAMES = [
    "Jaws", "jaws", "It", "Up", "New York", "York", "José Martí", "O'Connor", "Airplane!", "$9.99", "C++", "東京", "東",
    "서울", "กรุงเทพ", "हिन्दी", "القاهرة", "Ελλάδα", "İstanbul", "Straße", "🎬", "10", "a_b", "Mr. & Mrs. Smith",
]  # fmt: skip
ALIASES = {"Jaws": ["The Shark", "York"], "東京": ["Tokyo"], "C++": ["it"]}
PARTS = [
    *DRAWN_NAMES, *(name.upper() for name in DRAWN_NAMES),
    *(unicodedata.normalize("NFD", name) for name in DRAWN_NAMES), "the shark",
    "who", "in", "was", "'s", "’", "?", "!", "…", "\u0301", "\u200d", "\u202e", "\ufe0f", "-", "“", ")", "_", "\u0000",
]  # fmt: skip
TEXTS = st.lists(
    st.sampled_from(PARTS) | st.sampled_from([" ", " ", "  ", "\n"]) | st.text(max_size=2), max_size=14
).map("".join)

GRAPH = MemoryGraph([[name, "in", f"list {len(name)}"] for name in DRAWN_NAMES], aliases=ALIASES)
LINKERS = st.sampled_from(
    [
        DictionaryLinker(GRAPH),
        DictionaryLinker(GRAPH, n_best=3, keep=0.0),
        DictionaryLinker(GRAPH, n_best=2, longest=False),
        DictionaryLinker(GRAPH, max_words=1),
    ]
)
PLAIN = str.maketrans("’‘ʼ“”„–—‑‐", "'''\"\"\"----")


@given(LINKERS, TEXTS)
def test_every_span_folds_to_a_name_of_its_entity(linker: DictionaryLinker, text: str) -> None:
    for link in linker.link([text])[0]:
        assert link.start is not None
        mention = text[link.start : link.end]
        names = {fold(name) for name in [link.entity, *ALIASES.get(link.entity, ())]}
        assert fold(mention) in names or fold(mention.translate(PLAIN)) in names
        assert mention == mention.strip()
        assert link.name == link.entity


@given(LINKERS, TEXTS)
def test_links_are_in_order_and_scores_within_bounds(linker: DictionaryLinker, text: str) -> None:
    links = linker.link([text])[0]
    keys = [(link.start, -link.score, link.entity) for link in links]
    assert keys == sorted(keys)
    assert all(0 < link.score <= 1 for link in links)
    assert len({(link.start, link.end, link.entity) for link in links}) == len(links)


@given(TEXTS)
def test_mentions_do_not_overlap(text: str) -> None:
    spans = sorted({(link.start, link.end) for link in DictionaryLinker(GRAPH, n_best=3).link([text])[0]})
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@given(LINKERS, st.lists(TEXTS, max_size=4), st.integers(0, 4))
def test_links_do_not_depend_on_the_batch(linker: DictionaryLinker, texts: list[str], cut: int) -> None:
    whole = linker.link(texts)
    assert whole == [linker.link([text])[0] for text in texts]
    assert whole == linker.link(texts[:cut]) + linker.link(texts[cut:])


@given(TEXTS)
def test_n_best_only_adds_links(text: str) -> None:
    one, three = (DictionaryLinker(GRAPH, n_best=n).link([text])[0] for n in (1, 3))
    assert set(one) <= set(three)
    assert {(link.start, link.end) for link in one} == {(link.start, link.end) for link in three}


@given(TEXTS, st.integers(1, 5))
def test_spans_are_folded_as_they_stand(text: str, most: int) -> None:
    for name, start, end, first, last in Words(text, frozenset({"who", "in"})).spans(most):
        assert name in (fold(text[start:end]), fold(text[start:end].translate(PLAIN)))
        assert 0 <= start < end <= len(text)
        assert first <= last


@given(
    st.sampled_from(DRAWN_NAMES),
    st.sampled_from(["", "who is ", "🎬 ", "e\u0301 ", "ﬁ, "]),
    st.sampled_from(["", "?", " now", "'s"]),
)
def test_a_name_alone_among_other_words_is_found(name: str, before: str, after: str) -> None:
    text = before + name + after
    links = DictionaryLinker(GRAPH, stop_words=["who", "is", "now"], keep=0.0).link([text])[0]
    assert any(link.start == len(before) and fold(link.entity) == fold(name) for link in links)


def test_a_backtick_is_an_apostrophe_in_names() -> None:
    graph = MemoryGraph([["Ocean's Eleven", "in", "list"]])
    assert [link.entity for link in DictionaryLinker(graph=graph).link(["who directed Ocean`s Eleven?"])[0]] == [
        "Ocean's Eleven"
    ]


@pytest.mark.parametrize("text", ["latvia riga capital ", "Is Latvia near Riga or Berlin? "])
def test_a_text_of_twice_the_length_takes_twice_the_steps(
    text: str, lines_of: Callable[[Callable[[], Any]], int]
) -> None:
    facts = [["Latvia", "capital", "Riga"], ["Germany", "capital", "Berlin"], ["National Football League", "in", "US"]]
    linker = DictionaryLinker(MemoryGraph(facts))
    linker.link([text])
    assert lines_of(lambda: linker.link([text * 400])) < 2.2 * lines_of(lambda: linker.link([text * 200]))
