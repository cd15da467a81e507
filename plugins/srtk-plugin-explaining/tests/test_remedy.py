"""Planted causes, each alone and in pairs: each is named with a setting, and with that setting the answer is there."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from srtk_plugin_evaluation.metrics import score
from srtk_plugin_explaining.explainer import Explainer
from srtk_plugin_explaining.findings import ABSENT, FOUND, Explanation

from srtk_framework.cli import main
from srtk_framework.recipe import from_data
from srtk_framework.run.session import Session
from srtk_framework.values import Link, Question

ANSWER = "zoe"
MANY = 40
SCORES = {"has_state": -1.0, "has_city": -1.0, "mayor": -1.0, "^mayor_of": -1.0, "decoy": -0.5, "of_note": -0.6}


@attrs.define
class World:
    """A recipe, its graph and one question, whose answer the recipe finds as long as nothing is planted.

    The path is land, has_state, has_city, mayor; only the last city of the last state has a mayor.

    Attributes:
        states: Number of states.
        cities: Number of cities of the last state.
        changes: Settings that differ from those that find the answer, by key of the recipe.
        text: The question.
        linked: Whether the question brings its link.
        mayor: The triple that leads to the answer; None where it is missing.
        labels: Further labels.
    """

    states: int = 3
    cities: int = 3
    changes: dict[str, Any] = attrs.field(factory=dict)
    text: str = "Who leads the city of Landia?"
    linked: bool = True
    mayor: bool = True
    turned: bool = False
    labels: dict[str, str] = attrs.field(factory=dict)

    def triples(self) -> list[list[str]]:
        """Return the graph."""
        states = [f"state_{n:03}" for n in range(self.states)]
        cities = [f"city_{n:03}" for n in range(self.cities)]
        rows = [["land", "has_state", state] for state in states]
        rows += [[state, "has_city", f"town_of_{state}"] for state in states[:-1]]
        rows += [[states[-1], "has_city", city] for city in cities]
        rows += [["land", "decoy", "thing"], ["thing", "decoy", "matter"], ["matter", "decoy", "stuff"]]
        rows += [["aland", "decoy", f"isle_{n}"] for n in range(60)]
        if self.mayor:
            rows.append([ANSWER, "mayor_of", cities[-1]] if self.turned else [cities[-1], "mayor", ANSWER])
        return rows

    def recipe(self) -> dict[str, Any]:
        """Return the recipe as data."""
        data: dict[str, Any] = {
            "srtk": 1,
            "knowledge_graph": {
                "use": "memory",
                "triples": self.triples(),
                "labels": {"land": "Landia", **self.labels},
            },
            "entity_linker": {"use": "dictionary"},
            "path_scorer": {"use": "fixed", "scores": SCORES},
            "expander": {"use": "beam", "width": 8, "depth": 3, "inverse": True},
            "budget": {"hub": 1000, "triples": 1000},
        }
        for key, value in self.changes.items():
            put(data, key, value)
        return data

    def question(self) -> Question:
        """Return the question, with its gold topic."""
        links = (Link("land"),) if self.linked else ()
        return Question("q", self.text, links, (ANSWER,), extra={"gold_entities": ["land"]})


def put(data: dict[str, Any], key: str, value: Any) -> None:
    """Set a value of a recipe, as ``--set`` does."""
    *blocks, last = key.split(".")
    for block in blocks:
        data = data.setdefault(block, {})
    data[last] = value


def no_fact(world: World) -> None:
    world.mayor = False


def no_name(world: World) -> None:
    world.linked, world.text = False, "Who leads the city of the old realm?"


def wrong_name(world: World) -> None:
    world.linked = False
    world.labels["aland"] = "Landia"


def link_threshold(world: World) -> None:
    wrong_name(world)
    world.changes |= {"entity_linker.min_score": 0.9, "entity_linker.n_best": 5}


def linked_anew(world: World) -> None:
    world.changes["relink"] = True
    world.text = "Who leads the city of the Isle 1?"
    world.labels["isle_1"] = "Isle 1"


def hub_at_the_first_hop(world: World) -> None:
    world.states, world.changes["budget.hub"] = MANY, 10


def hub_at_an_inner_hop(world: World) -> None:
    world.cities, world.changes["budget.hub"] = MANY, 10


def nodes_at_an_inner_hop(world: World) -> None:
    world.cities, world.changes["budget.nodes"] = MANY, 10


def depth(world: World) -> None:
    world.changes["expander.depth"] = 2


def direction(world: World) -> None:
    world.turned, world.changes["expander.inverse"] = True, False


def noise(world: World) -> None:
    world.changes["knowledge_graph.noise"] = ["spare_*", "has_ci*"]


def width(world: World) -> None:
    world.changes["expander.width"] = 1


def few_long_paths(world: World) -> None:
    # The decoy is the better of the two paths of two steps.
    world.changes["expander.search.long_width"] = 1


def paths(world: World) -> None:
    world.changes["expander.paths"] = 1


def low_score(world: World) -> None:
    world.changes["expander.search.margin"] = 0.4


def low_score_at_a_hop(world: World) -> None:
    world.changes["expander.search.hop_margin"] = 0.4


def triples(world: World) -> None:
    world.changes["budget.triples"] = 2


def tokens(world: World) -> None:
    world.changes["budget.tokens"] = 8


Plant = Callable[[World], None]
CAUSES: dict[Plant, set[str]] = {
    no_fact: set(),
    no_name: {"question_entities"},
    wrong_name: {"entity_linker.n_best"},
    link_threshold: {"entity_linker.min_score"},
    linked_anew: {"relink"},
    hub_at_the_first_hop: {"budget.hub"},
    hub_at_an_inner_hop: {"budget.hub"},
    nodes_at_an_inner_hop: {"budget.nodes"},
    depth: {"expander.depth"},
    direction: {"expander.inverse"},
    noise: {"knowledge_graph.noise"},
    width: {"expander.width"},
    few_long_paths: {"expander.search.long_width"},
    paths: {"expander.paths"},
    low_score: {"expander.search.margin"},
    low_score_at_a_hop: {"expander.search.hop_margin"},
    triples: {"budget.triples"},
    tokens: {"budget.tokens"},
}
LINKING = {no_name, wrong_name, link_threshold, linked_anew}
"""Each of these decides the links alone, so that no two can be planted at once."""
PAIRS = [pair for pair in itertools.combinations(CAUSES, 2) if not set(pair) <= LINKING]
NEAR = 3
"""Each cause is tried beside so many after it, and all others in the slow tests."""


def pair_of(first: Plant, second: Plant) -> Any:
    """Make the parameters of a test of two causes; it is slow where they stand far apart."""
    apart = (list(CAUSES).index(second) - list(CAUSES).index(first)) % len(CAUSES)
    return pytest.param(first, second, marks=() if min(apart, len(CAUSES) - apart) <= NEAR else pytest.mark.slow)


def explained(data: dict[str, Any], question: Question) -> Explanation:
    with Session(from_data(copy.deepcopy(data))) as session:
        [one] = Explainer(session).explain_all([question])
    return one


def recall(data: dict[str, Any], question: Question) -> float:
    """Run a recipe on a question, as a user would, and score the answers."""
    with Session(from_data(copy.deepcopy(data))) as session:
        [retrieval] = session.retrieve([question])
    found = attrs.evolve(retrieval, question=attrs.evolve(retrieval.question, answers=question.answers))
    return float(score(found)["answer_recall"] or 0.0)


def applied(data: dict[str, Any], question: Question, one: Explanation) -> Question:
    """Make the changes that an explanation names; returns the question with the links that it names."""
    for change in one.changes:
        if change.setting == "question_entities":
            question = attrs.evolve(question, links=tuple(Link(entity) for entity in change.value))
        else:
            put(data, change.setting, change.value)
    return question


def check(plants: list[Plant]) -> None:
    """Plant causes, have them explained, do what is said, and run again."""
    world = World()
    for plant in plants:
        plant(world)
    data, question = world.recipe(), world.question()
    assert recall(data, question) == 0.0
    one = explained(data, question)
    named = {change.setting for change in one.changes}
    if no_fact in plants and no_fact is not plants[0]:
        plants = [no_fact, *(plant for plant in plants if plant is not no_fact)]
    if no_fact in plants:
        # No setting brings back what the graph does not have; a link that is missing too is told first.
        assert named == set()
        if not LINKING & set(plants):
            assert one.kind == ABSENT
        world.mayor = True
        data = world.recipe()
        one = explained(data, question)
        named = {change.setting for change in one.changes}
    wanted = set().union(*(CAUSES[plant] for plant in plants))
    assert named == wanted
    if wanted:
        assert one.restored == (ANSWER,)
    question = applied(data, question, one)
    assert recall(data, question) == 1.0
    assert explained(data, question).kind == FOUND


def test_nothing_planted_is_found() -> None:
    world = World()
    one = explained(world.recipe(), world.question())
    assert (one.kind, one.changes, one.restored) == (FOUND, (), ())


@pytest.mark.parametrize("plant", CAUSES, ids=lambda plant: plant.__name__)
def test_a_planted_cause_is_named_with_a_setting_that_brings_the_answer_back(plant: Plant) -> None:
    check([plant])


@pytest.mark.parametrize(("first", "second"), [pair_of(*pair) for pair in PAIRS], ids=lambda plant: plant.__name__)
def test_two_planted_causes_are_both_named_with_settings_that_bring_the_answer_back(
    first: Plant, second: Plant
) -> None:
    check([first, second])


def test_the_command_shows_and_writes_the_settings_that_it_tried(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World()
    hub_at_an_inner_hop(world)
    width(world)
    row = {"id": "q", "question": world.text, "question_entities": ["land"], "answer_entities": [ANSWER]}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "recipe.yaml").write_text(json.dumps({**world.recipe(), "questions": "questions.jsonl"}))
    assert main(["explain", "recipe.yaml", "--quiet", "--id", "q", "--json", "why.jsonl"]) == 0
    shown = capsys.readouterr().out
    changes = json.loads((tmp_path / "why.jsonl").read_text())["changes"]
    assert changes.keys() == {"budget.hub", "expander.width"}
    named = [f"`{key}: {value}`" for key, value in changes.items()]
    assert f"with {' and '.join(named)}, the answer came back" in shown
    settings = [part for key, value in changes.items() for part in ("--set", f"{key}={value}")]
    assert main(["explain", "recipe.yaml", "--quiet", "--id", "q", *settings]) == 0
    assert "1 of 1 answers found" in capsys.readouterr().out
    assert main(["explain", "recipe.yaml", "--quiet", "--untried", "--json", "why.jsonl"]) == 0
    assert "tried" not in capsys.readouterr().out
    assert "changes" not in json.loads((tmp_path / "why.jsonl").read_text())


def test_an_answer_behind_a_hub_at_an_inner_hop_is_no_matter_of_training(capsys: pytest.CaptureFixture[str]) -> None:
    from srtk_plugin_explaining.advice import Advice
    from srtk_plugin_explaining.report import question_lines

    world = World()
    hub_at_an_inner_hop(world)
    with Session(from_data(world.recipe())) as session:
        explainer = Explainer(session)
        [one] = explainer.explain_all([world.question()])
        text = "\n".join(question_lines(one, Advice(session, explainer.expander)))
    assert (one.kind, one.cut.limits, one.cut.hop) == ("cut", ("hub",), 2)
    assert "`budget.hub: 10` cut it after hop 2, on the way to the answer (40 would keep it)" in text
    assert "after hop 2, so that the search never saw the next step (mayor)" in text
    assert "trained" not in text


def test_the_depth_of_an_expander_that_does_not_report_its_choices_is_named() -> None:
    world = World(changes={"expander": {"use": "bfs", "depth": 2}})
    one = explained(world.recipe(), world.question())
    assert {change.setting: change.value for change in one.changes} == {"expander.depth": 3}


def test_the_settings_of_an_expander_within_an_expander_are_named_by_their_keys() -> None:
    inner = {"use": "beam", "width": 1, "depth": 3, "budget": {"triples": 2}}
    world = World(changes={"expander": {"use": "outer", "inner": inner}})
    data, question = world.recipe(), world.question()
    one = explained(data, question)
    assert {change.setting for change in one.changes} == {"expander.inner.width", "expander.inner.budget.triples"}
    assert recall(data, applied(data, question, one)) == 1.0


def test_a_method_of_the_comparison_is_explained_with_its_own_keys() -> None:
    world = World()
    data = {**world.recipe(), "evaluate": {"against": [{"use": "bfs", "name": "near", "depth": 2}]}}
    with Session(from_data(data)) as session:
        [one] = Explainer(session, "near").explain_all([world.question()])
    assert {change.setting: change.value for change in one.changes} == {"evaluate.against.0.depth": 3}


def test_a_driver_object_is_varied_as_well() -> None:
    from srtk_plugin_baselines.bfs import BfsExpander
    from srtk_plugin_local.memory import MemoryGraph

    from srtk_framework.values import Budget

    graph = MemoryGraph(triples=World().triples())
    with Session.of(graph=graph, expander=BfsExpander(graph=graph, budget=Budget(triples=3), depth=3)) as session:
        [one] = Explainer(session).explain_all([World().question()])
    assert {change.setting for change in one.changes} == {"budget.triples"}


def test_an_expander_that_prepares_its_settings_when_it_opens_is_prepared_anew(install: Any) -> None:
    """Its budget is read once, in ``open``, and its class is frozen: a changed copy would go on as before."""
    source = '''
"""An expander that reads its budget when it opens."""
from __future__ import annotations
import attrs
from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Subgraph

@attrs.frozen(eq=False)
class Prepared(Expander):
    """Reads triples.

    Attributes:
        graph: Graph.
        budget: Limits.
    """
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    _most: list[int] = attrs.field(init=False, factory=list)
    def open(self):
        self._most.append(self.budget.triples)
    def close(self):
        self._most.clear()
    def expand(self, questions):
        wide = attrs.evolve(self.budget, triples=10_000)
        starts = self.graph.frontiers([[link.entity for link in q.links] for q in questions])
        rows = self.graph.neighbourhood(starts, 3, wide)
        whole = [Subgraph(triples=tuple(row), scores=(1.0,) * len(row), path_of=(-1,) * len(row)) for row in rows]
        return finish(self.graph, [one.first(self._most[0], "triples") for one in whole], wide)
'''
    install("srtk-plugin-prepared", "srtk_prepared", source, {"expander": {"prepared": "Prepared"}})
    world = World(changes={"expander": {"use": "prepared"}, "budget.triples": 2})
    one = explained(world.recipe(), world.question())
    assert {change.setting for change in one.changes} == {"budget.triples"}
    data = world.recipe()
    assert recall(data, applied(data, world.question(), one)) == 1.0


def test_a_price_that_ends_the_reading_is_named_and_lifted() -> None:
    world = World()
    world.changes |= {"expander.search.order": "nodes", "budget.price": 0.4}
    data, question = world.recipe(), world.question()
    assert recall(data, question) == 0.0
    one = explained(data, question)
    assert {change.setting for change in one.changes} == {"budget.price"}
    assert recall(data, applied(data, question, one)) == 1.0
