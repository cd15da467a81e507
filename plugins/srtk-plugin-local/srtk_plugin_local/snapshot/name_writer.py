"""Labels, aliases and the index of names of a snapshot, from the staged names in order of their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from srtk_framework.text import fold
from srtk_plugin_local.name_index import keyed
from srtk_plugin_local.snapshot.array_writer import ROWS, Work, ints, write_hashes
from srtk_plugin_local.snapshot.csr import Ints
from srtk_plugin_local.snapshot.id_names import IdNames
from srtk_plugin_local.snapshot.mediators import GENERATED, Flags
from srtk_plugin_local.snapshot.name_table import write_table
from srtk_plugin_local.snapshot.staging_tables import insert
from srtk_plugin_local.snapshot.staging_values import first_row

_ROWS = 50_000


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
    # The join is stored, and ordered then: both at once do not share the memory of the build.
    con.execute(
        "CREATE TABLE named AS SELECT CASE WHEN NOT literal THEN n.rowid END AS n, text, rank, language, alias, "
        "CASE WHEN n.id IS NULL THEN name.id END AS unknown FROM name LEFT JOIN node n USING (id)"
    )
    work.ignored["names of ids without a fact"] = work.one(
        "SELECT count(*) FROM named ANTI JOIN relation ON unknown = id WHERE unknown IS NOT NULL"
    )
    work.counts["relation_labels"] = _write_relation_labels(work)
    con.execute("DROP TABLE name")
    work.counts["labels"] = _write_labels(work)
    con.execute("DROP TABLE named")
    work.counts["aliases"] = _write_aliases(work)
    from_id = id_names(bool(work.counts["labels"]))

    def indexed(id_: str) -> list[str]:
        names = from_id.indexed(id_)
        work.nameless += "://" in names[0] or id_.startswith("_:")
        return names

    work.unnamed = np.zeros(work.nodes, dtype=bool)
    new = np.ones(work.nodes, dtype=bool) if kept is None else kept.renamed(work.nodes)
    work.con.execute(f"CREATE TABLE near (h UBIGINT, n {'INTEGER' if work.nodes < 2**31 else 'BIGINT'})")
    rows = _keyed(work, (_folded(*some, from_id, indexed, work.unnamed) for some in _names(work, new)))
    work.counts["names"] = write_hashes(work, "names.hash", "names.node", rows, None if kept is None else kept.names())
    if kept is not None:
        old = (_folded(*some, from_id, from_id.indexed, np.zeros_like(new)) for some in _names(work, ~new))
        for _ in _keyed(work, old):
            pass
    _write_near(work)


def _keyed(work: Work, rows: Iterator[tuple[list[str], Ints]]) -> Iterator[tuple[list[str], Ints]]:
    """Stream folded names with their nodes, and add the keys of each to the table ``near``."""
    import pyarrow as pa

    for names, numbers in rows:
        keys, owners = keyed(names, numbers)
        insert(work.con, "near", pa.table({"h": keys, "n": owners}), "*")
        yield names, numbers


def _write_near(work: Work) -> None:
    """Write the index of near names from the table ``near``."""
    batches = work.batches("FROM near ORDER BY h, n", ROWS, "sort near names", None)
    rows = ((batch.column(0).to_numpy(), ints(batch.column(1))) for batch in batches)
    with TemporaryFile(dir=work.folder) as scratch:
        write_table(work, rows, work.nodes, scratch)
    work.con.execute("DROP TABLE near")


def _names(work: Work, chosen: Flags) -> Iterator[tuple[Any, Ints, Flags]]:
    """Stream the label of each chosen node that is an entity, or its id, then its aliases.

    Yields:
        Texts, the node of each, and whether each is the id of an entity that lacks a label.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    work.progress("index names", 0, work.nodes)
    for start in range(0, work.nodes, _ROWS):
        end = min(start + _ROWS, work.nodes)
        wanted = chosen[start:end].copy()
        if work.counts["aliases"]:
            bounds = work.part("aliases.nodes", start, end + 1).astype(np.int64)
            owners = np.repeat(np.arange(end - start), np.diff(bounds))
            aliases = work.texts("aliases", int(bounds[0]), int(bounds[-1])).filter(pa.array(wanted[owners]))
            owners = owners[wanted[owners]]
            yield aliases, owners + start, np.zeros(len(owners), dtype=bool)
        if work.counts["literals"]:
            wanted &= work.part("literals", start, end) == 0
        texts, lacks = work.texts("nodes", start, end), np.ones(end - start, dtype=bool)
        if work.counts["labels"]:
            labels = work.texts("labels", start, end)
            lacks = pc.equal(labels, "").to_numpy(zero_copy_only=False)
            texts = pc.if_else(pa.array(lacks), texts, labels)
        yield texts.filter(pa.array(wanted)), np.flatnonzero(wanted) + start, lacks[wanted]
        work.progress("index names", end, work.nodes)


