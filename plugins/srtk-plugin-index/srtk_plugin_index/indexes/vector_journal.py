"""Vectors of encoded entries beside an index that is being built, so that a second build need not encode them again."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.records import checked, dumps, with_checksum, write_text
from srtk_framework.values import DriverError

HEAD, RECORDS = "journal.json", "journal.records"
_KEY = 16

Matrix = npt.NDArray[np.float32]


class VectorJournal:
    """Keeps vectors on disk as soon as they are encoded, by the texts that they were made of.

    Records are written to the disk before their vectors are used, and each has a checksum: after a kill or a power cut
    a record is whole, or not read.

    Args:
        folder: The folder of the journal; records of another ``made_by`` are deleted.
        made_by: Fingerprint of everything else that the vectors depend on, such as the encoder.

    Raises:
        DriverError: If it is a file, or the folder has a damaged file, or another program's file, of that name.
    """

    def __init__(self, folder: Path, made_by: str) -> None:
        self._folder, self._made_by = folder, made_by
        self._places: dict[bytes, int] = {}
        self._kind: np.dtype[Any] | None = None
        if folder.is_file():
            raise DriverError(f"{folder} is a file; name a folder for the journal of vectors")
        if (folder / HEAD).is_file():
            before, dimensions = _head(folder / HEAD)
            if before == made_by:
                self._kind = _record(dimensions)
                self._read()
            else:
                self.remove()

    def __len__(self) -> int:
        return len(self._places)

    def rows(self, parts: Sequence[str], encode: Callable[[list[int]], Matrix]) -> Matrix:
        """Return a row for each part: from the journal, or encoded and then kept in it.

        Args:
            parts: Texts, at least one; each is the whole content of its row.
            encode: Makes the rows of the parts at these places.
        """
        keys = [hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest() for part in parts]
        new = {key: at for at, key in enumerate(keys) if key not in self._places}
        if new:
            self._write(list(new), encode(list(new.values())))
        assert self._kind is not None
        records = np.memmap(self._folder / RECORDS, dtype=self._kind, mode="r")
        return np.stack([records[self._places[key]]["row"] for key in keys])

    def remove(self) -> None:
        """Delete the journal, and its folder unless that holds something else."""
        for name in (HEAD, f".{HEAD}.part", RECORDS):
            (self._folder / name).unlink(missing_ok=True)
        if self._folder.is_dir() and not any(self._folder.iterdir()):
            self._folder.rmdir()
        self._places, self._kind = {}, None

    def _write(self, keys: Sequence[bytes], rows: Matrix) -> None:
        if self._kind is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / RECORDS).unlink(missing_ok=True)
            _, dimensions = rows.shape
            self._kind = _record(dimensions)
            head = dumps({"made_by": self._made_by, "dimensions": dimensions})
            write_text(self._folder / HEAD, with_checksum(head)[0])
        records = np.zeros(len(keys), dtype=self._kind)
        records["key"] = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _KEY)
        records["row"] = rows
        records["check"] = [self._check(record) for record in records]
        with (self._folder / RECORDS).open("ab") as file:
            file.write(records.tobytes())
            file.flush()
            os.fsync(file.fileno())
        for key in keys:
            self._places[key] = len(self._places)

    def _read(self) -> None:
        """Read the keys up to the first record whose checksum is wrong, and cut the file there."""
        assert self._kind is not None
        path = self._folder / RECORDS
        path.touch()
        count = path.stat().st_size // self._kind.itemsize
        for record in np.memmap(path, dtype=self._kind, mode="r", shape=(count,)) if count else ():
            if record["check"] != self._check(record):
                break
            self._places[record["key"].tobytes()] = len(self._places)
        os.truncate(path, len(self._places) * self._kind.itemsize)

    def _check(self, record: Any) -> int:
        """Return the checksum of a record, which another journal's record does not have."""
        made_by = zlib.crc32(self._made_by.encode("utf-8", "surrogatepass"))
        return zlib.crc32(record["row"].tobytes(), zlib.crc32(record["key"].tobytes(), made_by))


def _head(path: Path) -> tuple[str, int]:
    """Return the ``made_by`` of a journal, and the length of its vectors."""
    again = f"delete {path.parent}, and its vectors are encoded again"
    try:
        head, _ = checked(path.read_bytes(), path, again)
    except OSError as error:
        raise DriverError(f"{path}: cannot be read ({error.strerror}); {again}") from error
    try:
        return str(head["made_by"]), int(head["dimensions"])
    except (TypeError, ValueError, LookupError) as error:
        raise DriverError(f"{path} is no journal of vectors; name another folder, or delete it") from error


def _record(dimensions: int) -> np.dtype[Any]:
    return np.dtype([("key", "u1", (_KEY,)), ("row", "<f4", (dimensions,)), ("check", "<u4")])
