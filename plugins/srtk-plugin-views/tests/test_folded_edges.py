"""Edges over blank nodes: paths, limits, the ways that a triple stands for, and servers without ids of blank nodes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views.folded_edges import FoldedEdges
from srtk_plugin_views.owl_terms import owl_terms

from srtk_framework.values import Frontier, Literal, Triple

TERMS = owl_terms(
    {
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "owl": "http://www.w3.org/2002/07/owl#",
    }
)
ONE = Literal.make("1", "xsd:integer")


class Counted(MemoryGraph):
    """Notes the nodes whose steps are read, and in which direction."""

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Any:
        self.__dict__.setdefault("read", []).extend((id_, inverse) for one in frontiers for id_ in one.ids())
        return super().steps(frontiers, inverse)


def triples(text: str) -> list[Triple]:
    return [
        Triple(s, r, Literal(o[1:]) if o.startswith("=") else o) for s, r, o in map(str.split, text.strip().split(";"))
    ]


def edges_of(text: str, depth: int = 4, most: int = 100, unnamed: Any = None, **settings: Any) -> FoldedEdges:
    graph = Counted(triples(text), **settings)
    graph.open()
    graph.__dict__["read"] = []
    return FoldedEdges(graph, TERMS, depth, most, unnamed)


def out(edges: FoldedEdges, node: str, inverse: bool = False) -> Mapping[str, Sequence[str]]:
    edges.load([node], inverse)
    return edges.ends(node, inverse)


def test_a_chain_has_the_relations_on_its_way_and_ends_are_sorted_each_once() -> None:
    edges = edges_of("a p _:1; a p _:2; _:1 q c; _:1 q b; _:2 q b; _:1 r _:3; _:3 s d; a p z; a .t z")
    assert out(edges, "a") == {"p..q": ["b", "c"], "p..r..s": ["d"], "p": ["z"], r"\.t": ["z"]}
    assert out(edges, "b", True) == {"p..q": ["a"]}
    assert out(edges, "d", True) == {"p..r..s": ["a"]}
    assert out(edges, "z", True) == {"p": ["a"], r"\.t": ["a"]}
    assert out(edges, "_:1") == out(edges, "_:1", True) == {}


@pytest.mark.parametrize(("depth", "kept", "left_out"), [(4, 4, 0), (3, 3, 1), (2, 2, 1), (1, 1, 1)])
def test_a_chain_is_as_long_as_the_depth(depth: int, kept: int, left_out: int, caplog: Any) -> None:
    edges = edges_of("a p1 b1; a p1 _:1; _:1 p2 b2; _:1 p2 _:2; _:2 p3 b3; _:2 p3 _:3; _:3 p4 b4", depth)
    with caplog.at_level(logging.WARNING):
        found = out(edges, "a")
    assert [ends for _, ends in sorted(found.items())] == [[f"b{n}"] for n in range(1, kept + 1)]
    assert edges.left_out == left_out
    told = f"a: 1 edges over blank nodes were left out, beyond depth {depth} or 100 nodes; raise `depth` or `most`"
    assert [record.getMessage() for record in caplog.records] == [told] * left_out


def test_no_more_than_most_blank_nodes_are_read_and_a_node_is_counted_and_told_once(caplog: Any) -> None:
    text = "; ".join(f"a p _:{n}; _:{n} q b{n}" for n in range(5)) + "; c p _:5; _:5 q d; c p _:6; _:6 q d"
    edges = edges_of(text, most=2)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            edges.load(["a", "c"], False)
            edges._joined[False].clear()
    assert out(edges, "a") == {"p..q": ["b0", "b1"]}
    assert edges.left_out == 3
    assert [record.getMessage()[:10] for record in caplog.records] == ["a: 3 edges"]


def test_a_node_leads_back_over_at_most_so_many_blank_nodes(caplog: Any) -> None:
    text = "; ".join(f"a{n} p _:{n}; _:{n} q b" for n in range(4))
    with caplog.at_level(logging.WARNING):
        edges = edges_of(text, most=3)
        assert out(edges, "b", True) == {"p..q": ["a0", "a1", "a2"]}
    assert edges.left_out == 1
    assert "b: 1 edges" in caplog.text
    edges = edges_of(text, most=4)
    assert out(edges, "b", True) == {"p..q": ["a0", "a1", "a2", "a3"]}
    assert edges.left_out == 0


def test_blank_nodes_with_a_name_or_to_which_nothing_leads_are_nodes() -> None:
    edges = edges_of("a p _:1; _:1 q b; a p _:n; _:n q c; _:t p _:2; _:2 q d", labels={"_:n": "Named"})
    assert out(edges, "a") == {"p..q": ["b"], "p": ["_:n"]}
    assert out(edges, "_:n") == {"q": ["c"]}
    assert out(edges, "_:t") == {"p..q": ["d"]}
    assert out(edges, "d", True) == {"p..q": ["_:t"]}
    assert out(edges, "c", True) == {"q": ["_:n"]}


LIST = "a p _:1; _:1 rdf:first x; _:1 rdf:rest _:2; _:2 rdf:first =1; _:2 rdf:rest rdf:nil"


def test_members_of_a_list_are_objects_of_the_triple_to_the_list() -> None:
    edges = edges_of(f"{LIST}; a p rdf:nil; a q =rdf:nil2")
    assert out(edges, "a") == {"p": ["1", "x"], "q": ["rdf:nil2"]}
    assert out(edges, "x", True) == {"p": ["a"]}
    assert out(edges, "rdf:nil") == out(edges, "rdf:nil", True) == {}


def test_the_head_of_a_list_that_nothing_leads_to_has_all_members_along_first() -> None:
    edges = edges_of("_:1 rdf:first x; _:1 rdf:rest _:2; _:2 rdf:first y; _:2 rdf:rest rdf:nil; _:1 size z")
    assert out(edges, "_:1") == {"rdf:first": ["x", "y"], "size": ["z"]}
    # Without a member the next node is reached along rest.
    assert out(edges_of("a rdf:rest b"), "a") == {"rdf:rest": ["b"]}


RESTRICTION = "_:k rdf:type owl:Restriction; _:k owl:onProperty eats"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"koala rdfs:subClassOf _:k; {RESTRICTION}; _:k owl:someValuesFrom leaf", {"eats": ["leaf"]}),
        (f"koala owl:equivalentClass _:k; {RESTRICTION}; _:k owl:hasValue =1", {"eats": ["1"]}),
        (f"koala rdf:type _:k; {RESTRICTION}; _:k owl:minCardinality =1", {"eats..owl:minCardinality": ["1"]}),
        (f"koala likes _:k; {RESTRICTION}; _:k owl:someValuesFrom leaf", {"likes..eats": ["leaf"]}),
        (
            f"koala likes _:k; {RESTRICTION}; _:k owl:onProperty sees; _:k owl:someValuesFrom leaf",
            {"likes..eats": ["leaf"], "likes..sees": ["leaf"]},
        ),
        (
            "koala rdfs:subClassOf _:i; _:i owl:intersectionOf _:1; _:1 rdf:first animal; _:1 rdf:rest _:2;"
            f" _:2 rdf:first _:k; _:2 rdf:rest rdf:nil; {RESTRICTION}; _:k owl:someValuesFrom leaf",
            {"rdfs:subClassOf..owl:intersectionOf": ["animal"], "eats": ["leaf"]},
        ),
        (
            "koala rdfs:subClassOf _:1; _:1 rdfs:subClassOf _:2; _:2 rdfs:subClassOf animal",
            {"rdfs:subClassOf": ["animal"]},
        ),
        (
            "koala rdfs:subClassOf _:1; _:1 rdf:type owl:Class; _:1 rdf:type b; _:1 rdf:type z",
            {"rdfs:subClassOf..rdf:type": ["b", "z"]},
        ),
        ("koala p _:1; _:1 rdf:type c; _:1 q owl:Class", {"p..rdf:type": ["c"], "p..q": ["owl:Class"]}),
        ("koala rdf:type owl:Class", {"rdf:type": ["owl:Class"]}),
        ("koala p _:1; _:1 owl:onProperty =1; _:1 q b", {"p..owl:onProperty": ["1"], "p..q": ["b"]}),
        ("koala p _:1; _:1 owl:unionOf _:2; _:2 owl:unionOf b", {"p..owl:unionOf": ["b"]}),
        ("koala p _:1; _:1 q _:2; _:2 q b", {"p..q..q": ["b"]}),
    ],
)
def test_classes_and_restrictions_are_named_by_what_they_mean(text: str, found: dict[str, list[str]]) -> None:
    assert out(edges_of(text), "koala") == found


def test_paths_through_class_expressions_do_not_count_for_the_depth() -> None:
    text = "a rdfs:subClassOf _:i; _:i owl:unionOf _:1; _:1 rdf:first _:k; _:1 rdf:rest rdf:nil"
    text += f"; {RESTRICTION}; _:k owl:someValuesFrom b; _:k owl:someValuesFrom _:m; _:m p c"
    edges = edges_of(text, depth=1)
    assert out(edges, "a") == {"eats": ["b"]}
    assert edges.left_out == 1
    assert out(edges_of(text, depth=2), "a") == {"eats": ["b"], "eats..p": ["c"]}
    # A type is part of an expression at its start alone.
    edges = edges_of("a rdf:type _:1; _:1 rdf:type _:2; _:2 p b", depth=1)
    assert out(edges, "a") == {}
    assert edges.left_out == 1


def test_a_property_or_a_class_of_structure_is_not_reached_from_below() -> None:
    edges = edges_of(f"koala rdfs:subClassOf _:k; {RESTRICTION}; _:k owl:someValuesFrom leaf")
    assert out(edges, "eats", True) == {}
    assert out(edges, "owl:Restriction", True) == {}
    assert out(edges, "leaf", True) == {"eats": ["koala"]}


def test_a_cycle_of_blank_nodes_ends() -> None:
    edges = edges_of("a p _:1; _:1 p _:2; _:2 p _:1; _:2 q b", depth=3)
    assert out(edges, "a") == {"p..p..q": ["b"]}
    assert edges.left_out == 1
    assert out(edges, "b", True) == {"p..p..q": ["a"]}


def test_a_literal_is_found_from_all_nodes_that_lead_to_it() -> None:
    edges = edges_of(f"{LIST}; b q _:9; _:9 r =1; c q =1; c q =2; d q _:8; _:8 r =2")
    wanted = [Triple("a", "p", Literal("1")), Triple("b", "q..r", Literal("1")), Triple("c", "q", Literal("1"))]
    assert edges.leading_to(Literal("1")) == wanted
    assert edges.leading_to(Literal("3")) == []


def test_a_triple_stands_for_each_way_to_its_object_in_order_from_its_subject() -> None:
    edges = edges_of("a p _:1; a p _:2; _:1 q b; _:2 q b; _:2 q c; a .p b; _:1 r _:3; _:3 s b")
    edges.load(["a", "_:1"], False)
    one, two = ((Triple("a", "p", f"_:{n}"), Triple(f"_:{n}", "q", "b")) for n in (1, 2))
    assert sorted(edges.ways(Triple("a", "p..q", "b"))) == [one, two]
    assert edges.ways(Triple("a", r"\.p", "b")) == [(Triple("a", ".p", "b"),)]
    long = (Triple("a", "p", "_:1"), Triple("_:1", "r", "_:3"), Triple("_:3", "s", "b"))
    assert edges.ways(Triple("a", "p..r..s", "b")) == [long]
    assert edges.ways(Triple("a", "p..q", "d")) == []
    assert edges.ways(Triple("a", "p..q", Literal("b"))) == []
    assert edges.ways(Triple("_:1", "q", "b")) == []
    assert edges.qualifiers("a", ("p", "q"), "b") == ()


def test_what_is_kept_is_counted_and_nothing_is_read_again() -> None:
    edges = edges_of("a p _:1; _:1 q b")
    edges.load(["a"], False)
    # The blank node is judged; two nodes were read with a triple each; there is one edge.
    assert edges._kept == 1 + 2 + 2 + 1
    read = list(edges._graph.__dict__["read"])
    assert read == [("a", False), ("_:1", False)]
    edges.load(["a", Literal("a")], False)
    assert edges._graph.__dict__["read"] == read
    assert edges._kept == 6


class Server:
    """Blank nodes of a server that has no ids for them; notes what it is asked."""

    def __init__(self, text: str, starts: Mapping[str, Sequence[str]]) -> None:
        self.rows = triples(text)
        self.above = starts
        self.asked: list[list[str]] = []

    def triples(self, nodes: Iterable[str]) -> list[Triple]:
        asked = list(nodes)
        self.asked.append(asked)
        return [triple for triple in self.rows if triple.subject.startswith("_:") or triple.subject in asked]

    def find(self, names: Sequence[str]) -> list[list[str]]:
        return [[f"server {name}"] for name in names]

    def starts(self, ends: Iterable[str]) -> dict[str, Sequence[str]]:
        asked = list(ends)
        self.asked.append(asked)
        return {end: self.above.get(end, ()) for end in asked}


def test_blank_nodes_without_ids_are_read_from_the_server() -> None:
    server = Server("a p _:1; _:1 q b; _:1 q _:2; _:2 r c; a s _:3", {"b": ["a"], "c": ["a"], "owl:Class": ["a"]})
    edges = edges_of("a p x; a t y; z rdf:type owl:Class; b p c", unnamed=server)
    assert out(edges, "a") == {"p": ["x"], "t": ["y"], "p..q": ["b"], "p..q..r": ["c"]}
    assert server.asked == [["a"]]
    assert out(edges, "b", True) == {"p..q": ["a"]}
    assert out(edges, "c", True) == {"p": ["b"], "p..q..r": ["a"]}
    # Structure leads to the classes of structure, which is not asked for.
    assert out(edges, "owl:Class", True) == {"rdf:type": ["z"]}
    assert server.asked == [["a"], ["b"], ["c"], ["b"], [], ["z"]]
    assert edges.called(["n"]) == [["server n"]]
    assert list(map(list, edges_of("a p b").called(["a", "n"]))) == [["a"], []]


def test_what_a_server_adds_is_counted() -> None:
    edges = edges_of("a p x", unnamed=Server("a p _:1; _:1 q b", {}))
    edges.load(["a"], False)
    # Read: a with its triple; from the server: a and the blank node with a triple each; two edges.
    assert edges._kept == 2 + 4 + 2
