"""Lists within the cells of a table, as texts in brackets."""

from __future__ import annotations

import pytest
from srtk_plugin_local.snapshot.list_cells import has_lists, list_items, name_of_object


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("['Drama', 'War']", ["Drama", "War"]),
        ('["Drama", "O\'Brien, \\u00e9"]', ["Drama", "O'Brien, é"]),
        ("['Drama'\n 'War']", ["Drama", "War"]),
        ("[Drama, Film noir]", ["Drama", "Film noir"]),
        ("['War', None]", ["War"]),
        ("[]", []),
        ("[{'id': 18, 'name': 'Drama {sad}'}, {'id': 35, 'name': \"L'Age\"}]", ["Drama {sad}", "L'Age"]),
        ("{'id': 18, 'name': 'Drama'}", ["Drama"]),
        ("[{'id': 18}]", None),
        ("[{'name': 'Drama'}, {'id': 35}]", None),
        (r"['C:\x', 'Drama']", [r"C:\x", "Drama"]),  # an escape of no language
        (r"['L\'Age \u00e9']", ["L'Age é"]),
        ("[null, 'nan', NaN]", ["nan"]),
        ("[[1, 2], [3, 4]]", None),
        ("['Drama', 'War'", None),
        ("Drama", None),
    ],
)
def test_a_list_is_read_in_the_syntax_of_python_json_and_numpy(cell: str, items: list[str] | None) -> None:
    assert list_items(cell) == items


def test_the_name_of_an_object_is_its_earliest_word_for_a_name_in_any_case() -> None:
    assert name_of_object({"title": "B", "Name": " Drama "}) == "Drama"
    assert name_of_object({"name": 5, "label": " ", "TITLE": "Drama"}) == "Drama"
    assert [name_of_object(value) for value in ({"id": "x"}, {"name": None}, "Drama", None)] == [None] * 4


def test_titles_in_brackets_and_vectors_are_no_lists() -> None:
    assert not has_lists(["[Untitled]", "[Night]"])
    assert not has_lists(["[0.5, 1.5]", "[0.25, 2.0]"])
    assert not has_lists(["['Drama']", "War"])
    assert has_lists(["['Drama']", "[]"])
    assert has_lists([*["['War']"] * 19, "War"])
    assert not has_lists([*["['War']"] * 18, "War"])
    assert has_lists(["[7, 9]", "[9]"])


def test_items_of_a_long_cell_are_found_in_little_time() -> None:
    assert list_items("[" + "a b 'a" * 100_000 + "]") is None
    assert list_items("[" + "a b, " * 100_000 + "{]") is None
    assert len(list_items("[" + "{'name': 'a'}," * 20_000 + "{'name': 'b'}]") or []) == 20_001
