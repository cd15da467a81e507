"""Files of a snapshot, written from the staging tables in streams of sorted rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.csr import Adjacency, StartsWriter
from srtk_plugin_local.snapshot.input_files import Progress
from srtk_plugin_local.snapshot.layout import TERM_LITERALS, ArrayFile, HeapFile, hash64, map_array, width
from srtk_plugin_local.snapshot.merge import Rows, merged
from srtk_plugin_local.snapshot.staging_values import first_row, is_literal

if TYPE_CHECKING:
    import duckdb

    from srtk_plugin_local.snapshot.update import Kept

ROWS = 500_000
_NAMES = 50_000

Ints = npt.NDArray[np.int64]


@attrs.define
class Work:
    """The state of a build.

    Attributes:
        con: Connection to the staging tables.
        folder: Folder of the snapshot.
        progress: Called with the progress of each stage.
        written: Meta entries of the files written so far, by file.
        counts: Numbers of entities, triples and the like, by kind.
        ignored: Numbers of input rows that add nothing to the graph, by kind.
        nameless: Number of entities that nothing names, not even a local name of their IRI.
        unnamed: Whether each node is an entity that neither a label nor its id names; of an update, only what is new.
        kept: The part of the stored graph that an update keeps, which is merged with what is new.
    """

    con: duckdb.DuckDBPyConnection
    folder: Path
    progress: Progress
    written: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    counts: dict[str, int] = attrs.field(factory=dict)
    ignored: dict[str, int] = attrs.field(factory=dict)
    nameless: int = 0
    unnamed: npt.NDArray[np.bool_] = attrs.field(factory=lambda: np.zeros(0, dtype=bool))
    kept: Kept | None = None

    @property
    def nodes(self) -> int:
        """Number of nodes, once they are numbered."""
        return self.counts["entities"] + self.counts["literals"]

    def array(self, name: str, dtype: str) -> ArrayFile:
        """Create a file of numbers."""
        return ArrayFile(self.folder, name, dtype, self.written)

    def heap(self, name: str) -> HeapFile:
        """Create a heap of strings."""
        return HeapFile(self.folder, name, self.written)

    def read(self, name: str) -> npt.NDArray[Any]:
        """Map a file of numbers that is written."""
        return map_array(self.folder / name, self.written[name]["dtype"])

    def part(self, name: str, start: int, end: int) -> npt.NDArray[Any]:
        """Read the items from a place to another of a file that is written; unlike a map, it leaves no pages behind."""
        dtype = np.dtype(self.written[name]["dtype"])
        return np.fromfile(self.folder / name, dtype, end - start, offset=start * dtype.itemsize)

    def texts(self, name: str, start: int, end: int) -> Any:
        """Read the strings from a place to another of a heap that is written, as a pyarrow column."""
        import pyarrow as pa

        bounds = self.part(f"{name}.offsets", start, end + 1)
        data = self.part(f"{name}.bytes", int(bounds[0]), int(bounds[-1]))
        buffers = [None, pa.py_buffer(bounds - bounds[0]), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), end - start, buffers)

    def one(self, sql: str) -> int:
        """Return the number that a query selects; 0 for NULL."""
        return first_row(self.con, sql)[0]

    def batches(self, sql: str, rows: int, stage: str, total: int | None) -> Iterator[Any]:
        """Stream the rows of a query as pyarrow record batches."""
        done = 0
        self.progress(stage, 0, total)
        for batch in self.con.cursor().sql(sql).to_arrow_reader(rows):
            done += batch.num_rows
            yield batch
            self.progress(stage, done, total)


def number_nodes(work: Work) -> None:
    """Create the tables ``node``, ``relation`` and ``edge``; a row id is the number of a node, in order of ids."""
    con = work.con
    work.progress("number nodes", 0, None)
    old, kept = "", ""
    if work.kept is not None:
        work.kept.stage(con)
        old, kept = ", max(old) AS old", " UNION ALL BY NAME FROM kept_node"
    con.execute(
        f"CREATE TABLE node AS SELECT id, bool_or(literal) AS literal, bool_or(subject) AS subject{old} FROM "
        "(SELECT s AS id, FALSE AS literal, TRUE AS subject FROM fact UNION ALL SELECT o, literal, FALSE FROM fact"
        f"{kept}) GROUP BY id ORDER BY id"
    )
    wrong = con.execute("SELECT id FROM node WHERE literal AND subject LIMIT 1").fetchone()
    if wrong:
        raise InputError(
            f"the literal {wrong[0]} is the subject of a triple; only an entity can be one, so rename it in the input"
        )
    used = "SELECT r FROM fact UNION SELECT q FROM qualifier"
    used += " UNION FROM kept_relation" if work.kept is not None else ""
    con.execute(f"CREATE TABLE relation AS SELECT r AS id FROM ({used}) ORDER BY id")
    nodes, relations = work.one("SELECT count(*) FROM node"), work.one("SELECT count(*) FROM relation")
    literals = work.one("SELECT count(*) FROM node WHERE literal")
    work.counts |= {"entities": nodes - literals, "literals": literals, "relations": relations}
    work.progress("number triples", 0, None)
    kind = "UINTEGER" if nodes < 2**32 else "UBIGINT"
    con.execute(
        f"CREATE TABLE edge AS SELECT a.rowid::{kind} AS s, c.rowid::UINTEGER AS r, b.rowid::{kind} AS o "
        "FROM fact JOIN node a ON fact.s = a.id JOIN node b ON fact.o = b.id JOIN relation c ON fact.r = c.id"
    )
    con.execute("DROP VIEW fact")
    con.execute("DROP TABLE raw")
    if work.kept is not None:
        work.kept.number(con)


def write_ids(work: Work) -> None:
    """Write the heaps of ids, the literal flags, and the index from id to node."""
    with work.heap("nodes") as heap, work.array("literals", "|u1") as flags:
        for batch in work.batches("SELECT id, literal FROM node ORDER BY rowid", ROWS, "write ids", work.nodes):
            heap.write(batch.column(0))
            if work.counts["literals"]:
                flags.write(batch.column(1).to_numpy(zero_copy_only=False))
    with work.heap("relations") as heap:
        for batch in work.batches("SELECT id FROM relation ORDER BY rowid", ROWS, "write ids", None):
            heap.write(batch.column(0))
    new = " WHERE old IS NULL" if work.kept is not None else ""
    rows = work.batches(f"SELECT id, rowid FROM node{new}", _NAMES, "index ids", work.nodes)
    texts = ((b.column(0).to_pylist(), ints(b.column(1))) for b in rows)
    kept = work.kept.hashes("nodes.hash", "nodes.hash_node", work.kept.stays) if work.kept is not None else None
    write_hashes(work, "nodes.hash", "nodes.hash_node", texts, kept)


def write_hashes(
    work: Work, hashes: str, nodes: str, rows: Iterator[tuple[list[str], Ints]], kept: Iterator[Rows] | None
) -> int:
    """Write the hashes of texts, sorted, and the node of each to two files; return their number.

    Args:
        work: The build.
        hashes: File of the hashes.
        nodes: File of the nodes.
        rows: Texts and the node of each.
        kept: Sorted hashes and nodes that are written too.
    """
    import pyarrow as pa

    work.con.execute("CREATE TABLE hashed (h UBIGINT, n UBIGINT)")
    for texts, numbers in rows:
        work.con.register("chunk", pa.table({"h": hash64(texts), "n": numbers.astype(np.uint64)}))
        work.con.execute("INSERT INTO hashed SELECT h, n FROM chunk")
        work.con.unregister("chunk")
    with work.array(hashes, "<u8") as keys, work.array(nodes, width(work.nodes)) as values:
        batches = work.batches("SELECT h, n FROM hashed ORDER BY h, n", ROWS, "sort index", None)
        last = None
        for h, n in _with(kept, ((batch.column(0).to_numpy(), batch.column(1).to_numpy()) for batch in batches)):
            fresh = np.ones(len(h), dtype=bool)
            fresh[1:] = (h[1:] != h[:-1]) | (n[1:] != n[:-1])
            fresh[:1] = last != (h[0], n[0])
            last = (h[-1], n[-1])
            keys.write(h[fresh])
            values.write(n[fresh])
        count = keys.count
    work.con.execute("DROP TABLE hashed")
    return count


def _with(kept: Iterator[Rows] | None, new: Iterator[Rows]) -> Iterator[Rows]:
    return new if kept is None else merged(kept, new)


def ints(column: Any) -> Ints:
    """Return the numbers of a pyarrow column."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)


