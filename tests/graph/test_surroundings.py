"""Triples around an entity and between two: diverse, counted, the shortest paths first."""

from __future__ import annotations

from typing import Any

import pytest

import srtk_framework
from srtk_framework.graph import neighbours
from srtk_framework.testing import OracleGraph, Sample
from srtk_framework.values import Literal, RunError, Step, Triple

ROWS = [
    *(["latvia", "airport", f"airport {i}"] for i in range(30)),
    ["latvia", "capital", "riga"],
    *([f"person {i}", "citizen of", "latvia"] for i in range(3)),
    *([f"town {i}", "lies in", "person 2"] for i in range(2)),
    ["latvia", "area", '"64589"'],
    ["riga", "twin", "bremen"],
    ["bremen", "lies in", "germany"],
    ["latvia", "borders", "germany"],
]


@pytest.fixture
def session() -> Any:
    graph = {"use": "memory", "triples": ROWS, "labels": {"latvia": "Latvia", "riga": "Riga"}}
    with srtk_framework.open({"srtk": 1, "knowledge_graph": graph}) as session:
        yield session


def test_each_relation_of_an_entity_shows_a_triple_before_any_shows_two(session: Any) -> None:
    [found] = session.neighbours(["latvia"], triples=6)
    assert [t.relation for t in found.subgraph.triples] == [
        *("area", "borders", "capital", "citizen of", "airport", "citizen of")
    ]
    # Of a relation, the neighbour with the most triples.
    assert found.subgraph.triples[3].subject == "person 2"
    assert found.subgraph.trace["left_out"] == {"^citizen of": "1", "airport": "29"}
    assert found.labels["riga"] == "Riga"
    assert len(found.subgraph.provenance) == 6


def test_a_relation_that_was_not_read_to_the_end_says_so(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("srtk_framework.run.session._NEIGHBOURS", 10)
    [found] = session.neighbours(["latvia"], triples=6)
    assert found.subgraph.trace["left_out"]["airport"] == "9+"


def test_enough_room_leaves_nothing_out_and_an_unknown_entity_has_nothing(session: Any) -> None:
    whole, none = session.neighbours(["latvia", "atlantis"], triples=100)
    assert len(whole.subgraph.triples) == 36
    assert whole.subgraph.trace["left_out"] == {}
    assert none.subgraph.triples == ()
    assert "reason" not in whole.subgraph.trace
    assert none.subgraph.trace["reason"] == "the graph has none of the entities atlantis; check their ids"


def test_the_shortest_connection_comes_first_and_each_path_is_whole(session: Any) -> None:
    found = session.paths("latvia", "germany", depth=3).subgraph
    assert [path.steps for path in found.paths] == [
        (Step("borders"),),
        (Step("capital"), Step("twin"), Step("lies in")),
    ]
    assert [str(t.relation) for t in found.triples] == ["borders", "capital", "twin", "lies in"]
    assert found.path_of == (0, 1, 1, 1)
    assert found.scores == (-1.0, -3.0, -3.0, -3.0)
    some = session.paths("latvia", "germany", depth=3, triples=3).subgraph
    assert [t.relation for t in some.triples] == ["borders"]
    assert some.trace["cut"] == {"triples": 3}


def test_entities_that_nothing_connects_have_a_reason(session: Any) -> None:
    for depth, said in ((1, "1 step"), (2, "2 steps")):
        found = session.paths("town 1", "germany", depth=depth).subgraph
        assert found.triples == ()
        assert found.trace["reason"] == f"no path of at most {said} connects them"
    strange = session.paths("atlantis", "germany", depth=2).subgraph
    assert strange.trace["reason"] == "the graph has none of the entities atlantis; check their ids"


def test_a_session_without_a_graph_says_so() -> None:
    with srtk_framework.open({"srtk": 1}) as session, pytest.raises(RunError, match="no graph"):
        session.neighbours(["latvia"])


@pytest.mark.parametrize(("triples", "paths", "cut"), [(4, 2, None), (3, 1, 3), (1, 1, 3)])
def test_a_path_that_just_fits_is_shown_and_one_that_does_not_is_counted_whole(
    session: Any, triples: int, paths: int, cut: int | None
) -> None:
    found = session.paths("latvia", "germany", depth=3, triples=triples).subgraph
    assert len(found.paths) == paths
    assert found.trace.get("cut", {}).get("triples") == cut


def test_an_entity_comes_before_a_literal_of_its_relation_and_the_entity_itself_has_a_reason() -> None:
    mixed = (Triple("a", "mixed", Literal('"aaa"')), Triple("a", "mixed", "zed"))
    graph = OracleGraph(Sample(triples=mixed))
    graph.open()
    assert [triple.object for triple in neighbours(graph, ["a"], 9, 9)[0].triples] == ["zed", '"aaa"']
    rows = [["s", "to", f"m{i:03}"] for i in range(101)]
    rows += [[f"m{i:03}", "on", "e"] for i in range(101)]
    with srtk_framework.open({"srtk": 1, "knowledge_graph": {"use": "memory", "triples": rows}}) as session:
        assert session.paths("s", "s").subgraph.trace["reason"] == "both are the same entity"
        # A hundred ways of the path, of two triples each.
        assert len(session.paths("s", "e", depth=2, triples=1000).subgraph.triples) == 200
