"""Entries in a folder: written in order, read by their number without loading the rest."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import DriverError, EntityMention, Entry, Literal, Triple
from srtk_plugin_index.indexes.lineage import REBUILD

LINES, OFFSETS, RANKS = "entries.jsonl", "entries.offsets.npy", "entries.ranks.npy"

Numbers = npt.NDArray[np.int64]


class EntryWriter:
    """Appends entries to a folder; ``finish`` makes them readable, and more may be appended after it.

    Args:
        folder: The folder; entries that it holds already stay.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ids: dict[str, None] = {}
        self._ends: list[int] = []
        end = 0
        path = folder / LINES
        if path.exists():
            with path.open("rb") as lines:
                for line in lines:
                    end += len(line)
                    self._ends.append(end)
                    self.ids[json.loads(line)[0]] = None
        self._file = path.open("ab")
        self._end = end

    def append(self, entries: Sequence[Entry]) -> None:
        """Write some entries, without their vectors."""
        for entry in entries:
            line = entry_line(entry).encode("ascii")
            self._file.write(line)
            self._end += len(line)
            self._ends.append(self._end)
            self.ids[entry.id] = None

    def finish(self) -> None:
        """Write the places of the entries and the order of their ids."""
        self._file.flush()
        _save(self._folder / OFFSETS, np.array([0, *self._ends], dtype=np.int64))
        order = sorted(range(len(self.ids)), key=list(self.ids).__getitem__)
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order), dtype=np.int64)
        _save(self._folder / RANKS, ranks)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class EntryFile:
    """Entries of a folder, mapped, by their numbers in the order of adding.

    Attributes:
        ranks: int64 [n], the place of each entry in the order of ids.
    """

    def __init__(self, folder: Path) -> None:
        # numpy resolves the links of a Path, part by part, and takes a text as it is.
        self._offsets: Numbers = np.load(str(folder / OFFSETS), mmap_mode="r", allow_pickle=False)
        self.ranks: Numbers = np.load(str(folder / RANKS), mmap_mode="r", allow_pickle=False)
        self._path = path = folder / LINES
        self._order: Numbers | None = None
        self._bytes: Any = np.memmap(str(path), dtype=np.uint8, mode="r") if path.stat().st_size else b""

    def __len__(self) -> int:
        return len(self.ranks)

    def entry(self, number: int) -> Entry:
        """Read an entry.

        Raises:
            DriverError: If its line is none.
        """
        line = bytes(self._bytes[int(self._offsets[number]) : int(self._offsets[number + 1])])
        try:
            return entry_of(json.loads(line))
        except (ValueError, TypeError, LookupError) as error:
            raise DriverError(f"{self._path} is damaged at entry {number + 1:,}; {REBUILD}") from error

    def number(self, id_: str) -> int | None:
        """Return the number of an entry, by halving the order of ids; None for an id that is not there."""
        if self._order is None:
            self._order = np.argsort(self.ranks)
        at = bisect_left(self._order, id_, key=lambda number: self.entry(number).id)
        if at == len(self._order):
            return None
        number = int(self._order[at])
        return number if self.entry(number).id == id_ else None

    def texts(self) -> Iterator[str]:
        """Read the texts, in order of their numbers."""
        return (self.entry(number).text for number in range(len(self)))


def best(keys: Numbers, numbers: Numbers, ranks: Numbers, k: int) -> list[tuple[int, int]]:
    """Return the ``k`` greatest keys, ties by the rank of the id.

    Args:
        keys: int64 [m], scores in units of the last decimal.
        numbers: int64 [m], the entry of each.
        ranks: Of all entries.
        k: Most to return.

    Returns:
        Pairs of entry and key, greatest key first.
    """
    if len(keys) > k:
        least = np.partition(keys, len(keys) - k)[len(keys) - k]
        kept = keys >= least
        keys, numbers = keys[kept], numbers[kept]
    order = np.lexsort((ranks[numbers], -keys))[:k]
    return list(zip(numbers[order].tolist(), keys[order].tolist(), strict=True))


def _save(path: Path, array: npt.NDArray[Any]) -> None:
    # Through a new file: the old file may be mapped.
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        np.save(file, array)
    part.replace(path)


def entry_line(entry: Entry) -> str:
    """Return the line that an entry is written as."""
    triples = [[*triple, 1] if isinstance(triple.object, Literal) else [*triple] for triple in entry.triples]
    mentions = [entry.mentions] if entry.mentions else []
    return json.dumps([entry.id, entry.text, triples, *mentions], separators=(",", ":")) + "\n"


def entry_of(parts: Sequence[Any]) -> Entry:
    """Return the entry whose line has these parts, as ``json.loads`` reads them."""
    id_, text, rows, *rest = parts
    triples = tuple(Triple(row[0], row[1], Literal(row[2]) if row[3:] else row[2]) for row in rows)
    return Entry(id_, text, triples, mentions=tuple(EntityMention(*row) for some in rest for row in some))
