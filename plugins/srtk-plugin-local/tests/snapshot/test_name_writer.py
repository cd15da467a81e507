"""Names of a snapshot are written in the memory of the build, however many there are, from parts of any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from srtk_plugin_local.snapshot import name_writer
from srtk_plugin_local.snapshot.array_writer import Work
from srtk_plugin_local.snapshot.arrays import Heap
from srtk_plugin_local.snapshot.id_names import IdNames
from srtk_plugin_local.snapshot.layout import map_array, map_file
from srtk_plugin_local.snapshot.name_writer import write_names

NODES = 500_000
LITTLE: dict[str, Any] = {"threads": 1, "memory_limit": "32MB"}


@pytest.fixture
def work(tmp_path: Path) -> Callable[..., Work]:
    """Return a function that makes a build with a number of nodes, the last a literal, relations and names."""

    def make(nodes: int, names: str, config: dict[str, Any] | None = None) -> Work:
        con = duckdb.connect(str(tmp_path / "work.duckdb"), config=config or {})
        ids = f"printf('%07d', range) AS id, range = {nodes - 1} AS literal"
        con.execute(f"CREATE TABLE node AS SELECT {ids} FROM range({nodes})")
        con.execute("CREATE TABLE relation AS SELECT 'r' || range AS id FROM range(3)")
        con.execute(f"CREATE TABLE name AS SELECT * FROM ({names}) AS v (id, text, rank, language, alias)")
        build = Work(con, tmp_path, lambda *_: None)
        build.counts |= {"entities": nodes - 1, "literals": 1, "relations": 3}
        with build.heap("nodes") as heap:
            for batch in build.batches("SELECT id FROM node", 10_000, "", None):
                heap.write(batch.column(0))
        with build.array("literals", "|u1") as flags:
            flags.write(np.arange(nodes) == nodes - 1)
        return build

    return make


def heap(folder: Path, name: str) -> Heap:
    return Heap(map_array(folder / f"{name}.offsets", "<u8"), map_file(folder / f"{name}.bytes"))


def test_many_names_are_written_in_little_memory(work: Callable[..., Work], tmp_path: Path) -> None:
    every = f"SELECT range * 7919 % {NODES} AS n FROM range({NODES})"
    names = f"SELECT printf('%07d', n), 'the label of ' || n, 2, '', FALSE FROM ({every}) WHERE n % 10 <> 3"
    build = work(NODES, names, LITTLE)
    write_names(build, lambda labelled: IdNames(not labelled, {}))
    assert build.counts["labels"] == NODES * 9 // 10 - 1
    assert build.counts["names"] == NODES - 1
    labels = heap(tmp_path, "labels")
    assert len(labels) == NODES
    assert labels.take(np.array([0, 2, 3, NODES - 2, NODES - 1])) == [
        "the label of 0",
        "the label of 2",
        "",
        "the label of 499998",
        "",
    ]


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 500])
def test_the_first_of_the_names_is_the_label_and_the_others_are_aliases(
    rows: int, work: Callable[..., Work], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_writer, "ROWS", rows)
    monkeypatch.setattr(name_writer, "_ROWS", rows)
    names = """VALUES
        ('0000002', 'zwei', 4, 'de', FALSE), ('0000002', 'two', 0, 'en', FALSE), ('0000002', 'deux', 4, 'fr', FALSE),
        ('0000002', 'two', 0, 'en', TRUE), ('0000002', 'deux', 0, 'en', TRUE), ('0000002', 'a pair', 0, 'en', TRUE),
        ('0000005', 'only an alias', 0, 'en', TRUE), ('0000005', 'only an alias', 4, 'fr', TRUE),
        ('0000006', 'b', 0, 'en', FALSE), ('0000006', 'a', 0, 'en', FALSE), ('0000006', 'a', 4, 'fr', FALSE),
        ('r1', 'second', 0, 'en', FALSE), ('r1', 'first', 0, 'en', FALSE), ('r1', 'other', -1, '', TRUE),
        ('0000019', 'of a literal', 0, 'en', FALSE), ('unknown', 'of nothing', 0, 'en', FALSE)"""
    build = work(20, names)
    write_names(build, lambda labelled: IdNames(not labelled, {}))
    labels, aliases, relations = (heap(tmp_path, name) for name in ("labels", "aliases", "relation_labels"))
    assert [labels[n] for n in range(20)] == ["", "", "two", "", "", "", "a", *[""] * 13]
    starts = map_array(tmp_path / "aliases.nodes", "<u8").astype(np.int64)
    owners = np.repeat(np.arange(20), starts[1:] - starts[:-1])
    assert [(int(owner), aliases[place]) for place, owner in enumerate(owners)] == [
        (2, "a pair"),
        (2, "deux"),
        (2, "zwei"),
        (5, "only an alias"),
        (6, "b"),
    ]
    assert [relations[n] for n in range(3)] == ["", "first", ""]
    assert build.ignored == {"names of ids without a fact": 1}
    # Each entity but the literal by its label or id, and the aliases.
    assert sorted(map_array(tmp_path / "names.node", "<u2")) == sorted([*range(19), *owners])
