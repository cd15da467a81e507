"""GraphML and GEXF files as rows of pyarrow tables; the graph of one file is held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_report import EMPTY_FILES, FileReport
from srtk_plugin_local.snapshot.property_graphs.elements import PropertyGraph
from srtk_plugin_local.snapshot.property_graphs.facts import Wishes, facts
from srtk_plugin_local.snapshot.property_graphs.gexf import GexfHandler
from srtk_plugin_local.snapshot.property_graphs.graphml import GraphmlHandler
from srtk_plugin_local.snapshot.property_graphs.xml_parse import parse
from srtk_plugin_local.snapshot.tables import Meter

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 20_000
"""Rows of a table, which is made beside the whole graph."""


def read_property_graph(
    name: str, kind: str, settings: BuildSettings, report: FileReport, meter: Meter
) -> Iterator[pa.Table]:
    """Yield tables of id, relation, value and kind of value, as wide tables give them, and tables of qualifiers.

    What the properties of nodes and edges become is described in ``facts``; the property that the second of
    ``columns`` names is the relation of an edge.

    Raises:
        InputError: If the file is not valid, its entities expand to too much, or it needs more than ``memory``.
    """
    graph = _read(name, kind, settings, report, meter)
    if not graph.edges and not graph.nodes:
        report.skip(EMPTY_FILES, 1, "there is no node; leave the file out")
        report.note("is empty")
    chosen = settings.chosen_columns()
    wishes = Wishes(chosen[1] if len(chosen) == 3 else None, settings.keep)
    rows: list[tuple[str, ...]] = []
    qualifiers: list[tuple[str, ...]] = []
    for row in facts(graph, wishes, report):
        (rows if len(row) == 4 else qualifiers).append(row)
        if len(rows) >= ROWS or len(qualifiers) >= ROWS:
            yield from _tables(rows, qualifiers, settings)
            rows, qualifiers = [], []
    yield from _tables(rows, qualifiers, settings)


def _read(name: str, kind: str, settings: BuildSettings, report: FileReport, meter: Meter) -> PropertyGraph:
    handler: Any = GraphmlHandler(report) if kind == "graphml" else GexfHandler(report)
    parse(handler, kind, report, settings.memory, meter)
    if not handler.graphs:
        raise InputError(f"{name}: is not valid {kind}: it has no element <graph>; correct the file")
    found: PropertyGraph = handler.finish()
    return found


def _tables(
    rows: Sequence[tuple[str, ...]], qualifiers: Sequence[tuple[str, ...]], settings: BuildSettings
) -> Iterator[pa.Table]:
    import pyarrow as pa

    from srtk_plugin_local.snapshot.staging_values import QUALIFIERS

    def table(titles: Sequence[str], cells: Sequence[tuple[str, ...]]) -> dict[str, Any]:
        parts = zip(*cells, strict=True)
        return {title: pa.array(part, pa.string()) for title, part in zip(titles, parts, strict=True)}

    if rows:
        yield pa.table(table(["c0", "c1", "c2", "c3"], rows))
    if qualifiers:
        literal = settings.literals != "none"
        data = table(QUALIFIERS[:5], qualifiers)
        yield pa.table(data | {QUALIFIERS[5]: pa.array([literal] * len(qualifiers), pa.bool_())})
