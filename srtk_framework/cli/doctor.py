"""Check stored files: graphs, indexes, models, records and caches.

Every file is compared with its checksums, also where it was found right before. Files that carry none, such as
questions, recipes and results, are left alone; JSON that cannot be parsed, and that nothing shows to be stored, is
named and not read. --repair deletes damaged and old entries of caches, which are made again when they are next needed;
for all else the way to make it again is told. Fails if something damaged or old remains.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import textwrap
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.cli import FAILED, OK
from srtk_framework.records import MANIFEST, answer_checksum, check_files, checked, checked_lines, file_checksum
from srtk_framework.records.checksums import VERIFIED
from srtk_framework.run.graph_source import cache_folder
from srtk_framework.values import InputError, SrtkError

SOUND, DAMAGED, OLD, UNREAD = "sound", "damaged", "old", "unread"
_DELETED = "deleted"
_AGAIN = {
    "meta.json": "build it again with `srtk graph build`",
    "manifest.json": "build it again with `srtk index build RECIPE`",
    "srtk-store.json": "load it again with `srtk graph load`",
    "answers.jsonl": "record the run again",
    "reads.jsonl": "delete the folder and read anew",
}
_ELSE = "make it again as it was made, such as by `srtk train RECIPE`"
_CACHED = "delete it, or run `srtk doctor --repair`; it is made again when it is next needed"
_WIDTH = 80
_OURS = re.compile(rb'"format": "srtk-|"checksum": "|"content": "[0-9a-f]{32}|"blocks": ?\[')
_MOST = 64 << 20  # Bytes of a JSON file that is parsed to see whether it is stored by the framework.


@attrs.frozen
class Finding:
    """A stored file or folder.

    Attributes:
        path: Its place.
        state: ``sound``, ``damaged``, ``old`` or ``unread``, of a file that nothing shows to be stored.
        said: What is wrong and what to do.
        made_again: What may be deleted, since it is made again by itself; None for anything else.
    """

    path: Path
    state: str
    said: str = ""
    made_again: Path | None = None


class _OldError(SrtkError):
    """A file of an older version."""


class _ForeignError(SrtkError):
    """A file that cannot be read, and that nothing shows to be stored by the framework."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or folders (the user's cache and the current folder)"
    )
    parser.add_argument("--repair", action="store_true", help="delete damaged and old entries of caches")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    roots = [Path(path) for path in args.paths] or [cache_folder(), Path()]
    counts: Counter[str] = Counter()
    for root in roots:
        if args.paths and not root.exists():
            raise InputError(f"{root}: there is no such file or folder; check the path")
        for finding in findings(root):
            state = finding.state
            if args.repair and state != SOUND and finding.made_again is not None:
                (shutil.rmtree if finding.made_again.is_dir() else Path.unlink)(finding.made_again)
                state = _DELETED
            counts[state] += 1
            print(f"{state:<8} {finding.path}")
            if state in (DAMAGED, OLD, UNREAD):
                indent = " " * 9
                print(textwrap.fill(finding.said, _WIDTH, initial_indent=indent, subsequent_indent=indent))
    shown = [SOUND, DAMAGED, OLD, *([_DELETED] if args.repair else []), *([UNREAD] if counts[UNREAD] else [])]
    print(", ".join(f"{counts[state]} {state}" for state in shown))
    return FAILED if counts[DAMAGED] + counts[OLD] else OK


def findings(root: Path) -> Iterator[Finding]:
    """Check all that is stored under a path."""
    for path in [root] if root.is_file() else _files(root):
        check = {".json": _json, ".jsonl": _lines, ".npy": _vectors}.get(path.suffix, _answers)
        cached = _cached(path)
        try:
            known = check(path, _CACHED if cached else _AGAIN.get(path.name, _ELSE))
        except _OldError as error:
            yield Finding(path, OLD, str(error), cached)
        except _ForeignError as error:
            yield Finding(path, UNREAD, str(error))
        except (SrtkError, OSError) as error:
            yield Finding(path, DAMAGED, str(error), cached)
        else:
            if known:
                yield Finding(path, SOUND)


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        hidden = [name for name in folders if name.startswith(".") and not name.endswith(".journal")]
        folders[:] = sorted({*folders} - {*hidden, "node_modules", "__pycache__"})
        yield from (Path(folder, name) for name in sorted(names))


