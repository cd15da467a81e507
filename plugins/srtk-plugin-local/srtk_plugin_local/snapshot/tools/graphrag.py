"""Output of Microsoft GraphRAG: entities and relationships, in Parquet or CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from srtk_plugin_local.snapshot.build_settings import EDGE
from srtk_plugin_local.snapshot.property_graphs.elements import is_number
from srtk_plugin_local.snapshot.tools.output import Output, literal_of
from srtk_plugin_local.snapshot.tools.rows import Row, rows_of, text

if TYPE_CHECKING:
    import pyarrow as pa

    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.input_report import FileReport, Meter

# Columns of entities that are facts, and whether their values are literals.
_FACTS = {"type": False, "description": True}
_QUALIFIERS = ("description", "weight")


def read(name: str, settings: BuildSettings, report: FileReport, meter: Meter) -> Iterator[pa.Table]:
    """Yield the facts of entities (titles are ids, with type and description) or of relationships.

    Other tables, such as communities and text units, are noted and not read.
    """
    headings, rows = rows_of(name, report, meter)
    output = Output()
    title = next((heading for heading in ("title", "name") if heading in headings), None)
    kept = set(settings.keep)
    if {"source", "target"} <= set(headings):
        read_columns = {"source", "target", *_QUALIFIERS, *kept}
        for row in rows:
            start, end = text(row["source"]), text(row["target"])
            if start and end:
                output.fact(start, EDGE, end, literal=False)
                for column in (*_QUALIFIERS, *sorted(kept - set(_QUALIFIERS))):
                    if value := text(row.get(column)):
                        value = literal_of(_typed(row[column], value))
                        output.qualifier((start, EDGE, end), column, value, literal=True)
            yield from output.full()
        report.note(f"relationships have no word for their kind; each is {EDGE!r}, with its description as qualifier")
        report.symmetric = [EDGE]
    elif title is not None and "type" in headings and not {"community", "level"} <= set(headings):
        read_columns = {title, *_FACTS, *kept}
        for row in rows:
            _entity(row, title, output, kept)
            yield from output.full()
    else:
        report.note("is neither the entities nor the relationships of GraphRAG; not read")
        return
    report.unread = [heading for heading in headings if heading not in read_columns]
    yield from output.rest()


def _entity(row: Row, title: str, output: Output, kept: set[str]) -> None:
    id_ = text(row[title])
    if not id_:
        return
    output.name(id_, id_)
    for column, literal in {**_FACTS, **dict.fromkeys(kept, True)}.items():
        if value := text(row.get(column)):
            output.fact(id_, column, literal_of(_typed(row[column], value)) if literal else value, literal)


def _typed(value: object, shown: str) -> object:
    """Return a number of a text as a number, as Parquet has it."""
    if isinstance(value, str) and is_number(shown):
        return float(shown)
    return value if isinstance(value, int | float) else shown
