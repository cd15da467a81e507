from __future__ import annotations

import attrs
import pytest

from srtk_framework.graph.hop_loop import run_hops
from srtk_framework.host.ports import port
from srtk_framework.roles import Expander, Reader
from srtk_framework.values import Answer, Budget, DriverError, HopState, Link, Question, Subgraph, Triple

CHAIN = [Triple("jeff", "spouse", "lisa"), Triple("lisa", "born_in", "oslo"), Triple("oslo", "country", "norway")]
SIDE = Triple("jeff", "profession", "producer")


@attrs.define(eq=False)
class Walked(HopState):
    question: Question
    most: int
    hops: int = 0
    done: bool = False
    answer: Answer | None = None


@attrs.define(eq=False)
class Needed(Reader):
    """Has an answer once a triple with the last word of the question is there."""

    can: bool = True
    seen: list = attrs.field(factory=list)
    lose: bool = False

    def read(self, questions, subgraphs):
        self.seen.append([(q.id, len(s.triples)) for q, s in zip(questions, subgraphs, strict=True)])
        return [self._answer(q, s) for q, s in zip(questions, subgraphs, strict=True)][self.lose :]

    def _answer(self, question, subgraph):
        used = {"calls": 1, "tokens_in": 10, "tokens_out": 1, "cost": 0.5}
        trace = {"generator": used, "calls": [f"{question.id} {len(subgraph.triples)}"], "prompt": "read 1"}
        wanted = question.text.split()[-1]
        for i, triple in enumerate(subgraph.triples):
            if triple.relation == wanted:
                return Answer(triple.object.title(), (triple.object,), (0, i), trace=trace)
        return Answer(enough=False, trace=trace)

    def refuses(self):
        return self.can


@attrs.define(eq=False)
class Chain(Expander):
    """Reads one triple of the chain a hop, with one beside it that leads nowhere."""

    reader: Reader = None
    stop: str = "reader"
    most: int = 3
    prune: bool = False
    budget: Budget = attrs.field(factory=Budget)

    def start(self, questions):
        states = [Walked(q, self.most) for q in questions]
        for state in states:
            state.done = not state.question.links
        return states

    def step(self, states):
        for state in states:
            state.hops += 1
            state.done = state.hops >= state.most
        return states

    def result(self, states):
        return [self._result(state) for state in states]

    def _result(self, state):
        triples = [SIDE, *CHAIN[: state.hops]] if state.hops and state.question.id != "stuck" else []
        if self.prune and state.answer is not None and state.answer.enough:
            triples = CHAIN[: state.hops]
        return Subgraph(tuple(triples), (1.0,) * len(triples), trace={"hops": state.hops})


def asked(id_, last, linked=True):
    return Question(id_, f"where {last}", (Link("jeff"),) if linked else ())


def test_an_answer_ends_the_search_of_its_question_alone():
    reader = Needed()
    one, two, three = run_hops(Chain(reader), [asked("a", "spouse"), asked("b", "country"), asked("c", "born_in")])
    assert [s.trace["hops"] for s in (one, two, three)] == [1, 3, 2]
    assert [s.answer.text for s in (one, two, three)] == ["Lisa", "Norway", "Oslo"]
    assert [s.trace["stop"] for s in (one, two, three)] == ["answered"] * 3
    assert reader.seen == [[("a", 2), ("b", 2), ("c", 2)], [("b", 3), ("c", 3)], [("b", 4)]]


def test_what_the_reader_used_is_added_up_in_the_trace():
    (found,) = run_hops(Chain(Needed()), [asked("b", "born_in")])
    assert found.trace["reader"] == {
        "reads": 2,
        "generator": {"calls": 2, "tokens_in": 20, "tokens_out": 2, "cost": 1.0},
        "calls": ["b 2", "b 3"],
        "prompt": "read 1",
    }


def test_a_search_without_an_answer_ends_as_exhausted_and_keeps_the_refusal():
    reader = Needed()
    (found,) = run_hops(Chain(reader, most=1), [asked("a", "country")])
    assert (found.answer.enough, found.answer.text, found.trace["stop"]) == (False, "", "exhausted")
    assert reader.seen == [[("a", 2)]]


def test_a_subgraph_that_did_not_change_is_not_read_again():
    reader = Needed()
    (found,) = run_hops(Chain(reader, most=5), [asked("a", "nowhere")])
    assert [size for row in reader.seen for _, size in row] == [2, 3, 4]
    assert found.trace["hops"] == 5


def test_an_empty_subgraph_is_not_read():
    reader = Needed()
    stuck, loose = run_hops(Chain(reader), [asked("stuck", "spouse"), asked("loose", "spouse", linked=False)])
    assert reader.seen == []
    assert stuck.answer is None
    assert loose.answer is None
    assert stuck.trace == {"stop": "exhausted", "hops": 3}


def test_the_support_is_found_again_in_the_final_subgraph():
    whole, pruned = (run_hops(Chain(Needed(), prune=prune), [asked("a", "born_in")])[0] for prune in (False, True))
    assert [whole.triples[i] for i in whole.answer.support] == [SIDE, CHAIN[1]]
    assert pruned.triples == tuple(CHAIN[:2])
    assert [pruned.triples[i] for i in pruned.answer.support] == [CHAIN[1]]


def test_a_search_that_ran_out_of_time_says_so():
    chain = Chain(Needed(), budget=Budget(seconds=1e-9))
    (found,) = port(chain, "expander", "chain").expand([asked("a", "country")])
    assert (found.trace["stop"], found.trace["cut"]) == ("seconds", {"seconds": 1})


def test_no_question_depends_on_its_neighbours():
    questions = [asked("a", "spouse"), asked("b", "country"), asked("stuck", "x"), asked("c", "nowhere")]
    together = port(Chain(port(Needed(), "reader", "needed")), "expander", "chain").expand(questions)
    alone = [run_hops(Chain(Needed()), [question])[0] for question in questions]
    assert list(together) == alone
    assert run_hops(Chain(Needed()), questions[::-1])[::-1] == alone


def test_other_expanders_ask_no_reader():
    reader = Needed()
    (found,) = run_hops(Chain(reader, stop="depth"), [asked("a", "spouse")])
    assert (found.answer, found.trace, reader.seen) == (None, {"hops": 3}, [])


def test_a_reader_that_cannot_refuse_does_not_end_a_search():
    with pytest.raises(DriverError, match="can say `not enough`"):
        run_hops(Chain(Needed(can=False)), [asked("a", "spouse")])
    with pytest.raises(DriverError, match="needs a reader; give one"):
        run_hops(Chain(), [asked("a", "spouse")])


def test_a_reader_that_loses_a_question_is_refused():
    with pytest.raises(DriverError, match="read got 2 items and returned 1"):
        run_hops(Chain(Needed(lose=True)), [asked("a", "spouse"), asked("b", "spouse")])
