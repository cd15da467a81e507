"""The part of the stored graph that an update keeps: a stream of sorted edges, and names in the tables of the build."""

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
from srtk_plugin_local.snapshot.mediators import Flags
from srtk_plugin_local.snapshot.merge import Rows
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


@attrs.define(eq=False)
class Kept:
    """The part of a stored graph that an update keeps, in order; numbers are new once the nodes are numbered.

    Attributes:
        snapshot: The stored graph.
        removed: Positions of the edges that are removed, sorted, by direction.
        stays: Whether each node keeps an edge.
        subjects: Whether each node keeps an edge as subject.
        counts: Number of edges that each relation keeps.
        nodes: New number of each node; -1 for one that is no more.
        old: Stored number of each node, by its new number; -1 for one that is new.
        relations: New number of each relation; -1 for one that is no more.
        named: Whether each node keeps the names that it has.
    """

    snapshot: Snapshot
    removed: dict[str, Ints]
    stays: Flags
    subjects: Flags
    counts: Ints
    nodes: Ints = attrs.field(init=False)
    old: Ints = attrs.field(init=False)
    relations: Ints = attrs.field(init=False)
    named: Flags = attrs.field(init=False)

    @classmethod
    def without(cls, snapshot: Snapshot, con: duckdb.DuckDBPyConnection) -> Kept:
        """Find the triples of the table ``gone`` in a snapshot; it keeps the others."""
        relations = {relation: number for number, relation in enumerate(snapshot.relations)}
        parts = [np.empty((5, 0), dtype=np.int64)]
        for batch in con.cursor().sql("FROM gone").to_arrow_reader(_ROWS):
            s, r, o = (batch.column(place).to_pylist() for place in range(3))
            s, r, o = snapshot.numbers(s), np.array([relations.get(id_, -1) for id_ in r]), snapshot.numbers(o)
            found = np.stack([s, r, o, snapshot.forward.edges(s, r, o), snapshot.inverse.edges(o, r, s)])
            parts.append(found[:, found[3] >= 0])
            snapshot.forget()
        s, r, o, forward, inverse = np.concatenate(parts, axis=1)
        stays, subjects = np.ones(snapshot.size, dtype=bool), np.diff(snapshot.forward.nodes) > 0
        nodes, less = np.unique(s, return_counts=True)
        subjects[nodes[snapshot.forward.degrees(nodes) == less]] = False
        nodes, less = np.unique(np.concatenate([s, o]), return_counts=True)
        stays[nodes[snapshot.forward.degrees(nodes) + snapshot.inverse.degrees(nodes) == less]] = False
        counts = snapshot.array("relations.count").astype(np.int64) - np.bincount(r, minlength=len(relations))
        return cls(snapshot, {"forward": np.sort(forward), "inverse": np.sort(inverse)}, stays, subjects, counts)

    @property
    def triples(self) -> int:
        """Number of triples."""
        return int(self.counts.sum())

    def stage(self, con: duckdb.DuckDBPyConnection) -> None:
        """Make the tables ``kept_node`` (id, literal, subject, old) and ``kept_relation``."""
        import pyarrow as pa

        con.execute("CREATE TABLE kept_node (id VARCHAR, literal BOOLEAN, subject BOOLEAN, old BIGINT)")
        ids = self.snapshot.nodes.column()
        for start in range(0, len(ids), _ROWS):
            old = np.flatnonzero(self.stays[start : start + _ROWS]) + start
            columns = {"literal": self.snapshot.is_literal(old), "subject": self.subjects[old], "old": old}
            insert(con, "kept_node", pa.table({"id": ids.take(pa.array(old)), **columns}), "*")
            self.snapshot.forget()
        used = [id_ for id_, count in zip(self.snapshot.relations, self.counts.tolist(), strict=True) if count]
        con.execute("CREATE TABLE kept_relation AS SELECT unnest(?::VARCHAR[]) AS r", [used])

    def number(self, con: duckdb.DuckDBPyConnection) -> None:
        """Read the new numbers from the tables ``node`` and ``relation``."""
        self.nodes = np.full(self.snapshot.size, -1, dtype=np.int64)
        sql = "SELECT old, rowid, literal FROM node WHERE old IS NOT NULL"
        for batch in con.cursor().sql(sql).to_arrow_reader(_ROWS):
            old = batch.column(0).to_numpy()
            self.nodes[old] = batch.column(1).to_numpy()
            self.named[old[batch.column(2).to_numpy(zero_copy_only=False)]] = False
        self.old = np.full(first_row(con, "SELECT count(*) FROM node")[0], -1)
        self.old[self.nodes[self.nodes >= 0]] = np.flatnonzero(self.nodes >= 0)
        new = dict(con.execute("SELECT id, rowid FROM relation").fetchall())
        self.relations = np.array([new.get(id_, -1) for id_ in self.snapshot.relations], dtype=np.int64)

    def edges(self, direction: str) -> Iterator[Rows]:
        """Stream the edges of a direction: nodes, relations and nodes at the far end."""
        side = self.snapshot.forward if direction == "forward" else self.snapshot.inverse
        removed = self.removed[direction]
        for first in range(0, len(side.relations), _ROWS):
            groups = np.arange(first, min(first + _ROWS, len(side.relations)))
            bounds = side.starts[first : int(groups[-1]) + 2]
            owners, relations = self.nodes[side.owners(groups)], self.relations[side.relations[groups]]
            for low in range(int(bounds[0]), int(bounds[-1]), _ROWS):
                high = min(low + _ROWS, int(bounds[-1]))
                ends = np.clip(bounds, low, high)
                lengths = ends[1:] - ends[:-1]
                rows = np.repeat(owners, lengths), np.repeat(relations, lengths), self.nodes[side.targets[low:high]]
                less = removed[slice(*np.searchsorted(removed, [low, high]))] - low
                yield tuple(np.delete(column, less) for column in rows)
                self.snapshot.forget()

    def hashes(self, hashes: str, nodes: str, staying: Flags) -> Iterator[Rows]:
        """Stream hashes in order, each with its node, from two files; of the nodes that stay."""
        keys, owners = self.snapshot.array(hashes), self.snapshot.array(nodes)
        for start in range(0, len(keys), _ROWS):
            old = owners[start : start + _ROWS]
            kept = staying[old]
            if kept.any():
                yield keys[start : start + _ROWS][kept], self.nodes[old[kept]].astype(np.uint64)
            self.snapshot.forget()

    def stage_names(self, con: duckdb.DuckDBPyConnection) -> None:
        """Add the names of relations to the table ``name``, and of nodes that get or lose a name or all edges."""
        self.named = self.stays.copy()
        sql = "SELECT id FROM name UNION SELECT id FROM unnamed"
        for batch in con.cursor().sql(sql).to_arrow_reader(_ROWS):
            found = self.snapshot.numbers(batch.column(0).to_pylist())
            self.named[found[found >= 0]] = False
        relations = np.arange(len(self.snapshot.heap("relation_labels")))
        _name(con, self.snapshot, "relations", "relation_labels", relations, relations)
        self._stage_names(con, np.flatnonzero(~self.named))

    def stage_all_names(self, con: duckdb.DuckDBPyConnection) -> None:
        """Add the other names too, as where ids become names or cease to be."""
        self._stage_names(con, np.flatnonzero(self.named))
        self.named[:] = False

    def _stage_names(self, con: duckdb.DuckDBPyConnection, nodes: Ints) -> None:
        if self.snapshot.heap("labels"):
            _name(con, self.snapshot, "nodes", "labels", nodes, nodes)
        _name(con, self.snapshot, "nodes", "aliases", *self._aliases_of(nodes))

    def _aliases_of(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the node and the place of each alias of some nodes."""
        starts = self.snapshot.array("aliases.nodes")
        if not len(starts):
            return nodes[:0], nodes[:0]
        places, bounds = spread(starts[nodes].astype(np.int64), starts[nodes + 1].astype(np.int64))
        return np.repeat(nodes, np.diff(bounds)), places

    @property
    def labels(self) -> int:
        """Number of nodes that keep a label."""
        offsets = self.snapshot.heap("labels").offsets
        return int(np.count_nonzero((offsets[1:] > offsets[:-1]) & self.named)) if len(offsets) > 1 else 0

    def with_labels(self, texts: Any, start: int) -> Any:
        """Fill the missing texts of consecutive nodes by the labels that they keep, else by nothing.

        Args:
            texts: Text of each node, or null.
            start: New number of the first node.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        numbers = self.old[start : start + len(texts)]
        lacking = (numbers < 0) | ~self.named[numbers]
        labels = self.snapshot.heap("labels").column().take(pa.array(numbers, mask=lacking))
        self.snapshot.forget()
        return pc.coalesce(texts.cast(pa.large_string()), labels, pa.scalar("", pa.large_string()))

    def aliases(self) -> Iterator[tuple[Ints, Any]]:
        """Stream the nodes, by their new number, and the texts of the aliases that stay."""
        import pyarrow as pa

        texts = self.snapshot.heap("aliases").column()
        for start in range(0, self.snapshot.size if len(texts) else 0, _ROWS):
            owners, places = self._aliases_of(np.flatnonzero(self.named[start : start + _ROWS]) + start)
            if len(owners):
                yield self.nodes[owners], texts.take(pa.array(places))
                self.snapshot.forget()

    def names(self) -> Iterator[Rows]:
        """Stream the index of the names that stay."""
        return self.hashes("names.hash", "names.node", self.named)

    def renamed(self, count: int) -> Flags:
        """Return whether each of so many nodes has other names than before."""
        renamed = np.ones(count, dtype=bool)
        renamed[self.nodes[self.named]] = False
        return renamed


def stage_kept(con: duckdb.DuckDBPyConnection, snapshot: Snapshot, removed: Path | None) -> tuple[Kept, dict[str, int]]:
    """Find what an update keeps of a snapshot: all but the table ``gone`` of a database, and the names in it.

    Returns:
        What it keeps, and the number of triples to remove that the snapshot lacks, by kind.
    """
    con.execute("CREATE TABLE gone (s VARCHAR, r VARCHAR, o VARCHAR)")
    con.execute("CREATE TABLE unnamed (id VARCHAR, text VARCHAR)")
    if removed is not None:
        con.execute(f"ATTACH {quote(str(removed))} AS removed (READ_ONLY)")
        con.execute("INSERT INTO gone FROM removed.gone")
        con.execute("INSERT INTO unnamed SELECT DISTINCT id, text FROM removed.name")
        con.execute("DETACH removed")
    kept = Kept.without(snapshot, con)
    count = first_row(con, "SELECT count(*) FROM gone")[0]
    return kept, {_LACKING: count - len(kept.removed["forward"])}


def _name(con: duckdb.DuckDBPyConnection, snapshot: Snapshot, owner: str, heap: str, owners: Ints, rows: Ints) -> None:
    """Add the strings at some rows of a heap, as names of their owners, to the table ``name``, without the removed."""
    import pyarrow as pa

    ids, texts = snapshot.heap(owner).column(), snapshot.heap(heap).column()
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        table = pa.table({"id": ids.take(pa.array(owners[part])), "text": texts.take(pa.array(rows[part]))})
        columns = f"id, text, -1, '', {heap == 'aliases'}"  # before any new name
        insert(con, "name", table, columns, "text <> '' AND (id, text) NOT IN (FROM unnamed)")


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
