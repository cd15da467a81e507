"""A subgraph as a networkx graph, and back."""

from __future__ import annotations

from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import Literal, RankedPath, Step, Subgraph, Triple

BORN = Triple("Q1", "born", Literal('"1879-03-14"^^xsd:date'))
TRIPLES = (Triple("Q1", "born in", "Q2"), Triple("Q1", "died in", "Q2"), BORN)
PATH = RankedPath("Q1", (Step("born in"),), -0.5)
FOUND = Subgraph(
    TRIPLES, (0.9, 0.8, 0.7), (PATH,), (0, -1, -1), ("memory:1",) * 3, ((("since", "Q3"),), (), ()), {"hops": 1}
)


def test_each_triple_is_an_edge_with_its_score_path_provenance_and_qualifiers() -> None:
    graph = FOUND.to_networkx()
    assert list(graph.edges(keys=True)) == [
        (*TRIPLES[0][::2], "born in"),
        ("Q1", "Q2", "died in"),
        ("Q1", BORN.object, "born"),
    ]
    assert graph.edges["Q1", "Q2", "born in"] == {
        "score": 0.9,
        "path": PATH,
        "provenance": "memory:1",
        "qualifiers": (("since", "Q3"),),
    }
    assert graph.edges["Q1", "Q2", "died in"]["path"] is None


def test_literals_are_marked_nodes_with_their_value_as_label() -> None:
    graph = FOUND.to_networkx({"Q1": "Albert Einstein", "born": "date of birth"})
    assert dict(graph.nodes(data=True)) == {
        "Q1": {"literal": False, "label": "Albert Einstein"},
        "Q2": {"literal": False},
        BORN.object: {"literal": True, "label": "1879-03-14"},
    }
    assert graph.edges["Q1", BORN.object, "born"]["label"] == "date of birth"


def test_a_graph_in_memory_takes_it_back() -> None:
    graph = MemoryGraph.from_networkx(FOUND.to_networkx({"Q2": "Ulm"}))
    frontiers = graph.frontiers([["Q1"]])
    steps = graph.steps(frontiers, False)[0]
    found = [triple for step in steps for triple in graph.triples(frontiers, [step], None)[0]]
    assert sorted(found) == sorted(TRIPLES)
    assert isinstance(next(t.object for t in found if t.relation == "born"), Literal)
    assert graph.labels(["Q2", BORN.object]) == ["Ulm", "1879-03-14"]


def test_a_subgraph_of_bare_triples_has_edges_without_scores() -> None:
    graph = Subgraph(TRIPLES[:1]).to_networkx()
    assert graph.edges["Q1", "Q2", "born in"] == {"score": None, "path": None, "provenance": None, "qualifiers": ()}
