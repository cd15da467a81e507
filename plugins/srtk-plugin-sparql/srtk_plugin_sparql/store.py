"""An Oxigraph store on disk, asked without a server; and the store's facts that ``srtk graph load`` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_web import RefusedError

from srtk_framework.records import check_files, checked, file_blocks, sums_of, with_checksum, write_text
from srtk_framework.values import DriverError, SnapshotError
from srtk_plugin_sparql.terms import Row, Rows, Term

META = "srtk-store.json"
DATA = "store"
FORMAT = "srtk-oxigraph-store"
VERSION = 2
AGAIN = "load the store again with `srtk graph load`"
_TRIES = 5  # A store that is replaced while it is opened; loading is much slower than opening
_STRING = "http://www.w3.org/2001/XMLSchema#string"


@attrs.frozen
class Meta:
    """A loaded store: hash and number of its triples, what was read and skipped, and the checksums of its files."""

    content: str
    triples: int
    reading: Sequence[Mapping[str, Any]] = ()
    files: Mapping[str, Any] = attrs.field(factory=dict)


def write_meta(folder: Path, meta: Meta) -> None:
    """Write the facts beside the store."""
    data = {"format": FORMAT, "version": VERSION, **attrs.asdict(meta)}
    paths = [path for path in sorted((folder / DATA).iterdir()) if not path.name.startswith(("LOG", "LOCK"))]
    # The store itself checks the blocks of its tables when it reads them.
    sums = {path: sums_of(file_blocks(path) if path.suffix != ".sst" else ()) for path in paths}
    data["files"] = {f"{DATA}/{path.name}": {**sums[path], "bytes": path.stat().st_size} for path in paths}
    write_text(folder / META, with_checksum(json.dumps(data, indent=1))[0])


def read_meta(folder: Path) -> Meta:
    """Read the facts of a store."""
    path = folder / META
    if not path.is_file():
        raise SnapshotError(f"{folder}: is no store that `srtk graph load --out {folder} FILE...` made; make it")
    try:
        data, _ = checked(path.read_bytes(), path, AGAIN, kind=SnapshotError)
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be read ({error.strerror}); {AGAIN}") from error
    if (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        raise SnapshotError(f"{path}: is not of a store that this version reads; {AGAIN}")
    return Meta(*(data[name] for name in ("content", "triples", "reading", "files")))


def _opened(folder: Path) -> tuple[Meta, Any]:
    """Open a store; if another is put in its place in the meantime, open that."""
    import pyoxigraph

    for left in range(_TRIES - 1, -1, -1):
        place = _inode(folder)
        meta = read_meta(folder)
        error: Exception | None = None
        store = None
        try:
            check_files(folder, meta.files, AGAIN, SnapshotError)
            store = pyoxigraph.Store.read_only(str(folder / DATA))
        except (OSError, RuntimeError, SnapshotError) as caught:
            error = caught
        if left and _inode(folder) != place:
            continue
        if store is None:
            raise SnapshotError(f"{folder}: cannot be opened ({error}); {AGAIN}") from error
        return meta, store
    raise AssertionError  # the last try returns or raises


def _inode(folder: Path) -> int:
    """Return the number of a folder, which another folder in its place does not have; 0 where there is none."""
    try:
        return os.stat(folder).st_ino
    except OSError:
        return 0


class EmbeddedStore:
    """A store opened for reading; several processes may have it open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store: Any
        self.meta, self._store = _opened(folder)
        self.endpoint = f"oxigraph:{self.meta.content[:16]}"

    def close(self) -> None:
        """Let go of the files."""
        self._store = None

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Answer a SELECT query.

        Raises:
            RequestError: If the store does not understand it.
        """
        if self._store is None:
            raise DriverError(f"{self.endpoint} is closed; call open() first")
        try:
            return self._rows(query)
        except SyntaxError as error:
            raise RefusedError(f"the store does not take this query ({error})").about(
                self.endpoint, query, "query"
            ) from error
        except (OSError, RuntimeError) as error:  # The store compares what it reads with its own checksums.
            raise DriverError(f"the store {self._folder} cannot be read ({error}); {AGAIN}") from error

    def _rows(self, query: str) -> Rows:
        """Answer a query."""
        import pyoxigraph

        solutions = self._store.query(query)
        names = [variable.value for variable in solutions.variables]
        rows: Rows = []
        for solution in solutions:
            row = Row()
            for name in names:
                value = solution[name]
                if isinstance(value, pyoxigraph.NamedNode):
                    row[name] = Term("iri", value.value)
                elif isinstance(value, pyoxigraph.Literal):
                    datatype = value.datatype.value
                    plain = value.language or datatype == _STRING
                    row[name] = Term("literal", value.value, "" if plain else datatype, value.language or "")
                elif value is not None:
                    row[name] = Term("blank", str(value)[2:])
            rows.append(row)
        return rows
