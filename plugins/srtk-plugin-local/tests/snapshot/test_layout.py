"""Files of numbers and of strings are read as they were written."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from srtk_plugin_local.snapshot.arrays import Heap
from srtk_plugin_local.snapshot.layout import PIECE, ArrayFile, HeapFile, map_array, map_file

from srtk_framework.records import BLOCK


def test_a_file_is_written_in_whole_pieces_so_that_its_pages_can_be_huge(tmp_path: Path) -> None:
    written: dict[str, dict[str, Any]] = {}
    path, numbers = tmp_path / "numbers", np.arange(PIECE // 3, dtype=np.uint32)
    with ArrayFile(tmp_path, "numbers", "<u4", written) as file:
        file.write(numbers[:1000])
        assert path.stat().st_size == 0
        file.write(numbers[1000:])
        assert path.stat().st_size == PIECE
    content = path.read_bytes()
    assert content == numbers.tobytes()
    assert written["numbers"]["bytes"] == len(content)
    blocks = [content[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
    assert written["numbers"]["blocks"] == list(map(zlib.crc32, blocks))


@pytest.mark.parametrize("texts", [["", "a", "größer", ""], [""], []])
def test_strings_are_read_by_number_also_where_they_are_empty(tmp_path: Path, texts: list[str]) -> None:
    with HeapFile(tmp_path, "heap", {}) as file:
        file.write(pa.array(texts, type=pa.string()))
    heap = Heap(map_array(tmp_path / "heap.offsets", "<u8"), map_file(tmp_path / "heap.bytes"))
    assert len(heap) == len(texts)
    assert heap.take(np.arange(len(texts))[::-1]) == texts[::-1]
    assert [heap[number] for number in range(len(texts))] == texts
