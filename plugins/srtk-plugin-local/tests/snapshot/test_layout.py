"""The files of a snapshot as they are written, mapped and read."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from srtk_plugin_local.snapshot import layout
from srtk_plugin_local.snapshot.arrays import Heap
from srtk_plugin_local.snapshot.layout import (
    PIECE,
    ArrayFile,
    HeapFile,
    hash64,
    hash_of,
    map_array,
    map_file,
    width,
)

from srtk_framework.records import BLOCK


@pytest.mark.parametrize(
    ("most", "dtype"),
    [(0, "<u2"), (2**16 - 1, "<u2"), (2**16, "<u4"), (2**32 - 1, "<u4"), (2**32, "<u8"), (2**63, "<u8")],
)
def test_numbers_have_the_narrowest_type_that_holds_them(most: int, dtype: str) -> None:
    assert width(most) == dtype


def test_one_text_is_hashed_as_many_are() -> None:
    texts = ["a", "Ä", ""]
    assert hash64(texts).tolist() == [hash_of(text) for text in texts]
    assert hash_of("a") == int.from_bytes(hashlib.blake2b(b"a", digest_size=8).digest(), "little")


@pytest.mark.parametrize("parts", [[20], [8, 8, 4], [3, 5, 12], [1] * 20, [7, 13]])
def test_a_file_has_the_checksum_of_each_block_however_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: list[int]
) -> None:
    monkeypatch.setattr(layout, "BLOCK", 8)
    data, at, written = bytes(range(20)), 0, dict[str, Any]()
    with ArrayFile(tmp_path, "a", "<u2", written) as file:
        for size in parts:
            file.write_bytes(data[at : at + size])
            at += size
        assert file.count == 10
    blocks = [zlib.crc32(data[start : start + 8]) for start in (0, 8, 16)]
    whole = {"dtype": "<u2", "bytes": 20, "sha256": hashlib.sha256(data).hexdigest(), "blocks": blocks}
    assert written == {"a": whole}
    assert map_array(tmp_path / "a", "<u2").tolist() == np.frombuffer(data, dtype="<u2").tolist()


def test_the_hashes_of_a_graph_depend_on_its_content_and_on_no_order() -> None:
    files = {name: {"sha256": name * 2, "dtype": "<u4"} for name in ("forward.targets", "nodes.bytes", "nodes.hash")}
    turned = dict(reversed(files.items()))
    schema, other = {"noise": ["a"], "prefixes": {}}, {"prefixes": {}, "noise": ["a"]}
    assert layout.content_hash(files, True, schema) == layout.content_hash(turned, True, other)
    assert layout.generation_name(files) == layout.generation_name(turned)
    assert layout.GENERATION.fullmatch(layout.generation_name(files))
    derived = {**files, "nodes.hash": {"sha256": "other"}}
    assert layout.content_hash(derived, True, schema) == layout.content_hash(files, True, schema)
    assert layout.generation_name(derived) != layout.generation_name(files)
    flagged = {**files, layout.TERM_LITERALS: {"sha256": "x"}}
    assert layout.content_hash(flagged, True, schema) != layout.content_hash(files, True, schema)
    assert layout.content_hash(files, False, schema) != layout.content_hash(files, True, schema)
    data = {"b": 1, "a": {"d": 2, "c": 3}}
    assert layout.checksum({"a": {"c": 3, "d": 2}, "b": 1, "checksum": "x"}) == layout.checksum(data)
    assert layout.checksum({**data, "b": 2}) != layout.checksum(data)


def test_a_meta_file_is_text_that_a_person_can_read() -> None:
    meta = layout.Meta("0" * 64, {}, True, {"noise": ["größer"]}, {}, {}, {})
    text = layout.meta_text(meta)
    assert text.startswith('{\n "format": "srtk-graph",\n "version": 4,\n "content": "000')
    assert text.endswith("}\n")
    assert "größer" in text
    assert json.loads(text)["checksum"] == layout.checksum(json.loads(text))
    assert json.loads(text)["generation"] == ""


def test_what_fails_while_it_is_written_has_no_entry_and_an_empty_file_is_no_map(tmp_path: Path) -> None:
    written: dict[str, Any] = {}
    with pytest.raises(ValueError, match="full"), ArrayFile(tmp_path, "a", "<u2", written):
        raise ValueError("full")
    assert written == {}
    with ArrayFile(tmp_path, "a", "<u2", written) as file:
        file.write([])
    assert (written["a"]["bytes"], written["a"]["blocks"], map_file(tmp_path / "a")) == (0, [], b"")


def test_a_heap_has_the_texts_of_all_columns_and_of_parts_of_them(tmp_path: Path) -> None:
    written: dict[str, Any] = {}
    column = pa.array(["x", "ab", "", "ä", "y"])
    with HeapFile(tmp_path, "h", written) as heap:
        heap.write(column.slice(1, 3))
        heap.write(pa.array([], pa.string()))
        heap.write(pa.chunked_array([["c"], [""], ["de"]]))
    assert map_array(tmp_path / "h.offsets", "<u8").tolist() == [0, 2, 2, 4, 5, 5, 7]
    assert (tmp_path / "h.bytes").read_bytes().decode() == "abäcde"
    assert sorted(written) == ["h.bytes", "h.offsets"]


def test_a_file_is_written_in_whole_pieces_so_that_its_pages_can_be_huge(tmp_path: Path) -> None:
    written: dict[str, dict[str, Any]] = {}
    assert PIECE == 2 << 20  # the size of a huge page
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