def write_edges(work: Work) -> None:
    """Write the edges in both directions, the triple count of each relation, and the self-loops."""
    rows = work.one("SELECT count(*) FROM edge") + (0 if work.kept is None else work.kept.triples)
    counts = np.zeros(work.counts["relations"], dtype=np.int64)
    with work.array("loops", "<i8") as loops:

        def watch(starts: Ints, relations: Ints, ends: Ints) -> None:
            counts[:] += np.bincount(relations, minlength=len(counts))
            loops.write(starts[starts == ends])

        work.counts["triples"] = _write_side(work, "forward", "s", "o", rows, watch)
    _write_side(work, "inverse", "o", "s", rows, lambda starts, relations, ends: None)
    work.ignored["repeated triples"] = rows - work.counts["triples"]
    with work.array("relations.count", "<u8") as file:
        file.write(counts)
    work.con.execute("DROP TABLE edge")


def _write_side(work: Work, side: str, start: str, end: str, rows: int, watch: Any) -> int:
    """Write one direction of the CSR arrays and return the number of edges.

    Each node has a run of groups; each group has a relation and a run of targets. ``watch`` receives the edges.
    """
    edges = groups = next_node = 0
    last = (-1, -1, -1)
    sql = f"SELECT {start}, r, {end} FROM edge ORDER BY {start}, r, {end}"
    with (
        work.array(f"{side}.nodes", width(rows)) as node_file,
        work.array(f"{side}.relations", width(work.counts["relations"])) as relation_file,
        work.array(f"{side}.starts", "|u1") as start_file,
        work.array(f"{side}.blocks", "<i8") as block_file,
        work.array(f"{side}.targets", width(work.nodes)) as target_file,
    ):
        batches = work.batches(sql, ROWS, f"write {side}", rows if work.kept is None else None)
        new = (tuple(ints(batch.column(place)) for place in range(3)) for batch in batches)
        starts = StartsWriter(start_file, block_file)
        for a, r, b in _with(None if work.kept is None else work.kept.edges(side), new):
            new_group = np.empty(len(a), dtype=bool)
            new_group[1:] = (a[1:] != a[:-1]) | (r[1:] != r[:-1])
            new_group[:1] = last[:2] != (a[0], r[0])
            fresh = new_group.copy()
            fresh[1:] |= b[1:] != b[:-1]
            fresh[:1] |= last[2] != b[0]
            last = (int(a[-1]), int(r[-1]), int(b[-1]))
            a, r, b, new_group = a[fresh], r[fresh], b[fresh], new_group[fresh]
            if not len(a):
                continue
            watch(a, r, b)
            at = np.flatnonzero(new_group)
            target_file.write(b)
            relation_file.write(r[at])
            starts.write(at + edges)
            # A node's run starts at the first group whose node is not smaller.
            upto = np.arange(next_node, int(a[-1]) + 1, dtype=np.int64)
            node_file.write(groups + np.searchsorted(a[at], upto, side="left"))
            next_node = int(a[-1]) + 1
            edges += len(a)
            groups += len(at)
        node_file.write(np.full(work.nodes + 1 - next_node, groups, dtype=np.int64))
        starts.write(np.array([edges]))
    return edges


