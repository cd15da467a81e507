"""The key ``train`` of a recipe, with a driver that learns by counting."""

import json
import sys

import pytest
from kit.kills import EVERY, Kills, restored, tree

from srtk_framework.cli import main
from srtk_framework.recipe.recipe import from_data
from srtk_framework.records import with_checksum, write_checked
from srtk_framework.run.runner import Runner
from srtk_framework.run.session import Session
from srtk_framework.values import InputError, Link, Question, RunError

pytestmark = pytest.mark.usefixtures("learners")

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
    assert outcome.stages["evaluate"]["methods"]["walk"]["answer_recall"]["mean"] == 1.0
    assert outcome.stages["train"].figures["answer_recall"] == 1.0
    assert outcome.stages["train"].figures["path_mrr"] == 1.0
    assert outcome.stages["train"].counts == {
        "questions": 12,
        "validation": 3,
        "unlinked": 0,
        "pathless": 0,
        "lessons": 12,
    }


def test_the_manifest_names_the_training(tmp_path, files):
    outcome = run(recipe(tmp_path, files))
    told = json.loads((tmp_path / "run" / "manifest.json").read_text())["training"]
    assert told["fingerprint"] == outcome.stages["train"].fingerprint == state(tmp_path)["fingerprint"]
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


def test_a_finished_training_is_taken_over_and_replaced_by_one_of_other_data_only_if_asked(tmp_path, files):
    assert run(recipe(tmp_path, files)).stages["train"].repeated
    assert not run(recipe(tmp_path, files)).stages["train"].repeated
    before = tree(tmp_path / "run" / "training")
    asked(tmp_path / "learn.jsonl", ["another question about a town?"])
    with pytest.raises(RunError, match=r"holds a finished training that differs in the training questions; .*--fresh"):
        run(recipe(tmp_path, files))
    assert tree(tmp_path / "run" / "training") == before
    assert run(recipe(tmp_path, files), fresh=True).stages["train"].repeated


def test_what_only_evaluates_has_no_part_in_the_training(tmp_path, files, install):
    install("srtk-plugin-others", "srtk_others", "from srtk_learners import Stay", {"expander": {"other": "Stay"}})
    run(recipe(tmp_path, files))
    outcome = run(recipe(tmp_path, files, evaluate={"against": ["other"]}))
    assert set(outcome.stages["evaluate"]["methods"]) == {"walk", "other"}
    assert not outcome.stages["train"].repeated


def test_other_settings_of_the_training_are_another_training(tmp_path, files):
    run(recipe(tmp_path, files))
    with pytest.raises(RunError, match="holds a finished training that differs in `fit: least`; "):
        run(recipe(tmp_path, files, {"fit": {"least": 2}}))
    assert run(recipe(tmp_path, files, {"fit": {"least": 2}}), fresh=True).stages["train"].repeated


def test_an_unfinished_training_keeps_its_folder_and_its_examples(tmp_path, files):
    run(recipe(tmp_path, files))
    folder = tmp_path / "run" / "training"
    write_checked(folder / "training.json", {**state(tmp_path), "state": "running"})
    (folder / "checkpoints" / "mine").write_text("kept")
    changed = (folder / "training_examples.jsonl").read_text().replace("capital_of", "currency")
    (folder / "training_examples.jsonl").write_text(changed)
    assert run(recipe(tmp_path, files)).stages["train"].figures["answer_recall"] == 0.0
    assert (folder / "checkpoints" / "mine").exists()


def unfinished(tmp_path):
    """Make the finished training an unfinished one with a checkpoint; returns its files."""
    folder = tmp_path / "run" / "training"
    write_checked(folder / "training.json", {**state(tmp_path), "state": "running"})
    (folder / "checkpoints" / "mine").write_text("kept")
    return tree(folder)


@pytest.mark.parametrize(
    ("train", "more", "named"),
    [
        ({"fit": {"least": 2}}, {}, "`fit: least`"),
        ({"fit": {"least": 2, "inverse": False}}, {"seed": 3}, "`fit: inverse`, `fit: least`, the seed"),
        ({"validation": None}, {}, "the validation questions"),
        ({}, {"expander": {"use": "walk", "inverse": False}}, "`fit: inverse`"),
        ({"fit": {"inverse": True}}, {"expander": {"use": "walk", "inverse": False}}, "the expander that validates it"),
    ],
)
def test_an_unfinished_training_of_another_recipe_is_left_alone(tmp_path, files, train, more, named):
    run(recipe(tmp_path, files))
    before = unfinished(tmp_path)
    with pytest.raises(RunError, match=rf"training holds an unfinished training that differs in {named}; .*--fresh"):
        run(recipe(tmp_path, files, train, **more))
    assert tree(tmp_path / "run" / "training") == before


def test_an_unfinished_training_on_other_questions_is_left_alone(tmp_path, files):
    run(recipe(tmp_path, files))
    before = unfinished(tmp_path)
    asked(tmp_path / "learn.jsonl", ["another question about a town?"])
    with pytest.raises(RunError, match="differs in the training questions; "):
        run(recipe(tmp_path, files))
    assert tree(tmp_path / "run" / "training") == before


def test_an_unfinished_training_of_another_version_names_it(tmp_path, files):
    run(recipe(tmp_path, files))
    changed = {**state(tmp_path), "state": "running", "fingerprint": "other"}
    changed["versions"]["srtk-framework"] = "0.0.1"
    write_checked(tmp_path / "run" / "training" / "training.json", changed)
    with pytest.raises(RunError, match="differs in the version of srtk-framework; "):
        run(recipe(tmp_path, files))


