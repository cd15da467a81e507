"""Margins of the beam: what is far below the best is left out, at the end or at each hop."""

import attrs
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander

from srtk_framework.roles import PathScorer
from srtk_framework.values import END, DriverError, Link, Question

SCORES = {"near": -0.1, "second": -1.0, "far": -4.0, "": -0.5}


@attrs.define(eq=False)
class Table(PathScorer):
    """Scores a step by the name of its relation."""

    def score(self, questions, paths, candidates):
        return [[SCORES[step.relation] if step != END else -0.5 for step in row] for row in candidates]


@pytest.fixture
def graph():
    graph = MemoryGraph(triples=[[a, r, b] for a, b in ("xy", "yz") for r in ("near", "second", "far")])
    graph.open()
    yield graph
    graph.close()


def search(graph, **settings):
    beam = BeamExpander(graph, Table(), width=20, depth=2, inverse=False, **settings)
    beam.open()
    return beam.expand([Question("q", "?", (Link("x"),))])[0]


def test_paths_far_below_the_best_are_left_out(graph):
    every = search(graph).paths
    near = search(graph, margin=1.0).paths
    assert len(every) > len(near) > 1
    assert near == tuple(path for path in every if path.score >= every[0].score - 1.0)


def test_a_margin_of_zero_keeps_the_best_alone(graph):
    assert len(search(graph, margin=0.0).paths) == 1


def test_a_margin_at_each_hop_follows_fewer_paths_and_keeps_the_best(graph):
    every, few = search(graph), search(graph, hop_margin=1.0)
    assert few.trace["scored"] < every.trace["scored"]
    assert few.paths[0] == every.paths[0]
    assert all(path.steps[0].relation != "far" for path in few.paths)


@pytest.mark.parametrize("name", ["margin", "hop_margin"])
def test_a_margin_below_zero_is_refused(graph, name):
    with pytest.raises(DriverError, match=f"{name} is -1"):
        search(graph, **{name: -1.0})
