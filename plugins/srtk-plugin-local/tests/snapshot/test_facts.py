"""The facts, names and qualifiers that the properties of a graph become."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.property_graphs.elements import Properties, PropertyGraph, Typed
from srtk_plugin_local.snapshot.property_graphs.facts import Wishes, facts, value_of

from srtk_framework.values import InputError, Literal

Rows = list[tuple[Any, ...]]


def read(graph: PropertyGraph, **wishes: Any) -> tuple[Rows, FileReport]:
    report = FileReport("a.graphml", "graphml")
    return [tuple(row) for row in facts(graph, Wishes(**wishes), report)], report


def of_node(properties: Properties, id_: str = "n1") -> Rows:
    return read(PropertyGraph(nodes={id_: properties}))[0]


def of_edges(*edges: Properties, undirected: int = 0, **wishes: Any) -> tuple[Rows, FileReport]:
    graph = PropertyGraph()
    for number, properties in enumerate(edges):
        graph.add_edge("a", f"b{number}", properties, directed=number >= undirected)
    return read(graph, **wishes)


def test_a_property_that_repeats_the_id_is_no_fact_where_its_last_word_says_so() -> None:
    properties: Properties = dict.fromkeys(("my old node id", "node id", "id card", "mark"), "n1")
    assert [row[1] for row in of_node(properties)] == ["id card", "mark"]


def test_the_name_of_a_node_is_the_best_that_is_not_its_id() -> None:
    assert of_node({"name": "n1", "label": "Ada"}) == [("n1", "label", "Ada", "label")]
    assert of_node({"name": "Ada", "label": "Countess"}) == [
        ("n1", "label", "Ada", "label"),
        ("n1", "label", "Countess", "alias"),
    ]
    assert of_node({"name": "n1"}) == [("n1", "label", "n1", "label")]
    assert of_node({"name": ["Ada", "Addie"], "title": "Lady"}) == [
        *(("n1", "label", "Ada", "label"), ("n1", "name", "Addie", "text"), ("n1", "title", "Lady", "text")),
    ]


def test_other_properties_of_a_node_are_aliases_types_and_literals() -> None:
    found = of_node(
        {"alias": "Addie", "labels": ":Person:Vertex:Woman", "born": Typed("1815"), "note": "x", "n id": "n1"}
    )
    assert found == [
        ("n1", "alias", "Addie", "alias"),
        ("n1", "rdf:type", "Person", "entity"),
        ("n1", "rdf:type", "Woman", "entity"),
        ("n1", "born", "1815", "literal"),
        ("n1", "note", "x", "text"),
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a<SEP> b <SEP>", ["a", "b"]),
        ('["a", "", "b"]', ["a", "b"]),
        ('["a", ["b"], "c"]', ['["a", ["b"], "c"]']),
        ('["a" "b"]', ['["a" "b"]']),
        ("[a]", ["[a]"]),
    ],
)
def test_a_text_that_holds_several_values_gives_each(text: str, parts: list[str]) -> None:
    assert [row[2] for row in of_node({"note": text})] == parts


def test_a_node_without_a_name_has_that_of_its_id_where_others_have_names() -> None:
    graph = PropertyGraph(nodes={"n1": {"name": "Ada"}, "Grey_Mill": {}, "n2": {}})
    graph.add_edge("n1", "Town_Hall", {})
    assert [row for row in read(graph)[0] if row[3] == "label"] == [
        ("n1", "label", "Ada", "label"),
        ("Grey_Mill", "label", "Grey Mill", "label"),
        ("Town_Hall", "label", "Town Hall", "label"),
    ]
    assert [row[3] for row in of_node({}, "Grey_Mill")] == []


def test_further_relations_of_an_edge_are_its_qualifiers() -> None:
    first: Properties = {"relation": ["knows", "likes"], "label": "works for", "since": Typed("1990")}
    rows, report = of_edges(first, {"since": "late"})
    assert rows == [
        ("a", "knows", "b0", "entity"),
        ("a", "knows", "b0", "since", '"1990"^^xsd:integer'),
        ("a", "knows", "b0", "relation", '"likes"'),
        ("a", "knows", "b0", "label", '"works for"'),
        ("a", "edge", "b1", "entity"),
        ("a", "edge", "b1", "since", '"late"'),
    ]
    assert report.rows == 2
    assert any("it is called 'edge'" in note for note in report.notes)


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        (("2", "2.0"), 0),
        (("2", "3"), 2),
        (("1",), 0),
        (("1.0",), 0),
        (("2",), 1),  # of a single edge, which tells as much as any property
        (("x",), 1),
    ],
)
def test_equal_weights_say_nothing(weights: tuple[str, ...], kept: int) -> None:
    rows, _ = of_edges(*({"label": "knows", "weight": Typed(weight)} for weight in weights))
    assert sum(row[3] == "weight" for row in rows) == kept
    rows, _ = of_edges(*({"label": "knows", "weight": Typed(weight)} for weight in weights), keep=("weight",))
    assert sum(row[3] == "weight" for row in rows) == len(weights)


@pytest.mark.parametrize(("undirected", "told"), [(0, ""), (1, "1 "), (2, "its edges have no direction")])
def test_edges_without_direction_are_told(undirected: int, told: str) -> None:
    notes = of_edges({"label": "knows"}, {"label": "likes"}, undirected=undirected)[1].notes
    assert [note.startswith(told) for note in notes if "no direction" in note or "has no" in note] == [True] * bool(
        told
    )


def test_a_value_is_a_literal_with_the_type_of_its_form() -> None:
    texts = ("7", Typed("7"), Typed("1.5"), Typed("TRUE"), '"x"@en', '"x"', '"7"^^xsd:byte')
    assert [str(value_of(text)) for text in texts] == [
        *('"7"', '"7"^^xsd:integer', '"1.5"^^xsd:decimal', '"true"^^xsd:boolean', '"x"@en', '""x""', '"7"^^xsd:byte'),
    ]


def test_keys_that_are_words_are_the_relation_where_the_properties_leave_a_doubt() -> None:
    def found(*properties: Properties) -> list[str]:
        graph = PropertyGraph()
        for number, (key, own) in enumerate(zip(("knows", "likes"), properties, strict=True)):
            graph.add_edge("a", f"b{number}", own, key)
        return [row[1] for row in read(graph)[0] if row[3] == "entity"]

    assert found({}, {}) == ["knows", "likes"]
    assert found({"keywords": "sees"}, {"keywords": "hears"}) == ["knows", "likes"]
    assert found({"relation": "sees"}, {"relation": "hears"}) == ["sees", "hears"]


def test_what_draws_a_node_or_numbers_it_is_left_out_and_told_unless_it_is_kept() -> None:
    uuid = "0b1c2d3e-0000-4000-8000-00000000000a"
    properties: Properties = {"size": Typed("3"), "mark": uuid, "updated at": "today", "note": "x"}
    graph = PropertyGraph(nodes={"n1": properties}, layout={"shape of it", "gone"})
    graph.add_edge("n1", "n1", {"label": "knows", "shape of it": "round"})
    rows, report = read(graph)
    assert rows == [("n1", "knows", "n1", "entity"), ("n1", "note", "x", "text")]
    assert report.notes == [
        "left out as layout and bookkeeping: size, updated at, mark, shape of it; --keep NAME,... reads them"
    ]
    assert {column["column"]: column["as"] for column in report.columns} == {
        "size of nodes": "layout",
        "mark of nodes": "bookkeeping",
        "updated at of nodes": "bookkeeping",
        "shape of it of edges": "layout",
        "label of edges": "relation",
        "note of nodes": "literal",
    }
    rows, report = read(graph, keep=("mark", "shape of it"))
    assert [row[1] for row in rows] == ["knows", "knows", "mark", "note"]
    assert [row[1] for row in read(graph, relation="shape of it")[0]][:1] == ["round"]


def test_words_for_a_missing_value_are_counted_but_names_stay() -> None:
    graph = PropertyGraph(nodes={"n1": {"name": "None", "note": "null"}, "n2": {"name": "Bo", "note": "N/A"}})
    graph.add_edge("n1", "n2", {"label": "none"})
    rows, report = read(graph)
    assert rows == [
        ("n1", "edge", "n2", "entity"),
        ("n1", "label", "None", "label"),
        ("n2", "label", "Bo", "label"),
    ]
    assert report.notes[0] == "3 values such as null were left out as empty"
    assert report.rows == 3


def test_groups_undeclared_ends_and_qualifiers_are_rows_and_told() -> None:
    qualifier = ("a", "r", "b", "since", "1990")
    graph = PropertyGraph(nodes={"a": {}}, members={("a", "g"): None}, qualifiers=[qualifier])
    graph.add_edge("a", "c", {"label": "r"})
    graph.add_edge("a", "b", {"label": "r"})
    rows, report = read(graph)
    assert rows[2:] == [qualifier, ("a", "part of", "g", "entity")]
    assert report.notes == [
        "1 node is nested in groups: facts of the relation 'part of'",
        "2 nodes of edges are not declared, such as 'b'; each is an entity that its id names",
    ]
    assert report.rows == 3
    assert read(PropertyGraph()) == ([], FileReport("a.graphml", "graphml"))


def test_a_relation_that_is_wished_for_must_be_there() -> None:
    with pytest.raises(InputError, match=r"no edge has a property 'knd'; the edges have \['kind', 'since'\]"):
        of_edges({"kind": "knows", "since": "x"}, relation="knd")
    assert of_edges({"kind": "knows", "since": "x"}, relation="since")[0][0][:3] == ("a", "x", "b0")


@pytest.mark.parametrize(
    ("ids", "left_out"),
    [(("e1", "e2"), True), (("e1", "e1"), False), (("e1", "first one"), False)],
)
def test_numbers_of_edges_are_left_out_unless_they_are_kept(ids: tuple[str, ...], left_out: bool) -> None:
    edges: list[Properties] = [{"relation": "knows", "id": id_, "type": "Directed"} for id_ in ids]
    rows, report = of_edges(*edges)
    assert {row[3] for row in rows} == ({"entity"} if left_out else {"entity", "id"})
    note = "the id of edges numbers them; it was left out (--keep NAME,... reads it)"
    assert (note in report.notes) is left_out
    rows, _ = of_edges(*edges, keep=("id", "type"))
    assert {row[3] for row in rows} >= {"entity", "id"}


@pytest.mark.parametrize(("codes", "left_out"), [(2, False), (1, True)])
def test_a_label_that_many_nodes_share_is_no_name_where_most_ids_are_words(codes: int, left_out: bool) -> None:
    ids = [f"n{n}" for n in range(codes)] + [f"Old_Mill_{'abcd'[n]}" for n in range(4 - codes)]
    rows, report = read(PropertyGraph(nodes={id_: {"label": "mill"} for id_ in ids}))
    assert {row[1] for row in rows} == ({"rdf:type"} if left_out else {"label"})
    told = "the label of nodes is their type, since many nodes have the same"
    assert (told in report.notes) is left_out


def test_a_type_that_says_nothing_is_told() -> None:
    graph = PropertyGraph(nodes={"n1": {"labels": ":Node"}, "n2": {"labels": ":Vertex"}})
    assert read(graph)[0] == []
    assert read(graph)[1].notes == ["the labels of nodes says nothing; it was left out"]


def test_a_text_that_names_several_relations_is_one_relation_of_them() -> None:
    assert of_edges({"relation": "knows<SEP>likes"})[0][0][1] == "knows, likes"


def test_a_literal_as_node_has_no_properties_of_its_own() -> None:
    graph = PropertyGraph(nodes={"n1": {"name": "Ada"}, Literal('"7"'): {"name": "x"}, "Town_a": {}})
    assert [row[:3] for row in read(graph)[0]] == [("n1", "label", "Ada"), ("Town_a", "label", "Town a")]
