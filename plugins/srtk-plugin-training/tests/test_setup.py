"""Mistakes in the key ``train`` of a recipe."""

import pytest

from srtk_framework.recipe.recipe import parse
from srtk_framework.run.session import Session
from srtk_framework.values import RecipeError

pytestmark = pytest.mark.usefixtures("learners")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("driver: path_scorr", "r.yaml:5:3: driver is the role of what learns, not 'path_scorr'. Did you mean"),
        ("driver: entity_linker", "r.yaml:4:1: train names the entity_linker, but the recipe has none"),
        ("driver: knowledge_graph", "r.yaml:2:1: knowledge_graph 'toy' cannot be trained"),
        ("fit: {last: 2}", "r.yaml:5:9: fit has no setting 'last'; it has inverse, least. Did you mean 'least'?"),
        ("fit: {least: two}", "r.yaml:5:9: least: expected whole number, got 'two'"),
        ("fit: {least: 0}", "r.yaml:5:9: 'least' must be >= 1: 0"),
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
