"""Sets of ``train``: questions about other graphs than the one that is searched."""

import json

import pytest
from srtk_plugin_training.material import Context
from srtk_plugin_training.paths import PathMaterial, validate_retrieval

from srtk_framework.recipe.recipe import from_data, parse
from srtk_framework.run.runner import Runner
from srtk_framework.run.session import Session
from srtk_framework.values import (
    END,
    InputError,
    Link,
    Question,
    RankedPath,
    RecipeError,
    Retrieval,
    RunError,
    Step,
    Subgraph,
)

pytestmark = pytest.mark.usefixtures("learners")

RIVERS = {"use": "toy", "facts": [["seine", "mouth", "channel"], ["tiber", "mouth", "sea"]]}
FIRMS = {"use": "toy", "facts": [["acme", "seat", "paris"]]}


def asked(file, rows):
    lines = [
        {
            "id": f"{i}",
            "question": text,
            "question_entities": topics,
            "answer_entities": ["x"],
            "gold_paths": [[relation]],
        }
        for i, (text, topics, relation) in enumerate(rows)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


@pytest.fixture
def files(tmp_path):
    towns = [("of what is paris the capital?", ["paris"], "capital_of"), ("and rome?", ["rome"], "capital_of")]
    return {
        "rivers": asked(tmp_path / "rivers.jsonl", [("where does the seine end?", ["seine"], "mouth")]),
        "firms": asked(tmp_path / "firms.jsonl", [("where is acme?", ["acme"], "seat"), ("and it?", [], "seat")]),
        "check": asked(tmp_path / "check.jsonl", towns[:1]),
        "ask": asked(tmp_path / "ask.jsonl", towns[1:]),
    }


def recipe(tmp_path, files, sets=None, scorer="counter", **train):
    rivers = {"questions": files["rivers"], "knowledge_graph": RIVERS}
    firms = {"questions": files["firms"], "knowledge_graph": FIRMS}
    return {
        "srtk": 1,
        "questions": files["ask"],
        "output": str(tmp_path / "run"),
        "knowledge_graph": "toy",
        "path_scorer": scorer,
        "expander": "walk",
        "train": {"sets": [rivers, firms] if sets is None else sets, "supervision": "gold", **train},
        "evaluate": True,
    }


def test_a_scorer_learns_from_the_graphs_of_all_sets(tmp_path, files):
    with Session(from_data(recipe(tmp_path, files))) as session:
        trained = session.train()["train"]
        scorer = session.composer.of_role("path_scorer").driver
        assert scorer.known == ["mouth", "seat"]
        assert scorer.sources == ["toy", "toy"]
    assert trained.counts == {"questions": 3, "validation": 0, "unlinked": 1, "pathless": 1, "lessons": 2}


def test_the_search_that_validates_and_is_scored_is_about_the_recipes_graph(tmp_path, files):
    bridge = {"use": "toy", "facts": [["rhine", "capital_of", "delta"]]}
    other = asked(tmp_path / "other.jsonl", [("what does the rhine lead?", ["rhine"], "capital_of")])
    sets = [{"questions": other, "knowledge_graph": bridge}]
    outcome = Runner(from_data(recipe(tmp_path, files, sets, validation=files["check"]))).run()
    assert outcome.stages["train"].figures["triples"] == 1.0
    assert outcome.stages["evaluate"]["methods"]["walk"]["triples"]["mean"] == 1.0


def test_own_questions_are_learnt_beside_those_of_other_graphs(tmp_path, files):
    with Session(from_data(recipe(tmp_path, files, questions=files["check"]))) as session:
        session.train()
        assert session.composer.of_role("path_scorer").driver.known == ["capital_of", "mouth", "seat"]


def test_a_set_may_have_a_supervision_of_its_own_which_sees_the_sets_graph(tmp_path, files):
    set_ = {"questions": files["rivers"], "knowledge_graph": RIVERS, "supervision": {"use": "gold"}}
    data = recipe(tmp_path, files, [set_])
    del data["train"]["supervision"]
    session = Session(from_data(data))
    [one] = session.stages.by_key["train"].setup.material.supervisions
    assert one.driver.graph.driver.facts == RIVERS["facts"]


def test_the_questions_of_a_set_are_recognised_by_their_text_among_those_evaluated(tmp_path, files):
    sets = [{"questions": files["ask"], "knowledge_graph": "toy"}]
    Runner(from_data(recipe(tmp_path, files, sets))).run()
    assert json.loads((tmp_path / "run/manifest.json").read_text())["training"]["questions_seen"] == 1


def test_other_questions_of_a_set_make_another_training(tmp_path, files):
    assert Runner(from_data(recipe(tmp_path, files))).run().stages["train"].repeated
    assert not Runner(from_data(recipe(tmp_path, files))).run().stages["train"].repeated
    asked(tmp_path / "firms.jsonl", [("where does acme sit?", ["acme"], "seat")])
    with pytest.raises(RunError, match="differs in the questions of the sets"):
        Runner(from_data(recipe(tmp_path, files))).run()


def test_a_set_without_a_path_is_told_by_its_number(tmp_path, files):
    asked(tmp_path / "firms.jsonl", [("where is it?", [], "seat")])
    with pytest.raises(RunError, match="none of the questions of set 2 has a path between topic and answer"):
        Runner(from_data(recipe(tmp_path, files))).run()


def test_a_set_without_questions_is_told(tmp_path, files):
    (tmp_path / "firms.jsonl").write_text("")
    with pytest.raises(InputError, match="set 2 has no question"):
        Runner(from_data(recipe(tmp_path, files))).run()


def test_a_set_that_is_named_twice_is_refused(tmp_path, files):
    twice = [{"questions": files["rivers"], "knowledge_graph": RIVERS} for _ in range(2)]
    with pytest.raises(InputError, match="set 2 has the questions and the graph of set 1; name it once"):
        Runner(from_data(recipe(tmp_path, files, twice))).run()
    elsewhere = [twice[0], {**twice[1], "knowledge_graph": FIRMS | {"facts": [*FIRMS["facts"], *RIVERS["facts"]]}}]
    assert Runner(from_data(recipe(tmp_path, files, elsewhere))).run().stages["train"].counts["lessons"] == 2


def test_validation_questions_that_are_in_a_set_are_refused_by_their_text(tmp_path, files):
    data = recipe(tmp_path, files, validation=files["rivers"])
    with pytest.raises(RunError, match="1 of 1 validation questions are also in set 1, by text"):
        Runner(from_data(data)).run()


def test_own_questions_need_a_supervision_beside_sets_that_have_theirs(tmp_path, files):
    set_ = {"questions": files["rivers"], "knowledge_graph": RIVERS, "supervision": {"use": "gold"}}
    data = recipe(tmp_path, files, [set_], questions=files["check"])
    del data["train"]["supervision"]
    with pytest.raises(RecipeError, match="train needs `supervision:`"):
        Session(from_data(data))


def test_a_scorer_that_learns_from_one_graph_alone_refuses_sets(tmp_path, files):
    with pytest.raises(RecipeError, match="the path_scorer 'homebody' learns from one graph alone; omit sets"):
        Session(from_data(recipe(tmp_path, files, scorer="homebody")))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sets: {}", "r.yaml:5:3: sets is a list of {questions: …, knowledge_graph: {use: …}}, one for each graph"),
        ("sets: []", "r.yaml:5:3: sets is a list"),
        ("sets: [q]", "r.yaml:5:10: a set is a mapping with questions, knowledge_graph, supervision"),
        ("sets: [{questions: q}]", "r.yaml:5:10: a set needs `knowledge_graph:`, since its questions are about its"),
        ("sets: [{knowledge_graph: toy}]", "r.yaml:5:10: a set needs `questions:`"),
        (
            "sets: [{questions: q, knowledge_graph: toy, grph: 1}]",
            "r.yaml:5:47: unknown key 'grph' of a set.",
        ),
        ("sets: [{questions: q, knowledge_graph: {use: ty}}]", "r.yaml:5:43: no knowledge_graph is called 'ty'"),
        (
            "sets: [{questions: q, knowledge_graph: toy}]\n  validation: 0.1",
            "r.yaml:6:3: a share is taken of `questions:`",
        ),
    ],
)
def test_mistakes_in_sets_are_told_with_their_place(line, said):
    head = "srtk: 1\nknowledge_graph: toy\npath_scorer: counter\ntrain:\n"
    text = f"{head}  {line}\n  supervision: gold\nexpander: walk\n"
    with pytest.raises(RecipeError) as caught:
        Session(parse(text, "r.yaml"))
    assert any(problem.startswith(said) for problem in caught.value.problems), caught.value


