"""Model cards."""

from __future__ import annotations

import pytest
import yaml
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_training.graph import GraphMaterial
from srtk_plugin_training.links import LinkMaterial
from srtk_plugin_training.model_card import card
from srtk_plugin_training.paths import PathMaterial
from srtk_plugin_training.question_sets import QuestionSets

TRAINING = {
    "driver": {"role": "path_scorer", "name": "dense", "fingerprint": "dense:1"},
    "counts": {"lessons": 7, "questions": 9, "validation": 2, "pathless": 1},
    "figures": {"answer_recall": 0.5},
    "settings": {"epochs": 3},
    "data": {"questions": "abc"},
    "versions": {"srtk-framework": "0.1.0"},
    "libraries": {"numpy": "2.0"},
    "seed": 4,
    "fingerprint": "f1",
    "supervision": "gold-path()",
}

SETS = QuestionSets("q.jsonl", None)
PATHS, LINKS = PathMaterial(SETS, None), LinkMaterial(SETS)
REUSE = "encoder: {use: transformers, model: FOLDER}"


def test_the_card_of_a_scorer_has_data_figures_settings_versions_and_the_recipe():
    text = card("r.yaml", {"srtk": 1, "expander": "béam"}, TRAINING, PATHS, REUSE)
    assert "# path_scorer trained by r.yaml\n" in text
    assert "Trained on 7 of 9 questions (1 without a path between topic and answer);" in text
    for row in ("answer_recall | 0.5", "epochs | 3", "questions | abc", "srtk-framework | 0.1.0", "numpy | 2.0"):
        assert f"\n| {row} |\n" in text
    assert "Seed 4, fingerprint `f1`." in text
    assert yaml.safe_load(text.split("```yaml\n")[1].split("```")[0]) == {"srtk": 1, "expander": "béam"}


def test_the_card_begins_with_the_header_of_model_hubs():
    header = card("r.yaml", {}, TRAINING, PATHS, REUSE).split("---\n")[1]
    assert yaml.safe_load(header)["pipeline_tag"] == "feature-extraction"


@pytest.mark.parametrize(
    ("role", "material", "reuse", "line"),
    [
        ("path_scorer", PATHS, REUSE, "`encoder: {use: transformers, model: FOLDER}`"),
        ("entity_linker", LINKS, "", "`entity_linker: {use: dense, model: FOLDER}`"),
    ],
)
def test_the_card_has_the_line_of_a_recipe_that_uses_the_model(role, material, reuse, line):
    training = {**TRAINING, "driver": {**TRAINING["driver"], "role": role}}
    text = card("r.yaml", {}, training, material, reuse)
    assert line in text
    assert ("without a path" in text) == (material is PATHS)
    assert ("2 others chose the best weights." in text) == (material is PATHS)


def test_the_card_of_a_completer_has_its_facts():
    graph = MemoryGraph(triples=[("a", "p", "b")])
    training = {**TRAINING, "counts": {"facts": 1900, "held_out": 100, "relations": 7}}
    text = card("r.yaml", {}, training, GraphMaterial(graph, 0.05), "completer: {use: dense, path: FOLDER}")
    assert "Trained on 1,900 facts of 7 relations; 100 others were held out." in text
    assert "`completer: {use: dense, path: FOLDER}`" in text
    assert yaml.safe_load(text.split("---\n")[1])["pipeline_tag"] == "graph-ml"
    assert "## Data (SHA-256 of the facts held out)" in text
