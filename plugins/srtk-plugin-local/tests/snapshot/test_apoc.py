"""Nodes and edges in one table, as APOC exports them, are two tables."""

from __future__ import annotations

import pyarrow as pa
import pytest
from srtk_plugin_local.snapshot.apoc import edge_rows, is_apoc, node_rows

TITLES = ("_id", "_labels", "name", "_start", "_end", "_type", "since")
ROWS = [
    ("1", ":Person:Poet", "Ada", "", "", "", ""),
    ("2", "", "Mill", "", "", "", "x"),
    ("", "", "", "1", "2", "FOUNDED", "1843"),
    ("", "", "", "2", "1", "NAMED", ""),
]


def table(*rows: tuple[str, ...]) -> pa.Table:
    return pa.table(
        {f"c{place}": pa.array(column, pa.string()) for place, column in enumerate(zip(*rows, strict=True))}
    )


def rows(made: pa.Table) -> list[tuple[str, ...]]:
    return list(zip(*(column.to_pylist() for column in made.columns), strict=True))


@pytest.mark.parametrize(
    ("titles", "found"),
    [
        (TITLES, True),
        (("_id", "_start", "_end", "_type"), True),
        *((tuple(title for title in TITLES if title != left), False) for left in ("_id", "_start", "_end", "_type")),
    ],
)
def test_such_a_table_has_the_id_and_the_ends_and_type_of_edges(titles: tuple[str, ...], found: bool) -> None:
    assert is_apoc(titles) is found


def test_nodes_are_the_rows_with_an_id_and_have_headings_of_the_importer() -> None:
    titles, made = node_rows(TITLES, table(*ROWS))
    assert titles == (":ID", ":LABEL", "name", "since")
    assert made.column_names == ["c0", "c1", "c2", "c3"]
    assert rows(made) == [("1", "Person;Poet", "Ada", ""), ("2", "", "Mill", "x")]


def test_edges_are_the_rows_with_ends_and_their_properties_are_of_them_alone() -> None:
    facts, properties = edge_rows(TITLES, table(*ROWS))
    assert facts.column_names == ["c0", "c1", "c2"]
    assert rows(facts) == [("1", "FOUNDED", "2"), ("2", "NAMED", "1")]
    assert [(title, part.column_names, rows(part)) for title, part in properties] == [
        ("name", ["c0", "c1", "c2", "c3"], []),
        ("since", ["c0", "c1", "c2", "c3"], [("1", "FOUNDED", "2", "1843")]),
    ]
