"""The file format of a snapshot, and writers that hash their data.

A snapshot is a folder with a meta file and one generation: a folder of plain little-endian arrays for memory mapping.
The meta file names the generation, and has the hash of each file and a CRC-32 of each of its blocks of 1 MiB. So damage
is found and its place is named. It also has a hash of itself. The arrays are:

- ``nodes``, ``relations``, ``labels``, ``aliases``, ``relation_labels``, ``terms``: heaps of strings, each an
  ``offsets`` file (one more than there are strings) and a ``bytes`` file in UTF-8.
- Nodes and relations are numbered in code-point order of their ids, so that sorted numbers are sorted ids.
- ``forward`` and ``inverse``: compressed sparse rows. ``nodes`` is the first group of each node; ``relations`` and
  ``starts`` are the relation of each group and the last byte of the place of its first target; ``blocks`` is the first
  group that begins at target 256, 512 and so on, or after; ``targets`` are sorted within a group.
- ``nodes.hash`` and ``names.hash``: sorted 64-bit hashes of ids and of folded names, beside the node of each.
- ``near``: the index of near names, a table of owners by key. ``keys`` are the distinct keys, sorted; ``starts`` and
  ``blocks`` the place of the first owner of each, as those of the edges, and the number of owners; ``owners`` the
  sorted nodes of each. ``filter`` is a Bloom filter of blocks of 64 bytes, each for 32 keys on average (Putze et al.,
  2007): of a key, two bits of one block are set. It has further keys, without owners. ``buckets`` is the first key of
  each block, and the number of keys, so that a key is sought among a few.
- ``literals``: 1 for each node that is a literal. ``loops``: the node of each self-loop.
- ``qualifiers``: position of an edge among the forward targets, number of a relation, number of a term.
- ``terms.literals``: 1 for each term that is a literal. Without this file, the terms with a type or language are.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.records import BLOCK
from srtk_plugin_local.snapshot.csr import PARTS

FORMAT = "srtk-graph"
VERSION = 4
META = "meta.json"
# Name of a generation.
GENERATION = re.compile("[0-9a-f]{16}(-[0-9]+)?")

TERM_LITERALS = "terms.literals"

PIECE = 2 * BLOCK
"""Bytes that a file is written in: of aligned writes of 2 MiB, Linux keeps huge pages where memory has room (ext4 since
6.16, XFS since 5.18), and maps each with one fault, which a node alone waits for."""

HEAPS = ("nodes", "relations", "labels", "aliases", "relation_labels", "terms")
NEAR = tuple(f"near.{part}" for part in ("keys", "starts", "blocks", "owners", "filter", "buckets"))
FILTER_BLOCK = 64
"""Bytes of a block of the filter."""
ARRAYS = (
    *("literals", "relations.count"),
    *(f"{side}.{part}" for side in ("forward", "inverse") for part in PARTS),
    *("nodes.hash", "nodes.hash_node", "names.hash", "names.node", "aliases.nodes", "loops"),
    *NEAR,
    *("qualifiers.edge", "qualifiers.relation", "qualifiers.term"),
)
# The files that define the graph; the others are derived from them.
CONTENT = (
    *("nodes.offsets", "nodes.bytes", "literals", "relations.offsets", "relations.bytes"),
    *(f"forward.{part}" for part in PARTS),
    *("labels.offsets", "labels.bytes", "aliases.nodes", "aliases.offsets", "aliases.bytes"),
    *("relation_labels.offsets", "relation_labels.bytes"),
    *("qualifiers.edge", "qualifiers.relation", "qualifiers.term", "terms.offsets", "terms.bytes"),
)


def width(most: int) -> str:
    """Return the narrowest dtype, of 2, 4 or 8 bytes, that holds numbers up to ``most``."""
    return "<u2" if most < 2**16 else "<u4" if most < 2**32 else "<u8"


def hash_of(text: str) -> int:
    """Hash a text as ``hash64`` does."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def hash64(texts: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Hash each text to 64 bits, identically in every process."""
    blake = hashlib.blake2b
    digests = b"".join([blake(text.encode(), digest_size=8).digest() for text in texts])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64, copy=False)


