"""Names with slips, in part, or of peoples: which of them the dictionary linker finds, and where it looks."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import Pattern, Schema, Triple

NAMES = (
    "Arnold Schwarzenegger", "Airplane!", "Italy", "Barack Obama", "Jaws", "Star Trek", "New York", "Paris",
    "Afghanistan", "Санкт-Петербург", "Apollo 11", "Côte d'Ivoire", "Amsterdam Airport Schiphol", ".is", "Star",
    "Tom Hanks", "Swedish krona", "East", "East Timor", "Hyogo", "Togo",
)  # fmt: skip
TRIPLES = [
    *([name, "in", "list"] for name in NAMES),
    *(["Togo", "borders", name] for name in NAMES[:8]),
    ["Afghanistan", "demonym", '"Afghan"'],
    ["Italy", "motto", '"Avanti"'],
]
GRAPH = MemoryGraph(TRIPLES)


@pytest.fixture
def linker() -> DictionaryLinker:
    return DictionaryLinker(GRAPH)


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("Who is Arnold Schwarzeneger?", "Arnold Schwarzeneger", "Arnold Schwarzenegger"),
        ("Who is Barak Obama from?", "Barak Obama", "Barack Obama"),
        ("what did barack obmaa do", "barack obmaa", "Barack Obama"),
        ("Which are the best Star Treck movies", "Star Treck", "Star Trek"),
        ("who directed airplane?", "airplane", "Airplane!"),
        ("Which Italian city is it", "Italian", "Italy"),
        ("где Санкт-Петербрг?", "Санкт-Петербрг", "Санкт-Петербург"),
        ("capital of cote divoire", "cote divoire", "Côte d'Ivoire"),
        ("capital of Cote-d’Ivoire", "Cote-d’Ivoire", "Côte d'Ivoire"),
        ("flights to newyork", "newyork", "New York"),
        ("Which city is Schiphol near?", "Schiphol", "Amsterdam Airport Schiphol"),
        ("Where do Afghans live?", "Afghans", "Afghanistan"),
        ("food of the afghan people", "afghan", "Afghanistan"),
        ("who owns .is", ".is", ".is"),
        ("Who pays in Swedish kroan?", "Swedish kroan", "Swedish krona"),
        ("Who governs East Tmor?", "East Tmor", "East Timor"),
        ("What is spoken in Yogo?", "Yogo", "Togo"),
    ],
)
def test_a_name_one_slip_away_or_in_part_is_found(
    linker: DictionaryLinker, text: str, mention: str, entity: str
) -> None:
    assert [(text[link.start : link.end], link.entity) for link in linker.link([text])[0]] == [(mention, entity)]


@pytest.mark.parametrize(
    "text", ["the Apollo 12 landed", "nothing of that sort", "Arnold Schwarzbier", "Who sings Fortiss?", "we like fish"]
)
def test_another_number_other_words_and_other_literals_are_left_alone(linker: DictionaryLinker, text: str) -> None:
    assert linker.link([text]) == [[]]


def common(*rows: tuple[str, int]) -> DictionaryLinker:
    """Return a linker over entities with numbers of triples."""
    return DictionaryLinker(MemoryGraph([[name, "fact", f"{name[0]}{i}"] for name, n in rows for i in range(n)]))


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("what is the meaning of it", None),
        ("who meaning did", None),
        ("tell me a meaning", None),
        ("meaning 7", None),
        ("the meaning", "meaning"),
        ("what is life", None),
    ],
)
def test_the_words_around_and_little_known_names_tell_a_common_word(text: str, mention: str | None) -> None:
    linker = common(("Meanin", 30), ("Fife", 3), ("Lice", 19))
    found = [text[link.start : link.end] for link in linker.link([text])[0]]
    assert found == ([mention] if mention else [])


def test_one_little_known_name_one_slip_away_is_meant() -> None:
    [links] = common(("Fife", 3)).link(["what is life"])
    assert [link.entity for link in links] == ["Fife"]


def test_of_several_names_one_slip_away_a_well_known_one_is_meant() -> None:
    [links] = common(("Fife", 3), ("Lice", 20)).link(["what is life"])
    assert [link.entity for link in links] == ["Lice"]


def test_in_small_letters_a_near_name_comes_before_a_common_word_that_is_a_name(linker: DictionaryLinker) -> None:
    links = linker.link(["what films did tom hankss star in"])[0]
    assert max(links, key=lambda link: link.score).entity == "Tom Hanks"


def test_a_name_that_is_written_right_scores_more(linker: DictionaryLinker) -> None:
    right, wrong = linker.link(["films of Barack Obama", "films of Barak Obama"])
    assert right[0].score > wrong[0].score


@attrs.define(eq=False)
class Counted(MemoryGraph):
    """Counts the lookups of near names and of words, and of patterns; keeps the names whose parts are looked up."""

    asked: int = attrs.field(init=False, default=0)
    matched: int = attrs.field(init=False, default=0)
    parts: list[str] = attrs.field(init=False, factory=list)

    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> list[list[str]]:
        self.asked += 1
        self.parts += [] if whole else names
        return MemoryGraph.near_names(self, names, limit, whole)

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        self.matched += 1
        return MemoryGraph.match(self, patterns)

    def schema(self) -> Schema:
        return Schema(relations=tuple({triple.relation: None for triple in self._all}))

    def known_words(self, words: Sequence[str]) -> list[bool]:
        self.asked += 1
        return MemoryGraph.known_words(self, words)


@pytest.mark.parametrize(
    "text", ["Did Barack Obama see Jawss in New York?", "flights from new york to pariss", "Is Paris in Itally?"]
)
def test_a_text_that_links_is_linked_by_exact_names_alone_and_asks_for_no_others(text: str) -> None:
    graph = Counted(TRIPLES)
    assert DictionaryLinker(graph).link([text]) == DictionaryLinker(GRAPH, fuzzy=1).link([text])
    assert graph.asked == 0


def test_names_with_a_word_that_is_in_no_name_are_looked_up_as_a_whole_alone() -> None:
    graph = Counted(TRIPLES)
    assert [link.entity for link in DictionaryLinker(graph).link(["what did barack obmaa do"])[0]] == ["Barack Obama"]
    assert graph.asked
    assert graph.parts == []


@pytest.mark.parametrize("label", ["demonym", "capital"])
def test_peoples_are_looked_up_only_where_a_relation_names_them(label: str) -> None:
    graph = Counted([["Jaws", label, "x"]])
    DictionaryLinker(graph).link(["where do afghans live"])
    assert bool(graph.matched) == (label == "demonym")


def test_texts_are_linked_alone_as_they_are_together(linker: DictionaryLinker) -> None:
    texts = [
        "Who is Barak Obama from?",
        "what did barack obmaa do",
        "Where do Afghans live?",
        "Jaws",
        "is it in pariss",
    ]
    assert linker.link(texts) == [linker.link([text])[0] for text in texts]


def test_the_bound_is_kept_and_1_is_exact_names_only() -> None:
    assert DictionaryLinker(GRAPH, fuzzy=0.95).link(["Who is Barak Obama from?"]) == [[]]
    assert DictionaryLinker(GRAPH, fuzzy=1).link(["Where do Afghans see Schiphol?"]) == [[]]


@pytest.mark.parametrize("fuzzy", [0.0, -1.0, 85])
def test_a_bound_that_is_no_likeness_is_refused(fuzzy: float) -> None:
    with pytest.raises(ValueError, match="fuzzy must be above 0 and at most 1"):
        DictionaryLinker(GRAPH, fuzzy=fuzzy)
