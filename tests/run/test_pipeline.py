from __future__ import annotations

import json

import pytest

from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.runner import Runner
from srtk_framework.run.session import Session
from srtk_framework.values import Answer, Question, RecipeError, RunError, Subgraph

READERS = '''
"""Drivers that read."""
from __future__ import annotations
import attrs
from srtk_framework.values import Message, Prompt, Reply, usage
from srtk_framework.values import DriverError
from srtk_framework.roles import Expander, Generator, KnowledgeGraph, Reader
from srtk_framework.values import HopState
from srtk_framework.values import Answer, Budget, Subgraph, Triple

@attrs.define(eq=False)
class Echo(Generator):
    """Says the last word; the second time from its cache.

    Attributes:
        price: Of a call.
    """
    price: float = 0.01
    seen: set = attrs.field(init=False, factory=set)
    def generate(self, prompts):
        replies = []
        for prompt in prompts:
            text = prompt.messages[-1].content
            replies.append(Reply(text.split()[-1], None, "stop", 5, 1, self.price, text in self.seen))
            self.seen.add(text)
        return replies

@attrs.define(eq=False)
class Told(Reader):
    """Has a generator name the object of the last triple.

    Attributes:
        generator: Who says it.
        poison: A text at which it fails.
    """
    generator: Generator
    poison: str = ""
    strict: bool = True
    def read(self, questions, subgraphs):
        if self.poison and any(self.poison in q.text for q in questions):
            raise DriverError("cannot read this")
        return [self._read(s) for s in subgraphs]
    def _read(self, subgraph):
        if not subgraph.triples:
            return Answer(enough=False)
        (reply,) = self.generator.generate([Prompt((Message("user", " ".join(subgraph.triples[-1])),))])
        trace = {"generator": usage([reply])}
        return Answer(reply.text.title(), (reply.text,), (len(subgraph.triples) - 1,), trace=trace)
    def refuses(self):
        return self.strict

@attrs.define(eq=False)
class State(HopState):
    at: str
    triples: list
    done: bool = False
    answer: Answer | None = None

@attrs.define(eq=False)
class Hopping(Expander):
    """Follows the first fact of each node."""
    graph: KnowledgeGraph
    reader: Reader
    budget: Budget
    stop: str = "reader"
    def start(self, questions):
        return [State(q.links[0].entity, []) for q in questions]
    def step(self, states):
        for state in states:
            frontier = self.graph.frontiers([[state.at]])
            steps = self.graph.steps(frontier, False)[0]
            found = self.graph.triples(frontier, steps[:1], 1)[0] if steps else []
            state.triples += found
            state.at = found[0].object if found else state.at
            state.done = not found
        return states
    def result(self, states):
        return [Subgraph(tuple(s.triples), (0.0,) * len(s.triples)) for s in states]
'''


@pytest.fixture(autouse=True)
def drivers(toys, install):
    entries = {"generator": {"echo": "Echo"}, "reader": {"told": "Told"}, "expander": {"hopping": "Hopping"}}
    install("srtk-plugin-readers", "srtk_readers", READERS, entries)


def recipe(**more):
    drivers = {"entity_linker": "words", "expander": "onehop", "generator": "echo", "reader": "told"}
    data = {"srtk": 1, "knowledge_graph": "toy", **drivers, **more}
    return {key: value for key, value in data.items() if value is not None}


def session(**more):
    return Session(from_data(recipe(**more)))


ASKED = ["what of paris?", "what of nowhere?", "what of lima?"]


def test_the_reader_of_a_recipe_is_asked_in_the_end_and_its_use_stands_in_the_trace():
    with session() as open_:
        found = open_.retrieve(ASKED)
    assert found[0].answer == Answer("France", ("france",), (0,))  # its trace has moved
    assert found[0].subgraph.answer is None
    assert found[0].subgraph.trace["reader"] == {
        "reads": 1,
        "generator": {"calls": 1, "tokens_in": 5, "tokens_out": 1, "cost": 0.01},
    }
    assert found[0].labels["france"] == "France"
    assert (found[1].answer, found[1].error is None) == (None, False)


