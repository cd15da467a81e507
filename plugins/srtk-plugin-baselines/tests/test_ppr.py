"""Personalised PageRank against networkx, and the scores that triples get from it."""

from __future__ import annotations

import math
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_baselines.ppr import PprExpander, pagerank

from srtk_framework.values import Budget, Link, Question, rounded

memory = pytest.importorskip("srtk_plugin_local.memory", reason="srtk-plugin-local is not installed")

edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=25)


@given(edges, st.lists(st.floats(0.1, 1.0), min_size=1, max_size=3), st.sampled_from([0.3, 0.85]))
def test_shares_are_those_of_networkx(pairs: list[tuple[int, int]], weights: list[float], alpha: float) -> None:
    used = sorted({*range(len(weights)), *(node for pair in pairs for node in pair)})
    number = {node: i for i, node in enumerate(used)}
    graph = networkx.MultiGraph([(number[a], number[b]) for a, b in pairs])
    graph.add_nodes_from(range(len(used)))
    personal = dict(enumerate(weights))
    wanted = networkx.pagerank(graph, alpha=alpha, personalization=personal, tol=1e-12, max_iter=1000)
    restart = np.zeros(len(used))
    restart[: len(weights)] = weights
    heads, tails = (np.array([number[pair[end]] for pair in pairs]) for end in (0, 1))
    shares, _ = pagerank(heads, tails, restart, alpha, 1000, 1e-12)
    assert shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(shares, [wanted[i] for i in range(len(used))], atol=1e-9)


def expand(triples: Any, *links: Link, **settings: Any) -> Any:
    graph = memory.MemoryGraph(triples=triples)
    graph.open()
    expander = PprExpander(graph, Budget(), **settings)
    expander.open()
    return expander.expand([Question("q", "?", links)])[0]


def test_ppr_scores_a_triple_by_the_shares_of_its_ends() -> None:
    found = expand([("a", "r", "b")], Link("a"), alpha=0.5)
    # p(a) = (1 - alpha) + alpha p(b), p(b) = alpha p(a): 2/3 and 1/3.
    assert found.scores == (rounded(math.log10(2 / 9)),)


def test_ppr_prefers_what_lies_between_two_links() -> None:
    triples = [("a", "r", "m"), ("b", "r", "m"), ("a", "r", "x"), ("b", "r", "y")]
    found = expand(triples, Link("a"), Link("b"))
    assert {triple.object for triple in found.triples[:2]} == {"m"}


def test_ppr_puts_the_node_that_both_topics_reach_before_the_neighbour_of_one() -> None:
    triples = [("a", "r", "m"), ("b", "r", "m"), ("a", "r", "x")] + [("b", "r", f"y{i}") for i in range(9)]
    links = (Link("a", 1.0), Link("b", 0.2))
    apart = expand(triples, *links, meet=None)
    joint = expand(triples, *links)
    assert {triple.object for triple in apart.triples[:2]} == {"m", "x"}
    assert {triple.object for triple in joint.triples[:2]} == {"m"}


def test_ppr_of_one_topic_is_that_of_one_walk() -> None:
    triples = [("a", "r", "m"), ("b", "r", "m"), ("a", "r", "x"), ("m", "r", "z")]
    alternatives = (Link("a", 0.4, start=0, end=3), Link("b", 0.6, start=0, end=3))
    joint = expand(triples, *alternatives)
    apart = expand(triples, *alternatives, meet=None)
    assert (joint.triples, joint.scores) == (apart.triples, apart.scores)


def test_ppr_weighs_links_by_their_scores() -> None:
    triples = [("a", "r", "x"), ("b", "r", "y")]
    found = expand(triples, Link("a", 0.2), Link("b", 0.8))
    assert [triple.subject for triple in found.triples] == ["b", "a"]


def test_ppr_of_links_that_all_score_0_restarts_at_each_equally() -> None:
    found = expand([("a", "r", "x"), ("b", "r", "y")], Link("a", 0.0), Link("b", 0.0))
    assert found.scores[0] == found.scores[1]


def test_ppr_accepts_literals_as_ends() -> None:
    found = expand([("a", "r", '"1"^^xsd:integer'), ("a", "r", "b")], Link("a"))
    assert len(found.triples) == 2
