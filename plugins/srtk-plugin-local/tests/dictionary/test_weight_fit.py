"""Weights of the dictionary linker that are learnt from gold links: choice, probability, threshold."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.dictionary.weight_fit import LinkerTraining
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.records import with_checksum
from srtk_framework.roles import Encoder, MentionDetector, Trainable, TrainingTask
from srtk_framework.text import fold
from srtk_framework.values import NIL, DriverError, Link, Mention, Question, TrainingExample

RIVERS = ["Bann", "Erne", "Foyle", "Lagan", "Main", "Roe", "Bush", "Mourne", "Quoile", "Faughan"]


@attrs.define(eq=False)
class Bag(Encoder):
    """Encodes a text by which of some words it has, and counts its calls."""

    known: Sequence[str] = ("river", "singer")
    calls: int = attrs.field(init=False, default=0, repr=False)

    def encode(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        rows = [[float(word in fold(text)) for word in self.known] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), len(self.known))


def world() -> MemoryGraph:
    """Each name is that of a river, which is little known, and of a singer, who is well known."""
    triples, labels = [], {}
    for number, name in enumerate(RIVERS):
        river, singer = f"R{number}", f"S{number}"
        labels[river] = labels[singer] = name
        triples += [[river, "description", '"a river"'], [singer, "description", '"a singer"']]
        triples += [[singer, "sang", f"song {number} {k}"] for k in range(5)]
    return MemoryGraph([*triples, ["actor", "r", "x"]], labels=labels)


def examples(kind: str, count: int = 40) -> list[TrainingExample]:
    """Ask about the river or the singer of a name; ``actor`` is a name too, but never meant."""
    letter = "R" if kind == "river" else "S"
    made = []
    for number in range(count):
        text = f"how long is {RIVERS[number % 10].lower()} the {kind} of the actor number {number}"
        start = text.index(RIVERS[number % 10].lower())
        gold = Link(f"{letter}{number % 10}", 1.0, start, start + len(RIVERS[number % 10]))
        made.append(TrainingExample(Question(f"{kind}{number}", text, gold_links=(gold,))))
    return made


def task(folder: Path, some: Sequence[TrainingExample], validate: Any = None) -> TrainingTask:
    return TrainingTask(some, validate, folder, 0)


@pytest.fixture
def taught(tmp_path: Path) -> DictionaryLinker:
    linker = DictionaryLinker(world(), encoder=Bag())
    linker.fit(task(tmp_path, [*examples("river"), *examples("singer")]), LinkerTraining())
    return linker


def test_the_linker_can_be_trained() -> None:
    assert isinstance(DictionaryLinker(world()), Trainable)


def test_what_is_always_meant_is_learnt(tmp_path: Path) -> None:
    linker = DictionaryLinker(world())
    text = "where is the bann"
    assert linker.link([text])[0][0].entity == "S0"
    figures = linker.fit(task(tmp_path, examples("river")), LinkerTraining(penalty=0.1))
    assert linker.link([text])[0][0].entity == "R0"
    assert figures["accuracy"] == 1.0
    assert figures["links"] == 40.0


def test_the_text_around_a_name_is_learnt_to_decide(taught: DictionaryLinker) -> None:
    found = taught.link(["the river called bann", "the singer called bann"])
    assert [links[0].entity for links in found] == ["R0", "S0"]


def test_a_name_that_is_never_meant_is_learnt_to_be_none(taught: DictionaryLinker) -> None:
    text = "how long is erne the river of the actor number 7"
    assert [link.entity for link in DictionaryLinker(world(), keep=0.0).link([text])[0]] == ["S1", "actor"]
    assert [link.entity for link in taught.link([text])[0]] == ["R1"]


@attrs.define(eq=False)
class Starred(MentionDetector):
    """Finds words behind a star."""

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        return [[Mention(m.start(1), m.end(1), 0.9) for m in re.finditer(r"[*] (\w+)", text)] for text in texts]


def test_a_detector_is_learnt_to_be_trusted(tmp_path: Path) -> None:
    questions = []
    for number in range(40):
        name = RIVERS[number % 10].lower()
        text = f"how long is {'* ' if number % 2 else ''}{name} number {number}"
        start = text.index(name)
        gold = (Link(f"R{number % 10}", 1.0, start, start + len(name)),) if number % 2 else ()
        questions.append(TrainingExample(Question(str(number), text, gold_links=gold)))
    linker = DictionaryLinker(world(), detector=Starred(), detected="also")
    linker.fit(task(tmp_path, questions), LinkerTraining(penalty=0.1))
    starred, plain = linker.link(["where is * erne", "where is erne"])
    assert [link.entity for link in starred] == ["R1"]
    assert plain == []


def test_a_text_without_anything_that_is_meant_gets_no_link(taught: DictionaryLinker) -> None:
    assert taught.link(["who is the actor"]) == [[]]


def test_scores_are_the_probability_of_being_right(taught: DictionaryLinker) -> None:
    found = attrs.evolve(taught, n_best=2, min_score=0.0)
    found._learnt = taught._learnt
    right, wrong = sorted(
        found.link(["how long is foyle the river of the actor number 3"])[0][:2], key=lambda k: -k.score
    )
    assert right.score > 0.8
    assert right.score + wrong.score <= 1.0001


def test_the_learnt_threshold_drops_mentions_but_not_their_alternatives(taught: DictionaryLinker) -> None:
    found = attrs.evolve(taught, n_best=2)
    found._learnt = taught._learnt
    (links,) = found.link(["how long is foyle the river of the actor number 3"])
    assert [link.entity for link in links] == ["R2", "S2"]


def test_a_link_without_a_span_teaches_wherever_its_entity_is_found(tmp_path: Path) -> None:
    some = [
        attrs.evolve(example, question=attrs.evolve(example.question, gold_links=None, links=(Link(f"R{n % 10}"),)))
        for n, example in enumerate(examples("river"))
    ]
    linker = DictionaryLinker(world())
    linker.fit(task(tmp_path, some), LinkerTraining(penalty=0.1))
    assert linker.link(["where is the bann"])[0][0].entity == "R0"


def test_gold_that_need_not_be_found_and_nil_teach_nothing(tmp_path: Path) -> None:
    question = examples("river", 1)[0].question
    spared = [attrs.evolve(link, score=0.0) for link in question.gold_links or ()]
    nil = [Link(NIL, 1.0, link.start, link.end) for link in question.gold_links or ()]
    for gold in (spared, nil):
        with pytest.raises(DriverError, match="the linker finds none of the gold links"):
            DictionaryLinker(world()).fit(
                task(tmp_path, [TrainingExample(attrs.evolve(question, gold_links=tuple(gold)))]), LinkerTraining()
            )


def test_saved_weights_give_the_same_links(taught: DictionaryLinker, tmp_path: Path) -> None:
    taught.save(tmp_path / "model")
    other = DictionaryLinker(world(), encoder=Bag(), model=str(tmp_path / "model"))
    other.open()
    texts = [example.question.text for example in [*examples("river", 12), *examples("singer", 12)]]
    assert other.link(texts) == taught.link(texts)
    assert other.fingerprint() == taught.fingerprint() != DictionaryLinker(world(), encoder=Bag()).fingerprint()


def test_links_by_learnt_weights_do_not_depend_on_the_batch(taught: DictionaryLinker) -> None:
    texts = [example.question.text for example in [*examples("river", 9), *examples("singer", 9)]]
    assert taught.link(texts) == [taught.link([text])[0] for text in texts]


def test_a_batch_is_encoded_by_one_call_with_learnt_weights_too(taught: DictionaryLinker) -> None:
    assert isinstance(taught.encoder, Bag)
    before = taught.encoder.calls
    taught.link([example.question.text for example in [*examples("river"), *examples("singer")]])
    assert taught.encoder.calls == before + 1


def test_training_in_vain_leaves_the_weights_that_were_there(taught: DictionaryLinker, tmp_path: Path) -> None:
    before = taught.fingerprint()
    with pytest.raises(DriverError, match="none of the gold links"):
        taught.fit(task(tmp_path, []), LinkerTraining())
    assert taught.fingerprint() == before


def test_training_again_gives_the_same_weights(taught: DictionaryLinker, tmp_path: Path) -> None:
    before = taught.fingerprint()
    taught.fit(task(tmp_path, [*examples("river"), *examples("singer")]), LinkerTraining())
    assert taught.fingerprint() == before


def test_the_figures_of_the_validation_are_told(tmp_path: Path) -> None:
    figures = DictionaryLinker(world()).fit(
        task(tmp_path, examples("river"), lambda: {"strong_f1": 0.5}), LinkerTraining()
    )
    assert figures["strong_f1"] == 0.5


def test_weights_of_another_encoder_are_refused(taught: DictionaryLinker, tmp_path: Path) -> None:
    taught.save(tmp_path)
    with pytest.raises(DriverError, match="learnt with an encoder"):
        DictionaryLinker(world()).load(tmp_path)
    with pytest.raises(DriverError, match="learnt with another encoder"):
        DictionaryLinker(world(), encoder=Bag(["capital", "country", "city"])).load(tmp_path)


def test_weights_of_other_places_are_refused(taught: DictionaryLinker, tmp_path: Path) -> None:
    taught.save(tmp_path)
    for detected in ("only", "also"):
        with pytest.raises(DriverError, match="learnt without a detector; set the linker alike"):
            attrs.evolve(taught, detector=Starred(), detected=detected).load(tmp_path)
    assert taught._learnt is not None
    attrs.evolve(taught._learnt, places="only").save(tmp_path)
    with pytest.raises(DriverError, match="learnt with a detector and detected: only"):
        taught.load(tmp_path)


def test_a_folder_without_weights_and_damaged_ones_are_told(taught: DictionaryLinker, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"linker\.json cannot be read"):
        taught.load(tmp_path)
    (tmp_path / "linker.json").write_text("{")
    with pytest.raises(DriverError, match="is damaged"):
        taught.load(tmp_path)
    (tmp_path / "linker.json").write_text(with_checksum(json.dumps({"choice": {}}))[0])
    with pytest.raises(DriverError, match="is no model of `dictionary`"):
        taught.load(tmp_path)


def test_what_was_not_learnt_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="no learnt weights to save"):
        DictionaryLinker(world()).save(tmp_path)


@pytest.mark.parametrize(
    ("settings", "said"), [({"penalty": 0}, "penalty"), ({"folds": 1}, "folds"), ({"batch": 0}, "batch")]
)
def test_settings_of_a_training_that_make_no_sense_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        LinkerTraining(**settings)


def threshold_of(linker: DictionaryLinker) -> float:
    """Return the learnt threshold."""
    assert linker._learnt is not None
    return linker._learnt.threshold


@pytest.mark.parametrize("wanted", ["many links", "few links"])
def test_the_threshold_is_the_one_with_which_the_monitored_metric_is_best(tmp_path: Path, wanted: str) -> None:
    linker = DictionaryLinker(world())
    some = [*examples("river"), *examples("singer", 20)]
    texts = [example.question.text for example in some]

    def validate() -> dict[str, float]:
        count = sum(map(len, linker.link(texts)))
        return {"answer_recall": float(count if wanted == "many links" else -count)}

    figures = linker.fit(task(tmp_path, some, validate), LinkerTraining(monitor="answer_recall"))
    assert figures["threshold"] == threshold_of(linker)
    assert figures["answer_recall"] == validate()["answer_recall"]
    if wanted == "many links":
        assert figures["threshold"] < figures["threshold_of_best_f1"]
    else:
        assert figures["threshold"] >= figures["threshold_of_best_f1"]


def test_of_equal_thresholds_that_of_the_best_f1_is_kept(tmp_path: Path) -> None:
    linker = DictionaryLinker(world())
    figures = linker.fit(
        task(tmp_path, examples("river"), lambda: {"answer_recall": 0.5}), LinkerTraining(monitor="answer_recall")
    )
    assert figures["threshold"] == figures["threshold_of_best_f1"] == threshold_of(linker)


def test_a_monitor_needs_a_validation_that_has_its_metric(tmp_path: Path) -> None:
    linker, training = DictionaryLinker(world()), LinkerTraining(monitor="answer_recall")
    with pytest.raises(DriverError, match="add `validation:`"):
        linker.fit(task(tmp_path, examples("river")), training)
    with pytest.raises(DriverError, match="monitor is 'answer_recall'; use strong_f1"):
        linker.fit(task(tmp_path, examples("river"), lambda: {"strong_f1": 1.0}), training)
    fixed = DictionaryLinker(world(), min_score=0.5)
    with pytest.raises(DriverError, match="min_score replaces"):
        fixed.fit(task(tmp_path, examples("river"), lambda: {"answer_recall": 1.0}), training)
    with pytest.raises(ValueError, match="thresholds must be at least 3"):
        LinkerTraining(thresholds=2)


@pytest.mark.parametrize(("monitor", "linked"), [("answer_recall", ["R9"]), (None, [])])
def test_near_names_are_linked_where_a_monitor_chose_the_threshold(
    tmp_path: Path, monitor: str | None, linked: list[str]
) -> None:
    text = "where is faughn"
    linker = DictionaryLinker(world())
    linker.fit(
        task(tmp_path, examples("river"), lambda: {"answer_recall": float(len(linker.link([text])[0]))}),
        LinkerTraining(monitor=monitor),
    )
    linker.save(tmp_path)
    loaded = DictionaryLinker(world(), model=str(tmp_path))
    loaded.open()
    assert [[link.entity for link in one.link([text])[0]] for one in (linker, loaded)] == [linked, linked]


def test_exact_names_alone_stay_so_whatever_was_monitored(tmp_path: Path) -> None:
    linker = DictionaryLinker(world(), fuzzy=1)
    linker.fit(
        task(tmp_path, examples("river"), lambda: {"answer_recall": 1.0}), LinkerTraining(monitor="answer_recall")
    )
    assert linker.link(["where is faughn"]) == [[]]
