"""The key ``train`` of a recipe with a completer, which learns from the facts of a graph."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_training.graph import held_out_facts

from srtk_framework.graph import TripleTable
from srtk_framework.host import Observer
from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner
from srtk_framework.run.session import Session
from srtk_framework.values import RecipeError, RunError, Triple

LEARNER = '''
"""Completers that learn."""
from __future__ import annotations
import json
import attrs
from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask
from srtk_framework.values import Completion, Triple, confidence

@attrs.frozen
class Settings:
    """Nothing to set."""

@attrs.define(eq=False)
class Rote(Completer):
    """Rates entities by how often it saw them at that end of any relation."""
    learns = "graph"
    reuse = "completer: {use: rote, path: FOLDER}"
    graph: KnowledgeGraph
    known: dict[str, dict[str, int]] = attrs.field(init=False, factory=dict)
    tasks: list[TrainingTask] = attrs.field(init=False, factory=list)
    def complete(self, patterns, limit):
        return [() for _ in patterns]
    def rate(self, patterns, candidates):
        rows = []
        for pattern, names in zip(patterns, candidates):
            seen = self.known.get("subject" if pattern.subject is None else "object", {})
            rows.append([confidence(seen.get(name, 0) / 100) for name in names])
        return rows
    def fit(self, task: TrainingTask, settings: Settings):
        self.tasks.append(task)
        table = TripleTable.of(self.graph).without(task.held_out)
        for end, column in (("subject", 0), ("object", 2)):
            counts = self.known[end] = {}
            for place in table.triples[:, column].tolist():
                counts[table.entities[place]] = counts.get(table.entities[place], 0) + 1
        return {"facts": len(table.triples), **(task.validate() if task.validate else {})}
    def save(self, folder):
        folder.mkdir()
        (folder / "known.json").write_text(json.dumps(self.known))
    def load(self, folder):
        self.known = json.loads((folder / "known.json").read_text())
    def fingerprint(self):
        return f"rote({sorted(self.known.items())}, {self.graph.fingerprint()})"

@attrs.define(eq=False)
class Silent(Rote):
    """Says nothing of what it learns from."""
    learns = ""

@attrs.define(eq=False)
class Reader(Rote):
    """Learns from what this version does not know."""
    learns = "graphs"

@attrs.define(eq=False)
class Loose(Completer):
    """Has no graph."""
    learns = "graph"
    def complete(self, patterns, limit): return [() for _ in patterns]
    def fit(self, task: TrainingTask, settings: Settings): return {}
    def save(self, folder): pass
    def load(self, folder): pass
'''

OTHERS = '''

@attrs.define(eq=False)
class Watched(Rote):
    """Notes the processes in which it rates, and ends the first one but its parent.

    Attributes:
        file: Takes the numbers of the processes.
        parent: Process that it leaves alone; 0 for all.
    """
    file: str = ""
    parent: int = 0
    def rate(self, patterns, candidates):
        import os
        from pathlib import Path
        first = not Path(self.file).exists()
        with open(self.file, "a") as out:
            out.write(f"{os.getpid()}\\n")
        if first and os.getpid() != self.parent and self.parent:
            os._exit(1)
        return super().rate(patterns, candidates)

@attrs.define(eq=False)
class Forgetful(Rote):
    """Saves half of what it is."""
    def save(self, folder):
        folder.mkdir()
        (folder / "known.json").write_text(json.dumps({"object": self.known["object"]}))
'''
LEARNER += OTHERS

NAMES = ("Rote", "Silent", "Reader", "Loose", "Watched", "Forgetful")
DRIVERS = {"completer": {name.lower(): name for name in NAMES}}


@pytest.fixture
def drivers(toys, install):
    install("srtk-plugin-rote", "srtk_rote_completer", LEARNER, DRIVERS)


WORLD = [
    [f"person{i}", relation, f"{relation}{(i * 7 + len(relation)) % 5}"]
    for i in range(20)
    for relation in ("born_in", "works_for", "speaks")
]


def recipe(tmp_path, train=None, triples=WORLD, **more):
    return {
        "srtk": 1,
        "output": str(tmp_path / "run"),
        "knowledge_graph": {"use": "memory", "triples": triples},
        "completer": "rote",
        "train": {"driver": "completer", "held_out": {"share": 0.1}, **(train or {})},
        **more,
    }


def run(data, **more):
    return Runner(from_data(data), train_only=True, **more).run()


@pytest.mark.usefixtures("drivers")
def test_a_completer_trains_on_its_graph_without_the_facts_held_out(tmp_path):
    trained = run(recipe(tmp_path)).stages["train"]
    assert trained.counts == {"facts": 54, "held_out": 6, "relations": 3}
    assert trained.summary == "54 facts; 6 were held out"
    assert trained.figures["facts"] == 54
    held = [line.split("\t") for line in (tmp_path / "run/training/held_out.tsv").read_text().splitlines()]
    assert len(held) == 6
    assert {relation for _, relation, _ in held} == {"born_in", "works_for", "speaks"}
    assert all(fact in WORLD for fact in held)
    card = (tmp_path / "run/training/model/README.md").read_text()
    assert "Trained on 54 facts of 3 relations; 6 others were held out." in card
    assert "`completer: {use: rote, path: FOLDER}`" in card


@pytest.mark.usefixtures("drivers")
def test_validation_ranks_the_facts_held_out_at_both_ends(tmp_path):
    figures = run(recipe(tmp_path)).stages["train"].figures
    assert {"mrr", "hits_at_1", "hits_at_3", "hits_at_10", "mrr_object", "mrr_subject"} <= set(figures)
    assert figures["mrr"] == pytest.approx((figures["mrr_object"] + figures["mrr_subject"]) / 2, abs=1e-6)
    assert 0 < figures["mrr_subject"] < figures["mrr_object"] < 1


@pytest.mark.usefixtures("drivers")
def test_a_finished_training_is_reused_and_one_with_other_facts_is_named(tmp_path):
    assert run(recipe(tmp_path)).stages["train"].repeated
    again = run(recipe(tmp_path)).stages["train"]
    assert not again.repeated
    assert again.counts["held_out"] == 6
    with pytest.raises(RunError, match=r"differs in the facts held out; "):
        run(recipe(tmp_path, {"held_out": {"share": 0.2}}))
    # Another graph has other facts too.
    with pytest.raises(RunError, match=r"differs in the settings or data of the completer, the facts held out; "):
        run(recipe(tmp_path, triples=WORLD[:-1]))
    assert run(recipe(tmp_path, {"held_out": {"share": 0.2}}), fresh=True).stages["train"].counts["held_out"] == 12


@pytest.mark.usefixtures("drivers")
def test_without_held_out_there_is_nothing_to_validate_with(tmp_path):
    data = recipe(tmp_path)
    del data["train"]["held_out"]
    with Session(from_data(data)) as session:
        trained = session.train()["train"]
        [task] = session.stages.by_key["train"].setup.driver.driver.tasks
    assert (task.validate, task.held_out) == (None, ())
    assert trained.counts == {"facts": 60, "held_out": 0, "relations": 3}


@pytest.mark.usefixtures("drivers")
def test_nothing_held_out_is_told(tmp_path):
    with pytest.raises(RunError, match=r"no fact of memory:\S+ is held out: a share of 0.01 of its 60 facts is less"):
        run(recipe(tmp_path, {"held_out": {"share": 0.01}}))
    with pytest.raises(RunError, match="each is the only fact of an entity"):
        run(recipe(tmp_path, {"held_out": {"share": 0.9}}, [["a", "p", "b"], ["c", "p", "d"]]))


@pytest.mark.usefixtures("drivers")
def test_a_graph_without_facts_between_entities_is_told(tmp_path):
    data = recipe(tmp_path, triples=[["a", "height", '"2"^^xsd:integer']])
    del data["train"]["held_out"]
    with pytest.raises(RunError, match="has no fact between two entities to learn from"):
        run(data)


@pytest.mark.usefixtures("drivers")
@pytest.mark.parametrize(
    ("train", "completer", "said"),
    [
        ({"questions": "q"}, "rote", "the completer learns from its graph, not from questions; omit questions"),
        ({"validation": 0.1}, "rote", "omit validation, and give `held_out: {share: 0.05}`"),
        ({"supervision": "gold"}, "rote", "omit supervision"),
        ({"held_out": {"share": 2}}, "rote", "held_out: share must be above 0 and below 1, not 2"),
        ({"held_out": 0.05}, "rote", "held_out is written as {share: 0.05}"),
        ({"held_out": {"shares": 0.1}}, "rote", "Did you mean 'share'"),
        ({}, "silent", "completer 'silent' cannot be trained: its class does not say `learns`; drivers learn from"),
        ({}, "reader", "from 'graphs'; drivers learn from paths, links, graph, texts, answers. Did you mean"),
        ({}, "loose", "the completer 'loose' learns from its graph, but it has none"),
    ],
)  # fmt: skip
def test_mistakes_are_told_at_check_time(tmp_path, train, completer, said):
    with pytest.raises(RecipeError) as caught:
        Session(from_data(recipe(tmp_path, train, completer=completer)))
    assert any(said in problem for problem in caught.value.problems), caught.value


@pytest.mark.usefixtures("learners")
def test_facts_are_not_held_out_of_questions(tmp_path):
    data = {
        "srtk": 1,
        "knowledge_graph": "toy",
        "path_scorer": "counter",
        "expander": "walk",
        "train": {"questions": "q", "supervision": "gold", "held_out": {"share": 0.1}},
    }
    with pytest.raises(
        RecipeError, match="held_out is for drivers that learn from a graph; give `validation:` instead"
    ):
        Session(from_data(data))


def ranked(tmp_path, place, parent=0, **more):
    """Train, and return what decides the model, and the processes that ranked."""
    pids = tmp_path / f"{place}.pids"
    completer = {"use": "watched", "file": str(pids), "parent": parent}
    facts = [*WORLD, *([f"person{i}", "likes", f"thing{i % 40}"] for i in range(1500))]
    data = recipe(tmp_path, {"held_out": {"share": 0.2}}, facts, completer=completer, **more)
    trained = run({**data, "output": str(tmp_path / place)}).stages["train"]
    assert not (trained.folder / "state").exists()
    files = {file.name: file.read_bytes() for file in trained.model.iterdir() if file.suffix == ".json"}
    return (trained.figures, trained.fingerprint, files), {int(line) for line in pids.read_text().split()}


@pytest.mark.usefixtures("drivers")
def test_the_processes_of_an_executor_rank_what_is_held_out_as_one_does(tmp_path):
    alone, here = ranked(tmp_path, "alone")
    assert here == {os.getpid()}
    for workers in (1, 2):
        executor = {"use": "processes", "workers": workers}
        found, there = ranked(tmp_path, f"workers{workers}", executor=executor)
        assert len(there) == workers
        assert os.getpid() not in there
        assert found == alone


@pytest.mark.usefixtures("drivers")
def test_what_a_process_had_to_rank_when_it_died_is_ranked_by_another(tmp_path):
    alone, _ = ranked(tmp_path, "alone", os.getpid())
    found, there = ranked(tmp_path, "spread", os.getpid(), executor={"use": "processes", "workers": 1})
    assert found[0] == alone[0]
    assert len(there) == 2


@pytest.mark.usefixtures("drivers")
def test_a_completer_that_is_another_one_after_load_is_told(tmp_path):
    data = recipe(tmp_path, completer="forgetful", executor={"use": "processes", "workers": 1})
    with pytest.raises(RunError, match=r"Forgetful is another one after `save` and `load`, .*without"):
        run(data)
    assert not (tmp_path / "run/training/state").exists()


@pytest.mark.usefixtures("drivers")
def test_an_executor_and_an_observer_of_calls_are_refused_before_the_training(tmp_path):
    class Watch(Observer):
        def before(self, call):
            pass

    data = recipe(tmp_path, executor="processes")
    with pytest.raises(RunError, match="Watch watches calls of drivers, which an executor makes in other processes"):
        Runner(from_data(data), False, [Watch()], train_only=True).run()
    assert not list(tmp_path.glob("run/training/model"))


names = st.sampled_from("abcdefgh")
facts = st.sets(st.builds(Triple, names, st.sampled_from("pqr"), names), min_size=1, max_size=40)


@given(facts, st.floats(0.01, 0.99), st.integers(0, 3))
def test_every_entity_keeps_a_fact(triples: set[Triple], share: float, seed: int) -> None:
    table = TripleTable.from_triples(triples)
    held = held_out_facts(table, share, seed)
    assert set(held) <= triples
    assert len(held) <= len(triples) * share
    left = table.without(held).triples
    assert set(left[:, [0, 2]].ravel().tolist()) == set(range(len(table.entities)))
    assert held == held_out_facts(TripleTable.from_triples(sorted(triples, reverse=True)), share, seed)


def test_relations_give_facts_in_proportion_and_seeds_give_others() -> None:
    # In a complete graph every entity has facts to spare.
    nodes = [f"n{i}" for i in range(21)]
    triples = [
        Triple(a, name, b) for name in "pq" for a in nodes for b in nodes if a != b and (name == "p" or b < "n2")
    ]
    table = TripleTable.from_triples(triples)
    held = held_out_facts(table, 0.1, 0)
    sizes = {name: sum(t.relation == name for t in triples) for name in "pq"}
    drawn = {name: sum(t.relation == name for t in held) for name in "pq"}
    assert all(abs(drawn[name] - sizes[name] / 10) <= 1 for name in "pq")
    assert len(held) == len(triples) // 10
    assert set(held) != set(held_out_facts(table, 0.1, 1))


@pytest.mark.usefixtures("drivers")
def test_the_record_holds_what_was_held_out_and_from_what(tmp_path):
    run(recipe(tmp_path))
    record = json.loads((tmp_path / "run/training/training.json").read_text())
    assert record["supervision"] == "facts of the graph"
    assert set(record["data"]) == {"held_out"}
    assert record["counts"] == {"facts": 54, "held_out": 6, "relations": 3}


@pytest.mark.usefixtures("drivers")
def test_a_run_with_a_trained_completer_is_evaluated(tmp_path):
    asked = {"id": "1", "question": "born where?", "question_entities": ["person1"], "answer_entities": ["born_in3"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(asked) + "\n")
    data = recipe(tmp_path, questions=str(tmp_path / "q.jsonl"), expander="bfs", evaluate=True)
    outcome = Runner(from_data(data)).run()
    assert outcome.stages["evaluate"]["questions"] == 1
    assert "relations in training" not in outcome.stages["evaluate"]["slices"]
