"""The key ``train`` of a recipe with a linker, which learns from gold links."""

import json

import pytest

from srtk_framework.cli import main
from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner
from srtk_framework.values import RecipeError, RunError

LEARNER = '''
"""A linker that learns which words are names."""
from __future__ import annotations
import json
import attrs
from srtk_framework.roles import TrainingTask, EntityLinker, KnowledgeGraph
from srtk_framework.values import Link

@attrs.frozen
class Settings:
    """Nothing to set."""

@attrs.define(eq=False)
class Rote(EntityLinker):
    """Links the words that were linked before."""
    learns = "links"
    graph: KnowledgeGraph
    known: dict[str, str] = attrs.field(init=False, factory=dict)
    def link(self, texts):
        return [[Link(self.known[w], 1.0, t.index(w), t.index(w) + len(w)) for w in sorted(self.known, key=t.find)
                 if w in t] for t in texts]
    def fit(self, task: TrainingTask, settings: Settings):
        for example in task.examples:
            for link in example.question.gold_links or example.question.links:
                if link.entity:
                    self.known[example.question.text[link.start:link.end]] = link.entity
        return {"names": len(self.known), **(task.validate() if task.validate else {})}
    def save(self, folder):
        folder.mkdir()
        (folder / "known.json").write_text(json.dumps(self.known))
    def load(self, folder):
        self.known = json.loads((folder / "known.json").read_text())
    def fingerprint(self):
        return f"rote({sorted(self.known)})"
'''


@pytest.fixture(autouse=True)
def drivers(toys, install):
    install("srtk-plugin-rote", "srtk_rote", LEARNER, {"entity_linker": {"rote": "Rote"}})


def asked(file, rows):
    lines = []
    for number, (text, *golds) in enumerate(rows):
        gold = [
            {"entity": entity, "start": text.index(word), "end": text.index(word) + len(word)} for word, entity in golds
        ]
        lines.append({"id": f"{file.stem}{number}", "question": text, "gold_links": gold})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


@pytest.fixture
def files(tmp_path):
    learn = [("where is Paree", ("Paree", "paris")), ("in Roma", ("Roma", "rome")), ("no name here",)]
    check = [("what about Paree and Lima", ("Paree", "paris"), ("Lima", "lima")), ("Roma", ("Roma", "rome"))]
    return {"learn": asked(tmp_path / "learn.jsonl", learn), "check": asked(tmp_path / "check.jsonl", check)}


def recipe(tmp_path, files, **train):
    return {
        "srtk": 1,
        "output": str(tmp_path / "run"),
        "knowledge_graph": "toy",
        "entity_linker": "rote",
        "train": {"driver": "entity_linker", "questions": files["learn"], "validation": files["check"], **train},
    }


def test_a_linker_learns_from_gold_links_and_is_validated_by_the_links_it_finds(tmp_path, files):
    trained = Runner(from_data(recipe(tmp_path, files))).run().stages["train"]
    assert trained.counts == {"questions": 3, "validation": 2, "unlinked": 3, "pathless": 0, "lessons": 2}
    assert trained.figures["strong_precision"] == 1.0
    assert trained.figures["strong_recall"] == pytest.approx(2 / 3)
    assert trained.figures["coverage"] == 1.0


def test_links_that_questions_came_with_teach_where_there_are_no_gold_links(tmp_path, files):
    line = {"question": "where is Roma", "question_entities": ["rome"], "spans": [[9, 13]]}
    (tmp_path / "given.jsonl").write_text(json.dumps(line) + "\n")
    trained = Runner(from_data(recipe(tmp_path, files, questions=str(tmp_path / "given.jsonl")))).run().stages["train"]
    assert trained.counts["lessons"] == 1
    assert trained.figures["strong_recall"] == pytest.approx(1 / 3)


def test_a_finished_training_of_a_linker_is_taken_over(tmp_path, files):
    assert Runner(from_data(recipe(tmp_path, files))).run().stages["train"].repeated
    assert not Runner(from_data(recipe(tmp_path, files))).run().stages["train"].repeated


def test_the_card_of_a_linker_says_how_to_use_it(tmp_path, files):
    card = Runner(from_data(recipe(tmp_path, files))).run().stages["train"].model / "README.md"
    assert "entity_linker: {use: rote, model: FOLDER}" in card.read_text()
    assert "without a path" not in card.read_text()


def test_questions_without_gold_links_teach_a_linker_nothing(tmp_path, files):
    (tmp_path / "bare.jsonl").write_text('{"question": "where is Roma"}\n')
    with pytest.raises(RunError, match="none of the 1 training questions has gold links"):
        Runner(from_data(recipe(tmp_path, files, questions=str(tmp_path / "bare.jsonl")))).run()


def test_supervision_by_paths_is_refused_for_a_linker(tmp_path, files):
    with pytest.raises(RecipeError, match="a linker is trained on gold links, not on paths"):
        Runner(from_data(recipe(tmp_path, files, supervision="gold-path"))).run()


def test_questions_about_other_graphs_are_refused_for_a_linker(tmp_path, files):
    data = recipe(tmp_path, files)
    data["train"]["sets"] = [{"questions": "q.jsonl", "knowledge_graph": data["knowledge_graph"]}]
    with pytest.raises(RecipeError, match="does not learn from questions' paths; omit sets"):
        Runner(from_data(data)).run()


def test_the_command_tells_the_figures(tmp_path, files, capsys):
    file = tmp_path / "recipe.yaml"
    file.write_text(json.dumps(recipe(tmp_path, files)))
    assert main(["run", str(file)]) == 0
    said = capsys.readouterr().out
    assert "trained on 2 questions" in said
    assert "path between" not in said


def test_a_run_with_a_trained_linker_is_evaluated(tmp_path, files):
    data = recipe(tmp_path, files, folder=str(tmp_path / "linker"))
    outcome = Runner(from_data({**data, "questions": files["check"], "relink": True, "evaluate": True})).run()
    assert outcome.stages["evaluate"]["linking"]["questions"] == 2
    assert "relations in training" not in outcome.stages["evaluate"]["slices"]


def test_a_linker_is_validated_by_what_the_expander_retrieves_from_its_links(tmp_path, files):
    rows = [json.loads(line) for line in (tmp_path / "check.jsonl").read_text().splitlines()]
    for row in rows:
        row |= {"answer_entities": ["paris"], "question_entities": ["rome"]}
    (tmp_path / "check.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    without = Runner(from_data(recipe(tmp_path, files))).run().stages["train"]
    assert "answer_recall" not in without.figures
    data = {**recipe(tmp_path, files, folder=str(tmp_path / "with")), "expander": "onehop"}
    figures = Runner(from_data(data)).run().stages["train"].figures
    assert figures["strong_recall"] == pytest.approx(2 / 3)
    assert set(figures) >= {"answer_recall", "answer_coverage", "triples"}
