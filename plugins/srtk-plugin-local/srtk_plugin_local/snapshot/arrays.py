"""The memory-mapped arrays and string heaps of a snapshot, checked when they are opened."""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import Literal, SnapshotError
from srtk_plugin_local.snapshot.csr import Adjacency, Dense, Ints, spread
from srtk_plugin_local.snapshot.data_files import DataFiles
from srtk_plugin_local.snapshot.id_names import IdNames
from srtk_plugin_local.snapshot.layout import ARRAYS, HEAPS, TERM_LITERALS, Meta, hash64, hash_of
from srtk_plugin_local.snapshot.meta_file import read_meta

# A writer would have to publish five times while one reader opens.
_TRIES = 5


class Heap:
    """A memory-mapped list of strings."""

    def __init__(self, offsets: npt.NDArray[Any], data: mmap.mmap | bytes) -> None:
        self.offsets = offsets
        self._bounds = offsets.data
        self._data = data
        self._bytes = np.frombuffer(data or b"\0", dtype=np.uint8)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:
        return self._data[self._bounds[number] : self._bounds[number + 1]].decode()

    def column(self) -> Any:
        """Return the strings as a pyarrow array over the mapped bytes."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self._data)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)

    def take(self, numbers: npt.NDArray[Any]) -> list[str]:
        """Read the strings with these numbers."""
        data = self._data
        numbers = numbers.astype(np.int64)
        # Places without a sign are refused by numpy before 2.2.
        starts = self.offsets.take(numbers).astype(np.int64)
        # All first bytes are loaded side by side. Below, each string would be waited for in turn.
        self._bytes.take(starts, mode="clip")
        ends = self.offsets.take(numbers + 1).tolist()
        return [data[start:end].decode() for start, end in zip(starts.tolist(), ends, strict=True)]


class Snapshot:
    """The arrays and heaps of one snapshot; processes share the mapped pages.

    Args:
        folder: Folder of the snapshot.

    Raises:
        SnapshotError: If a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.meta, self._files = _opened(folder)
        self.id_names = IdNames.of(self.meta)
        optional = (TERM_LITERALS,) if TERM_LITERALS in self.meta.files else ()
        self._arrays = {name: self._array(name) for name in (*ARRAYS, *optional)}
        self._hashes, self._hashed = (self._arrays[name].data for name in ("nodes.hash", "nodes.hash_node"))
        self._heaps = {name: Heap(self._array(f"{name}.offsets"), self._files[f"{name}.bytes"]) for name in HEAPS}
        self.nodes = self._heaps["nodes"]
        self.size = len(self.nodes)
        self.forward, self.inverse = (Adjacency.read(side, self.array) for side in ("forward", "inverse"))
        self.literals = self._arrays["literals"]
        self.has_literals = bool(len(self.literals))
        self.relations = self._heaps["relations"].take(np.arange(len(self._heaps["relations"])))

    @cached_property
    def dense(self) -> Dense | None:
        """The edges of a small graph in memory; None for a larger graph."""
        return Dense.of(self.forward, self.inverse, len(self.relations))

    def _array(self, name: str) -> npt.NDArray[Any]:
        return np.frombuffer(self._files[name], dtype=self.meta.files[name]["dtype"])

    def check(self) -> None:
        """Check that the files are still those that were opened; see ``DataFiles.check``."""
        self._files.check()

    def forget(self) -> None:
        """Let go of the pages that were read; see ``DataFiles.forget``."""
        self._files.forget()

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return an array by its file name."""
        return self._arrays[name]

    def heap(self, name: str) -> Heap:
        """Return a heap by its name."""
        return self._heaps[name]

    def runs(self, nodes: Ints, inverse: bool) -> tuple[Ints, Ints, Ints, Ints]:
        """Find the edges at nodes; see ``EdgeArrays``."""
        side = self.inverse if inverse else self.forward
        groups, bounds = spread(*side.groups(nodes))
        low, high = side.runs(groups)
        return np.repeat(np.arange(len(nodes)), np.diff(bounds)), side.relations[groups].astype(np.int64), low, high

    def targets(self, positions: Ints, inverse: bool) -> Ints:
        """Return the node at the far end of each edge."""
        return (self.inverse if inverse else self.forward).targets[positions].astype(np.int64)

    def ids(self, numbers: Ints) -> list[str]:
        """Read the ids of nodes; a literal is a ``Literal``."""
        texts = self.nodes.take(numbers)
        if self.has_literals:
            for place in np.flatnonzero(self.literals[numbers]).tolist():
                texts[place] = Literal(texts[place])
        return texts

    def terms(self, numbers: Ints) -> list[str]:
        """Read the values of qualifiers; a literal is a ``Literal``."""
        texts = self.heap("terms").take(numbers)
        flags = self._arrays.get(TERM_LITERALS)
        literal = map(has_type, texts) if flags is None else flags[numbers].tolist()
        return [Literal(text) if flag else text for text, flag in zip(texts, literal, strict=True)]

    def is_literal(self, numbers: Ints) -> npt.NDArray[np.bool_]:
        """Return which nodes are literals."""
        if not self.has_literals:
            return np.zeros(len(numbers), dtype=bool)
        return np.asarray(self.literals[numbers] != 0, dtype=np.bool_)

    def number(self, id_: str) -> int:
        """Find the number of one node by its id, faster than ``numbers``; -1 for an unknown id."""
        keys, wanted = self._hashes, hash_of(id_)
        at = bisect_left(keys, wanted)
        while at < len(keys) and keys[at] == wanted:
            node: int = self._hashed[at]
            if self.nodes[node] == id_:
                return node
            at += 1
        return -1

    def numbers(self, ids: Sequence[str]) -> Ints:
        """Find the number of each node by its id; -1 for an unknown id."""
        found = np.full(len(ids), -1, dtype=np.int64)
        at, node = self._hits("nodes.hash", "nodes.hash_node", ids)
        for place, number, text in zip(at.tolist(), node.tolist(), self.nodes.take(node), strict=True):
            if ids[place] == text:
                found[place] = number
        return found

    def named(self, folded: Sequence[str]) -> tuple[Ints, Ints]:
        """Find the nodes whose name has the hash of a folded name.

        Returns:
            Positions in ``folded`` and nodes, in pairs. The caller compares the names, since hashes may collide.
        """
        return self._hits("names.hash", "names.node", folded)

    def _hits(self, hashes: str, nodes: str, texts: Sequence[str]) -> tuple[Ints, Ints]:
        keys, values = self._arrays[hashes], self._arrays[nodes]
        wanted = hash64(texts)
        if len(texts) == 1:  # as the question of a single link; the arrays below cost four times as much
            [key] = wanted
            first = end = int(np.searchsorted(keys, key))
            while end < len(keys) and keys[end] == key:
                end += 1
            return np.zeros(end - first, dtype=np.int64), values[first:end].astype(np.int64)
        order = np.argsort(wanted, kind="stable")
        low = np.searchsorted(keys, wanted[order], side="left").astype(np.int64)
        high = np.searchsorted(keys, wanted[order], side="right").astype(np.int64)
        positions, offsets = spread(low, high)
        place = np.repeat(order, offsets[1:] - offsets[:-1])
        return place, values[positions].astype(np.int64)


def has_type(text: str) -> bool:
    """Return whether a text is a literal by its form: quoted, with a datatype or a language."""
    return text.startswith('"') and bool(Literal(text).datatype or Literal(text).language)


def _opened(folder: Path) -> tuple[Meta, DataFiles]:
    """Open a snapshot; if another generation is published in the meantime, open that."""
    for left in range(_TRIES - 1, -1, -1):
        meta = read_meta(folder)
        try:
            return meta, DataFiles(folder / meta.generation, meta.files)
        except SnapshotError:
            if not left or read_meta(folder).generation == meta.generation:
                raise
    raise AssertionError  # the last try returns or raises