def test_an_answer_that_the_search_ended_with_is_not_asked_for_again():
    with session(expander="hopping") as open_:
        found = open_.retrieve(ASKED[:1])[0]
    assert found.answer.entities == ("france",)
    assert (found.subgraph.trace["stop"], found.subgraph.trace["reader"]["reads"]) == ("answered", 1)
    assert open_.spent == {
        "echo": {"calls": 1, "tokens_in": 5, "tokens_out": 1, "cost": 0.01, "cached": 0, "paid": 0.01}
    }


def test_subgraphs_are_not_read_where_that_is_not_wanted():
    with session() as open_:
        assert open_.retrieve(ASKED[:1], read=False)[0].answer is None


def test_a_question_that_cannot_be_read_fails_alone():
    with session(reader={"use": "told", "poison": "lima"}) as open_:
        found = open_.retrieve(ASKED)
    assert found[0].answer.text == "France"
    assert found[2].error == "told: cannot read this"


def test_a_search_that_no_reader_can_end_is_told_before_any_work():
    with pytest.raises(RunError, match=r"hopping: .*can say `not enough`"):
        session(expander="hopping", reader={"use": "told", "strict": False}).__enter__()
    with pytest.raises(RecipeError, match="expander 'hopping' needs a reader; give one as `reader:`"):
        session(expander="hopping", reader=None)


def test_several_generators_are_told_apart_in_what_was_spent():
    dear = {"use": "told", "generator": {"use": "echo", "price": 2.0}}
    with session(expander={"use": "hopping", "reader": dear}) as open_:
        open_.retrieve(ASKED[:1])
    assert {name: spent["paid"] for name, spent in open_.spent.items()} == {"echo 1": 0.0, "echo 2": 2.0}


def run(tmp_path, **more):
    questions = tmp_path / "q.jsonl"
    lines = [{"id": f"q{i}", "question": text, "answer_entities": ["france"]} for i, text in enumerate(ASKED)]
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines))
    output = str(tmp_path / "run")
    return Runner(from_data(recipe(**{"questions": str(questions), "output": output, "evaluate": True, **more}))).run()


def records(tmp_path, method):
    lines = (tmp_path / "run" / "journal" / f"{method}.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "journal"} for line in lines]


def test_a_run_writes_answers_evaluates_them_and_tells_what_they_cost(tmp_path):
    outcome = run(tmp_path)
    assert records(tmp_path, "onehop")[0]["answer"] == {
        "text": "France",
        "entities": ["france"],
        "support": [0],
        "enough": True,
    }
    metrics = outcome.stages["evaluate"]["methods"]["onehop"]
    assert metrics["answer_hit"]["mean"] == pytest.approx(1 / 3, abs=1e-4)
    assert metrics["cost_per_1000"]["mean"] == 10.0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    used = {"calls": 2, "tokens_in": 10, "tokens_out": 2, "cost": 0.02}
    assert manifest["generators"] == {
        "usage": {"onehop": {"questions": 2, **used}},
        "spent": {"echo": {**used, "cached": 0, "paid": 0.02}},
    }
    assert "reader" in manifest["fingerprints"]


def test_records_do_not_depend_on_what_a_cache_holds(tmp_path):
    run(tmp_path, evaluate={"against": [{"use": "onehop", "name": "again"}]})
    assert records(tmp_path, "onehop") == records(tmp_path, "again")
    spent = json.loads((tmp_path / "run" / "manifest.json").read_text())["generators"]["spent"]["echo"]
    assert (spent["cached"], spent["cost"], spent["paid"]) == (2, 0.04, 0.02)


def test_subgraphs_of_an_earlier_run_are_read_without_searching_again(tmp_path):
    run(tmp_path, reader=None, generator=None)
    source = tmp_path / "subgraphs.jsonl"
    (tmp_path / "run" / "journal" / "onehop.jsonl").rename(source)
    data = {"srtk": 1, "questions": str(source), "generator": "echo", "reader": "told", "output": str(tmp_path / "run")}
    Runner(from_data(data)).run()
    assert [r["answer"] and r["answer"]["text"] for r in records(tmp_path, "given")] == ["France", None, "Peru"]


def test_questions_may_carry_subgraphs_in_python():
    with session() as open_:
        answer = open_.reader.read([Question("1", "x")], [Subgraph()])[0]
    assert answer == Answer(enough=False)
