"""CSV files of Neo4j's procedure ``apoc.export.csv``: nodes and edges are rows of one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_ID, _LABELS = "_id", "_labels"
_ENDS = ("_start", "_type", "_end")


def is_apoc(titles: Sequence[str]) -> bool:
    """Return whether a file has these headings."""
    return {_ID, *_ENDS} <= set(titles)


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
    whole = [(titles[place], pa.table({**facts, "c3": rows.column(place)})) for place in others]
    return pa.table(facts), [(title, part.filter(pc.not_equal(part.column("c3"), ""))) for title, part in whole]
