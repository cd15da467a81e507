"""The weights of links, and the order of the triples found."""

from __future__ import annotations

import pytest
from srtk_plugin_structgpt.search_state import SearchState, copy_state, found_triple, link_weights, ranked_subgraph

from srtk_framework.values import DriverError, HopState, Link, Question, Step, Triple

JEFF = [
    ("jeff", "spouse", "lisa", (Step("spouse"),), 1.0),
    ("show", "nominee", "jeff", (Step("nominee", True),), 0.5),
    ("lisa", "born_in", "oslo", (Step("spouse"), Step("born_in")), 1.5),
    ("show", "winner", "tom", (Step("nominee", True), Step("winner")), 2.5),
]


@pytest.fixture
def state():
    """Return a state with four triples: two from the linked entity, one behind each of them."""
    made = SearchState(Question("q", "Who?"), "Who?", {"jeff": ("jeff",)}, [])
    for subject, relation, object_, steps, score in JEFF:
        one = found_triple(Triple(subject, relation, object_), "jeff", steps, score)
        made.found[one.triple] = one
        made.parents[one.end] = one.triple
    return made


def test_the_last_step_decides_from_which_end_a_triple_was_read():
    forward = found_triple(Triple("a", "r", "b"), "a", (Step("r"),), 1.0)
    backward = found_triple(Triple("a", "r", "b"), "b", (Step("r", True),), 1.0)
    assert (forward.start, forward.end) == ("a", "b")
    assert (backward.start, backward.end) == ("b", "a")


def test_a_triple_has_the_score_of_the_best_path_through_it_and_follows_its_parent(state):
    subgraph = ranked_subgraph(state.found, state.parents, {}, {})
    assert subgraph.triples == (
        ("show", "nominee", "jeff"),
        ("show", "winner", "tom"),
        ("jeff", "spouse", "lisa"),
        ("lisa", "born_in", "oslo"),
    )
    assert subgraph.scores == (2.5, 2.5, 1.5, 1.5)
    assert [path.score for path in subgraph.paths] == [2.5, 1.5]
    assert subgraph.path_of == (0, 0, 1, 1)


def test_a_triple_that_leads_to_where_topics_meet_comes_before_those_of_better_paths(state):
    one = found_triple(Triple("norway", "city", "oslo"), "norway", (Step("city"),), 1.0)
    state.found[one.triple] = one
    subgraph = ranked_subgraph(
        state.found, state.parents, {"jeff": 0, "norway": 1}, {"jeff": ("jeff",), "norway": ("norway",)}
    )
    assert subgraph.triples[:3] == (
        ("jeff", "spouse", "lisa"),
        ("lisa", "born_in", "oslo"),
        ("norway", "city", "oslo"),
    )
    assert [[subgraph.paths[rank].entity for rank in join.paths] for join in subgraph.joins] == [["jeff", "norway"]]
    assert subgraph.joins[0].nodes == ("oslo",)


def test_cuts_stand_in_the_trace_of_a_subgraph(state):
    assert state.subgraph(state.found).trace == {}
    state.count_cut("relation", 2)
    state.count_cut("hub", 0)
    state.count_cut("relation", 1)
    assert state.subgraph(state.found).trace == {"cut": {"relation": 3}}


def test_a_copy_of_a_state_can_change_without_the_original(state):
    copy = copy_state(state)
    copy.found.clear()
    copy.count("back", 1)
    copy.end("nothing new was reached")
    assert len(state.found) == 4
    assert state.counts == {}
    assert not state.ended


def test_the_state_of_another_expander_is_refused():
    with pytest.raises(DriverError, match="not a SearchState"):
        copy_state(HopState())


def test_links_of_one_span_share_their_weight():
    links = (Link("a", 0.6, 0, 4), Link("b", 0.2, 0, 4), Link("c", 0.3), Link("d", 0.5, 6, 9), Link("b", 0.1, 10, 12))
    assert link_weights(links) == {"b": 0.0, "c": 0.0, "d": 0.0, "a": -0.25}
