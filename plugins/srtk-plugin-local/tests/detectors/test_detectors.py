"""Mention detectors: by form, by names of a graph or of a file, and several as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.detectors.capitals import CapitalsDetector
from srtk_plugin_local.detectors.names import NamesDetector
from srtk_plugin_local.detectors.ngrams import NgramDetector
from srtk_plugin_local.detectors.union import UnionDetector
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.recipe import Composer, from_data
from srtk_framework.roles import MentionDetector
from srtk_framework.testing import MentionDetectorConformance, OracleGraph
from srtk_framework.values import InputError, Mention, RecipeError


class TestCapitals(MentionDetectorConformance):
    name = "capitals"

    @pytest.fixture
    def driver(self) -> CapitalsDetector:
        return CapitalsDetector()


class TestNgrams(MentionDetectorConformance):
    name = "ngrams"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> NgramDetector:
        return NgramDetector(graph=graph)


class TestNames(MentionDetectorConformance):
    name = "names"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> NamesDetector:
        (tmp_path / "names.txt").write_text("Riga\nOld Riga\n\nLast words\n", encoding="utf-8")
        detector = NamesDetector(str(tmp_path / "names.txt"))
        detector.open()
        return detector

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> NamesDetector:
        return NamesDetector(str(tmp_path / "none.txt"))


class TestUnion(MentionDetectorConformance):
    name = "union"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> UnionDetector:
        return UnionDetector(detectors=[CapitalsDetector(), NgramDetector(graph=graph)])


LABELS = {
    "Q1": "New York",
    "Q2": "New York Times",
    "Q3": "The Old Man and the Sea",
    "Q4": "sea",
    "Q5": "Évora",
    "Q6": "東京",
    "Q7": "רִיגָה",
    "Q8": "Who",
}


@pytest.fixture
def graph() -> MemoryGraph:
    graph = MemoryGraph(triples=[[id_, "is", "Q0"] for id_ in LABELS], labels=LABELS)
    graph.open()
    return graph


def told(detector: MentionDetector, text: str) -> list[str]:
    return [text[mention.start : mention.end] for mention in detector.detect([text])[0]]


@attrs.define(eq=False)
class Fixed(MentionDetector):
    """Finds the same in every text."""

    mentions: tuple[Mention, ...]

    def __init__(self, *mentions: Mention) -> None:
        self.mentions = mentions

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        return [list(self.mentions) for _ in texts]


def test_capitals_finds_names_and_quotations_by_their_form() -> None:
    text = 'Who sang "My way to Riga" in New York?'
    assert told(CapitalsDetector(), text) == ["My", "My way to Riga", "Riga", "New York"]


def test_ngrams_are_labels_of_the_graph_in_small_letters_too(graph: MemoryGraph) -> None:
    text = "who wrote for the new york times of the sea"
    assert told(NgramDetector(graph=graph), text) == ["new york", "new york times", "sea"]
    assert told(NgramDetector(graph=graph, overlaps="best"), text) == ["new york times", "sea"]


def test_words_in_small_letters_score_less_where_the_text_writes_names_in_capitals(graph: MemoryGraph) -> None:
    (mentions,) = NgramDetector(graph=graph).detect(["Is the New York Times read at sea?"])
    scores = {mention.start: mention.score for mention in mentions}
    assert scores == {7: 1.0, 30: 0.35}
    assert told(NgramDetector(graph=graph, min_score=0.5), "Is New York at sea?") == ["New York"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("👩‍🚀🇱🇻 Évora 👍🏽?", ["Évora"]),
        ("e\u0301e\u0301 E\u0301vora!", ["E\u0301vora"]),
        ("東京はどこ", ["東京"]),
        ("איפה רִיגָה?", ["רִיגָה"]),
        ("\u202eEvora\u202c", ["Evora"]),
    ],
)
def test_emoji_combining_marks_and_other_scripts_keep_spans_right(
    text: str, wanted: list[str], graph: MemoryGraph
) -> None:
    assert told(NgramDetector(graph=graph), text) == wanted


@given(text=st.text(st.sampled_from("New York Times seaÉ\u0301👩‍🚀東京רִיגָה\"'’.-\n_"), max_size=40))
def test_a_mention_of_the_graph_is_a_name_that_the_graph_finds(text: str) -> None:
    graph = MemoryGraph(triples=[[id_, "is", "Q0"] for id_ in LABELS], labels=LABELS)
    graph.open()
    (mentions,) = NgramDetector(graph=graph).detect([text])
    for mention in mentions:
        plain = text[mention.start : mention.end].replace("’", "'")
        assert len(graph.find([plain])[0])


def test_the_graph_is_asked_once_for_all_texts(graph: MemoryGraph) -> None:
    calls = []

    class Counted(MemoryGraph):
        def find(self, names: Sequence[str]) -> Any:
            calls.append(len(names))
            return graph.find(names)

    NgramDetector(graph=Counted()).detect(["New York", "sea", "New York"])
    assert len(calls) == 1


def test_names_of_a_file_are_found_in_small_letters(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("\ufeffLord of the Rings\nFrance\n\n  \n", encoding="utf-8")
    detector = NamesDetector(str(tmp_path / "names.txt"))
    detector.open()
    assert told(detector, "is lord of the rings known in france? Riga") == ["lord of the rings", "france"]
    before = detector.fingerprint()
    (tmp_path / "names.txt").write_text("France\n", encoding="utf-8")
    detector.open()
    assert detector.fingerprint() != before


def test_a_file_of_names_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="correct `path`"):
        NamesDetector(str(tmp_path / "none.txt")).open()


def test_a_union_keeps_each_span_once_with_its_best_score() -> None:
    one = Fixed(Mention(0, 3, 0.5, "phrase"), Mention(4, 6, 0.5, "phrase"))
    other = Fixed(Mention(0, 3, 0.9, "PERSON"), Mention(4, 6, 0.5, "name"), Mention(0, 6, 0.4, "phrase"))
    assert UnionDetector(detectors=[one, other]).detect(["abc de"]) == [
        [Mention(0, 3, 0.9, "PERSON"), Mention(0, 6, 0.4, "phrase"), Mention(4, 6, 0.5, "phrase")]
    ]
    assert UnionDetector(detectors=[one, other], overlaps="best").detect(["abc de"]) == [
        [Mention(0, 3, 0.9, "PERSON"), Mention(4, 6, 0.5, "phrase")]
    ]


def test_a_recipe_names_a_detector_at_its_top_level_and_inside_of_others() -> None:
    block = {"use": "union", "detectors": [{"use": "capitals"}, {"use": "ngrams"}]}
    graph = {"use": "memory", "triples": [["old man", "is", "sea"]]}
    composer = Composer(from_data({"srtk": 1, "knowledge_graph": graph, "mention_detector": block}))
    detector = composer.of_role("mention_detector")
    composer.check()
    assert told(detector.driver, "an Old man of Riga") == ["Old", "Old man", "Riga"]


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ({"use": "ngrams", "languages": ["xx"]}, "languages[0] must be one of"),
        ({"use": "ngrams", "min_score": 2}, "min_score must be from 0 to 1"),
        ({"use": "names", "path": "names.txt", "min_score": 2}, "min_score must be from 0 to 1"),
        ({"use": "names"}, "needs the setting 'path'"),
        ({"use": "union", "detectors": []}, "detectors must not be empty"),
        ({"use": "capital"}, "Did you mean 'capitals'?"),
    ],
)
def test_settings_that_cannot_be_are_refused(block: dict[str, Any], told: str) -> None:
    composer = Composer(from_data({"srtk": 1, "knowledge_graph": {"use": "memory"}, "mention_detector": block}))
    composer.of_role("mention_detector")
    with pytest.raises(RecipeError, match=re.escape(told)):
        composer.check()
