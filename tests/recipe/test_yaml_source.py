from __future__ import annotations

import pytest

from srtk_framework.recipe.recipe import parse
from srtk_framework.values import RecipeError

GOOD = """\
srtk: 1
vars: {data: /data, hops: 2}
questions: ${data}/q.jsonl
knowledge_graph: {use: local, path: "${data}/graph"}
expander: {use: beam, width: 10, depth: "${hops}"}
budget: {triples: 200}
exporters: [{use: jsonl, path: out.jsonl}]
evaluate: {against: [{use: bfs}]}
"""


def problems(text: str, *overrides: str) -> list[str]:
    with pytest.raises(RecipeError) as caught:
        parse(text, "r.yaml", overrides).check()
    return list(caught.value.problems)


def test_a_whole_variable_keeps_its_type():
    assert parse(GOOD).blocks["expander"].settings["depth"] == 2


def test_set_changes_a_value_before_variables_are_filled_in():
    recipe = parse(GOOD, "r.yaml", ["vars.hops=3", "budget.triples=7", "exporters.0.path=x.jsonl", "new.key=1"][:3])
    assert recipe.blocks["expander"].settings["depth"] == 3
    assert recipe.options.budget.triples == 7
    assert recipe.exporters[0].settings["path"] == "x.jsonl"


def test_broken_yaml_is_refused_with_its_place():
    assert problems("srtk: 1\nexpander: {use: beam\n")[0].startswith("r.yaml:3:1: this is not YAML")


def test_a_key_that_stands_twice_is_refused():
    assert "occurs twice" in problems("srtk: 1\nbatch: 1\nbatch: 2\n")[0]


def test_an_unknown_variable_is_refused_with_close_matches():
    assert "Did you mean 'data'" in problems("srtk: 1\nvars: {data: x}\nquestions: ${dato}/q\n")[0]


def test_an_environment_variable_fills_a_value(monkeypatch):
    monkeypatch.setenv("SRTK_TEST_PATH", "/from/env")
    text = "srtk: 1\nknowledge_graph: {use: local, path: {env: SRTK_TEST_PATH}}\n"
    assert parse(text).blocks["knowledge_graph"].settings["path"] == "/from/env"


def test_a_missing_environment_variable_is_refused_unless_it_has_a_default(monkeypatch):
    monkeypatch.delenv("SRTK_TEST_PATH", raising=False)
    assert "SRTK_TEST_PATH is not set" in problems("srtk: 1\nquestions: {env: SRTK_TEST_PATH}\n")[0]
    assert parse("srtk: 1\nquestions: {env: SRTK_TEST_PATH, default: d}\n").questions == "d"


def test_a_secret_does_not_stand_in_what_the_manifest_keeps(monkeypatch):
    monkeypatch.setenv("SRTK_TEST_KEY", "hush")
    recipe = parse("srtk: 1\nencoder: {use: hosted, key: {env: SRTK_TEST_KEY}}\n")
    assert recipe.blocks["encoder"].settings["key"] == "hush"
    assert "hush" not in repr(recipe.written)


def test_a_wrong_set_is_refused_by_its_own_text():
    assert problems(GOOD, "batch")[0].startswith("--set batch: ")
    assert "the list has 1 items" in problems(GOOD, "exporters.4.path=1", "exporters.7=1")[-1]