@pytest.mark.parametrize(("several", "others", "validated"), [(20, 0, True), (19, 10, False)])
def test_twenty_validation_questions_of_several_topics_are_validated_apart(tmp_path, files, several, others, validated):
    rows = [(f"which land leads {i}?", ["paris", "rome"], "capital_of") for i in range(several)]
    rows += [(f"what of {i}?", ["paris"], "capital_of") for i in range(others)]
    check = asked(tmp_path / "many.jsonl", rows)
    with Session(from_data(recipe(tmp_path, files, validation=check))) as session:
        assert ("of_several_topics" in session.train()["train"].figures) is validated


class Found:
    """A session whose search returns given paths."""

    graph = None

    def __init__(self, paths):
        self.paths = paths

    def retrieve(self, questions, method, read):
        return [Retrieval(one, Subgraph(paths=self.paths.get(one.id, ()))) for one in questions]


def validated(paths, right):
    questions = [Question(name, "?", (Link("paris"),)) for name in "abc"]
    context = Context(None, Found(paths), None, 0, 2, lambda name, data: None)
    return validate_retrieval(questions, context, right)


def test_the_rank_of_the_right_path_is_the_mean_over_the_questions_that_have_one():
    one, other = Step("capital_of"), Step("mouth")
    paths = {
        "a": (RankedPath("paris", (other,), 0.0), RankedPath("paris", (one, END), -1.0)),
        "b": (RankedPath("paris", (other,), 0.0),),
    }
    assert validated(paths, [{(one,)}, {(one,)}, set()])["path_mrr"] == (1 / 2 + 0) / 2
    assert validated(paths, [{(one,)}, {(one,), (other,)}, {(one,)}])["path_mrr"] == (1 / 2 + 1 + 0) / 3


def test_without_a_right_path_or_a_path_there_is_no_rank():
    assert "path_mrr" not in validated({"a": (RankedPath("paris", (Step("mouth"),), 0.0),)}, [set(), set(), set()])
    assert "path_mrr" not in validated({}, [{(Step("mouth"),)}] * 3)
    assert "path_mrr" not in validated({}, ())


class Best:
    """A supervision that finds a good path and a worse one for every question."""

    def supervise(self, questions):
        found = RankedPath("paris", (Step("mouth"),), 1.0), RankedPath("paris", (Step("seat"),), 0.5)
        return [found if one.links else () for one in questions]


def test_right_paths_are_gold_else_the_best_by_the_supervision():
    gold = Question("a", "?", (Link("paris"),), gold_paths=((Step("capital_of"),),))
    questions = [gold, Question("b", "?", (Link("paris"),)), Question("c", "?", ())]
    context = Context(None, None, None, 0, 2, lambda name, data: None)
    right = PathMaterial(None, Best())._right_paths(questions, context)
    assert right == [{(Step("capital_of"),)}, {(Step("mouth"),)}, set()]
    assert PathMaterial(None, None)._right_paths(questions, context) == [right[0], set(), set()]
