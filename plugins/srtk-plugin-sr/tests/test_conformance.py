"""The drivers of this plugin against the checks that every driver of their role must pass."""

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import DenseScorer

from srtk_framework.roles import Encoder
from srtk_framework.testing import ExpanderConformance, PathScorerConformance


@attrs.define(eq=False)
class Letters(Encoder):
    """Count letters."""

    def encode(self, texts):
        rows = [[1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), 26)


def dense(**changes):
    driver = DenseScorer(encoder=Letters(), graph=MemoryGraph(triples=[["a", "capital", "b"]]), cache="", **changes)
    driver.open()
    return driver


class TestDense(PathScorerConformance):
    name = "dense"

    @pytest.fixture
    def driver(self):
        return dense()

    @pytest.fixture
    def faulty(self):
        return attrs.evolve(dense(), text={"inverse": "no place"})


class TestDenseByPath(PathScorerConformance):
    name = "dense"

    @pytest.fixture
    def driver(self):
        return dense(rule="gain", step_cost=0.5, return_cost=1.0)


class TestDenseAsSrtk(PathScorerConformance):
    name = "dense"

    @pytest.fixture
    def driver(self):
        return dense(rule="srtk-sum", text="srtk")


def beam(graph, scorer, budget, **changes):
    driver = BeamExpander(graph=graph, scorer=scorer, budget=budget, **changes)
    driver.open()
    return driver


class TestBeam(ExpanderConformance):
    name = "beam"

    @pytest.fixture
    def driver(self, graph, scorer, budget):
        return beam(graph, scorer, budget)

    @pytest.fixture
    def faulty(self, graph, scorer):
        return BeamExpander(graph=graph, scorer=scorer, width=0)


class TestBeamWithShares(ExpanderConformance):
    name = "beam"

    @pytest.fixture
    def driver(self, graph, scorer, budget):
        return beam(graph, scorer, budget, depth=3, share=2, mention="", paths=5)


class TestBeamAsSrtk(ExpanderConformance):
    name = "beam"

    @pytest.fixture
    def driver(self, graph, scorer, budget):
        return beam(graph, scorer, budget, end_at_start=True, stop_when_full=True, overflow="drop", inverse=False)
