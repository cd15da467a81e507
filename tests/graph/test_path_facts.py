from __future__ import annotations

import attrs
import pytest

from srtk_framework.graph.hop_loop import run_hops
from srtk_framework.graph.path_facts import facts, path_order
from srtk_framework.host.ports import port
from srtk_framework.roles import Expander
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Budget, DriverError, HopState, Question, RankedPath, Step, Subgraph, Triple


@attrs.define
class Counting(HopState):
    hops: int
    wanted: int

    @property
    def done(self):
        return self.hops >= self.wanted


@attrs.define
class Walker(Expander):
    """Takes as many hops as the question has words."""

    budget: Budget = attrs.field(factory=Budget)
    drop: bool = False

    def start(self, questions):
        return [Counting(0, len(q.text.split())) for q in questions]

    def step(self, states):
        return [Counting(s.hops + 1, s.wanted) for s in states][: len(states) - self.drop]

    def result(self, states):
        return [Subgraph(trace={"hops": s.hops}) for s in states]


def hops(subgraphs):
    return [s.trace["hops"] for s in subgraphs]


QUESTIONS = [Question("a", "one"), Question("b", "one two three"), Question("c", "")]


def test_the_loop_steps_each_state_until_it_is_done():
    assert hops(run_hops(Walker(), QUESTIONS)) == [1, 3, 0]
    assert hops(port(Walker(), "expander", "walker").expand(QUESTIONS)) == [1, 3, 0]


def test_a_step_that_loses_a_state_is_refused():
    with pytest.raises(DriverError, match="step got 2 items and returned 1"):
        run_hops(Walker(drop=True), QUESTIONS)


def test_no_hop_starts_after_the_time_limit_and_the_trace_records_it():
    walker = Walker(budget=Budget(seconds=1e-9))
    subgraphs = port(walker, "expander", "walker").expand(QUESTIONS)
    assert hops(subgraphs) == [0, 0, 0]
    assert [s.trace.get("cut") for s in subgraphs] == [{"seconds": 1}, {"seconds": 1}, None]


TRIPLES = [
    ("ann", "knows", "bob"),
    ("ann", "knows", "cid"),
    ("ann", "knows", "dan"),
    ("bob", "lives_in", "riga"),
    ("cid", "lives_in", "oslo"),
    ("cid", "lives_in", "rome"),
]


@pytest.fixture
def graph():
    oracle = OracleGraph(Sample(triples=tuple(Triple(*t) for t in TRIPLES)))
    oracle.open()
    return oracle


def path(score, *steps):
    return RankedPath("ann", tuple(Step.parse(s) for s in steps), score)


def read(graph, *paths, **budget):
    return facts(graph, [list(paths)], Budget(**budget))[0]


def test_only_complete_instances_of_a_path_are_kept_one_after_the_other(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"))
    assert [tuple(t) for t in subgraph.triples] == [
        ("ann", "knows", "bob"),
        ("bob", "lives_in", "riga"),
        ("ann", "knows", "cid"),
        ("cid", "lives_in", "oslo"),
        ("cid", "lives_in", "rome"),
    ]
    assert subgraph.scores == (-1.0,) * 5


def test_a_triple_keeps_its_best_path(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"), path(-2.0, "knows"))
    assert dict(zip(subgraph.triples, subgraph.path_of, strict=True))[Triple("ann", "knows", "bob")] == 0
    assert dict(zip(subgraph.triples, subgraph.path_of, strict=True))[Triple("ann", "knows", "dan")] == 1


def test_the_budget_cuts_triples_and_counts_them_and_the_unread_paths(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"), path(-2.0, "knows"), triples=3)
    assert len(subgraph.triples) == 3
    assert subgraph.trace["cut"] == {"paths": 1, "triples": 2}


def test_a_hub_on_the_last_hop_is_cut_and_counted(graph):
    subgraph = read(graph, path(-1.0, "knows"), hub=2)
    assert [t.object for t in subgraph.triples] == ["bob", "cid"]
    assert subgraph.trace["cut"] == {"hub": 1}


def test_a_hub_on_an_earlier_hop_is_cut_and_counted(graph):
    subgraph = read(graph, path(-1.0, "knows", "lives_in"), hub=1)
    assert [t.object for t in subgraph.triples] == ["bob", "riga"]
    assert subgraph.trace["cut"] == {"hub": 2}


def test_inverse_steps_give_triples_in_their_own_direction(graph):
    subgraph = facts(graph, [[RankedPath("riga", (Step("lives_in", True), Step("knows", True)), -1.0)]], Budget())[0]
    assert set(subgraph.triples) == {Triple("bob", "lives_in", "riga"), Triple("ann", "knows", "bob")}


def test_paths_are_ordered_by_score_then_steps_then_entity():
    best, tie_a, tie_b = path(-0.5, "x"), path(-1.0, "a"), path(-1.0, "b")
    assert sorted([tie_b, tie_a, best], key=path_order) == [best, tie_a, tie_b]
