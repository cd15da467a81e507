"""Where the paths of several topics arrive, and what that is worth to each other."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_sr.topic_support import (
    BACKGROUND,
    Arrival,
    joins_of,
    path_probabilities,
    topic_support,
)

from srtk_framework.graph import Instance
from srtk_framework.values import Join, RankedPath, Step, Triple

R = Step("r")


def one(start, *nodes, confidence=1.0):
    chain = [start, *nodes]
    return Instance(tuple(Triple(a, "r", b) for a, b in itertools.pairwise(chain)), chain[-1], confidence)


def support(paths, read, topics):
    return topic_support(paths, read, path_probabilities(paths, sorted(read)), topics)


@given(scores=st.lists(st.floats(-50, 50), min_size=1, max_size=8))
def test_the_probabilities_of_all_paths_sum_to_one(scores):
    paths = [RankedPath(f"t{i}", (R,), score) for i, score in enumerate(scores)]
    found = path_probabilities(paths, range(len(paths)))
    assert math.fsum(found.values()) == pytest.approx(1)


def test_a_question_of_one_topic_has_no_support():
    paths = [RankedPath("a", (R,), 0.0), RankedPath("b", (R,), 0.0)]
    alone = support(paths, {0: [one("a", "x")], 1: [one("b", "x")]}, {"a": 0, "b": 0})
    assert alone.boost(0, ["x"]) == 1.0
    assert alone.meetings(0, ["x"]) == []


def test_the_other_topic_supports_where_its_paths_end_and_pass():
    paths = [RankedPath("a", (R,), 0.0), RankedPath("b", (R, R), 0.0)]
    both = support(paths, {0: [one("a", "x")], 1: [one("b", "x", "y")]}, {"a": 0, "b": 1})
    assert both.boost(0, ["x"]) == pytest.approx((BACKGROUND + 1) / BACKGROUND)
    assert both.boost(0, ["z"]) == 1.0
    [(at, way)] = both.meetings(0, ["x"])
    assert (at, way.rank, way.triples) == ("x", 1, (Triple("b", "r", "x"),))


def test_a_thousand_topics_at_one_node_support_it_by_a_finite_factor():
    topics = {f"t{i}": i for i in range(1000)}
    paths = [RankedPath(topic, (R,), 0.0) for topic in topics]
    found = support(paths, {i: [one(path.entity, "x")] for i, path in enumerate(paths)}, topics)
    assert 1 < found.boost(0, ["x"]) < math.inf
    assert len(found.meetings(0, ["x"])) == 999


def test_a_topic_of_which_nothing_fits_supports_less_than_the_other():
    paths = [RankedPath("a", (R,), 0.0), RankedPath("b", (R,), -math.log(2))]
    both = support(paths, {0: [one("a", "x")], 1: [one("b", "x")]}, {"a": 0, "b": 1})
    assert both.boost(0, ["x"]) == pytest.approx((BACKGROUND + 0.5) / BACKGROUND)
    assert both.boost(1, ["x"]) == pytest.approx((BACKGROUND + 1) / BACKGROUND)


def test_a_path_to_another_topic_is_supported_but_meets_nothing_there():
    paths = [RankedPath("a", (R,), 0.0), RankedPath("b", (R,), 0.0)]
    both = support(paths, {0: [one("a", "b")], 1: [one("b", "y")]}, {"a": 0, "b": 1})
    assert both.boost(0, ["b"]) == pytest.approx((BACKGROUND + 0.5) / BACKGROUND)
    assert both.meetings(0, ["b"]) == []


def test_a_way_that_is_not_certain_supports_less():
    paths = [RankedPath("a", (R,), 0.0), RankedPath("b", (R,), 0.0)]
    read = {0: [one("a", "x")], 1: [one("b", "x", confidence=0.4)]}
    assert support(paths, read, {"a": 0, "b": 1}).boost(0, ["x"]) == pytest.approx((BACKGROUND + 0.4) / BACKGROUND)


def test_meetings_of_the_same_paths_are_one_join_with_its_nodes_best_first():
    way = Arrival(0, (Triple("a", "r", "x"),), 1.0)
    met = [(2, "y", way), (1, "x", way), (2, "x", way), (2, "y", way)]
    assert joins_of(met) == (Join((0, 2), ("y", "x")), Join((0, 1), ("x",)))


def test_a_topic_that_its_own_paths_return_to_is_supported_as_much_as_they_arrive():
    paths = [RankedPath("a", (R,), 0.0), RankedPath("b", (R,), 0.0)]
    both = support(paths, {0: [one("a", "b")], 1: [one("b", "b")]}, {"a": 0, "b": 1})
    assert both.boost(0, ["b"]) == pytest.approx((BACKGROUND + 1) / BACKGROUND)


def test_of_two_ways_to_a_node_the_surer_is_met():
    paths = [RankedPath(entity, (R,), 0.0) for entity in "abbb"]
    ways = [one("b", "x", confidence=share) for share in (0.4, 0.9, 0.6)]
    both = support(paths, {0: [one("a", "x")], 1: ways[:1], 2: ways[1:2], 3: ways[2:]}, {"a": 0, "b": 1})
    [(_, way)] = both.meetings(0, ["x"])
    assert (way.rank, way.confidence) == (2, 0.9)


@pytest.mark.parametrize(("share", "met"), [(0.25, 1), (0.24, 0)])
def test_topics_meet_where_the_other_is_likely_to_arrive(share, met):
    paths = [RankedPath("a", (R,), 0.0), RankedPath("b", (R,), 0.0)]
    both = support(paths, {0: [one("a", "x")], 1: [one("b", "x", confidence=share)]}, {"a": 0, "b": 1})
    assert len(both.meetings(0, ["x"])) == met


def test_an_instance_is_raised_by_each_other_topic_at_the_node_where_most_of_it_arrives():
    paths = [RankedPath("a", (R, R), 0.0), RankedPath("b", (R,), 0.0), RankedPath("c", (R,), 0.0)]
    read = {
        0: [one("a", "x", "y")],
        1: [one("b", "x", confidence=0.8), one("b", "y", confidence=0.4)],
        2: [one("c", "y")],
    }
    found = support(paths, read, {"a": 0, "b": 1, "c": 2}).boost(0, ["x", "y"])
    assert found == pytest.approx((BACKGROUND + 0.8) / BACKGROUND * (BACKGROUND + 1) / BACKGROUND)
