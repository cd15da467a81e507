"""A table of the owners of 64-bit keys, in arrays that are written as a stream and may be mapped from disk.

Its arrays are those that ``layout`` lists as ``NEAR``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from srtk_plugin_local.snapshot.csr import Ints, Starts, StartsWriter, Writer, locate
from srtk_plugin_local.snapshot.layout import FILTER_BLOCK, NEAR, width

Keys = npt.NDArray[np.uint64]
Rows = tuple[Keys, Ints]
"""Keys and the owner of each."""

ROWS = 1 << 19
"""Keys of the filter that are set at once."""

_KEYS = 32  # in a block of the filter, on average
_HALF = np.uint64(32)
# The block is found by the upper half of a key, and the bits by other bits than the weak lowest ones.
_FIRST, _SECOND, _BIT = np.uint64(14), np.uint64(23), np.uint64(8 * FILTER_BLOCK - 1)
_NONE = np.zeros(0, dtype=np.int64)


class Output(Protocol):
    """A place for new arrays."""

    def array(self, name: str, dtype: str) -> AbstractContextManager[Writer]:
        """Begin an array."""

    def part(self, name: str, start: int, end: int) -> npt.NDArray[Any]:
        """Read the items from a place to another of an array that is written."""


class NameTable:
    """The owners of keys.

    Args:
        array: Returns an array by its name.
    """

    def __init__(self, array: Callable[[str], npt.NDArray[Any]]) -> None:
        self._keys, low, blocks, self._owners, self._filter, self._buckets = map(array, NEAR)
        self._starts = Starts(low, blocks)

    @classmethod
    def of(cls, parts: Sequence[Rows]) -> NameTable:
        """Make a table in memory; for the rows, in any order, see ``write_table``."""
        keys = np.concatenate([np.zeros(0, dtype=np.uint64), *(keys for keys, _ in parts)])
        owners = np.concatenate([_NONE, *(owners for _, owners in parts)])
        order = np.lexsort((owners, keys))
        kept = _Memory()
        rows = [(keys[order], owners[order])] if len(order) else []
        write_table(kept, rows, int(owners.max(initial=0)), io.BytesIO())
        return cls(kept.arrays.__getitem__)

    def owners(self, wanted: Keys, rows: Ints, count: int) -> list[npt.NDArray[Any]]:
        """Find the owners of any of the wanted keys of each row, sorted.

        Args:
            wanted: Keys.
            rows: Row of each key.
            count: Number of rows.
        """
        at, place = self._find(wanted)
        low, high = self._starts[place].tolist(), self._starts[place + 1].tolist()
        ranges: dict[int, list[npt.NDArray[Any]]] = {}
        for row, start, end in zip(rows[at].tolist(), low, high, strict=True):
            ranges.setdefault(row, []).append(self._owners[start:end])
        found: list[npt.NDArray[Any]] = [_NONE] * count
        for row, parts in ranges.items():
            found[row] = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
        return found

    def have_owners(self, wanted: Keys) -> npt.NDArray[np.bool_]:
        """Return whether each key has an owner."""
        found = np.zeros(len(wanted), dtype=bool)
        found[self._find(wanted)[0]] = True
        return found

    def maybe(self, wanted: Keys) -> Ints:
        """Return the places of the keys that the table may have been given, with or without owners."""
        block = _block(wanted, len(self._filter) // FILTER_BLOCK)
        at = np.flatnonzero(self._is_set(block, wanted >> _FIRST))
        return at[self._is_set(block[at], wanted[at] >> _SECOND)]

    def _is_set(self, block: Ints, bits: Keys) -> npt.NDArray[np.bool_]:
        bit = (bits & _BIT).astype(np.int64)
        byte = self._filter[block * FILTER_BLOCK + (bit >> 3)]
        return np.asarray(byte & np.left_shift(np.uint8(1), (bit & 7).astype(np.uint8)), dtype=bool)

    def _find(self, wanted: Keys) -> tuple[Ints, Ints]:
        """Return the places of the wanted keys that have owners, and their places among the keys."""
        at = self.maybe(wanted)
        block = _block(wanted[at], len(self._filter) // FILTER_BLOCK)
        low, high = (self._buckets[some].astype(np.int64) for some in (block, block + 1))
        place = locate(self._keys, low, high, wanted[at])
        return at[place >= 0], place[place >= 0]


def write_table(out: Output, rows: Iterable[Rows], most: int, scratch: IO[bytes]) -> None:
    """Write the arrays of a table, a part after the other.

    Args:
        out: Where to.
        rows: Keys and their owners, some at a time, sorted by key, then owner. A pair may come twice. Owner -1 tells
            the filter of a key, and the key need not have others.
        most: Greatest owner.
        scratch: An empty file for eight bytes a key.
    """
    keys, starts, blocks, owners, filter_, buckets = NEAR
    count = found = 0
    last: tuple[Any, Any] = (None, None)
    with (
        out.array(keys, "<u8") as key_file,
        out.array(starts, "|u1") as start_file,
        out.array(blocks, "<i8") as block_file,
        out.array(owners, width(most)) as owner_file,
    ):
        start_of = StartsWriter(start_file, block_file)
        for key, owner in rows:
            new = np.ones(len(key), dtype=bool)
            new[1:] = key[1:] != key[:-1]
            new[0] = last[0] != key[0]
            scratch.write(key[new].tobytes())
            fresh = new.copy()
            fresh[1:] |= owner[1:] != owner[:-1]
            fresh[0] |= last[1] != owner[0]
            # A key without owners has no row here, and -1 comes before all owners of the same key.
            first = new | np.concatenate(([last == (key[0], -1)], (owner[:-1] < 0) & ~new[1:]))
            last = key[-1], owner[-1]
            fresh &= owner >= 0
            first &= fresh
            key_file.write(key[first])
            start_of.write(np.flatnonzero(first[fresh]) + found)
            owner_file.write(owner[fresh])
            count += int(first.sum())
            found += int(fresh.sum())
        start_of.write(np.array([found]))
    size = max(1, -(-scratch.tell() // (8 * _KEYS)))
    _write_filter(out, filter_, size, scratch)
    with out.array(buckets, width(count)) as bucket_file:
        upto = 0
        for start in range(0, count, ROWS):
            block = _block(out.part(keys, start, min(start + ROWS, count)), size)
            some = np.arange(upto, block[-1] + 1)
            bucket_file.write(start + np.searchsorted(block, some))
            upto += len(some)
        bucket_file.write(np.full(size + 1 - upto, count))


def _write_filter(out: Output, name: str, size: int, scratch: IO[bytes]) -> None:
    """Write a filter of so many blocks, of the sorted keys in a file."""
    scratch.seek(0)
    first, begun = 0, np.zeros(8 * FILTER_BLOCK, dtype=bool)
    with out.array(name, "|u1") as file:
        while data := scratch.read(8 * ROWS):
            key = np.frombuffer(data, dtype=np.uint64)
            block = _block(key, size)
            bits = np.zeros((int(block[-1]) - first + 1, 8 * FILTER_BLOCK), dtype=bool)
            bits[0] = begun
            for shift in (_FIRST, _SECOND):
                bits[block - first, ((key >> shift) & _BIT).astype(np.int64)] = True
            file.write(np.packbits(bits[:-1], bitorder="little"))
            first, begun = int(block[-1]), bits[-1]
        file.write(np.packbits(begun, bitorder="little"))
        file.write(np.zeros(FILTER_BLOCK * (size - first - 1), dtype=np.uint8))


def _block(keys: Keys, size: int) -> Ints:
    """Return the block of each key in a filter of so many, in the order of the keys."""
    return np.asarray(((keys >> _HALF) * np.uint64(size)) >> _HALF, dtype=np.int64)


@attrs.define
class _Memory:
    """Arrays in memory."""

    arrays: dict[str, npt.NDArray[Any]] = attrs.field(factory=dict)

    def array(self, name: str, dtype: str) -> AbstractContextManager[_MemoryArray]:
        return nullcontext(_MemoryArray(self.arrays, name, dtype))

    def part(self, name: str, start: int, end: int) -> npt.NDArray[Any]:
        return self.arrays[name][start:end]


class _MemoryArray:
    def __init__(self, arrays: dict[str, npt.NDArray[Any]], name: str, dtype: str) -> None:
        self._arrays, self._name = arrays, name
        arrays[name] = np.zeros(0, dtype=dtype)

    def write(self, values: npt.ArrayLike) -> None:
        held = self._arrays[self._name]
        self._arrays[self._name] = np.concatenate([held, np.asarray(values).astype(held.dtype)])
