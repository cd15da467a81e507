"""The key ``train`` of a recipe, with a driver that learns by counting."""

import json

import pytest

from srtk_framework.cli import main
from srtk_framework.recipe.recipe import from_data, parse
from srtk_framework.records.training_examples import read_training_examples, write_training_examples
from srtk_framework.run.runner import Runner
from srtk_framework.run.session import Session
from srtk_framework.values import InputError, Link, Question, RankedPath, RecipeError, RunError, Step, TrainingExample

LEARNERS = '''
"""Drivers that learn and supervise, without any model."""
from __future__ import annotations
import json
import attrs
from srtk_framework.graph.path_facts import facts
from srtk_framework.roles import TrainingTask, Expander, KnowledgeGraph, PathScorer, Supervision
from srtk_framework.values import Budget, RankedPath, Step

@attrs.frozen
class Settings:
    """How it counts.

    Attributes:
        least: Examples that a relation needs.
        inverse: As the expander.
    """
    least: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    inverse: bool | None = attrs.field(default=None, metadata={"as": "expander"})

@attrs.define(eq=False)
class Counter(PathScorer):
    """Knows the relations that it has seen."""
    known: list[str] = attrs.field(init=False, factory=list)
    fits: list[Settings] = attrs.field(init=False, factory=list)
    def score(self, questions, paths, candidates):
        return [[1.0 if step.relation in self.known else 0.0 for step in row] for row in candidates]
    def fit(self, task: TrainingTask, settings: Settings):
        self.fits.append(settings)
        counts = {}
        for example in task.examples:
            for path in example.paths:
                for step in path.steps:
                    counts[step.relation] = counts.get(step.relation, 0) + 1
        self.known = sorted(name for name, count in counts.items() if count >= settings.least)
        (task.folder / "checkpoints").mkdir(exist_ok=True)
        return dict(task.validate()) if task.validate else {"seen": len(self.known)}
    def save(self, folder):
        folder.mkdir()
        (folder / "known.json").write_text(json.dumps(self.known))
    def load(self, folder):
        self.known = json.loads((folder / "known.json").read_text())
    def fingerprint(self):
        return f"counter({self.known})"

@attrs.define(eq=False)
class Walk(Expander):
    """Reads the steps that score."""
    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget
    inverse: bool = True
    def expand(self, questions):
        paths = []
        for q in questions:
            starts = self.graph.frontiers([[link.entity] for link in q.links])
            rows = self.graph.steps(starts, self.inverse)
            scores = self.scorer.score([q.text] * len(rows), [()] * len(rows), rows)
            paths.append([RankedPath(link.entity, (step,), value) for link, row, values in zip(q.links, rows, scores)
                          for step, value in zip(row, values) if value > 0])
        return facts(self.graph, paths, self.budget)

@attrs.define(eq=False)
class Stay(Expander):
    """Goes nowhere."""
    graph: KnowledgeGraph
    budget: Budget
    def expand(self, questions):
        return facts(self.graph, [[] for _ in questions], self.budget)

@attrs.define(eq=False)
class Gold(Supervision):
    """Takes the gold paths."""
    graph: KnowledgeGraph
    def supervise(self, questions):
        return [[RankedPath(link.entity, path, 1.0) for link in q.links for path in q.gold_paths or ()]
                for q in questions]
'''


@pytest.fixture(autouse=True)
def drivers(toys, install):
    entries = {
        "path_scorer": {"counter": "Counter"},
        "expander": {"walk": "Walk", "stay": "Stay"},
        "supervision": {"gold": "Gold"},
    }
    install("srtk-plugin-learners", "srtk_learners", LEARNERS, entries)


TOWNS = (("paris", "france"), ("rome", "italy"), ("lima", "peru"))


