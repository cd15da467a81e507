"""The key ``train`` of a recipe with a driver that learns from the texts of a corpus."""

from __future__ import annotations

import json

import pytest

from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner
from srtk_framework.values import RecipeError, RunError

LEARNER = '''
"""A mask filler that counts words, and a corpus of given texts."""
from __future__ import annotations
import json
import attrs
from collections import Counter
from srtk_framework.roles import Corpus, TrainingTask
from srtk_framework.testing.mask_filler import ToyMaskFiller
from srtk_framework.values import EntityMention, Entry

@attrs.frozen
class Settings:
    """Nothing to set."""

@attrs.define(eq=False)
class Counting(ToyMaskFiller):
    """Knows the words of its texts."""
    learns = "texts"
    reuse = "mask_filler: {use: counting, path: FOLDER}"
    def fit(self, task: TrainingTask, settings: Settings):
        texts = [entry.text for entry in task.texts]
        self.vocabulary = tuple(sorted({word for text in texts for word in text.lower().split()}))
        held = [entry.text for entry in task.held_out_texts]
        (task.folder / "seen.json").write_text(json.dumps([texts, held, [e.mentions for e in task.texts]]))
        return {"words": float(len(self.vocabulary))}
    def save(self, folder):
        folder.mkdir()
        (folder / "words.json").write_text(json.dumps(self.vocabulary))
    def load(self, folder):
        self.vocabulary = tuple(json.loads((folder / "words.json").read_text()))
    def fingerprint(self):
        return f"counting({self.vocabulary})"

@attrs.define(eq=False)
class Walking(Counting):
    """Learns from paths."""
    learns = "paths"

@attrs.define(eq=False)
class Given(Corpus):
    """Texts of the recipe; each names what its first word is."""
    texts: tuple[str, ...]
    def read(self):
        for number, text in enumerate(self.texts):
            first = text.split()[0] if text.split() else ""
            yield Entry(str(number), text, mentions=(EntityMention(0, len(first), first),) if first else ())
    def fingerprint(self):
        return f"given({self.texts})"
'''

DRIVERS = {"mask_filler": {"counting": "Counting", "walking": "Walking"}, "corpus": {"given": "Given"}}
TEXTS = [f"word{i} stands here" for i in range(40)]


@pytest.fixture(autouse=True)
def drivers(toys, install):
    install("srtk-plugin-counting", "srtk_counting", LEARNER, DRIVERS)


def recipe(tmp_path, texts=TEXTS, **train):
    given = {"driver": "mask_filler", "texts": {"use": "given", "texts": texts}, "held_out": {"share": 0.2}, **train}
    return {
        "srtk": 1,
        "output": str(tmp_path / "run"),
        "mask_filler": {"use": "counting"},
        "train": {key: value for key, value in given.items() if value is not None},
    }


def run(data, **more):
    return Runner(from_data(data), train_only=True, **more).run()


def seen(tmp_path):
    return json.loads((tmp_path / "run/training/seen.json").read_text())


def test_a_driver_trains_on_the_texts_that_are_not_held_out(tmp_path):
    trained = run(recipe(tmp_path)).stages["train"]
    texts, held, mentions = seen(tmp_path)
    assert sorted(texts + held) == sorted(TEXTS)
    assert texts == [text for text in TEXTS if text in texts]
    assert 0 < len(held) < 20
    assert mentions[0] == [[0, len(texts[0].split()[0]), texts[0].split()[0]]]
    assert trained.counts == {
        "texts": len(texts),
        "words": 3 * len(texts),
        "mentions": len(texts),
        "held_out_texts": len(held),
    }
    assert trained.summary == f"{len(texts)} texts; {len(held)} were held out"
    card = (tmp_path / "run/training/model/README.md").read_text()
    assert "What these texts state, the model has read." in card


def test_equal_texts_are_never_on_both_sides(tmp_path):
    run(recipe(tmp_path, TEXTS * 3))
    texts, held, _ = seen(tmp_path)
    assert not set(texts) & set(held)
    assert len(texts) == 3 * len(set(texts))


def test_without_a_share_nothing_is_held_out_and_blank_texts_are_passed_over(tmp_path):
    run(recipe(tmp_path, [*TEXTS, " "], held_out=None))
    texts, held, _ = seen(tmp_path)
    assert (texts, held) == (TEXTS, [])


def test_a_finished_training_is_reused_and_other_texts_are_named(tmp_path):
    assert run(recipe(tmp_path)).stages["train"].repeated
    assert not run(recipe(tmp_path)).stages["train"].repeated
    with pytest.raises(RunError, match="the texts"):
        run(recipe(tmp_path, [*TEXTS, "one more text"]))


@pytest.mark.parametrize("texts", [[" "], []])
def test_a_corpus_without_a_text_is_refused(tmp_path, texts):
    with pytest.raises(RunError, match="the corpus has no text to learn from"):
        run(recipe(tmp_path, texts))


def test_a_share_that_holds_out_nothing_is_refused(tmp_path):
    with pytest.raises(RunError, match="no text is held out"):
        run(recipe(tmp_path, TEXTS[:1], held_out={"share": 0.001}))


@pytest.mark.parametrize("key", ["questions", "validation", "supervision"])
def test_what_questions_need_is_refused(tmp_path, key):
    value = {"questions": "q.jsonl", "validation": 0.1, "supervision": {"use": "gold-path"}}[key]
    with pytest.raises(RecipeError, match=f"learns from texts, not from questions; omit {key}"):
        run(recipe(tmp_path, **{key: value}))


def test_texts_are_needed(tmp_path):
    with pytest.raises(RecipeError, match="train needs `texts:`, a corpus to learn from"):
        run(recipe(tmp_path, texts=None) | {"train": {"driver": "mask_filler"}})


def test_texts_for_a_driver_that_learns_from_something_else_are_refused(tmp_path):
    data = recipe(tmp_path)
    data["mask_filler"] = {"use": "walking"}
    with pytest.raises(RecipeError, match="does not learn from texts; omit texts"):
        run(data)