@pytest.mark.parametrize("fit", [{}, {"least": 2}])
def test_fresh_starts_an_unfinished_training_over(tmp_path, files, fit):
    run(recipe(tmp_path, files))
    unfinished(tmp_path)
    examples = tmp_path / "run" / "training" / "training_examples.jsonl"
    examples.write_text(examples.read_text().replace("capital_of", "currency"))
    trained = run(recipe(tmp_path, files, {"fit": fit}), fresh=True).stages["train"]
    assert trained.repeated
    assert trained.figures["answer_recall"] == 1.0
    assert not (tmp_path / "run" / "training" / "checkpoints" / "mine").exists()
    assert state(tmp_path)["state"] == "complete"


def test_fresh_reuses_a_finished_training(tmp_path, files):
    run(recipe(tmp_path, files))
    assert not run(recipe(tmp_path, files), fresh=True).stages["train"].repeated


def test_the_command_refuses_another_training_and_starts_over_if_asked(tmp_path, files, capsys):
    run(recipe(tmp_path, files))
    unfinished(tmp_path)
    file = tmp_path / "r.json"
    file.write_text(json.dumps(recipe(tmp_path, files, {"fit": {"least": 2}})))
    assert main(["run", "--quiet", "--train-only", str(file)]) == 2
    assert "differs in `fit: least`; " in capsys.readouterr().err
    assert main(["run", "--quiet", "--train-only", "--fresh", str(file)]) == 0


def test_files_that_no_record_names_a_training_s_are_deleted_only_if_asked(tmp_path, files):
    folder = tmp_path / "run" / "training"
    (folder / "log").mkdir(parents=True)
    (folder / "log" / "diary.txt").write_text("mine")
    with pytest.raises(RunError, match=r"training holds log, but no training\.json that says of which training; "):
        run(recipe(tmp_path, files))
    assert (folder / "log" / "diary.txt").read_text() == "mine"
    assert run(recipe(tmp_path, files), fresh=True).stages["train"].repeated
    assert not (folder / "log").exists()


@pytest.mark.parametrize("content", ["[]", with_checksum('{"fingerprint": 7}')[0], "{"])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_file_that_is_no_record_of_a_training_is_not_overwritten(tmp_path, files, content, fresh):
    file = tmp_path / "run" / "training" / "training.json"
    file.parent.mkdir(parents=True)
    file.write_text(content)
    with pytest.raises(RunError, match=r"training\.json.*; move this file away"):
        run(recipe(tmp_path, files), fresh=fresh)
    assert file.read_text() == content


def test_another_training_in_the_same_folder_begins_without_the_old_checkpoints(tmp_path, files):
    run(recipe(tmp_path, files))
    old = tmp_path / "run" / "training" / "checkpoints" / "old"
    old.write_text("")
    run(recipe(tmp_path, files, {"fit": {"least": 3}}), fresh=True)
    assert not old.exists()


def test_validation_questions_that_are_learnt_from_are_refused_with_their_number(tmp_path, files):
    asked(tmp_path / "check.jsonl", [f"of which  country is town {i} the capital?" for i in (0, 1, 77)])
    with pytest.raises(RunError, match="2 of 3 validation questions are also training questions"):
        run(recipe(tmp_path, files))


def test_a_share_for_validation_has_no_text_that_is_learnt_from(tmp_path, files):
    texts = [f"same question {i // 2}?" for i in range(40)]
    asked(tmp_path / "learn.jsonl", texts)
    trained = run(recipe(tmp_path, files, {"validation": 0.3})).stages["train"]
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
    counts = run(recipe(tmp_path, files)).stages["train"].counts
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
            assert session.stages.by_key["train"].setup.settings.inverse is wanted


def test_a_session_trains_from_python(tmp_path, files):
    with Session(from_data(recipe(tmp_path, files))) as session:
        assert not session.retrieve(["paris"])[0].subgraph.triples
        first = session.train()["train"]
        assert first.figures["answer_recall"] == 1.0
        assert session.train()["train"] == first
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
    assert run(data).stages["train"].figures["answer_recall"] == 1.0


def test_train_only_without_anything_to_train_is_refused(tmp_path, files):
    data = recipe(tmp_path, files)
    del data["train"]
    with pytest.raises(RunError, match="there is nothing to train"):
        run(data, train_only=True)


TRAIN = """
import json
from pathlib import Path
from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.session import Session

def train(arguments):
    with Session(from_data(json.loads(Path("recipe.json").read_text()))) as session:
        session.train(fresh="fresh" in arguments)
    return 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "power"])
def test_a_training_killed_anywhere_leaves_the_old_or_the_new_model(tmp_path, files, monkeypatch, how):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "trains.py").write_text(TRAIN)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "code")])
    place, saved, model = tmp_path / "place", tmp_path / "saved", tmp_path / "place" / "run" / "training" / "model"
    place.mkdir()

    def settings(**more):
        data = recipe(place, files, train=more)
        (place / "recipe.json").write_text(json.dumps({**data, "output": "run"}))

    settings(fit={"least": 50})
    with Kills(place, target="trains:train") as kills:
        done = kills.run([])
        assert done.code == 0, done.stderr
        old = tree(model)
        settings()
        restored(place, saved)()
        assert kills.run(["fresh"]).code == 0
        new, unbroken = tree(model), tree(place)
        assert old != new
        seen = []
        for ended in kills.everywhere(["fresh"], restored(saved, place), how, EVERY):
            seen.append(tree(model))
            assert seen[-1] in (old, new), ended.calls[-1]
            again = kills.run(["fresh"])
            assert again.code == 0, (ended.calls[-1], again.stderr)
            assert tree(place) == unbroken, ended.calls[-1]
        print(f"train {how}: {len(seen)} strikes")
        assert old in seen
        assert new in seen