def asked(file, texts, path=("capital_of",)):
    lines = [
        {
            "id": f"{file.stem}{i}",
            "question": text,
            "question_entities": [TOWNS[i % 3][0]],
            "answer_entities": [TOWNS[i % 3][1]],
            "gold_paths": [list(path)] if path else [],
        }
        for i, text in enumerate(texts)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


@pytest.fixture
def files(tmp_path):
    return {
        "learn": asked(tmp_path / "learn.jsonl", [f"of which country is town {i} the capital?" for i in range(12)]),
        "check": asked(tmp_path / "check.jsonl", [f"what state does town {i} lead?" for i in range(3)]),
        "ask": asked(tmp_path / "ask.jsonl", [f"where is town {i}?" for i in range(3)]),
    }


def recipe(tmp_path, files, train=None, **more):
    return {
        "srtk": 1,
        "questions": files["ask"],
        "output": str(tmp_path / "run"),
        "knowledge_graph": "toy",
        "path_scorer": "counter",
        "expander": "walk",
        "train": {"questions": files["learn"], "validation": files["check"], "supervision": "gold", **(train or {})},
        "evaluate": True,
        **more,
    }


def run(data, **more):
    return Runner(from_data(data), **more).run()


def state(tmp_path):
    return json.loads((tmp_path / "run" / "training" / "training.json").read_text())


def test_a_run_trains_then_retrieves_with_what_was_learnt(tmp_path, files):
    outcome = run(recipe(tmp_path, files))
    assert outcome.evaluation["methods"]["walk"]["answer_recall"]["mean"] == 1.0
    assert outcome.trained.figures["answer_recall"] == 1.0
    assert outcome.trained.counts == {"questions": 12, "validation": 3, "unlinked": 0, "pathless": 0, "lessons": 12}


def test_the_manifest_names_the_training(tmp_path, files):
    outcome = run(recipe(tmp_path, files))
    told = json.loads((tmp_path / "run" / "manifest.json").read_text())["training"]
    assert told["fingerprint"] == outcome.trained.fingerprint == state(tmp_path)["fingerprint"]
    assert told["questions_seen"] == 0


def test_the_examples_are_readable_and_the_card_has_figures_versions_and_recipe(tmp_path, files):
    run(recipe(tmp_path, files))
    folder = tmp_path / "run" / "training"
    lines = [json.loads(line) for line in (folder / "training_examples.jsonl").read_text().splitlines()]
    assert lines[0]["paths"] == [["capital_of"]]
    assert lines[0]["path_scores"] == [1.0]
    assert lines[0]["path_entities"] == ["paris"]
    card = (folder / "model" / "README.md").read_text()
    assert "| answer_recall | 1.0 |" in card
    assert "| srtk-framework |" in card
    assert "expander: walk" in card


def test_a_finished_training_is_taken_over_and_one_of_other_data_is_done_anew(tmp_path, files):
    assert run(recipe(tmp_path, files)).trained.repeated
    assert not run(recipe(tmp_path, files)).trained.repeated
    asked(tmp_path / "learn.jsonl", ["another question about a town?"])
    assert run(recipe(tmp_path, files)).trained.repeated


def test_what_only_evaluates_has_no_part_in_the_training(tmp_path, files, install):
    install("srtk-plugin-others", "srtk_others", LEARNERS, {"expander": {"other": "Stay"}})
    run(recipe(tmp_path, files))
    outcome = run(recipe(tmp_path, files, evaluate={"against": ["other"]}))
    assert set(outcome.evaluation["methods"]) == {"walk", "other"}
    assert not outcome.trained.repeated


def test_other_settings_of_the_training_are_another_training(tmp_path, files):
    run(recipe(tmp_path, files))
    assert run(recipe(tmp_path, files, {"fit": {"least": 2}})).trained.repeated


def test_an_unfinished_training_keeps_its_folder_and_its_examples(tmp_path, files):
    run(recipe(tmp_path, files))
    folder = tmp_path / "run" / "training"
    (folder / "training.json").write_text(json.dumps({**state(tmp_path), "state": "running"}))
    (folder / "checkpoints" / "mine").write_text("kept")
    changed = (folder / "training_examples.jsonl").read_text().replace("capital_of", "currency")
    (folder / "training_examples.jsonl").write_text(changed)
    assert run(recipe(tmp_path, files)).trained.figures["answer_recall"] == 0.0
    assert (folder / "checkpoints" / "mine").exists()


def test_another_training_in_the_same_folder_begins_without_the_old_checkpoints(tmp_path, files):
    run(recipe(tmp_path, files))
    old = tmp_path / "run" / "training" / "checkpoints" / "old"
    old.write_text("")
    run(recipe(tmp_path, files, {"fit": {"least": 3}}))
    assert not old.exists()


def test_validation_questions_that_are_learnt_from_are_refused_with_their_number(tmp_path, files):
    asked(tmp_path / "check.jsonl", [f"of which  country is town {i} the capital?" for i in (0, 1, 77)])
    with pytest.raises(RunError, match="2 of 3 validation questions are also training questions"):
        run(recipe(tmp_path, files))


def test_a_share_for_validation_has_no_text_that_is_learnt_from(tmp_path, files):
    texts = [f"same question {i // 2}?" for i in range(40)]
    asked(tmp_path / "learn.jsonl", texts)
    trained = run(recipe(tmp_path, files, {"validation": 0.3})).trained
    assert trained.counts["questions"] + trained.counts["validation"] == 40
    assert trained.counts["validation"] % 2 == 0


def test_questions_that_were_learnt_from_are_counted_and_told(tmp_path, files, capsys):
    file = tmp_path / "r.json"
    file.write_text(json.dumps(recipe(tmp_path, {**files, "ask": files["learn"]})))
    assert main(["run", "--quiet", str(file)]) == 0
    assert "the training had seen 12 of 12 questions" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["training"]["questions_seen"] == 12


def test_questions_without_a_path_are_counted_and_the_others_learnt_from(tmp_path, files):
    with (tmp_path / "learn.jsonl").open("a") as file:
        file.write(json.dumps({"id": "x", "question": "who?", "question_entities": ["paris"]}) + "\n")
        file.write(json.dumps({"id": "y", "question": "nobody?"}) + "\n")
    counts = run(recipe(tmp_path, files)).trained.counts
    assert (counts["pathless"], counts["unlinked"], counts["lessons"]) == (2, 1, 12)


def test_without_any_path_there_is_nothing_to_learn(tmp_path, files):
    asked(tmp_path / "learn.jsonl", ["what?", "where?"], path=())
    with pytest.raises(RunError, match="none of the 2 training questions has a path"):
        run(recipe(tmp_path, files))


def test_an_empty_part_to_learn_from_is_told(tmp_path, files):
    (tmp_path / "learn.jsonl").write_text("")
    with pytest.raises(InputError, match="there are no training questions"):
        run(recipe(tmp_path, files))


def test_settings_that_follow_the_expander_do_so_unless_given(tmp_path, files):
    for given, wanted in (({}, False), ({"inverse": True}, True)):
        data = recipe(tmp_path, files, {"fit": given}, expander={"use": "walk", "inverse": False})
        with Session(from_data(data)) as session:
            assert session.training.settings.inverse is wanted


def test_a_session_trains_from_python(tmp_path, files):
    with Session(from_data(recipe(tmp_path, files))) as session:
        assert not session.retrieve(["paris"])[0].subgraph.triples
        first = session.train()
        assert first.figures["answer_recall"] == 1.0
        assert session.train() == first
        [found] = session.retrieve([Question("a", "x", links=(Link("rome"),))])
        assert found.subgraph.triples[0].object == "italy"


def test_train_only_leaves_the_questions_alone(tmp_path, files, capsys):
    file = tmp_path / "r.json"
    file.write_text(json.dumps(recipe(tmp_path, files)))
    assert main(["run", "--train-only", str(file)]) == 0
    assert "trained on 12 questions; 0 have no path" in capsys.readouterr().out
    assert not (tmp_path / "run" / "journal").exists()


def test_a_recipe_without_questions_may_still_train(tmp_path, files):
    data = recipe(tmp_path, files)
    del data["questions"]
    assert run(data).trained.figures["answer_recall"] == 1.0


def test_train_only_without_anything_to_train_is_refused(tmp_path, files):
    data = recipe(tmp_path, files)
    del data["train"]
    with pytest.raises(RunError, match="there is nothing to train"):
        run(data, train_only=True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("driver: path_scorr", "r.yaml:5:3: driver is the role of what learns, not 'path_scorr'. Did you mean"),
        ("driver: entity_linker", "r.yaml:4:1: train names the entity_linker, but the recipe has none"),
        ("driver: knowledge_graph", "r.yaml:2:1: knowledge_graph 'toy' cannot be trained"),
        ("fit: {last: 2}", "r.yaml:5:9: fit has no setting 'last'; it has inverse, least. Did you mean 'least'?"),
        ("fit: {least: two}", "r.yaml:5:9: least: expected whole number, got 'two'"),
        ("fit: {least: 0}", "r.yaml:5:3: fit: 'least' must be >= 1: 0"),
        ("validation: 1.5", "r.yaml:5:3: a share for validation lies between 0 and 1"),
        ("validation: {use: jsnl}", "r.yaml:5:16: no dataset is called 'jsnl'"),
        ("supervision: {use: golds}", "r.yaml:5:17: no supervision is called 'golds'"),
        ("folders: x", "r.yaml:5:3: unknown key 'folders'. Did you mean 'folder'?"),
    ],
)
def test_mistakes_are_told_at_check_time_with_their_place(line, said):
    given = {key: f"  {key}: {value}\n" for key, value in (("questions", "q"), ("supervision", "gold"))}
    rest = "".join(text for key, text in given.items() if not line.startswith(key))
    text = f"srtk: 1\nknowledge_graph: toy\npath_scorer: counter\ntrain:\n  {line}\n{rest}expander: walk\n"
    with pytest.raises(RecipeError) as caught:
        Session(parse(text, "r.yaml"))
    assert any(problem.startswith(said) for problem in caught.value.problems), caught.value


