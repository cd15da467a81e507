"""An Oxigraph store on disk, asked without a server; and the store's facts that ``srtk graph load`` writes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_web import RefusedError

from srtk_framework.records import read_json
from srtk_framework.values import DriverError, InputError, SnapshotError
from srtk_plugin_sparql.terms import Row, Rows, Term

META = "srtk-store.json"
DATA = "store"
FORMAT = "srtk-oxigraph-store"
_TRIES = 5  # A store that is replaced while it is opened; loading is much slower than opening
_HASH = re.compile("[0-9a-f]{32}")
_STRING = "http://www.w3.org/2001/XMLSchema#string"


@attrs.frozen
class Meta:
    """Facts about a loaded store: hash and number of its triples, and what was read and skipped of each file."""

    content: str
    triples: int
    reading: Sequence[Mapping[str, Any]] = ()


def write_meta(folder: Path, meta: Meta) -> None:
    """Write the facts beside the store."""
    data = {"format": FORMAT, "version": 1, **attrs.asdict(meta)}
    (folder / META).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def read_meta(folder: Path) -> Meta:
    """Read the facts of a store."""
    path = folder / META
    if not path.is_file():
        raise SnapshotError(f"{folder}: is no store that `srtk graph load --out {folder} FILE...` made; make it")
    try:
        data = read_json(path)
    except InputError as error:
        raise SnapshotError(f"{error}; load the store again") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != 1:
        raise SnapshotError(f"{path}: is not of a store that this version reads; load the store again")
    content, triples = data.get("content"), data.get("triples")
    if not isinstance(content, str) or not _HASH.fullmatch(content):
        raise SnapshotError(f"{path}: is damaged (content is not a hash); load the store again")
    if not isinstance(triples, int) or isinstance(triples, bool) or triples < 0:
        raise SnapshotError(f"{path}: is damaged (triples is not a number of triples); load the store again")
    reading = data.get("reading", [])
    if not isinstance(reading, list):
        raise SnapshotError(f"{path}: is damaged (reading is not a list); load the store again")
    return Meta(content, triples, reading)


def _opened(folder: Path) -> tuple[Meta, Any]:
    """Open a store; if another is put in its place in the meantime, open that."""
    import pyoxigraph

    for left in range(_TRIES - 1, -1, -1):
        place = _inode(folder)
        meta = read_meta(folder)
        error = store = None
        try:
            store = pyoxigraph.Store.read_only(str(folder / DATA))
        except OSError as caught:
            error = caught
        if left and _inode(folder) != place:
            continue
        if store is None:
            raise SnapshotError(f"{folder}: cannot be opened ({error}); load the store again") from error
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
        import pyoxigraph

        if self._store is None:
            raise DriverError(f"{self.endpoint} is closed; call open() first")
        try:
            solutions = self._store.query(query)
        except SyntaxError as error:
            raise RefusedError(f"the store does not take this query ({error})").about(
                self.endpoint, query, "query"
            ) from error
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
