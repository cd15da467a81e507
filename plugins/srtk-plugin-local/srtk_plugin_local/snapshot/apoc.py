"""Files of Neo4j's procedures ``apoc.export``, CSV and JSON: nodes and edges are rows of one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_ID, _LABELS = "_id", "_labels"
_ENDS = ("_start", "_type", "_end")
# Keys of a node and of an edge in JSON.
_OF_NODE = {"type", "id", "labels", "properties"}
_OF_EDGE = {"type", "id", "label", "start", "end", "properties"}


def is_apoc(titles: Sequence[str]) -> bool:
    """Return whether a file has these headings."""
    return {_ID, *_ENDS} <= set(titles)


def is_element(row: Any) -> bool:
    """Return whether an object of JSON is a node or an edge."""
    if not isinstance(row, dict) or "id" not in row:
        return False
    # Objects of other programs are nodes, too, and have more of their own beside the type.
    node = row.get("type") == "node" and isinstance(row.get("labels", []), list) and row.keys() <= _OF_NODE
    edge = row.get("type") == "relationship" and {"label", "start", "end"} <= row.keys() <= _OF_EDGE
    return (node or edge) and isinstance(row.get("properties", {}), dict)


def element_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node or an edge as a row of the table in CSV, with all headings of its own."""
    start, end = (part.get("id") if isinstance(part := row.get(key), dict) else part for key in ("start", "end"))
    is_node = row["type"] == "node"
    labels = "".join(f":{label}" for label in row.get("labels", ()))
    own = {_ID: row["id"] if is_node else None, _LABELS: labels}
    edge = dict(zip(_ENDS, (start, None if is_node else row.get("label"), end), strict=True))
    return {**own, **edge, **row.get("properties", {})}


def node_rows(titles: Sequence[str], table: pa.Table) -> tuple[tuple[str, ...], pa.Table]:
    """Return headings as Neo4j's importer has them, and the rows of nodes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = [place for place, title in enumerate(titles) if title not in _ENDS]
    rows = table.filter(pc.not_equal(table.column(list(titles).index(_ID)), ""))
    names = {_ID: ":ID", _LABELS: ":LABEL"}
    columns = []
    for place in kept:
        column = rows.column(place)
        if titles[place] == _LABELS:  # :Person:Actor
            column = pc.replace_substring(pc.utf8_ltrim(column, ":"), ":", ";")
        columns.append(column)
    made = pa.table({f"c{number}": column for number, column in enumerate(columns)})
    return tuple(names.get(titles[place], titles[place]) for place in kept), made


def edge_rows(titles: Sequence[str], table: pa.Table) -> tuple[pa.Table, list[tuple[str, pa.Table]]]:
    """Return the facts of the rows of edges, and of each property the facts that have it with its values, ``c3``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    places = [list(titles).index(title) for title in _ENDS]
    rows = table.filter(pc.not_equal(table.column(places[0]), ""))
    facts = {f"c{number}": rows.column(place) for number, place in enumerate(places)}
    others = [place for place, title in enumerate(titles) if title not in (_ID, _LABELS, *_ENDS)]
    made = pa.table({**facts, **{f"c{at}": rows.column(place) for at, place in enumerate(others, start=3)}})
    return pa.table(facts), property_rows([titles[place] for place in others], made)


def property_rows(titles: Sequence[str], table: pa.Table) -> list[tuple[str, pa.Table]]:
    """Return of each property the facts that have it with its values, ``c3``.

    Args:
        titles: Headings of the properties.
        table: The facts, and the properties in the columns after them.
    """
    import pyarrow.compute as pc

    whole = [
        (title, table.select([0, 1, 2, place]).rename_columns(["c0", "c1", "c2", "c3"]))
        for place, title in enumerate(titles, start=3)
    ]
    return [(title, part.filter(pc.not_equal(part.column("c3"), ""))) for title, part in whole]