class ArrayFile:
    """A new file of numbers or bytes, hashed while it is written.

    Args:
        folder: Folder of the snapshot.
        name: Name of the file.
        dtype: Type of its numbers.
        written: Receives the meta entry of the file when it is closed.
    """

    def __init__(self, folder: Path, name: str, dtype: str, written: dict[str, dict[str, Any]]) -> None:
        self.dtype = np.dtype(dtype)
        self._size = 0
        self._name = name
        self._written = written
        self._sha = hashlib.sha256()
        self._blocks: list[int] = []
        self._file: IO[bytes] = (folder / name).open("wb")
        self._held = bytearray()

    @property
    def count(self) -> int:
        """Number of items written."""
        return self._size // self.dtype.itemsize

    def write(self, values: npt.ArrayLike) -> None:
        """Append numbers."""
        array = np.ascontiguousarray(values, dtype=self.dtype)
        if array.size:
            self.write_bytes(array.data.cast("B"))

    def write_bytes(self, data: bytes | memoryview) -> None:
        """Append raw bytes."""
        self._sha.update(data)
        rest = memoryview(data)
        while len(rest):
            filled = self._size % BLOCK
            part = rest[: BLOCK - filled]
            if filled:
                self._blocks[-1] = zlib.crc32(part, self._blocks[-1])
            else:
                self._blocks.append(zlib.crc32(part))
            self._size += len(part)
            self._held += part
            if len(self._held) == PIECE:
                self._file.write(self._held)
                self._held.clear()
            rest = rest[len(part) :]

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._file:
            if kind is None:
                self._file.write(self._held)
        if kind is None:
            self._written[self._name] = {
                "dtype": self.dtype.str,
                "bytes": self._size,
                "sha256": self._sha.hexdigest(),
                "blocks": self._blocks,
            }


class HeapFile:
    """A new heap of strings: offsets and bytes."""

    def __init__(self, folder: Path, name: str, written: dict[str, dict[str, Any]]) -> None:
        self._offsets = ArrayFile(folder, f"{name}.offsets", "<u8", written)
        self._bytes = ArrayFile(folder, f"{name}.bytes", "|u1", written)
        self._end = 0
        self._offsets.write([0])

    def write(self, column: Any) -> None:
        """Append a pyarrow string column (array or chunked array) without nulls."""
        import pyarrow as pa

        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        for chunk in chunks:
            strings = chunk.cast(pa.large_string())
            if len(strings):
                _, offsets, data = strings.buffers()
                bounds = np.frombuffer(offsets, dtype="<i8")[strings.offset : strings.offset + len(strings) + 1]
                if data is not None:
                    self._bytes.write_bytes(memoryview(data)[bounds[0] : bounds[-1]])
                self._offsets.write(bounds[1:] - bounds[0] + self._end)
                self._end += int(bounds[-1] - bounds[0])

    def __enter__(self) -> HeapFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._offsets.__exit__(kind)
        self._bytes.__exit__(kind)


@attrs.frozen
class Meta:
    """The content of the meta file.

    Attributes:
        content: SHA-256 of the content; equal for equal graphs, whatever the inputs.
        counts: Number of entities, literals, relations, triples, ...
        names: Whether ids are names, whose underscores stand for spaces.
        schema: Fields of ``Schema``.
        files: Dtype, size in bytes, SHA-256 and the CRC-32 of each block, by file.
        build: Fingerprint of the inputs, their names, and the numbers of rows that were left out.
        origin: Origin of the graph, if the builder gave it; not part of the content.
        generation: Name of the folder with the files.
    """

    content: str
    counts: Mapping[str, int]
    names: bool
    schema: Mapping[str, Any]
    files: Mapping[str, Mapping[str, Any]]
    build: Mapping[str, Any]
    origin: Mapping[str, Any]
    generation: str = ""


def map_file(path: Path) -> mmap.mmap | bytes:
    """Map a file into memory, read-only."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""


def map_array(path: Path, dtype: str) -> npt.NDArray[Any]:
    """Map a file of numbers into memory, read-only."""
    return np.frombuffer(map_file(path), dtype=dtype)


def content_hash(files: Mapping[str, Mapping[str, Any]], names: bool, schema: Mapping[str, Any]) -> str:
    """Hash the content files, the flag ``names`` and the schema."""
    parts = [[name, files[name]["sha256"]] for name in (*CONTENT, TERM_LITERALS) if name in files]
    return hashlib.sha256(json.dumps([parts, names, schema], sort_keys=True).encode()).hexdigest()


def generation_name(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Name a generation by its files, so that the same build gives the same name."""
    hashes = {name: entry["sha256"] for name, entry in files.items()}
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()[:16]


def checksum(data: Mapping[str, Any]) -> str:
    """Hash everything in a meta file but the hash itself."""
    rest = {key: value for key, value in data.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def meta_text(meta: Meta) -> str:
    """Return the text of a meta file."""
    data = {"format": FORMAT, "version": VERSION, **attrs.asdict(meta)}
    whole = {**data, "checksum": checksum(data)}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