def _folded(
    column: Any, numbers: Ints, lacks: Flags, id_names: IdNames, indexed: Callable[[str], list[str]], unnamed: Flags
) -> tuple[list[str], Ints]:
    """Return the folded names of some texts with their nodes, and flag the nodes that have none."""
    import pyarrow.compute as pc

    texts = column.to_pylist()
    lacking = np.flatnonzero(lacks).tolist()
    # Most ids of tables are their own names: only ids with more in them are looked at one by one.
    names = {row: indexed(texts[row]) for row in lacking if not id_names.is_whole(texts[row])}
    if lacking:
        bare = lacks.copy() if not id_names.names else np.zeros(len(lacks), dtype=bool)
        if not id_names.names:
            bare[[row for row, found in names.items() if not _is_bare(texts[row], found)]] = False
        # Even where ids are names, generated ids such as mids are no names.
        bare |= lacks & pc.match_substring_regex(column, GENERATED).to_numpy(zero_copy_only=False)
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


def _write_relation_labels(work: Work) -> int:
    """Write the label of each relation; return the number of labels."""
    rows = (
        "SELECT n.rowid AS n, text, alias FROM name JOIN relation n USING (id) WHERE NOT alias "
        "ORDER BY n, rank, language, text"
    )
    labels = [(numbers, texts) for numbers, texts, _ in _labels(work, rows)]
    count = sum(len(numbers) for numbers, _ in labels)
    with work.heap("relation_labels") as heap:
        for _, texts in _by_owner(iter(labels), work.counts["relations"]) if count else ():
            heap.write(texts.fill_null(""))
    return count


def _write_labels(work: Work) -> int:
    """Write the label of each node, and move its other names to the table ``alias``; return the number of labels."""
    import pyarrow as pa

    con, kept = work.con, work.kept
    con.execute("CREATE TABLE alias (n BIGINT, text VARCHAR)")
    stay = 0 if kept is None else kept.labels
    some = stay or first_row(con, "SELECT 1 FROM named WHERE n IS NOT NULL AND NOT alias LIMIT 1")
    count = stay

    def chosen() -> Iterator[tuple[Ints, Any]]:
        nonlocal count
        sql = "SELECT n, text, alias FROM named WHERE n IS NOT NULL ORDER BY n, alias, rank, language, text"
        for numbers, texts, (owners, others) in _labels(work, sql):
            if len(owners):
                insert(con, "alias", pa.table({"n": owners, "text": others}), "n, text")
            count += len(numbers)
            yield numbers, texts

    with work.heap("labels") as heap:
        for start, texts in _by_owner(chosen(), work.nodes):
            if some:
                heap.write(kept.with_labels(texts, start) if stay and kept is not None else texts.fill_null(""))
    return count


