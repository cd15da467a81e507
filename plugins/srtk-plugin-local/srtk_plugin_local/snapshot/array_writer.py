"""Files of a snapshot, written from the staging tables in streams of sorted rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.text import fold
from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.csr import RUN, Adjacency
from srtk_plugin_local.snapshot.id_names import IdNames
from srtk_plugin_local.snapshot.input_files import Progress
from srtk_plugin_local.snapshot.layout import TERM_LITERALS, ArrayFile, HeapFile, hash64, map_array, width
from srtk_plugin_local.snapshot.mediators import GENERATED
from srtk_plugin_local.snapshot.merge import Rows, merged
from srtk_plugin_local.snapshot.staging_values import first_row, is_literal

if TYPE_CHECKING:
    import duckdb

    from srtk_plugin_local.snapshot.update import Kept

ROWS = 500_000
NAMES = 50_000

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

    def array(self, name: str, dtype: str) -> ArrayFile:
        """Create a file of numbers."""
        return ArrayFile(self.folder, name, dtype, self.written)

    def heap(self, name: str) -> HeapFile:
        """Create a heap of strings."""
        return HeapFile(self.folder, name, self.written)

    def read(self, name: str) -> npt.NDArray[Any]:
        """Map a file of numbers that is written."""
        return map_array(self.folder / name, self.written[name]["dtype"])

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
    nodes = work.counts["entities"] + work.counts["literals"]
    with work.heap("nodes") as heap, work.array("literals", "|u1") as flags:
        for batch in work.batches("SELECT id, literal FROM node ORDER BY rowid", ROWS, "write ids", nodes):
            heap.write(batch.column(0))
            if work.counts["literals"]:
                flags.write(batch.column(1).to_numpy(zero_copy_only=False))
    with work.heap("relations") as heap:
        for batch in work.batches("SELECT id FROM relation ORDER BY rowid", ROWS, "write ids", None):
            heap.write(batch.column(0))
    new = " WHERE old IS NULL" if work.kept is not None else ""
    rows = work.batches(f"SELECT id, rowid FROM node{new}", NAMES, "index ids", nodes)
    texts = ((b.column(0).to_pylist(), _ints(b.column(1))) for b in rows)
    kept = work.kept.hashes("nodes.hash", "nodes.hash_node", work.kept.stays) if work.kept is not None else None
    _write_hashes(work, "nodes.hash", "nodes.hash_node", texts, kept)


def _write_hashes(
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
    most = work.counts["entities"] + work.counts["literals"]
    with work.array(hashes, "<u8") as keys, work.array(nodes, width(most)) as values:
        batches = work.batches("SELECT DISTINCT h, n FROM hashed ORDER BY h, n", ROWS, "sort index", None)
        for h, n in _with(kept, ((batch.column(0).to_numpy(), batch.column(1).to_numpy()) for batch in batches)):
            keys.write(h)
            values.write(n)
        count = keys.count
    work.con.execute("DROP TABLE hashed")
    return count


def _with(kept: Iterator[Rows] | None, new: Iterator[Rows]) -> Iterator[Rows]:
    return new if kept is None else merged(kept, new)


def _ints(column: Any) -> Ints:
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
    nodes = work.counts["entities"] + work.counts["literals"]
    edges = groups = next_node = blocks = 0
    last = (-1, -1, -1)
    sql = f"SELECT {start}, r, {end} FROM edge ORDER BY {start}, r, {end}"
    with (
        work.array(f"{side}.nodes", width(rows)) as node_file,
        work.array(f"{side}.relations", width(work.counts["relations"])) as relation_file,
        work.array(f"{side}.starts", "|u1") as start_file,
        work.array(f"{side}.blocks", "<i8") as block_file,
        work.array(f"{side}.targets", width(nodes)) as target_file,
    ):
        batches = work.batches(sql, ROWS, f"write {side}", rows if work.kept is None else None)
        new = (tuple(_ints(batch.column(place)) for place in range(3)) for batch in batches)
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
            starts = at + edges
            start_file.write(starts % RUN)
            # The first group that begins at or after the end of each block.
            ends = np.arange(blocks + 1, (int(starts[-1]) if len(starts) else 0) // RUN + 1) * RUN
            block_file.write(groups + np.searchsorted(starts, ends, side="left"))
            blocks += len(ends)
            # A node's run starts at the first group whose node is not smaller.
            upto = np.arange(next_node, int(a[-1]) + 1, dtype=np.int64)
            node_file.write(groups + np.searchsorted(a[at], upto, side="left"))
            next_node = int(a[-1]) + 1
            edges += len(a)
            groups += len(at)
        node_file.write(np.full(nodes + 1 - next_node, groups, dtype=np.int64))
        start_file.write([edges % RUN])
        block_file.write(np.full(edges // RUN - blocks, groups))
    return edges


def write_names(work: Work, id_names: Callable[[bool], IdNames]) -> None:
    """Write labels, aliases, relation labels, and the index from folded name to entity.

    Args:
        work: The build.
        id_names: Returns the names of ids, with or without labels.
    """
    con, kept = work.con, work.kept
    if kept is not None:
        given = "SELECT count(*) FROM name JOIN node USING (id) WHERE NOT (literal OR alias)"
        labelled = kept.labels or work.one(given)
        if id_names(bool(labelled)).names != kept.snapshot.meta.names:
            kept.stage_all_names(con)
    con.execute(
        "CREATE TABLE named AS SELECT n.rowid AS n, text, key, alias "
        "FROM name JOIN node n USING (id) WHERE NOT n.literal"
    )
    con.execute("CREATE TABLE label AS SELECT n, arg_min(text, key) AS text FROM named WHERE NOT alias GROUP BY n")
    con.execute("CREATE TABLE alias AS SELECT DISTINCT n, text FROM named ANTI JOIN label USING (n, text)")
    con.execute(
        "CREATE TABLE relation_label AS SELECT n.rowid AS n, arg_min(text, key) AS text "
        "FROM name JOIN relation n USING (id) WHERE NOT alias GROUP BY n.rowid"
    )
    work.ignored["names of ids without a fact"] = work.one(
        "SELECT count(*) FROM name ANTI JOIN node USING (id) ANTI JOIN relation USING (id)"
    )
    work.counts["labels"] = _write_labels(work, "labels", "node", "label", kept)
    work.counts["relation_labels"] = _write_labels(work, "relation_labels", "relation", "relation_label")
    work.counts["aliases"] = _write_aliases(work)
    sql = (
        "SELECT coalesce(text, id) AS text, node.rowid AS n, text IS NULL AS lacks FROM node "
        "LEFT JOIN label ON node.rowid = label.n WHERE NOT literal UNION ALL SELECT text, n, FALSE FROM alias"
    )
    total = work.counts["entities"] + work.counts["aliases"]
    from_id = id_names(bool(work.counts["labels"]))
    index = None
    if kept is not None:
        index = kept.names(con)
        sql = f"SELECT text, n, lacks FROM ({sql}) JOIN renamed USING (n)"

    def indexed(id_: str) -> list[str]:
        names = from_id.indexed(id_)
        work.nameless += "://" in names[0] or id_.startswith("_:")
        return names

    work.unnamed = np.zeros(work.counts["entities"] + work.counts["literals"], dtype=bool)
    rows = (_folded(b, from_id, indexed, work.unnamed) for b in work.batches(sql, NAMES, "index names", total))
    work.counts["names"] = _write_hashes(work, "names.hash", "names.node", rows, index)


def _folded(
    batch: Any, id_names: IdNames, indexed: Callable[[str], list[str]], unnamed: npt.NDArray[np.bool_]
) -> tuple[list[str], Ints]:
    """Return the folded names in a batch with their nodes, and flag the nodes that have none."""
    import pyarrow.compute as pc

    texts, numbers = batch.column(0).to_pylist(), _ints(batch.column(1))
    lacks = batch.column(2).to_numpy(zero_copy_only=False)
    lacking = np.flatnonzero(lacks).tolist()
    # Most ids of tables are their own names: only ids with more in them are looked at one by one.
    names = {row: indexed(texts[row]) for row in lacking if not id_names.is_whole(texts[row])}
    if lacking:
        bare = lacks.copy() if not id_names.names else np.zeros(len(lacks), dtype=bool)
        if not id_names.names:
            bare[[row for row, found in names.items() if not _is_bare(texts[row], found)]] = False
        # Even where ids are names, generated ids such as mids are no names.
        bare |= lacks & pc.match_substring_regex(batch.column(0), GENERATED).to_numpy(zero_copy_only=False)
        unnamed[numbers[bare]] = True
    if names:
        every = [names[row] if row in names else [fold(text)] for row, text in enumerate(texts)]
        numbers = np.repeat(numbers, [len(row) for row in every])
        folded = [name for row in every for name in row]
    else:
        folded = [fold(text) for text in texts]
    kept = np.fromiter((bool(text) for text in folded), dtype=bool, count=len(folded))
    return [text for text in folded if text], numbers[kept]


def _is_bare(id_: str, names: Sequence[str]) -> bool:
    """Return whether the names by which an id is found are the id alone."""
    return "://" in names[0] if "://" in id_ else len(names) == 1


def _write_labels(work: Work, name: str, owner: str, table: str, kept: Kept | None = None) -> int:
    stay = 0 if kept is None else kept.labels
    count = work.one(f"SELECT count(*) FROM {table}") + stay
    columns = "text, old" if stay else "coalesce(text, '')"
    with work.heap(name) as heap:
        if count:
            # The join is stored, and ordered then: both at once do not share the memory of the build.
            joined = f"{owner} LEFT JOIN {table} ON {owner}.rowid = {table}.n"
            work.con.execute(f"CREATE TABLE labelled AS SELECT {owner}.rowid AS place, {columns} FROM {joined}")
            sql = "SELECT * EXCLUDE (place) FROM labelled ORDER BY place"
            for batch in work.batches(sql, ROWS, "write labels", None):
                heap.write(kept.with_labels(*batch.columns) if kept is not None and stay else batch.column(0))
            work.con.execute("DROP TABLE labelled")
    return count


def _write_aliases(work: Work) -> int:
    nodes = work.counts["entities"] + work.counts["literals"]
    next_node = written = 0
    with work.heap("aliases") as heap, work.array("aliases.nodes", "<u8") as starts:
        for numbers, texts in _aliases(work):
            heap.write(texts)
            upto = np.arange(next_node, int(numbers[-1]) + 1, dtype=np.int64)
            starts.write(written + np.searchsorted(numbers, upto, side="left"))
            next_node = int(numbers[-1]) + 1
            written += len(numbers)
        if written:
            starts.write(np.full(nodes + 1 - next_node, written, dtype=np.int64))
    return written


def _aliases(work: Work) -> Iterator[tuple[Ints, Any]]:
    """Stream the aliases in order: nodes and texts; of an update, the new between those that stay."""
    import pyarrow as pa

    last = -1
    sql = "SELECT n, text::VARCHAR FROM alias WHERE n > {} AND n <= {} ORDER BY n, text"
    for numbers, texts in work.kept.aliases() if work.kept is not None else ():
        new = work.con.sql(sql.format(last, last := int(numbers[-1]))).to_arrow_table()
        every = np.concatenate([numbers, _ints(new.column(0))])
        order = np.argsort(every, kind="stable")
        columns = pa.chunked_array([texts, *new.column(1).cast(pa.large_string()).chunks])
        yield every[order], columns.take(pa.array(order))
    for batch in work.batches(sql.format(last, 2**62), ROWS, "write aliases", None):
        yield _ints(batch.column(0)), batch.column(1)


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
            s, r, o, q, v = (_ints(batch.column(place)) for place in range(5))
            position = forward.edges(s, r, o)
            known = position >= 0
            edges.write(position[known])
            relations.write(q[known])
            terms.write(v[known])
            kept += int(known.sum())
    work.counts["qualifiers"] = kept
    work.ignored["qualifiers of unknown triples"] = total - kept
