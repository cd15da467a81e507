"""Values of properties in GraphML and GEXF, by their declared types."""

from __future__ import annotations

import pytest
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.property_graphs.cells import read_cell, read_list, untyped
from srtk_plugin_local.snapshot.property_graphs.elements import (
    PropertyGraph,
    Typed,
    add_value,
    columns,
    numeric,
    values,
)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        *((" 7 ", " Int ", Typed("7")), ("-1.5", "double", Typed("-1.5")), (".5", "float", Typed(".5"))),
        *(("5.", "real", Typed("5.")), ("1e5", "long", Typed("1e5")), ("1e", "int", None), ("many", "double", None)),
        *(("TRUE", "boolean", Typed("true")), ("0", "bool", Typed("false")), ("Yes", "bool", Typed("true"))),
        *(("maybe", "boolean", None), (" x ", "string", "x"), ("7", "", "7"), ("2020-01-02", "date", "2020-01-02")),
        *(("", "int", None), ("  ", "string", None)),
    ],
)
def test_a_value_is_read_by_its_declared_type(text: str, kind: str, value: str | None) -> None:
    report = FileReport("a.gexf", "gexf")
    found = read_cell(text, kind, "size", 4, report)
    assert (found, type(found)) == (value, type(value))
    assert bool(report.skipped) is (value is None and bool(text.strip()))
    assert bool(report.notes) is (kind == "date")


def test_a_value_that_is_not_of_its_type_is_named_with_its_line() -> None:
    report = FileReport("a.gexf", "gexf")
    read_cell("many", "Int", "size", 4, report)
    assert report.skipped == {
        "cells of another type": [
            1, "a.gexf:4", "'many' in 'size' is not of the type int; correct or empty the value"
        ]
    }  # fmt: skip
    read_cell("soon", "Date", "born", 4, report)
    assert report.notes == ["the type 'date' of 'born' is not known; its values were read as texts"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a|b;c,d", ["a", "b;c,d"]),
        ("a;b,c", ["a", "b,c"]),
        (" [a, b] ", ["a", "b"]),
        ("(a)", ["a"]),
        ("{'a', \"b\"}", ["a", "b"]),
        ("[a", ["[a"]),
        ("a,,b", ["a", "b"]),
        ("", []),
    ],
)
def test_a_list_is_cut_at_bars_else_semicolons_else_commas(text: str, found: list[str]) -> None:
    assert read_list(text, "string", "tags", 1, FileReport("a", "gexf")) == found


def test_items_of_a_list_have_its_type() -> None:
    report = FileReport("a", "gexf")
    assert read_list("1|x|2", "integer", "sizes", 1, report) == ["1", "2"]
    assert report.skipped["cells of another type"][0] == 1


def test_a_value_without_a_type_is_a_number_by_its_form() -> None:
    assert [type(untyped(text)) for text in ("7", "-1.5e3", "7 kg", "x")] == [Typed, Typed, str, str]


def test_a_property_gets_each_value_once() -> None:
    properties: dict[str, str | list[str]] = {}
    for value in ("a", "a", "b", "a", "c"):
        add_value(properties, "tag", value)
    assert properties == {"tag": ["a", "b", "c"]}
    assert [values(value) for value in (None, "a", ["a", "b"])] == [[], ["a"], ["a", "b"]]


def test_values_are_counted_by_property_and_numbers_are_known() -> None:
    found = columns([{"a": "1", "b": ["x", "2"]}, {"a": "1", "c": "inf"}])
    assert found == {"a": {"1": 2}, "b": {"x": 1, "2": 1}, "c": {"inf": 1}}
    assert numeric(found) == {"a", "c"}


def test_edges_keep_their_ends_and_properties() -> None:
    graph = PropertyGraph()
    graph.add_edge("a", "b", {"kind": "".join(["kno", "ws"]), "note": "x" * 99})
    graph.add_edge("b", "a", {"kind": "".join(["know", "s"])}, "k")
    graph.add_edge("a", "c", {})
    assert [tuple(edge) for edge in graph.edges] == [
        ("a", "b", {"kind": "knows", "note": "x" * 99}, ""),
        ("b", "a", {"kind": "knows"}, "k"),
        ("a", "c", {}, ""),
    ]
    assert graph.edges[0].properties["kind"] is graph.edges[1].properties["kind"]
