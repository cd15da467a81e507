"""Unit vectors of texts: a cache in memory and on disk, so that each text is encoded once, and an index of texts."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
import uuid
import zlib
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_framework.values import DriverError

Matrix = npt.NDArray[np.float32]

_FORMAT = "2"
# Some seconds of encoding: what a kill can cost, without a file for each batch.
_WRITE_AT = 4096
_DELETE = "delete it, or run `srtk doctor --repair`, and its vectors are computed again"
# A part is written in less than a minute, so an older part has lost its writer.
_ABANDONED = 3600.0


def default_folder() -> FilePath:
    """Return the framework's folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return FilePath(base) / "srtk-framework"


def unit(vectors: npt.NDArray[Any]) -> Matrix:
    """Scale each row of a matrix [n, d] to length 1; a row of zeros stays as it is."""
    wide = np.asarray(vectors, dtype=np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    norms[norms == 0.0] = 1.0
    scaled: Matrix = (wide / norms[:, None]).astype(np.float32)
    return scaled


def _key(text: str) -> bytes:
    # Labels may hold lone surrogates, which UTF-8 refuses.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


_HEAD = np.dtype({"names": ["head"], "formats": [np.uint64], "itemsize": 32})
"""The start of a key, by which it is found."""


def _row(width: int) -> np.dtype[Any]:
    """Return the type of a row: hash of the text, vector, checksum of both."""
    return np.dtype([("key", "V32"), ("vector", "<f4", (width,)), ("check", "<u4")])


class TextIndex:
    """Distinct texts, numbered from 0 in the order of their addition."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text; a new text is added."""
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        """Return the texts in order of their numbers."""
        return list(self._numbers)


class VectorStore:
    """Cache of text vectors, in memory and, where a folder is given, on disk.

    Every write to disk is a new file, complete before it gets its name, and the name is a hash of the content:
    processes that share a folder add files and never change any. The folder is named by the encoder's fingerprint, so
    that a vector is read back only by the encoder that made it. Each row has a checksum, compared when it is used.

    Args:
        folder: Folder of the cache, or None for memory only.
        fingerprint: Fingerprint of the encoder.
    """

    def __init__(self, folder: FilePath | None, fingerprint: str) -> None:
        name = hashlib.sha256(f"{_FORMAT}\0{fingerprint}".encode()).hexdigest()[:24]
        self.folder = folder / "relations" / name if folder else None
        self._rows: dict[str, int] = {}
        self._vectors: Matrix = np.zeros((0, 0), dtype=np.float32)
        self._files: list[npt.NDArray[Any]] = []
        self._heads = np.zeros(0, dtype=np.uint64)
        self._order = np.zeros(0, dtype=np.int64)
        self._unsaved: list[str] = []
        self._lock = threading.RLock()
        if self.folder:
            self._read(self.folder)

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Return the distinct texts that have no vector, in order."""
        with self._lock:
            lacking = [text for text in dict.fromkeys(texts) if text not in self._rows]
            if not self._files or not lacking:
                return lacking
            rows = self._from_disk([_key(text) for text in lacking])
            if rows:
                self._append([lacking[i] for i in rows], np.stack(list(rows.values())))
            return [text for i, text in enumerate(lacking) if i not in rows]

    def add(self, texts: Sequence[str], vectors: Matrix) -> None:
        """Add the unit vectors [n, d] of texts that were missing."""
        with self._lock:
            new = [i for i, text in enumerate(texts) if text not in self._rows]
            if not new:
                return
            self._append([texts[i] for i in new], vectors[new])
            if self.folder:
                self._unsaved.extend(texts[i] for i in new)
                if len(self._unsaved) >= _WRITE_AT:
                    self.save()

    @property
    def kept(self) -> int:
        """Number of vectors that the files had when they were opened."""
        return len(self._heads)

    @property
    def row_bytes(self) -> int:
        """Bytes of a vector on disk, with key and checksum; 0 while there is no vector."""
        width = self._vectors.shape[1]
        return _row(width).itemsize if width else 0

    def rows(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of known texts as a new matrix [n, d]."""
        with self._lock:
            rows = self._rows
            return self._vectors[[rows[text] for text in texts]]

    def save(self) -> None:
        """Write the vectors that were added since the last call."""
        with self._lock:
            if not self.folder or not self._unsaved:
                return
            content = np.zeros(len(self._unsaved), dtype=_row(self._vectors.shape[1]))
            content["key"] = [np.void(_key(text)) for text in self._unsaved]
            content["vector"] = self.rows(self._unsaved)
            content["check"] = [self._check(row) for row in content]
            self._write(self.folder, content)
            self._unsaved.clear()

    def _from_disk(self, keys: Sequence[bytes]) -> dict[int, Matrix]:
        """Return the vectors of the keys that the files have, by their place among the keys."""
        wanted = np.frombuffer(b"".join(key[:8] for key in keys), dtype=np.uint64)
        at = np.searchsorted(self._heads, wanted)
        near = np.flatnonzero(self._heads[np.minimum(at, len(self._heads) - 1)] == wanted)
        starts = np.cumsum([0, *map(len, self._files)])
        found = {}
        for i, place in zip(near.tolist(), self._order[at[near]].tolist(), strict=True):
            file = int(np.searchsorted(starts, place, side="right")) - 1
            row = self._files[file][place - starts[file]]
            if bytes(row["key"]) != keys[i]:
                continue  # Of another text, whose key begins alike.
            if row["check"] != self._check(row):
                raise DriverError(
                    f"a file in {self.folder} is damaged: a vector is not the one that was kept; {_DELETE}"
                )
            found[i] = row["vector"]
        return found

    def _check(self, row: Any) -> int:
        """Return the checksum of a row of this folder."""
        assert self.folder
        return zlib.crc32(memoryview(row.tobytes())[:-4], zlib.crc32(self.folder.name.encode()))

    def _append(self, texts: Sequence[str], vectors: Matrix) -> None:
        used = len(self._rows)
        width = vectors.shape[1]
        if used and width != self._vectors.shape[1]:
            raise DriverError(
                f"the encoder returned vectors of {width} numbers after vectors of {self._vectors.shape[1]}; "
                f"its fingerprint must change with its model"
            )
        if used + len(texts) > len(self._vectors):
            grown = np.empty((max(256, 2 * len(self._vectors), used + len(texts)), width), dtype=np.float32)
            if used:
                grown[:used] = self._vectors[:used]
            self._vectors = grown
        self._vectors[used : used + len(texts)] = vectors
        self._rows.update(zip(texts, range(used, used + len(texts)), strict=True))

    def _read(self, folder: FilePath) -> None:
        for file in sorted(folder.glob("*.npy")) if folder.is_dir() else ():
            try:
                content = np.load(file, mmap_mode="r", allow_pickle=False)
            except Exception as error:  # whatever numpy raises for a damaged header
                raise DriverError(f"{file}: is damaged ({error}); {_DELETE}") from error
            if content.dtype.names != ("key", "vector", "check"):
                raise DriverError(f"{file}: does not hold relation vectors; {_DELETE}")
            if len(content):
                self._files.append(content)
        if self._files:
            # The rest stays in the files, whose pages processes share.
            heads = np.concatenate([file["key"].view(_HEAD)["head"] for file in self._files])
            self._order = np.argsort(heads, kind="stable")
            self._heads = heads[self._order]

    def _write(self, folder: FilePath, content: npt.NDArray[Any]) -> None:
        name = hashlib.sha256(content.tobytes()).hexdigest()[:24] + ".npy"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _remove_parts(folder)
            _replace(folder / name, content)
        except OSError as error:
            raise DriverError(
                f"relation vectors cannot be written to {folder} ({error.strerror}); "
                f'set cache of the scorer to another folder, or to "" for none'
            ) from error


def _remove_parts(folder: FilePath) -> None:
    """Remove the parts of killed processes, which are old; a part that is being written is young."""
    for part in folder.glob(".*.part"):
        with contextlib.suppress(FileNotFoundError):  # Its writer, or another one, was faster.
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink()


def _replace(file: FilePath, content: npt.NDArray[Any]) -> None:
    """Write a temporary file in the same folder, then rename it."""
    temporary = file.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with temporary.open("xb") as part:
            np.save(part, content, allow_pickle=False)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
