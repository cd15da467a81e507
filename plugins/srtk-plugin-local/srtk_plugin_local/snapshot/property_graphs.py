"""GraphML and GEXF files as rows of pyarrow tables, read by networkx, which holds the whole graph in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from srtk_framework.records import check_entities
from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.header import ALIASES, LABELS, first_known, known_relation, normal
from srtk_plugin_local.snapshot.input_files import Input
from srtk_plugin_local.snapshot.input_report import EMPTY_FILES, FileReport
from srtk_plugin_local.snapshot.tables import ROWS, Meter

if TYPE_CHECKING:
    import pyarrow as pa

EDGE = "edge"
"""Relation of an edge that names none."""

GROWTH = 20
"""Bytes of memory for each byte of a file: measured 19 for a GraphML file of 12 MB with 150,000 edges."""

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def read_property_graph(
    name: str, kind: str, settings: BuildSettings, report: FileReport, meter: Meter
) -> Iterator[pa.Table]:
    """Yield tables of id, relation, value and kind of value, as wide tables give them.

    The label of a node is its property ``label``, ``name`` or ``title``; its other properties are literals. The
    relation of an edge is the property that the second of ``columns`` names, else the first that is a known word.

    Raises:
        InputError: If the file is not valid, its entities expand to too much, or it needs more than ``memory``.
    """
    graph = _load(name, kind, settings)
    if not graph.number_of_edges() and not graph.number_of_nodes():
        report.skip(EMPTY_FILES, 1, "there is no node; leave the file out")
        report.note("is empty")
    if not graph.is_directed():
        report.note("its edges have no direction; each was read from its first to its second node")
    rows: list[tuple[str, str, str, str]] = []
    for row in _rows(graph, settings, report):
        rows.append(row)
        if len(rows) == ROWS:
            yield _table(rows)
            rows = []
    if rows:
        yield _table(rows)
    with Input(name) as source:
        meter(source.size)


def _table(rows: Sequence[tuple[str, str, str, str]]) -> pa.Table:
    import pyarrow as pa

    columns = zip(*rows, strict=True)
    return pa.table({f"c{place}": pa.array(column, pa.string()) for place, column in enumerate(columns)})


class _Bounded:
    """An input that ends in an error when more is read of it than memory allows."""

    def __init__(self, source: Input, limit: int, sentence: str) -> None:
        self._source = source
        self._left = limit
        self._sentence = sentence

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes."""
        data = self._source.read(size) if size >= 0 else b"".join(iter(self._source.read, b""))
        self._left -= len(data)
        if self._left < 0:
            raise InputError(self._sentence)
        return data


def _load(name: str, kind: str, settings: BuildSettings) -> Any:
    from xml.etree.ElementTree import ParseError

    import networkx as nx

    with Input(name) as source:
        check_entities(source, name)
    limit = _bytes(settings.memory) // GROWTH
    sentence = (
        f"{name}: is larger than {limit / 1e6:,.0f} MB, of which {settings.memory} of memory is enough for; give more "
        "with --memory, or write the graph as a table"
    )
    with Input(name) as source:
        bounded = _Bounded(source, limit, sentence)
        try:
            if kind == "graphml":
                return nx.read_graphml(bounded, force_multigraph=True)
            return nx.read_gexf(bounded)
        except ParseError as error:
            raise InputError(f"{name}:{error.position[0]}: is not valid {kind}: {error}; correct the file") from error
        except (nx.NetworkXError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{name}: is not valid {kind}: {error}; correct the file") from error


def _bytes(memory: str) -> int:
    """Return an amount of memory in bytes; the database has refused what is none."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]+)\s*", memory)
    return int(float(found[1]) * _UNITS.get(found[2].lower(), 1)) if found else 10**9


def _rows(graph: Any, settings: BuildSettings, report: FileReport) -> Iterator[tuple[str, str, str, str]]:
    edges = list(graph.edges(data=True))
    properties = sorted({key for _, _, data in edges for key in data})
    wanted = settings.chosen_columns()[1] if len(settings.chosen_columns()) == 3 else None
    if wanted is not None and wanted not in properties:
        raise InputError(f"{report.name}: no edge has a property {wanted!r}; the edges have {properties}")
    relation = wanted or known_relation(properties)
    report.unread = [f"{key} of edges" for key in properties if key != relation]
    report.columns = [{"column": f"{relation} of edges", "as": "relation", "example": ""}] if relation else []
    bare = 0
    for start, end, data in edges:
        text = str(data.get(relation, "")).strip() if relation else ""
        bare += not text
        report.rows += 1
        yield str(start), text or EDGE, str(end), "entity"
    if bare:
        report.note(f"{bare:,} edges name no relation; it is called {EDGE!r}")
    for node, data in graph.nodes(data=True):
        report.rows += 1
        yield from _properties(str(node), data, report)


def _properties(id_: str, data: Mapping[str, Any], report: FileReport) -> Iterator[tuple[str, str, str, str]]:
    keys = list(data)
    label = first_known(keys, LABELS)
    for place, key in enumerate(keys):
        value = data[key]
        if not isinstance(value, str | int | float):
            if f"{key} of nodes" not in report.unread:
                report.unread.append(f"{key} of nodes")
        elif text := str(value).strip():
            if place == label:
                yield id_, key, text, "label"
            elif normal(key) in ALIASES:
                yield id_, key, text, "alias"
            else:
                yield id_, key, text, "text" if isinstance(value, str) else "literal"
