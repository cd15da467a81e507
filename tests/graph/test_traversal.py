"""Traversal within a budget: what is kept, what is counted as cut, and how much is asked for at once."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.graph.traversal import Reached, follow_within, frontier_batches, within_nodes
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Budget, NodeSet, Step, Triple

TOWN = Step("town")
FACTS = tuple(Triple(land, "town", f"{land}{i}") for land in ("x", "y") for i in range(4))


class Counting(OracleGraph):
    """Records how many frontiers each call follows."""

    asked: list[int]

    def follow(self, frontiers, steps, limit):
        self.asked.append(len(frontiers))
        return super().follow(frontiers, steps, limit)


@pytest.fixture
def graph():
    made = Counting(Sample(triples=FACTS))
    made.asked = []
    made.open()
    return made


def ids(reached: Reached) -> list[str]:
    return list(reached.frontier.ids())


def test_without_limits_every_neighbour_is_reached(graph):
    starts = graph.frontiers([["x", "y"], ["y"], ["nowhere"]])
    found = follow_within(graph, starts, [TOWN] * 3, Budget(nodes=None, hub=None))
    assert [ids(one) for one in found] == [
        [f"{land}{i}" for land in "xy" for i in range(4)],
        ["y0", "y1", "y2", "y3"],
        [],
    ]
    assert [(one.hub, one.nodes) for one in found] == [(0, 0)] * 3


def test_what_hub_and_nodes_leave_out_is_counted_apart(graph):
    found = follow_within(graph, graph.frontiers([["x", "y"]]), [TOWN], Budget(hub=3, nodes=5))[0]
    assert ids(found) == ["x0", "x1", "x2", "y0", "y1"]
    assert (found.hub, found.nodes) == (2, 1)


def test_the_first_nodes_by_id_are_kept(graph):
    whole, some = graph.frontiers([["x", "y"], ["x1", "x0", "y3"]])
    found = within_nodes(graph, [whole, some], 2)
    assert [ids(one) for one in found] == [["x", "y"], ["x0", "x1"]]
    assert [one.nodes for one in found] == [0, 1]


def test_many_frontiers_are_followed_in_several_calls(graph):
    starts = graph.frontiers([["x"]]) * 10_000
    assert len(follow_within(graph, starts, [TOWN] * 10_000, Budget())) == 10_000
    assert graph.asked == [8192, 1808]


@attrs.frozen
class Sized:
    size: int


@given(st.lists(st.builds(Sized, st.integers(0, 250_000)), max_size=40))
def test_batches_hold_every_frontier_once_and_few_nodes_unless_one_has_many(frontiers):
    batches = list(frontier_batches(frontiers))
    assert [i for batch in batches for i in range(batch.start, batch.stop)] == list(range(len(frontiers)))
    for batch in batches:
        held = frontiers[batch]
        assert held
        assert len(held) == 1 or sum(one.size for one in held) <= 200_000


def test_a_frontier_that_a_graph_cut_says_so():
    class Cutting(OracleGraph):
        def follow(self, frontiers, steps, limit):
            return [NodeSet(["a"], 7) for _ in frontiers]

    [found] = follow_within(Cutting(Sample(triples=FACTS)), [NodeSet(["x"])], [TOWN], Budget())
    assert (ids(found), found.hub, found.nodes) == (["a"], 7, 0)


@pytest.mark.parametrize(
    ("sizes", "slices"),
    [
        ([], []),
        ([0], [(0, 1)]),
        ([1, 1, 1], [(0, 3)]),
        ([1, 1, 1, 1], [(0, 3), (3, 4)]),  # no more frontiers than the limit
        ([4, 6], [(0, 2)]),  # as many nodes as the limit
        ([4, 7], [(0, 1), (1, 2)]),
        ([99, 0, 1], [(0, 1), (1, 3)]),  # a frontier above the limit goes alone
        ([5, 5, 5, 5, 1], [(0, 2), (2, 4), (4, 5)]),  # the count begins anew in each batch
        ([5, 6, 4, 1], [(0, 1), (1, 3), (3, 4)]),
    ],
)
def test_a_batch_ends_at_either_limit(monkeypatch, sizes, slices):
    monkeypatch.setattr("srtk_framework.graph.traversal._PAIRS_AT_ONCE", 3)
    monkeypatch.setattr("srtk_framework.graph.traversal._NODES_AT_ONCE", 10)
    frontiers = [NodeSet(f"n{number}" for number in range(size)) for size in sizes]
    assert [(one.start, one.stop) for one in frontier_batches(frontiers)] == slices


@pytest.mark.parametrize(("arrays", "batches"), [(object(), 3), (None, 1)])
def test_a_graph_with_arrays_is_read_within_the_cache(monkeypatch, arrays, batches):
    graph = OracleGraph(Sample(triples=FACTS))
    monkeypatch.setattr(graph, "arrays", lambda: arrays)
    assert len(list(frontier_batches([Sized(8000)] * 5, graph))) == batches


def test_a_batch_holds_two_hundred_thousand_nodes():
    sizes = [100_000, 100_000, 1, 100_000, 99_999, 1]
    assert [(one.start, one.stop) for one in frontier_batches([Sized(size) for size in sizes])] == [
        (0, 2),
        (2, 5),
        (5, 6),
    ]


def test_a_batch_holds_8192_frontiers():
    assert [(one.start, one.stop) for one in frontier_batches([Sized(0)] * 8193)] == [(0, 8192), (8192, 8193)]
