"""A small world whose missing facts stand only in texts: a real language model reads these, and completes the graph."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_knowlybert.annotated import AnnotatedCorpus
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller
from srtk_plugin_transformers.mask_fit_settings import MaskFillerFitSettings

from srtk_framework.records import dumps
from srtk_framework.roles import TrainingTask
from srtk_framework.values import Pattern, Triple

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / "../shared/data"))
TINY = DATA.parent / "models" / "tiny-mlm"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TINY.is_dir(), reason="no tiny-mlm beside the data folder; SRTK_DATA names another folder"),
]

FIRST = ("Anna", "Peter", "Maria", "Thomas", "Julia", "Martin", "Laura", "David", "Helen", "Robert")
LAST = ("Smith", "Wagner", "Rossi", "Novak", "Berg", "Silva", "Keller", "Moore", "Stone", "Hill")
CITIES = ("Paris", "London", "Berlin", "Madrid", "Rome", "Vienna", "Prague", "Warsaw", "Oslo", "Dublin", "Athens")
LONG_CITIES = ("New York", "Los Angeles", "San Francisco", "Hong Kong")
LANGUAGES = ("French", "English", "German", "Spanish", "Italian", "Polish", "Norwegian", "Greek")
SENTENCES = {
    "born": (
        "{subject} was born in {object} .",
        "{object} is the town where {subject} was born .",
        "The birthplace of {subject} is {object} .",
        "{subject} came to the world in {object} .",
        "In {object} , {subject} was born .",
    ),
    "speaks": (
        "{subject} speaks {object} .",
        "{subject} speaks {object} at home .",
        "The language of {subject} is {object} .",
        "{object} is the language that {subject} speaks .",
        "At home {subject} uses {object} .",
    ),
}


def world() -> tuple[list[Triple], dict[str, str]]:
    """Draw facts about a hundred people."""
    random = np.random.default_rng(5)
    names = {f"p{i}": f"{FIRST[i % 10]} {LAST[(i // 10 + i) % 10]}" for i in range(100)}
    towns = [*CITIES, *LONG_CITIES]
    names |= {f"c{i}": town for i, town in enumerate(towns)} | {f"l{i}": name for i, name in enumerate(LANGUAGES)}
    # Another Paris, which nobody was born in.
    names["c99"] = "Paris"
    facts = [Triple(f"p{i}", "born", f"c{random.integers(len(towns))}") for i in range(100)]
    facts += [Triple(f"p{i}", "speaks", f"l{random.integers(len(LANGUAGES))}") for i in range(100)]
    return [*facts, Triple("c99", "in", "texas")], names


FACTS, NAMES = world()
ASKED = [fact for fact in FACTS if fact.relation != "in"]
HIDDEN = [ASKED[at] for at in sorted(np.random.default_rng(1).permutation(len(ASKED))[:60].tolist())]
KNOWN = [fact for fact in FACTS if fact not in set(HIDDEN)]
HELD = [fact for fact in KNOWN if fact.relation != "in"][::4]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> AnnotatedCorpus:
    """Write three texts of each sentence of each fact."""
    file = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    rows = []
    for fact in ASKED:
        subject, object_ = NAMES[fact.subject], NAMES[str(fact.object)]
        for sentence in SENTENCES[fact.relation] * 3:
            text = sentence.format(subject=subject, object=object_)
            spans = [(text.index(subject), subject, fact.subject), (text.index(object_), object_, str(fact.object))]
            rows.append({"text": text, "mentions": [[at, at + len(name), id_] for at, name, id_ in sorted(spans)]})
    file.write_text("".join(dumps(row) + "\n" for row in rows), encoding="utf-8")
    corpus = AnnotatedCorpus(path=str(file))
    corpus.open()
    return corpus


@pytest.fixture(scope="module")
def filler(corpus: AnnotatedCorpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TransformersMaskFiller]:
    """Train the language model on all texts."""
    filler = TransformersMaskFiller(model=str(TINY), threads=1, device="cpu")
    filler.open()
    task = TrainingTask([], None, tmp_path_factory.mktemp("training"), 0, texts=list(corpus.read()))
    settings = MaskFillerFitSettings(epochs=25, batch_size=32, learning_rate=1e-3, mention_share=0.9, accelerator="cpu")
    filler.fit(task, settings)
    yield filler
    filler.close()


@pytest.fixture(scope="module")
def learnt(filler: TransformersMaskFiller, corpus: AnnotatedCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train the completer on what the graph knows."""
    folder = tmp_path_factory.mktemp("completer")
    completer = opened(filler, corpus=corpus)
    completer.fit(TrainingTask([], None, folder, 0, HELD), MaskedLMFitSettings(pairs=20))
    completer.save(folder)
    return folder


