"""The ``rerank`` expander, with a head trained in a moment, against the checks that every expander must pass."""

import attrs
import numpy as np
import pytest
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.head_trainer import HeadTraining
from srtk_plugin_sr.rerank import RerankExpander

from srtk_framework.roles import Course, Encoder
from srtk_framework.testing import ExpanderConformance
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.scorers import OverlapScorer
from srtk_framework.values import Lesson, Link, Question, RankedPath, Step


@attrs.define(eq=False)
class Letters(Encoder):
    """Count letters."""

    def encode(self, texts):
        rows = [[1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), 26)


LESSONS = [
    Lesson(
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
    graph, scorer = OracleGraph(), OverlapScorer()
    graph.open()
    scorer.open()
    driver = rerank(graph, scorer, BeamExpander(graph=graph, scorer=scorer).budget, entities=True)
    driver.open()
    driver.fit(Course(LESSONS, None, folder / "training"), HeadTraining(epochs=5, hidden=8))
    driver.save(folder / "model")
    return str(folder / "model")


def opened(graph, scorer, budget, model, **changes):
    driver = rerank(graph, scorer, budget, model=model, entities=True, **changes)
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
