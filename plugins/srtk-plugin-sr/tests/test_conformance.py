"""The drivers of this plugin against the checks that every driver of their role must pass."""

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import DenseScorer
from srtk_plugin_sr.fit_settings import HeadFitSettings
from srtk_plugin_sr.rerank import RerankExpander
from srtk_plugin_sr.search_settings import SearchBlock
from srtk_plugin_sr.supervision import GoldPath, GoldTriples, NearShortest, ShortestPath

from srtk_framework.roles import Encoder, TrainingTask
from srtk_framework.testing import ExpanderConformance, PathScorerConformance, SupervisionConformance
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.path_scorer import ToyPathScorer
from srtk_framework.values import Link, Question, RankedPath, Step, TrainingExample


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
        return beam(graph, scorer, budget, search=SearchBlock(order="paths"))


class TestBeamByNodes(ExpanderConformance):
    name = "beam"
    relative_scores = True

    @pytest.fixture
    def driver(self, graph, scorer, budget):
        return beam(graph, scorer, budget)


class TestBeamWithShares(ExpanderConformance):
    name = "beam"

    @pytest.fixture
    def driver(self, graph, scorer, budget):
        return beam(graph, scorer, budget, depth=3, search=SearchBlock(mention="", order="paths"), paths=5)


class TestBeamAsSrtk(ExpanderConformance):
    name = "beam"

    @pytest.fixture
    def driver(self, graph, scorer, budget):
        return beam(graph, scorer, budget, variant="srtk", inverse=False, search=SearchBlock(order="paths"))


EXAMPLES = [
    TrainingExample(
        Question(f"{relation} of {entity}", f"What is the {relation} of {entity}?", (Link(entity),)),
        (RankedPath(entity, (Step(relation),), 1.0),),
    )
    for relation in ("capital", "borders", "part_of")
    for entity in ("Estonia", "Latvia", "Lithuania")
]


def rerank(graph, scorer, budget, **changes):
    inner = BeamExpander(graph=graph, scorer=scorer, budget=budget)
    inner.open()
    return RerankExpander(inner=inner, encoder=Letters(), graph=graph, budget=budget, cache="", **changes)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("head")
    graph, scorer = OracleGraph(), ToyPathScorer()
    graph.open()
    scorer.open()
    driver = rerank(graph, scorer, BeamExpander(graph=graph, scorer=scorer).budget)
    driver.open()
    driver.fit(TrainingTask(EXAMPLES, None, folder / "training"), HeadFitSettings(epochs=5, hidden=8))
    driver.save(folder / "model")
    return str(folder / "model")


def opened(graph, scorer, budget, model, **changes):
    driver = rerank(graph, scorer, budget, model=model, **changes)
    driver.open()
    return driver


def within(driver, budget):
    """Give the inner expander the limits on reading; what is kept is limited outside."""
    inner = attrs.evolve(driver.inner, budget=attrs.evolve(budget, triples=None, mass=None, tokens=None))
    inner.open()
    return inner


class TestRerank(ExpanderConformance):
    name = "rerank"

    @pytest.fixture
    def driver(self, graph, scorer, budget, model):
        return opened(graph, scorer, budget, model)

    @pytest.fixture
    def faulty(self, graph, scorer, budget):
        return rerank(graph, scorer, budget, model="no/such/folder")

    def limited(self, driver, budget):
        return self.copy_of(driver, inner=within(driver, budget), budget=budget)


class TestRerankAll(ExpanderConformance):
    name = "rerank"

    @pytest.fixture
    def driver(self, graph, scorer, budget, model):
        return opened(graph, scorer, budget, model, keep="all")

    def limited(self, driver, budget):
        return self.copy_of(driver, inner=within(driver, budget), budget=budget)


class TestGoldPath(SupervisionConformance):
    name = "gold-path"

    @pytest.fixture
    def driver(self, graph):
        driver = GoldPath(graph=graph)
        driver.open()
        return driver


class TestShortestPath(SupervisionConformance):
    name = "shortest-path"

    @pytest.fixture
    def driver(self, graph):
        driver = ShortestPath(graph=graph, threshold=0.0)
        driver.open()
        return driver


class TestNearShortest(SupervisionConformance):
    name = "near-shortest"

    @pytest.fixture
    def driver(self, graph):
        driver = NearShortest(graph=graph, threshold=0.0)
        driver.open()
        return driver


class TestGoldTriples(SupervisionConformance):
    name = "gold-triples"

    @pytest.fixture
    def driver(self):
        driver = GoldTriples()
        driver.open()
        return driver