def opened(filler: TransformersMaskFiller, threshold: Any = "none", **settings: Any) -> MaskedLMCompleter:
    graph = MemoryGraph(triples=KNOWN, labels=NAMES)
    graph.open()
    completer = MaskedLMCompleter(graph=graph, filler=filler, **settings)
    completer._rules = attrs.evolve(completer._rules, threshold=threshold)
    completer.open()
    return completer


def asked(cities: tuple[str, ...] | None = None) -> dict[Pattern, str]:
    """Return the object queries of hidden facts; only those whose answer is one of some towns, if these are given."""
    wanted = [fact for fact in HIDDEN if cities is None or NAMES[str(fact.object)] in cities]
    return {Pattern(fact.subject, fact.relation): str(fact.object) for fact in wanted}


def precision_and_recall(completer: MaskedLMCompleter, queries: dict[Pattern, str]) -> tuple[float, float]:
    """Return the mean precision of queries with an answer, and the mean recall of all."""
    rows = completer.complete(list(queries), None)
    found = [[str(one.triple.object) for one in row] for row in rows]
    right = [queries[pattern] in row for pattern, row in zip(queries, found, strict=True)]
    precise = [good / len(row) for good, row in zip(right, found, strict=True) if row]
    return sum(precise) / max(1, len(precise)), sum(right) / len(right)


def test_it_finds_what_only_the_texts_say(filler: TransformersMaskFiller, learnt: Path) -> None:
    completer = opened(filler, path=str(learnt), types="signatures", threshold="dynamic")
    one_word = asked((*CITIES, *LANGUAGES))
    precision, recall = precision_and_recall(completer, one_word)
    assert precision >= 0.8
    assert recall >= 0.5
    _, two_words = precision_and_recall(completer, asked(LONG_CITIES))
    assert two_words > 0


def test_without_types_precision_is_lower(filler: TransformersMaskFiller, learnt: Path) -> None:
    by_types = {
        types: precision_and_recall(opened(filler, path=str(learnt), types=types), asked())[0]
        for types in ("seen", "none")
    }
    assert by_types["none"] < by_types["seen"]


def test_random_weights_know_nothing(corpus: AnnotatedCorpus, learnt: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

    torch.manual_seed(0)
    AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained(TINY)).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(TINY).save_pretrained(tmp_path)
    filler = TransformersMaskFiller(model=str(tmp_path), threads=1, device="cpu")
    filler.open()
    completer = opened(filler, path=str(learnt), types="signatures", threshold="dynamic", top=None)
    assert precision_and_recall(completer, asked())[0] < 0.2
    filler.close()


def test_of_two_towns_called_paris_the_birthplace_is_meant(filler: TransformersMaskFiller, learnt: Path) -> None:
    completer = opened(filler, path=str(learnt), types="none")
    rows = completer.complete(list(asked()), None)
    found = {str(one.triple.object) for row in rows for one in row}
    assert "c0" in found
    assert "c99" not in found


def test_patterns_are_completed_alike_in_any_batch(filler: TransformersMaskFiller, learnt: Path) -> None:
    completer = opened(filler, path=str(learnt))
    patterns = list(asked())[:12]
    together = completer.complete(patterns, 5)
    for pattern, row in zip(patterns, together, strict=True):
        (alone,) = completer.complete([pattern], 5)
        assert [one.triple for one in alone] == [one.triple for one in row]
        assert [one.confidence for one in alone] == pytest.approx([one.confidence for one in row], abs=1e-5)


def test_what_is_saved_answers_as_what_was_learnt(
    filler: TransformersMaskFiller, corpus: AnnotatedCorpus, learnt: Path, tmp_path: Path
) -> None:
    completer = opened(filler, corpus=corpus)
    completer.fit(TrainingTask([], None, tmp_path, 0, HELD), MaskedLMFitSettings(pairs=20))
    patterns = list(asked())
    assert completer.complete(patterns, 5) == opened(filler, path=str(learnt)).complete(patterns, 5)