def test_parts_by_relation_path_of_two_different_sets_are_refused(tmp_path):
    def text(learnt):
        return (
            "srtk: 1\nknowledge_graph: toy\npath_scorer: counter\nexpander: walk\n"
            "questions: {use: jsonl, path: q, part: {between: [0.5, 1.0], by: relation-path, limit: 9}}\n"
            f"train: {{supervision: gold, questions: {{use: jsonl, {learnt}}}}}\n"
        )

    part = "part: {between: [0.0, 0.5], by: relation-path}"
    with pytest.raises(RecipeError, match=r"r.yaml:6:\d+: parts by relation-path .*they differ in limit\)"):
        Session(parse(text(f"path: q, limit: 9, {part}"), "r.yaml"))
    Session(parse(text(f"path: q, {part}"), "r.yaml"))


def test_a_scorer_that_the_main_expander_does_not_use_is_not_trained():
    train = "train: {questions: q, supervision: gold}\n"
    text = "srtk: 1\nknowledge_graph: toy\npath_scorer: counter\nexpander: %s\n" + train
    with pytest.raises(RecipeError, match=r"r.yaml:3:1: the main expander does not use this path_scorer"):
        Session(parse(text % "stay", "r.yaml"))
    Session(parse(text % "walk", "r.yaml"))


