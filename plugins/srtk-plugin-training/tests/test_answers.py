"""The key ``train`` of a recipe with a reader that learns from answers and what was retrieved."""

from __future__ import annotations

import json

import pytest

from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner
from srtk_framework.values import RecipeError, RunError

LEARNER = '''
"""A reader that learns which place of the options is right most often."""
from __future__ import annotations
import json
import attrs
from collections import Counter
from srtk_framework.roles import Reader, TrainingTask
from srtk_framework.values import Answer

@attrs.frozen
class Settings:
    """Nothing to set."""

@attrs.define(eq=False)
class Placing(Reader):
    """Answers by the place that was right most often."""
    learns = "answers"
    reuse = "reader: {use: placing, path: FOLDER}"
    place: int = 0
    def read(self, questions, subgraphs):
        return [Answer(question.options[self.place]) for question in questions]
    def fit(self, task: TrainingTask, settings: Settings):
        seen = [(e.question.id, e.question.options.index(e.question.answers[0]), len(e.subgraph.triples))
                for e in task.examples]
        self.place = Counter(place for _, place, _ in seen).most_common(1)[0][0]
        (task.folder / "seen.json").write_text(json.dumps(seen))
        if (task.folder / "break").exists():
            raise KeyboardInterrupt
        return dict(task.validate()) if task.validate else {}
    def save(self, folder):
        folder.mkdir()
        (folder / "place.json").write_text(json.dumps(self.place))
    def load(self, folder):
        self.place = json.loads((folder / "place.json").read_text())
    def fingerprint(self):
        return f"placing({self.place})"
'''

QUESTIONS = [
    {
        "id": str(i),
        "question": f"Which is {i}?",
        "question_entities": ["paris"],
        "options": ["b", f"c{i}"],
        "answer_entities": [f"c{i}"],
    }
    for i in range(30)
]


@pytest.fixture(autouse=True)
def drivers(learners, install):
    install("srtk-plugin-placing", "srtk_placing", LEARNER, {"reader": {"placing": "Placing"}})


def recipe(tmp_path, questions=QUESTIONS, **train):
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    given = {"driver": "reader", "questions": str(tmp_path / "q.jsonl"), "validation": 0.3, **train}
    return {
        "srtk": 1,
        "output": str(tmp_path / "run"),
        "knowledge_graph": "toy",
        "expander": "stay",
        "reader": {"use": "placing"},
        "train": {key: value for key, value in given.items() if value is not None},
    }


def run(data, **more):
    return Runner(from_data(data), train_only=True, **more).run()


def test_a_reader_learns_from_what_the_expander_retrieves(tmp_path):
    trained = run(recipe(tmp_path)).stages["train"]
    seen = json.loads((tmp_path / "run/training/seen.json").read_text())
    assert trained.counts["lessons"] == len(seen) == 30 - trained.counts["validation"]
    assert {place for _, place, _ in seen} == {1}
    assert trained.figures["answer_exact"] == 1.0
    assert json.loads((tmp_path / "run/training/model/place.json").read_text()) == 1
    assert trained.summary == f"{len(seen)} questions with their subgraphs"
    card = (tmp_path / "run/training/model/README.md").read_text()
    assert "and what was retrieved for them" in card
    assert "\npipeline_tag: question-answering\n" in card


def broken_off(tmp_path):
    """Break a training off after it has retrieved; return its folder."""
    folder = tmp_path / "run/training"
    folder.mkdir(parents=True)
    runner = Runner(from_data(recipe(tmp_path)), train_only=True)
    (folder / "break").touch()
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    (folder / "break").unlink()
    return folder


def test_what_was_retrieved_is_kept_for_a_training_that_goes_on(tmp_path):
    file = broken_off(tmp_path) / "retrievals.jsonl"
    first, *others = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps({**json.loads(first), "error": "as it was"}), *others, ""]))
    counts = run(recipe(tmp_path)).stages["train"].counts
    assert counts["failed"] == 1  # read, not retrieved again
    assert counts["lessons"] == len(others)


def test_what_was_cut_since_is_retrieved_again(tmp_path):
    file = broken_off(tmp_path) / "retrievals.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:5]))
    assert run(recipe(tmp_path)).stages["train"].counts["lessons"] == len(lines)


def test_questions_without_answers_are_passed_over(tmp_path):
    bare = [{key: value for key, value in one.items() if key != "answer_entities"} for one in QUESTIONS]
    assert run(recipe(tmp_path, [*QUESTIONS[:10], *bare[10:]], validation=None)).stages["train"].counts["lessons"] == 10
    with pytest.raises(RunError, match="none of the 30 training questions has both an answer and a subgraph"):
        run(recipe(tmp_path, bare, validation=None), fresh=True)


def test_supervision_and_a_missing_expander_are_told(tmp_path):
    with pytest.raises(RecipeError, match="trained on answers, not on paths; omit supervision"):
        run(recipe(tmp_path, supervision="gold"))
    data = recipe(tmp_path)
    del data["expander"]
    with pytest.raises(RecipeError, match="learns from what an expander retrieves; add `expander"):
        run(data)