def _labels(work: Work, sql: str) -> Iterator[tuple[Ints, Any, tuple[Ints, Any]]]:
    """Stream the label of each owner, which is its first name if that is no alias.

    Args:
        work: The build.
        sql: Query of owner, text and whether it is an alias, in order: of an owner, the best name first.

    Yields:
        Owners, their labels, and the owners and texts of other names, without those that are the owner's label too.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    last, label = -1, pa.nulls(1, pa.large_string())
    for batch in work.batches(sql, ROWS, "write labels", None):
        numbers, texts = ints(batch.column(0)), batch.column(1).cast(pa.large_string())
        begins = np.diff(numbers, prepend=last) != 0
        chosen = begins & ~batch.column(2).to_numpy(zero_copy_only=False)
        first = pa.array(begins)
        firsts = pc.if_else(pa.array(chosen).filter(first), texts.filter(first), pa.scalar(None, pa.large_string()))
        owned = pa.concat_arrays([label, firsts])
        rest = ~chosen
        if rest.any():
            same = pc.equal(texts, owned.take(pa.array(np.cumsum(begins)))).fill_null(False)
            rest &= ~same.to_numpy(zero_copy_only=False)
        last, label = int(numbers[-1]), owned.slice(len(owned) - 1)
        yield numbers[chosen], texts.filter(pa.array(chosen)), (numbers[rest], texts.filter(pa.array(rest)))


def _by_owner(rows: Iterator[tuple[Ints, Any]], count: int) -> Iterator[tuple[int, Any]]:
    """Stream the text of each of so many owners, or null, in parts of consecutive owners.

    Args:
        rows: Owners, in order, and their texts.
        count: Number of owners.

    Yields:
        The first owner of a part, and its texts.
    """
    import pyarrow as pa

    start = 0
    for numbers, texts in rows:
        end = int(numbers[-1]) + 1 if len(numbers) else start
        for first in range(start, end, ROWS):
            places = np.full(min(ROWS, end - first), -1)
            low, high = np.searchsorted(numbers, [first, first + ROWS])
            places[numbers[low:high] - first] = np.arange(low, high)
            yield first, texts.take(pa.array(places, mask=places < 0))
        start = end
    for first in range(start, count, ROWS):
        yield first, pa.nulls(min(ROWS, count - first), pa.large_string())


def _write_aliases(work: Work) -> int:
    """Write the aliases of each node, each once; return their number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    next_node = written = 0
    last: tuple[int, Any] = (-1, None)
    with work.heap("aliases") as heap, work.array("aliases.nodes", "<u8") as starts:
        for numbers, texts in _aliases(work):
            fresh = np.ones(len(numbers), dtype=bool)
            fresh[1:] = pc.not_equal(texts.slice(1), texts.slice(0, len(texts) - 1)).to_numpy(zero_copy_only=False)
            fresh[1:] |= numbers[1:] != numbers[:-1]
            fresh[0] = last != (numbers[0], texts[0].as_py())
            last = int(numbers[-1]), texts[-1].as_py()
            numbers = numbers[fresh]
            if not len(numbers):
                continue
            heap.write(texts.filter(pa.array(fresh)))
            upto = np.arange(next_node, int(numbers[-1]) + 1, dtype=np.int64)
            starts.write(written + np.searchsorted(numbers, upto, side="left"))
            next_node = int(numbers[-1]) + 1
            written += len(numbers)
        if written:
            starts.write(np.full(work.nodes + 1 - next_node, written, dtype=np.int64))
    work.con.execute("DROP TABLE alias")
    return written


def _aliases(work: Work) -> Iterator[tuple[Ints, Any]]:
    """Stream the aliases in order: nodes and texts; of an update, the new between those that stay."""
    import pyarrow as pa

    last = -1
    sql = "SELECT n, text FROM alias WHERE n > {} AND n <= {} ORDER BY n, text"
    for numbers, texts in work.kept.aliases() if work.kept is not None else ():
        new = work.con.sql(sql.format(last, last := int(numbers[-1]))).to_arrow_table()
        every = np.concatenate([numbers, ints(new.column(0))])
        order = np.argsort(every, kind="stable")
        columns = pa.chunked_array([texts, *new.column(1).cast(pa.large_string()).chunks])
        yield every[order], columns.take(pa.array(order))
    for batch in work.batches(sql.format(last, 2**62), ROWS, "write aliases", None):
        yield ints(batch.column(0)), batch.column(1)