def test_a_training_without_questions_or_supervision_is_told():
    with pytest.raises(RecipeError, match="train needs `questions:`"):
        Session(parse("srtk: 1\npath_scorer: counter\ntrain: {supervision: gold}\n"))
    with pytest.raises(RecipeError, match="train needs `supervision:`"):
        Session(parse("srtk: 1\npath_scorer: counter\ntrain: {questions: q}\n"))


def test_examples_come_back_as_they_were_written(tmp_path):
    question = Question("a", "x?", links=(Link("rome"),), answers=("italy",), extra={"hops": 2})
    examples = [
        TrainingExample(question, (RankedPath("rome", (Step("capital_of"), Step("currency", True)), 0.5),)),
        TrainingExample(Question("b", "y?")),
    ]
    write_training_examples(tmp_path / "l.jsonl", examples)
    assert read_training_examples(tmp_path / "l.jsonl") == examples


def test_examples_as_srtk_writes_them_start_at_every_linked_entity(tmp_path):
    file = tmp_path / "scores.jsonl"
    record = {"id": "a", "question": "x?", "question_entities": ["p", "q"], "paths": [["r"]], "path_scores": [0.5]}
    file.write_text(json.dumps(record) + "\n")
    [example] = read_training_examples(file)
    assert [(path.entity, path.score) for path in example.paths] == [("p", 0.5), ("q", 0.5)]


def test_examples_with_lists_of_unequal_length_name_their_line(tmp_path):
    file = tmp_path / "scores.jsonl"
    file.write_text(json.dumps({"question": "x?", "paths": [["r"]], "path_scores": []}) + "\n")
    with pytest.raises(InputError, match=r"scores\.jsonl:1: field 'path_scores' has 0 items and 'paths' has 1"):
        read_training_examples(file)
