"""The stored graph that an update begins with: its triples, names and qualifiers, in the tables of the build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from srtk_framework.values import Literal, SnapshotError
from srtk_plugin_local.snapshot import formats
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.csr import Ints, spread
from srtk_plugin_local.snapshot.meta_file import AGAIN
from srtk_plugin_local.snapshot.staging_tables import insert
from srtk_plugin_local.snapshot.staging_values import QUALIFIERS, first_row, quote

if TYPE_CHECKING:
    import duckdb

_ROWS = 500_000
# Settings that each update has of its own.
_OWN = {"files", "labels", "aliases", "redirects", "descriptions", "qualifiers", "plan", "memory"}
_LACKING = "triples to remove that the graph lacks"


def kept_settings(settings: BuildSettings) -> dict[str, Any]:
    """Return the settings that are not the defaults, without the files and the memory: how an update reads its own."""
    usual = BuildSettings(files=())
    fields = {field.name for field in attrs.fields(BuildSettings)} - _OWN
    values = ((name, getattr(settings, name)) for name in sorted(fields))
    return {name: value for name, value in values if value != getattr(usual, name)}


def settings_of(snapshot: Snapshot, **given: Any) -> BuildSettings:
    """Return the settings that a snapshot was built with, except for the given values.

    Raises:
        SnapshotError: If the snapshot has an unknown setting.
    """
    kept = {name: tuple(v) if isinstance(v, list) else v for name, v in snapshot.meta.build["settings"].items()}
    try:
        return BuildSettings(**{**kept, **given})
    except TypeError as error:
        raise SnapshotError(f"{snapshot.folder}: was built with other settings ({error}); {AGAIN}") from error


def holds_rdf(snapshot: Snapshot) -> bool:
    """Return whether a file of the snapshot was RDF."""
    return any(formats.family(report["format"]) == formats.RDF for report in snapshot.meta.build["reading"])


def stage_removed(con: duckdb.DuckDBPyConnection) -> None:
    """Make the table ``gone`` of the facts that were read, beside ``name``, for ``stage_kept``."""
    con.execute("CREATE TABLE gone AS SELECT DISTINCT s, r, o FROM fact")


def stage_kept(con: duckdb.DuckDBPyConnection, snapshot: Snapshot, removed: Path | None) -> dict[str, int]:
    """Add the triples of a snapshot to the view ``fact``, without those of the table ``gone`` of a database.

    Returns:
        Number of triples to remove that the snapshot lacks, by kind.
    """
    con.execute("CREATE TABLE kept (s VARCHAR, r VARCHAR, o VARCHAR, literal BOOLEAN)")
    ignored: dict[str, int] = {}
    con.execute("CREATE TABLE gone (s VARCHAR, r VARCHAR, o VARCHAR)")
    con.execute("CREATE TABLE unnamed (id VARCHAR, text VARCHAR)")
    if removed is not None:
        con.execute(f"ATTACH {quote(str(removed))} AS removed (READ_ONLY)")
        con.execute("INSERT INTO gone FROM removed.gone")
        con.execute("INSERT INTO unnamed SELECT DISTINCT id, text FROM removed.name")
        con.execute("DETACH removed")
    insert(con, "kept", _facts(snapshot), "*", "(s, r, o) NOT IN (FROM gone)" if removed is not None else "TRUE")
    left = first_row(con, "SELECT count(*) FROM kept")[0]
    count = first_row(con, "SELECT count(*) FROM gone")[0]
    ignored[_LACKING] = count - (snapshot.meta.counts["triples"] - left)
    con.execute("ALTER VIEW fact RENAME TO added")
    con.execute("CREATE VIEW fact AS FROM kept UNION ALL FROM added")
    return ignored


def stage_kept_names(con: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> None:
    """Add the names of a snapshot to the table ``name``, without the removed; its labels go before all others."""
    for owner, heap in (("nodes", "labels"), ("relations", "relation_labels")):
        if len(snapshot.heap(heap)):
            _name(con, snapshot, owner, heap, np.arange(len(snapshot.heap(owner))), False)
    starts = snapshot.array("aliases.nodes").astype(np.int64)
    if len(starts):
        _name(con, snapshot, "nodes", "aliases", np.repeat(np.arange(len(starts) - 1), np.diff(starts)), True)


def _name(con: duckdb.DuckDBPyConnection, snapshot: Snapshot, owner: str, heap: str, owners: Ints, alias: bool) -> None:
    import pyarrow as pa

    ids, texts = snapshot.heap(owner).column(), snapshot.heap(heap).column()
    for start in range(0, len(texts), _ROWS):
        rows = owners[start : start + _ROWS]
        table = pa.table({"id": ids.take(pa.array(rows)), "text": texts.slice(start, len(rows))})
        insert(con, "name", table, f"id, text, '', {alias}", "text <> '' AND (id, text) NOT IN (FROM unnamed)")


def stage_kept_qualifiers(con: duckdb.DuckDBPyConnection, snapshot: Snapshot) -> None:
    """Add the qualifiers of a snapshot to the table ``qualifier``, except those of removed triples."""
    import pyarrow as pa

    side, edges = snapshot.forward, snapshot.array("qualifiers.edge")
    nodes, relations = (snapshot.heap(name).column() for name in ("nodes", "relations"))
    for start in range(0, len(edges), _ROWS):
        rows = slice(start, start + _ROWS)
        groups = side.starts.before(edges[rows])
        terms = snapshot.terms(snapshot.array("qualifiers.term")[rows].astype(np.int64))
        columns = [
            nodes.take(pa.array(side.owners(groups))),
            relations.take(pa.array(side.relations[groups])),
            nodes.take(pa.array(side.targets[edges[rows]])),
            relations.take(pa.array(snapshot.array("qualifiers.relation")[rows])),
            pa.array(terms, pa.string()),
            pa.array([isinstance(term, Literal) for term in terms], pa.bool_()),
        ]
        table = pa.table(dict(zip(QUALIFIERS, columns, strict=True)))
        insert(con, "qualifier", table, "*", "(s, r, o) NOT IN (FROM gone)")


def _facts(snapshot: Snapshot) -> Any:
    """Return a stream of the triples of a snapshot as texts, in order; a query reads it once."""
    import pyarrow as pa

    side = snapshot.forward
    nodes, relations = (snapshot.heap(name).column() for name in ("nodes", "relations"))
    text = pa.large_string()
    schema = pa.schema({"s": text, "r": text, "o": text, "literal": pa.bool_()})

    def batches() -> Iterator[Any]:
        for first in range(0, len(side.relations), _ROWS):
            groups = np.arange(first, min(first + _ROWS, len(side.relations)))
            positions, bounds = spread(*side.runs(groups))
            lengths, targets = np.diff(bounds), side.targets[positions]
            columns = [
                nodes.take(pa.array(np.repeat(side.owners(groups), lengths))),
                relations.take(pa.array(np.repeat(side.relations[groups], lengths))),
                nodes.take(pa.array(targets)),
                pa.array(snapshot.is_literal(targets)),
            ]
            yield pa.record_batch(columns, schema)

    return pa.RecordBatchReader.from_batches(schema, batches())
