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


def test_a_recipe_is_read_into_blocks_with_variables_filled_in():
    recipe = parse(GOOD, "r.yaml")
    assert recipe.questions == "/data/q.jsonl"
    assert recipe.blocks["knowledge_graph"].settings == {"path": "/data/graph"}
    assert recipe.blocks["expander"].settings == {"width": 10, "depth": 2}
    assert recipe.options.budget.triples == 200
    assert [block.use for block in recipe.exporters] == ["jsonl"]
    assert [block.use for block in recipe.stages["evaluate"].against] == ["bfs"]


def test_all_mistakes_are_told_at_once_with_file_line_and_column():
    found = problems("srtk: 2\nqestions: a\nbatch: '3'\nbudget: {tripels: 3}\nexpander: {width: 3}\n")
    assert any(p.startswith("r.yaml:1:1: ") and "srtk: 1" in p for p in found)
    assert any(p.startswith("r.yaml:2:1: ") and "Did you mean 'questions'" in p for p in found)
    assert any(p.startswith("r.yaml:3:1: ") and "expected whole number, got '3'" in p for p in found)
    assert any(p.startswith("r.yaml:4:10: ") and "Did you mean 'triples'" in p for p in found)
    assert any(p.startswith("r.yaml:5:1: ") and "use: NAME" in p for p in found)
    assert len(found) == 5


def test_a_budget_of_nothing_is_refused():
    assert "above 0" in problems("srtk: 1\nbudget: {triples: 0}\n")[0]


def test_an_empty_file_says_what_a_recipe_is():
    assert "srtk: 1" in problems("")[0]


def test_a_driver_that_is_no_mapping_is_named_with_its_article():
    problems = parse("{srtk: 1, expander: 5, encoder: [], graph: 1}").problems
    assert "an expander is written as {use: NAME" in problems[0]
    assert "an encoder is written as" in problems[1]
    assert "unknown key 'graph'" in problems[2]


def test_exporters_are_a_list_and_a_dataset_has_no_key_of_its_own():
    recipe = parse("{srtk: 1, exporters: [lines, {use: lines}], dataset: x, exporter: x}")
    assert [block.use for block in recipe.exporters] == ["lines", "lines"]
    assert [problem.split("'")[1] for problem in recipe.problems] == ["dataset", "exporter"]
