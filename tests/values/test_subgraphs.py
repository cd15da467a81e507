from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import networkx
import pytest
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import Answer, Evidence, FoundPaths, Join, Literal, RankedPath, Step, Subgraph, Triple

TRIPLES = tuple(Triple("riga", "twin_of", town) for town in ("oslo", "perm", "kyiv", "turku"))
PATH = RankedPath("riga", (Step("twin_of"),), 1.0)


def subgraph(**more) -> Subgraph:
    return Subgraph(
        TRIPLES,
        (0.4, 0.3, 0.2, 0.1),
        (PATH,),
        (0, 0, 0, -1),
        ("a", "b", "c", "d"),
        ((), (("since", "1"),), (), ()),
        **more,
    )


def test_the_first_triples_keep_their_scores_paths_sources_and_qualifiers():
    first = subgraph().first(2)
    assert first.triples == TRIPLES[:2]
    assert (first.scores, first.path_of, first.provenance) == ((0.4, 0.3), (0, 0), ("a", "b"))
    assert first.qualifiers == ((), (("since", "1"),))
    assert first.paths == (PATH,)


def test_dropped_triples_are_added_to_those_a_limit_cut_before():
    before = subgraph(trace={"hops": 2, "cut": {"hub": 7, "tokens": 1}})
    assert before.first(3, "tokens").trace == {"hops": 2, "cut": {"hub": 7, "tokens": 2}}
    assert before.trace["cut"] == {"hub": 7, "tokens": 1}


def test_a_subgraph_within_the_count_is_returned_unchanged():
    whole = subgraph()
    assert whole.first(4) is whole


def test_an_answer_loses_the_support_that_is_cut():
    kept = subgraph(answer=Answer("Oslo and Turku", support=(0, 3))).first(2).answer
    assert kept == Answer("Oslo and Turku", support=(0,))


def test_the_support_of_an_answer_follows_reordered_triples():
    moved = Answer("Oslo", support=(0, 1)).moved(TRIPLES, (TRIPLES[1], TRIPLES[2], TRIPLES[0]))
    assert moved.support == (0, 2)


def test_support_that_is_gone_is_dropped():
    assert Answer("Oslo", support=(0, 2)).moved(TRIPLES, [TRIPLES[2]]).support == (0,)


def test_paths_meet_no_more_where_no_triple_is_left():
    joined = attrs.evolve(subgraph(), joins=(Join((0,), (TRIPLES[0].subject, "gone")), Join((0,), ("gone",))))
    assert joined.first(1).joins == (Join((0,), (TRIPLES[0].subject,)),)
    assert joined.first(9).joins == joined.joins


def test_the_expected_recall_is_unknown_once_triples_are_cut():
    known = attrs.evolve(subgraph(), expected_recall=0.8)
    assert known.first(9).expected_recall == 0.8
    assert known.first(1).expected_recall is None


def test_a_subgraph_without_an_answer_is_cut_to_one_without():
    assert subgraph().first(1).answer is None


def test_equal_triples_support_an_answer_once():
    moved = Answer("Oslo", support=(0, 1)).moved((TRIPLES[0], TRIPLES[0]), (TRIPLES[1], TRIPLES[0]))
    assert moved.support == (1,)


def test_found_paths_are_a_sequence_of_their_paths():
    paths = ((Step("twin_of"),), (Step("capital_of"), Step("currency")))
    found = FoundPaths(paths, {"hub": 2})
    assert (len(found), found[0], found[:1], list(found)) == (2, paths[0], paths[:1], list(paths))


BORN = Triple("Q1", "born", Literal('"1879-03-14"^^xsd:date'))
FACTS = (Triple("Q1", "born in", "Q2"), Triple("Q1", "died in", "Q2"), BORN)
BORN_IN = RankedPath("Q1", (Step("born in"),), -0.5)
BIOGRAPHY = Subgraph(
    FACTS, (0.9, 0.8, 0.7), (BORN_IN,), (0, -1, -1), ("memory:1",) * 3, ((("since", "Q3"),), (), ()), {"hops": 1}
)


def test_each_triple_is_an_edge_with_its_score_path_provenance_and_qualifiers() -> None:
    graph = BIOGRAPHY.to_networkx()
    assert list(graph.edges(keys=True)) == [
        (*FACTS[0][::2], "born in"),
        ("Q1", "Q2", "died in"),
        ("Q1", BORN.object, "born"),
    ]
    assert graph.edges["Q1", "Q2", "born in"] == {
        "relation": "born in",
        "score": 0.9,
        "path": "born in",
        "provenance": "memory:1",
        "qualifiers": '[["since", "Q3"]]',
    }
    assert "path" not in graph.edges["Q1", "Q2", "died in"]


