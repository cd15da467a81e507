"""The view `folded` over a snapshot, over a loaded store and over a server with blank nodes: the same graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.store import DATA
from srtk_plugin_views.folded import FoldedGraph

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.testing import served
from srtk_framework.values import Literal, Pattern, Step, Triple

AT = "http://ex.org/"
CREW = """
@prefix : <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:crew :members ( :ada :bo ( :cy "Di" ) ) ; rdfs:label "Crew" ; :boat :ark .
:ada rdfs:label "Ada" ; :address [ :city :riga ; :place [ :land :latvia ; :code [ :text "LV" ] ] ] .
:Koala rdfs:label "Koala" ;
  rdfs:subClassOf :Animal , [ a owl:Restriction ; owl:onProperty :habitat ; owl:someValuesFrom :Forest ] .
:choir :members ( :ada ) ; rdfs:label "Choir" .
:Student owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :Person
  [ a owl:Restriction ; owl:onProperty :works ; owl:hasValue true ] ) ] .
:members rdfs:label "member" . :boat rdfs:label "boat" . :address rdfs:label "at" . :city rdfs:label "in" .
:place rdfs:label "place" . :land rdfs:label "land" . :code rdfs:label "code" . :text rdfs:label "text" .
:works rdfs:label "works" .
:Forest rdfs:label "Forest" . :habitat rdfs:label "habitat" .
"""
NODES = [AT + name for name in ("crew", "ada", "bo", "cy", "ark", "riga", "latvia", "Koala", "Animal", "Forest")]
NODES += [AT + name for name in ("choir", "Student", "Person", "habitat")] + [
    "http://www.w3.org/2002/07/owl#Restriction"
]


@contextmanager
def folded(graph: KnowledgeGraph) -> Iterator[FoldedGraph]:
    with closing(graph), closing(FoldedGraph(graph)) as view:
        graph.open()
        view.open()
        yield view


@pytest.fixture(params=["store", "loaded server", "server"])
def graph(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FoldedGraph]:
    file = tmp_path / "crew.ttl"
    file.write_text(CREW)
    if request.param == "server":
        import pyoxigraph

        store = pyoxigraph.Store(str(tmp_path / "plain"))
        store.bulk_load(CREW.encode(), format=pyoxigraph.RdfFormat.TURTLE)
        del store
        place = tmp_path / "plain"
    else:
        load([file], tmp_path / "store")
        place = tmp_path / "store" / DATA
    if request.param == "store":
        with folded(SparqlGraph(str(tmp_path / "store"))) as view:
            yield view
        return
    with served(place) as url, folded(SparqlGraph(url, engine="oxigraph")) as view:
        yield view


@pytest.fixture
def snapshot(tmp_path: Path) -> Iterator[FoldedGraph]:
    (tmp_path / "copy.ttl").write_text(CREW)
    build(BuildSettings(files=(str(tmp_path / "copy.ttl"),)), tmp_path / "snapshot")
    with folded(LocalGraph(str(tmp_path / "snapshot"))) as view:
        yield view


def test_every_read_is_that_of_the_snapshot(graph: FoldedGraph, snapshot: FoldedGraph) -> None:
    first, second = [one.frontiers([[node] for node in NODES]) for one in (graph, snapshot)]
    assert [one.ids() for one in first] == [one.ids() for one in second]
    assert graph.steps(first, True) == snapshot.steps(second, True)
    patterns = [*(Pattern(subject=node) for node in NODES), *(Pattern(object=node) for node in NODES)]
    patterns += [Pattern(object=Literal.make(text)) for text in ("LV", "Di")]
    found = graph.match(patterns)
    assert found == snapshot.match(patterns)
    assert [len(row) for row in found[-2:]] == [1, 1]
    assert graph.degrees(NODES) == snapshot.degrees(NODES)
    assert graph.find(["Crew", "Koala", "Choir", "habitat"]) == [[AT + "crew"], [AT + "Koala"], [AT + "choir"], []]
    assert snapshot.find(["Crew", "Koala", "Choir", "habitat"]) == [[AT + "crew"], [AT + "Koala"], [AT + "choir"], []]
    relations = sorted(
        {step.relation for steps in graph.steps(first, True) for step in steps if "#" not in step.relation}
    )
    assert graph.labels(relations) == snapshot.labels(relations)
    assert "at: in" in graph.labels(relations)


def test_lists_restrictions_and_chains_are_one_step(graph: FoldedGraph) -> None:
    (crew,) = graph.frontiers([[AT + "crew"]])
    (members,) = graph.follow([crew], [Step(AT + "members")], None)
    assert members.ids() == (AT + "ada", AT + "bo", AT + "cy")
    assert Triple(AT + "Koala", AT + "habitat", AT + "Forest") in graph.match([Pattern(subject=AT + "Koala")])[0]
    (found,) = graph.match([Pattern(object=AT + "latvia")])
    assert found == [Triple(AT + "ada", f"{AT}address..{AT}place..{AT}land", AT + "latvia")]