def _cached(path: Path) -> Path | None:
    """Return what of the user's cache a file belongs to and is deleted with; None for a file elsewhere."""
    try:
        kind, *parts = path.absolute().relative_to(cache_folder().absolute()).parts
    except ValueError:
        return path if path.parent.parent.name == "relations" and path.suffix == ".npy" else None
    return cache_folder() / kind / parts[0] if kind == "graphs" and parts else path


def _json(path: Path, again: str) -> bool:
    """Check a JSON file, and the files whose checksums it has; return whether it is one of the framework."""
    content = path.read_bytes()
    if file_checksum(content) is not None:
        data, _ = checked(content, path, again)
    elif len(content) > _MOST:
        return False
    else:
        try:
            data = json.loads(content)
        except (ValueError, RecursionError) as error:
            ours = _OURS.search(content) or again == _CACHED or _is_listed(path)
            raise (
                InputError(f"{path}: is no JSON ({error}); {again}")
                if ours
                else _ForeignError(f"{path}: is not a file of ours, and was not read: it is no JSON ({error})")
            ) from error
        if not isinstance(data, dict) or not isinstance(data.get("files"), dict) or "generation" not in data:
            if isinstance(data, dict) and "checksum" in data:
                raise InputError(f"{path}: is damaged: its checksum is none; {again}")
            return False
        if not all(isinstance(sums, dict) and "blocks" in sums for sums in data["files"].values()):
            raise _OldError(f"{path}: is of an older version, without checksums; {again}")
        _check_meta(data, path, again)
    if isinstance(data.get("files"), dict):
        check_files(path.parent / data.get("generation", ""), data["files"], again, anew=True)
    return True


def _is_listed(path: Path) -> bool:
    """Return whether the checksums or the stamp of a stored folder name a file, or its folder holds a stamp."""
    if (path.parent / VERIFIED).is_file():
        return True
    listed = path.parent / MANIFEST
    return listed.is_file() and json.dumps(path.name).encode() in listed.read_bytes()


def _check_meta(data: dict[str, Any], path: Path, again: str) -> None:
    """Compare the meta file of a snapshot with its own hash."""
    from hashlib import sha256

    rest = {key: value for key, value in data.items() if key != "checksum"}
    if data.get("checksum") != sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest():
        raise InputError(f"{path}: is damaged: its content is not what was written; {again}")


def _lines(path: Path, again: str) -> bool:
    with path.open("rb") as file:
        first = [file.readline(), file.readline()]
    if all(file_checksum(line) is None for line in first):
        return False
    for _ in checked_lines(path, again):
        pass
    return True


def _vectors(path: Path, again: str) -> bool:
    if path.parent.parent.name != "relations":
        return False  # An index has the checksums of its arrays in its manifest.
    import numpy as np

    try:
        rows: Any = np.load(path, allow_pickle=False)
    except Exception as error:  # whatever numpy raises for a damaged header
        raise InputError(f"{path}: is damaged ({error}); {again}") from error
    if rows.dtype.names != ("key", "vector", "check"):
        raise _OldError(f"{path}: is of an older version, without checksums; {again}")
    seed = zlib.crc32(path.parent.name.encode())
    for number, row in enumerate(rows, start=1):
        if zlib.crc32(memoryview(row.tobytes())[:-4], seed) != row["check"]:
            raise InputError(f"{path}: is damaged: vector {number:,} is not the one that was kept; {again}")
    return True


def _answers(path: Path, again: str) -> bool:
    """Check a cache of answers of web services."""
    with path.open("rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            columns = [row[1] for row in db.execute("PRAGMA table_info(answer)")]
            if columns == ["key", "at", "body"]:
                raise _OldError(f"{path}: is of an older version, without checksums; {again}")
            if columns != ["key", "at", "body", "checksum"]:
                return False
            for key, at, body, checksum in db.execute("SELECT * FROM answer"):
                if answer_checksum(key, at, zlib.decompress(body)) != checksum:
                    raise InputError(f"{path}: is damaged: an answer is not the one that was kept; {again}")
    except (sqlite3.Error, zlib.error, TypeError) as error:
        raise InputError(f"{path}: is damaged ({error}); {again}") from error
    return True