def test_literals_are_marked_nodes_with_their_value_as_label() -> None:
    graph = BIOGRAPHY.to_networkx({"Q1": "Albert Einstein", "born": "date of birth"})
    assert dict(graph.nodes(data=True)) == {
        "Q1": {"literal": False, "label": "Albert Einstein"},
        "Q2": {"literal": False},
        BORN.object: {"literal": True, "label": "1879-03-14"},
    }
    assert graph.edges["Q1", BORN.object, "born"]["label"] == "date of birth"


def test_a_graph_in_memory_takes_it_back() -> None:
    graph = MemoryGraph.from_networkx(BIOGRAPHY.to_networkx({"Q2": "Ulm"}))
    frontiers = graph.frontiers([["Q1"]])
    steps = graph.steps(frontiers, False)[0]
    found = [triple for step in steps for triple in graph.triples(frontiers, [step], None)[0]]
    assert sorted(found) == sorted(FACTS)
    assert isinstance(next(t.object for t in found if t.relation == "born"), Literal)
    assert graph.labels(["Q2", BORN.object]) == ["Ulm", "1879-03-14"]


def test_a_subgraph_of_bare_triples_has_edges_without_scores() -> None:
    graph = Subgraph(FACTS[:1]).to_networkx()
    assert graph.edges["Q1", "Q2", "born in"] == {"relation": "born in"}


def told(graph: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the nodes' labels and the edges' attributes of a graph that was read back."""
    names = ("relation", "label", "score", "path", "provenance", "qualifiers", "confidence", "evidence")
    return {
        (subject, data["relation"], object_): {name: data[name] for name in names if name in data}
        | {"ends": [graph.nodes[end].get("label", end) for end in (subject, object_)]}
        for subject, object_, data in graph.edges(data=True)
    }


@pytest.mark.parametrize("form", ["graphml", "gexf", "node-link"])
def test_networkx_writes_it_in_its_formats_and_reads_the_same_back(form: str, tmp_path: Path) -> None:
    hostile = 'a "quote" `tick` ] <b>&\n\u202eright\u202c日'
    subgraph = attrs.evolve(COMPLETED, triples=(*FACTS[:2], Triple(hostile, hostile, Literal.make(hostile))))
    graph = subgraph.to_networkx({"Q1": hostile, "born in": hostile})
    file = tmp_path / "graph"
    if form == "node-link":
        file.write_text(json.dumps(networkx.node_link_data(graph)), encoding="utf-8")
        back = networkx.node_link_graph(json.loads(file.read_text(encoding="utf-8")))
    else:
        getattr(networkx, f"write_{form}")(graph, file)
        back = getattr(networkx, f"read_{form}")(file)
    assert told(back) == told(graph)


REASON = Evidence("path", "who was born somewhere has a citizenship", triples=(FACTS[0],))
COMPLETED = attrs.evolve(
    BIOGRAPHY, confidences=(1.0, 0.5, 1.0), evidence=((), (REASON,), ()), answer=Answer("x", ("Q2",), support=(1, 2))
)


def test_an_edge_that_the_graph_lacks_has_a_confidence_and_evidence() -> None:
    graph = COMPLETED.to_networkx()
    assert graph.edges["Q1", "Q2", "died in"]["confidence"] == 0.5
    assert graph.edges["Q1", "Q2", "died in"]["evidence"] == json.dumps([REASON.text])
    assert "confidence" not in graph.edges["Q1", "Q2", "born in"]


def test_ordering_moves_all_columns_and_the_support_of_the_answer() -> None:
    found = COMPLETED.ordered([2, 1])
    assert found.triples == (COMPLETED.triples[2], COMPLETED.triples[1])
    for name in Subgraph.COLUMNS:
        if getattr(COMPLETED, name):
            assert getattr(found, name) == (getattr(COMPLETED, name)[2], getattr(COMPLETED, name)[1])
    assert found.answer is not None
    assert found.answer.support == (0, 1)


def test_ordering_leaves_empty_columns_empty() -> None:
    assert Subgraph(FACTS[:2]).ordered([1]) == Subgraph(FACTS[1:2])


def test_every_field_with_a_value_for_each_triple_is_a_column() -> None:
    others = {"paths", "trace", "answer", "joins", "expected_recall", "searches"}
    assert {field.name for field in attrs.fields(Subgraph)} == {*Subgraph.COLUMNS, *others}
