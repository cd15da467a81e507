"""GraphML and GEXF files as rows of pyarrow tables; the graph of one file is held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_report import EMPTY_FILES, FileReport, Meter
from srtk_plugin_local.snapshot.property_graphs.facts import Wishes, facts
from srtk_plugin_local.snapshot.property_graphs.gexf import GexfHandler
from srtk_plugin_local.snapshot.property_graphs.graphml import GraphmlHandler
from srtk_plugin_local.snapshot.property_graphs.xml_parse import parse
from srtk_plugin_local.snapshot.tools.output import Output

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a table, which is made beside the whole graph.
_ROWS = 20_000


def read_property_graph(
    name: str, kind: str, settings: BuildSettings, report: FileReport, meter: Meter
) -> Iterator[pa.Table]:
    """Yield tables of id, relation, value and kind of value, as wide tables give them, and tables of qualifiers.

    ``facts`` decides the meaning of the properties; the second of ``columns`` names the relation of an edge.

    Raises:
        InputError: If the file is not valid, its entities expand to too much, or it needs more than ``memory``.
    """
    handler: Any = GraphmlHandler(report) if kind == "graphml" else GexfHandler(report)
    parse(handler, kind, report, settings.memory, meter)
    if not handler.graphs:
        raise InputError(f"{name}: is not valid {kind}: it has no element <graph>; correct the file")
    graph = handler.finish()
    if not graph.edges and not graph.nodes:
        report.skip(EMPTY_FILES, 1, "there is no node; leave the file out")
        report.note("is empty")
    chosen = settings.chosen_columns()
    wishes = Wishes(chosen[1] if len(chosen) == 3 else None, settings.keep)
    output, literal = Output(_ROWS), settings.literals != "none"
    for row in facts(graph, wishes, report):
        if len(row) == 4:
            output.row(row)
        else:
            output.qualifier(row[:3], row[3], row[4], literal)
        yield from output.full()
    yield from output.rest()
