"""Which names of columns and properties are layout or bookkeeping."""

from __future__ import annotations

import pytest
from srtk_plugin_local.snapshot.layout_words import unwanted, unwanted_columns


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("created_at", "bookkeeping"),
        ("createdAt", "bookkeeping"),
        ("file_path", "bookkeeping"),
        ("text_unit_ids", "bookkeeping"),
        ("shape_type", "layout"),
        ("viz:color", "layout"),
        ("zOrder", "layout"),
        ("viz", "layout"),
        ("font", "layout"),
        ("font size", "layout"),
        ("fontName", "layout"),
        ("size", None),
        ("x", None),
        ("name", None),
        ("created", None),
    ],
)
def test_a_heading_says_layout_or_bookkeeping(heading: str, kind: str | None) -> None:
    assert unwanted(heading) == kind


def test_coordinates_and_colours_are_layout_together() -> None:
    headings = ["label", "r", "g", "b", "x", "width"]
    assert list(unwanted_columns(headings, {"r", "g", "b", "x", "width"})) == ["r", "g", "b", "x", "width"]
    assert unwanted_columns(["x", "label"], {"x"}) == {}
    assert unwanted_columns(["x", "y"], {"x"}) == {}
    assert list(unwanted_columns(["x", "y"], {"x", "y"})) == ["x", "y"]
    assert unwanted_columns(["x", "a"], {"x", "a"}) == {}  # a may be anything but an alpha beside colours


def test_a_coordinate_beside_a_word_of_layout_makes_looks_layout_too() -> None:
    headings = ["x", "node size", "width", "shape"]
    assert list(unwanted_columns(headings, {"x", "width"})) == headings
    assert list(unwanted_columns(headings, {"x"})) == ["x", "node size", "shape"]  # a width in words is a fact
    assert list(unwanted_columns(["node size", "width", "shape"], {"width"})) == ["node size"]


def test_a_size_is_layout_where_graphs_are_drawn_or_beside_coordinates() -> None:
    assert unwanted_columns(["size", "color", "height"], {"size", "height"}) == {}
    assert list(unwanted_columns(["size", "color", "height"], {"size", "height"}, drawn=True)) == ["size", "color"]
    assert unwanted_columns(["size"], set(), drawn=True) == {}
    assert list(unwanted_columns(["x", "size"], {"x", "size"}, drawn=True)) == ["x", "size"]


def test_the_source_id_of_an_edge_list_is_no_bookkeeping() -> None:
    assert list(unwanted_columns(["source_id", "file_path"], set())) == ["source_id", "file_path"]
    assert list(unwanted_columns(["source_id", "target_id", "file_path"], set())) == ["file_path"]


def test_names_to_keep_are_kept() -> None:
    headings, numeric = ["x", "y", "created_at"], {"x", "y"}
    assert list(unwanted_columns(headings, numeric, keep=("Created At",))) == ["x", "y"]
    assert unwanted_columns(headings, numeric, keep=("all",)) == {}
