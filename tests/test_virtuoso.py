"""A Virtuoso server as knowledge graph: the conformance kit, its cap of rows, and what it may not change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.vocabulary import Vocabulary

from benchmarks.loopback import graphs_in_rdf as rdf
from benchmarks.loopback import servers
from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import SAMPLE, Sample
from srtk_framework.values import Step, Triple

ROOT = Path(__file__).parents[1]
VOCABULARY = Vocabulary(prefixes={"": "http://example.org/kit/"}, decode=True, noise=("code",))
SMALL = 2000
LEAVES = 10_500
"""More than Virtuoso sorts for one page (10,000 rows by default)."""


lacks = servers.virtuoso_lacks()
pytestmark = pytest.mark.skipif(lacks is not None, reason=str(lacks))


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("virtuoso")
    file = rdf.write_sample(folder / "kit.nt", SAMPLE, VOCABULARY)
    with servers.virtuoso([file], folder / "server") as url:
        yield url


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A node with many neighbours, behind a server that gives few rows at a time."""
    folder = tmp_path_factory.mktemp("star")
    facts = [Triple(f"leaf {number:05d}", "part of", "hub") for number in range(LEAVES)]
    facts += [Triple("hub", "has part", f"leaf {number:05d}") for number in range(LEAVES)]
    file = rdf.write_ntriples(folder / "star.nt", facts, {}, {}, VOCABULARY)
    with servers.virtuoso([file], folder / "server", SMALL) as url:
        yield url


def opened(url: str, **limits: Any) -> SparqlGraph:
    settings = SparqlLimits(**{"per_second": 100000.0, **limits})
    graph = SparqlGraph(url, engine="virtuoso", vocabulary=VOCABULARY, names="scan", limits=settings)
    graph.open()
    return graph


class TestVirtuoso(KnowledgeGraphConformance):
    name = "sparql"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def driver(self, kit: str) -> Iterator[SparqlGraph]:
        with closing(opened(kit)) as graph:
            yield graph

    @pytest.fixture
    def faulty(self) -> SparqlGraph:
        return SparqlGraph("ftp://example.org/sparql")


@pytest.mark.parametrize("told", [True, False], ids=["the cap is set", "the cap is not known"])
def test_answers_that_virtuoso_cuts_are_read_in_pages(star: str, told: bool) -> None:
    with closing(opened(star, **({"rows": SMALL} if told else {}))) as graph:
        hub = graph.frontiers([["hub"]])
        assert graph.steps(hub, True) == [[Step("has part"), Step("part of", True)]]
        for step in (Step("has part"), Step("part of", True)):
            (reached,) = graph.follow(hub, [step], None)
            assert reached.size == LEAVES
            (first,) = graph.follow(hub, [step], 7)
            assert list(first.ids()) == [f"leaf {number:05d}" for number in range(7)]
            assert first.cut == LEAVES - 7


@pytest.mark.parametrize(
    "told",
    [pytest.param(True, id="the cap is set"), pytest.param(False, marks=pytest.mark.slow, id="the cap is not known")],
)
def test_counts_of_many_nodes_are_whole_though_virtuoso_cuts_them(star: str, told: bool) -> None:
    leaves = [f"leaf {number:05d}" for number in range(0, LEAVES, 4)]
    with closing(opened(star, **({"rows": SMALL} if told else {}))) as graph:
        frontiers = graph.frontiers([[leaf] for leaf in leaves])
        assert {frontier.size for frontier in frontiers} == {1}
        assert {tuple(steps) for steps in graph.steps(frontiers, True)} == {(Step("has part", True), Step("part of"))}
        assert graph.degrees(leaves) == [2] * len(leaves)
        assert graph.find(["LEAF 00007"]) == [["leaf 00007"]]
