"""Files of a snapshot are written in the memory of the build, however many rows they have."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
from srtk_plugin_local.snapshot.array_writer import Work, _write_labels
from srtk_plugin_local.snapshot.arrays import Heap
from srtk_plugin_local.snapshot.layout import map_array, map_file

NODES = 500_000


def test_many_labels_are_written_in_little_memory(tmp_path: Path) -> None:
    con = duckdb.connect(str(tmp_path / "work.duckdb"), config={"threads": 1, "memory_limit": "30MB"})
    con.execute(f"CREATE TABLE node AS SELECT range AS id FROM range({NODES})")
    every = f"SELECT range * 7919 % {NODES} AS n, 'the label of ' || n AS text FROM range({NODES})"
    con.execute(f"CREATE TABLE label AS SELECT * FROM ({every}) WHERE n % 10 <> 3")
    assert _write_labels(Work(con, tmp_path, lambda *_: None), "labels", "node", "label") == NODES * 9 // 10
    con.close()
    heap = Heap(map_array(tmp_path / "labels.offsets", "<u8"), map_file(tmp_path / "labels.bytes"))
    assert len(heap) == NODES
    assert heap.take(np.array([0, 2, 3, NODES - 1])) == ["the label of 0", "the label of 2", "", "the label of 499999"]
