"""How the dictionary linker tells entities of one name apart by the text around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_local.dictionary import context_features, entity_context
from srtk_plugin_local.dictionary.context_features import sentence
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.roles import Encoder, MentionDetector
from srtk_framework.text import fold
from srtk_framework.values import Mention


@attrs.define(eq=False)
class Bag(Encoder):
    """Encodes a text by which of some words it has, and counts its calls."""

    known: Sequence[str]
    calls: list[list[str]] = attrs.field(factory=list)

    def encode(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        rows = [[float(word in fold(text)) for word in self.known] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), len(self.known))


TRIPLES = [
    ["Q1", "description", '"capital city of France"'],
    ["Q1", "in", "France"], ["Q1", "in", "Europe"], ["Q1", "on", "Seine"],
    ["Q2", "description", '"prince of Troy"'],
    ["Q2", "child_of", "Q3"],
    ["Q4", "husband", "Q3"],
]  # fmt: skip
LABELS = {"Q1": "Paris", "Q2": "Paris", "Q3": "Priam", "Q4": "Hecuba"}


@pytest.fixture
def graph() -> MemoryGraph:
    return MemoryGraph(TRIPLES, labels=LABELS)


def first(linker: DictionaryLinker, text: str) -> str:
    return next(link.entity for link in linker.link([text])[0] if text[link.start : link.end].lower() == "paris")


def test_a_description_that_fits_the_text_decides(graph: MemoryGraph) -> None:
    linker = DictionaryLinker(graph, encoder=Bag(["city", "prince"]))
    assert first(linker, "Which city is Paris?") == "Q1"
    assert first(linker, "Which prince was Paris?") == "Q2"


def test_entities_that_are_connected_with_others_of_the_text_are_preferred(graph: MemoryGraph) -> None:
    linker = DictionaryLinker(graph, encoder=Bag(["nothing"]), weights={"context": 5.0})
    assert first(linker, "Where is Paris?") == "Q1"
    assert first(linker, "Paris and Priam") == "Q2"  # an edge between them
    assert first(linker, "Paris and Hecuba") == "Q2"  # a neighbour that they share


def test_all_texts_are_encoded_by_one_call(graph: MemoryGraph) -> None:
    encoder = Bag(["city", "prince"])
    DictionaryLinker(graph, encoder=encoder).link(["Which city is Paris?", "Paris", "Which prince was Paris?"] * 3)
    assert len(encoder.calls) == 1
    assert len(encoder.calls[0]) == len(set(encoder.calls[0]))


def test_texts_about_entities_are_encoded_once_for_all_batches(
    graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Bag(["city", "prince"])
    linker = DictionaryLinker(graph, encoder=encoder)
    before = linker.link(["Which city is Paris?"])
    assert linker.link(["Which city is Paris?"]) == before
    assert encoder.calls[1] == ["Which city is Paris?"]
    monkeypatch.setattr(context_features, "MOST_KEPT", 1)
    assert linker.link(["Which city is Paris?"]) == before
    assert linker.link(["Which city is Paris?"]) == before
    linker.close()
    assert linker.link(["Which city is Paris?"]) == before
    assert len(encoder.calls[-1]) > 1


def test_a_description_in_a_wanted_language_is_taken() -> None:
    graph = MemoryGraph([["Q1", "description", '"eine Stadt"@de'], ["Q1", "description", '"una ciudad"@es']])
    assert entity_context.texts(graph, ["Q1"], languages=["es"])[0][0] == "una ciudad"
    assert entity_context.texts(graph, ["Q1"], languages=["de", "es"])[0][0] == "eine Stadt"


def test_without_a_description_the_types_tell_what_an_entity_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from srtk_framework.values import Schema

    graph = MemoryGraph([["Q1", "a", "city"], ["Q1", "on", "Seine"]], labels=LABELS)
    monkeypatch.setattr(MemoryGraph, "schema", lambda self: Schema(type_relations=("a",)))
    assert entity_context.texts(graph, ["Q1"]) == [("city", "a city; on Seine")]


def test_an_entity_without_any_fact_is_told_by_its_label() -> None:
    graph = MemoryGraph([["Q1", "in", "Q2"]], labels=LABELS)
    assert entity_context.texts(graph, ["Q9"]) == [("Q9", "Q9")]


def test_a_short_text_is_its_own_context() -> None:
    assert sentence("One. Two Paris. Three.", 9, 14) == "One. Two Paris. Three."


def test_of_a_long_text_the_sentence_of_the_mention_is_taken() -> None:
    text = "First sentence. " * 20 + "Here is Paris! " + "Another sentence. " * 20
    start = text.index("Paris")
    assert sentence(text, start, start + 5) == "Here is Paris!"


def test_a_long_sentence_is_cut_between_words_around_the_mention() -> None:
    text = "word " * 100 + "Paris" + " word" * 100
    start = text.index("Paris")
    cut = sentence(text, start, start + 5)
    assert "Paris" in cut
    assert len(cut) < 340
    assert set(cut.split()) == {"word", "Paris"}


@attrs.define(eq=False)
class Fixed(MentionDetector):
    """Finds some words wherever they stand."""

    words: Sequence[str]

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        return [
            [Mention(text.index(word), text.index(word) + len(word)) for word in sorted(self.words) if word in text]
            for text in texts
        ]


def test_a_detector_says_which_places_are_looked_up(graph: MemoryGraph) -> None:
    text = "Paris and Priam"
    found = DictionaryLinker(graph, detector=Fixed(["Priam"])).link([text])[0]
    assert [link.entity for link in found] == ["Q3"]
    found = DictionaryLinker(graph, detector=Fixed(["Priam"]), detected="also").link([text])[0]
    assert [link.entity for link in found] == ["Q1", "Q3"]


def test_a_detected_place_within_a_word_is_looked_up_too(graph: MemoryGraph) -> None:
    text = "Großparis"
    assert DictionaryLinker(graph).link([text]) == [[]]
    found = DictionaryLinker(graph, detector=Fixed(["paris"])).link([text])[0]
    assert [(link.entity, link.start, link.end) for link in found] == [("Q1", 4, 9)]


def test_only_and_also_are_all_that_a_detector_may_do(graph: MemoryGraph) -> None:
    with pytest.raises(ValueError, match="detected must be only or also, not 'never'"):
        DictionaryLinker(graph, detected="never")  # type: ignore[arg-type]