def write_qualifiers(work: Work) -> None:
    """Write the qualifiers, each with the position of its edge among the forward targets.

    A term with a type or a language is a literal, any other term is none. If the inputs contradict this, the file
    ``terms.literals`` has a flag for each term.
    """
    con = work.con
    con.execute("CREATE TABLE term AS SELECT v AS id, bool_or(literal) AS literal FROM qualifier GROUP BY v ORDER BY v")
    if work.one(f"SELECT count(*) FROM term WHERE literal <> {is_literal('id', 'typed')}"):
        with work.array(TERM_LITERALS, "|u1") as flags:
            for batch in work.batches("SELECT literal FROM term ORDER BY rowid", ROWS, "write qualifiers", None):
                flags.write(batch.column(0).to_numpy(zero_copy_only=False))
    with work.heap("terms") as heap:
        for batch in work.batches("SELECT id FROM term ORDER BY rowid", ROWS, "write qualifiers", None):
            heap.write(batch.column(0))
    total = work.one("SELECT count(*) FROM (SELECT DISTINCT s, r, o, q, v FROM qualifier)")
    sql = (
        "SELECT DISTINCT a.rowid AS s, c.rowid AS r, b.rowid AS o, d.rowid AS q, t.rowid AS v FROM qualifier x "
        "JOIN node a ON x.s = a.id JOIN node b ON x.o = b.id JOIN relation c ON x.r = c.id "
        "JOIN relation d ON x.q = d.id JOIN term t ON x.v = t.id ORDER BY 1, 2, 3, 4, 5"
    )
    forward = Adjacency.read("forward", work.read)
    kept = 0
    with (
        work.array("qualifiers.edge", "<i8") as edges,
        work.array("qualifiers.relation", "<u4") as relations,
        work.array("qualifiers.term", "<u8") as terms,
    ):
        for batch in work.batches(sql, ROWS, "write qualifiers", total):
            s, r, o, q, v = (ints(batch.column(place)) for place in range(5))
            position = forward.edges(s, r, o)
            known = position >= 0
            edges.write(position[known])
            relations.write(q[known])
            terms.write(v[known])
            kept += int(known.sum())
    work.counts["qualifiers"] = kept
    work.ignored["qualifiers of unknown triples"] = total - kept
