"""The facts, names and qualifiers that the properties of a graph become."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.property_graphs.elements import Properties, PropertyGraph, Typed
from srtk_plugin_local.snapshot.property_graphs.facts import Wishes, facts, value_of

Rows = list[tuple[Any, ...]]


def read(graph: PropertyGraph, **wishes: Any) -> tuple[Rows, FileReport]:
    report = FileReport("a.graphml", "graphml")
    return [tuple(row) for row in facts(graph, Wishes(**wishes), report)], report


def of_node(properties: Properties, id_: str = "n1") -> Rows:
    return read(PropertyGraph(nodes={id_: properties}))[0]


def of_edges(*edges: Properties, undirected: int = 0, **wishes: Any) -> tuple[Rows, FileReport]:
    graph = PropertyGraph(undirected=undirected)
    for number, properties in enumerate(edges):
        graph.add_edge("a", f"b{number}", properties)
    return read(graph, **wishes)


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
