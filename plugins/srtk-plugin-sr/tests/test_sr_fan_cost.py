from __future__ import annotations

import math

import attrs
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander

from srtk_framework.roles import KnowledgeGraph, PathScorer
from srtk_framework.values import Budget, Link, Question, Step

TRIPLES = [
    ["riga", "capital_of", "latvia"],
    ["riga", "mentioned_in", "book"],
    *[["riga", "twin_city", f"city{i}"] for i in range(8)],
    ["latvia", "currency", "euro"],
]


@attrs.define
class Even(PathScorer):
    """Finds every step as likely as any other."""

    def score(self, questions, paths, candidates):
        return [[-1.0] * len(row) for row in candidates]


@pytest.fixture
def graph():
    return MemoryGraph(triples=TRIPLES)


def paths(graph: KnowledgeGraph, **settings):
    beam = BeamExpander(graph=graph, scorer=Even(), inverse=False, **settings)
    beam.open()
    [subgraph] = beam.expand([Question("q", "riga?", (Link("riga"),))])
    return {path.steps: path.score for path in subgraph.paths}


def test_a_step_costs_the_logarithm_of_the_nodes_that_it_reaches(graph):
    found = paths(graph, depth=1, fan_cost=0.5)
    assert found[(Step("capital_of"),)] == -1.0
    assert found[(Step("twin_city"),)] == round(-1.0 - 0.5 * math.log(8), 4)


def test_neighbours_that_the_hub_limit_leaves_out_count_too(graph):
    found = paths(graph, depth=1, fan_cost=0.5, budget=Budget(hub=2))
    assert found[(Step("twin_city"),)] == round(-1.0 - 0.5 * math.log(8), 4)


def test_without_a_cost_the_number_of_nodes_does_not_matter(graph):
    assert set(paths(graph, depth=1).values()) == {-1.0}


def test_a_cheaper_continuation_from_beyond_the_beam_can_still_win(graph):
    # By text alone 'twin_city' stands last in a beam of 2; by cost it falls away and the others stay.
    assert set(paths(graph, depth=1, width=2, fan_cost=0.5)) == {(Step("capital_of"),), (Step("mentioned_in"),)}


def test_the_cost_adds_up_along_the_path(graph):
    assert paths(graph, depth=2, fan_cost=0.5)[(Step("capital_of"), Step("currency"))] == -2.0
