from __future__ import annotations

import pytest

from srtk_framework.graph import neighbourhood
from srtk_framework.graph.graph_defaults import degrees, match
from srtk_framework.host import load, port
from srtk_framework.testing import OracleGraph, Sample
from srtk_framework.values import Budget, DriverError, Neighbourhood, Pattern, Triple

FACTS = [
    ["a", "r", "b"],
    ["a", "r", "c"],
    ["a", "r", "d"],
    ["b", "s", "e"],
    ["c", "s", "e"],
    ["d", "s", "f"],
    ["f", "s", "g"],
]
OPEN = Budget(nodes=None, hub=None)


@pytest.fixture
def graph(toys):
    """Give the toy graph of the tests a hub that tells what it cut."""
    from srtk_framework.values import NodeSet

    class Telling(load("knowledge_graph", "toy")):
        def follow(self, frontiers, steps, limit):
            whole = super().follow(frontiers, steps, None)
            cut = super().follow(frontiers, steps, limit)
            return [NodeSet(few.ids(), all_.size - few.size) for few, all_ in zip(cut, whole, strict=True)]

    return Telling(facts=FACTS)


@pytest.mark.parametrize(
    ("hops", "budget", "cut"),
    [
        (3, OPEN, {}),
        (1, OPEN, {}),
        (2, Budget(nodes=None, hub=2), {"hub": 1}),
        (2, Budget(nodes=2, hub=None), {"nodes": 1}),
        (1, Budget(nodes=2, hub=None), {}),  # no hop follows that could miss them
        (1, Budget(triples=2, nodes=None, hub=None), {"triples": 1}),
        (1, Budget(triples=3, nodes=None, hub=None), {}),
        (2, Budget(triples=3, nodes=None, hub=None), {"triples": 3}),  # b, c and d are not read any more
        (2, Budget(triples=4, nodes=None, hub=None), {"triples": 2}),
    ],
)
def test_the_default_neighbourhood_counts_what_each_limit_left_out(graph, hops, budget, cut):
    (found,) = graph.neighbourhood(graph.frontiers([["a"]]), hops, budget)
    assert Neighbourhood.cut_of(found) == cut
    whole = neighbourhood(graph, graph.frontiers([["a"]]), hops, OPEN)[0]
    assert found == [triple for triple in whole if triple in found]
    assert (len(found) == len(whole)) == (not cut)


def test_each_frontier_has_its_own_cut_also_through_the_port(graph):
    behind = port(graph, "knowledge_graph", "toy")
    found = behind.neighbourhood(behind.frontiers([["a"], ["g"], ["nowhere"]]), 1, Budget(triples=2))
    assert [row.cut for row in found] == [{"triples": 1}, {}, {}]
    assert found[1] == [Triple("f", "s", "g")]


def test_nothing_is_known_of_what_a_plain_list_left_out():
    assert Neighbourhood.cut_of([Triple("a", "r", "b")]) == {}


def test_a_pattern_is_matched_along_its_own_relation_and_direction():
    rows = [Triple("a", "r", "b"), Triple("a", "s", "b"), Triple("c", "r", "a")]
    oracle = OracleGraph(Sample(triples=tuple(rows)))
    oracle.open()
    patterns = [
        Pattern("a", "r"),
        Pattern("a"),
        Pattern(None, "r", "a"),
        Pattern("a", "s", "b"),
        Pattern("a", "s", "c"),
    ]
    assert match(oracle, patterns) == [[rows[0]], rows[:2], [rows[2]], [rows[1]], []]


def test_a_pattern_without_ends_is_refused_among_others_that_have_one(graph):
    graph.open()
    with pytest.raises(DriverError, match="binds neither subject nor object"):
        match(graph, [Pattern(subject="a"), Pattern(relation="r")])


def test_names_that_load_numpy_are_imported_when_they_are_asked_for():
    import srtk_framework.graph as room

    assert room.__getattr__("TripleTable").__name__ == "TripleTable"
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        room.__getattr__("Nothing")


def test_degrees_count_each_triple_of_a_node_once():
    rows = [Triple("a", "r", "b"), Triple("a", "s", "b"), Triple("c", "r", "a"), Triple("a", "r", "a")]
    oracle = OracleGraph(Sample(triples=tuple(rows)))
    oracle.open()
    assert degrees(oracle, ["a", "b", "c", "nowhere"]) == [4, 2, 1, 0]
