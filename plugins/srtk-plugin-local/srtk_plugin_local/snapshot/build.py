"""The build of a snapshot: out of core, in a folder beside the target, which it replaces at the end."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.records import read_json
from srtk_framework.values import InputError, RunError
from srtk_plugin_local.snapshot.array_writer import (
    Work,
    number_nodes,
    write_edges,
    write_ids,
    write_names,
    write_qualifiers,
)
from srtk_plugin_local.snapshot.build_settings import BuildSettings, fingerprint
from srtk_plugin_local.snapshot.input_files import Progress, quiet
from srtk_plugin_local.snapshot.layout import (
    BUILD,
    FORMAT,
    META,
    ORIGIN,
    Meta,
    content_hash,
    sync_folder,
    write_json,
    write_meta,
)
from srtk_plugin_local.snapshot.staging_tables import quote, shorten, stage_names, stage_qualifiers, stage_triples

if TYPE_CHECKING:
    import duckdb

_TYPES = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "rdf:type")
_SUBCLASSES = ("http://www.w3.org/2000/01/rdf-schema#subClassOf", "rdfs:subClassOf")


@attrs.frozen
class Built:
    """The result of a build.

    Attributes:
        folder: Folder of the snapshot.
        meta: Content of its meta file.
        ignored: Numbers of input rows that add nothing to the graph, by kind.
    """

    folder: Path
    meta: Meta
    ignored: dict[str, int]


def build(
    settings: BuildSettings,
    out: Path,
    force: bool = False,
    progress: Progress = quiet,
    origin: Mapping[str, Any] | None = None,
) -> Built:
    """Build the snapshot ``out`` from the inputs; it appears only when it is complete.

    Args:
        settings: The inputs and how to read them.
        out: Folder of the snapshot. An existing snapshot is replaced.
        force: Replace any other folder or file as well.
        progress: Called with the progress of each stage.
        origin: Origin of the graph for ``srtk graph info``; not part of the content.

    Raises:
        InputError: If an input cannot be read.
        RunError: If ``out`` is not a snapshot, another build of it is running, or disk or memory are full.
    """
    inputs = fingerprint(settings)
    _check_target(out, force)
    with _workplace(out) as place:
        made = place / "snapshot"
        try:
            meta, ignored = _fill(settings, place, made, inputs, progress)
            if origin is not None:
                write_json(made / ORIGIN, dict(origin))
        except OSError as error:
            raise _disk_error(error, out) from error
        _publish(made, out, place)
    return Built(out, meta, ignored)


def is_built_from(folder: Path, settings: BuildSettings) -> bool:
    """Return whether a snapshot was built from these settings and from the current state of the files."""
    path = folder / BUILD
    if not path.is_file():
        return False
    try:
        data = read_json(path)
    except InputError:
        return False
    return isinstance(data, dict) and data.get("inputs") == fingerprint(settings)


def _check_target(out: Path, force: bool) -> None:
    if not out.parent.is_dir():
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{out.parent}: cannot be created ({error.strerror}); choose another --out") from error
    if force or not os.path.lexists(out) or _is_ours(out):
        return
    if out.is_dir() and not any(out.iterdir()):
        return
    raise RunError(f"{out}: exists and is not a graph snapshot; choose another --out, or replace it with --force")


def _is_ours(out: Path) -> bool:
    meta = out / META
    return not out.is_symlink() and meta.is_file() and f'"format": "{FORMAT}"' in meta.read_text("utf-8", "replace")


@contextmanager
def _workplace(out: Path) -> Iterator[Path]:
    """Lock the build folder beside ``out``, and remove what a killed build left in it."""
    place = out.parent / f".{out.name}.building"
    try:
        place.mkdir(exist_ok=True)
        lock = os.open(place / "lock", os.O_CREAT | os.O_RDWR)
    except OSError as error:
        raise _disk_error(error, out) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{out}: another build of it is running; wait for it, or choose another --out") from error
        if not (place / "lock").exists():
            raise RunError(f"{out}: another build of it has just ended; run the command again")
        for leftover in sorted(place.iterdir()):
            if leftover.name != "lock":
                _remove(leftover)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _fill(
    settings: BuildSettings, place: Path, made: Path, inputs: str, progress: Progress
) -> tuple[Meta, dict[str, int]]:
    import duckdb

    made.mkdir()
    con = _connect(settings, place)
    try:
        work = Work(con, made, progress)
        is_rdf = stage_triples(con, settings, progress)
        stage_names(con, settings, progress)
        stage_qualifiers(con, settings, progress)
        number_nodes(work)
        write_ids(work)
        write_edges(work)
        write_names(work)
        write_qualifiers(work)
        schema = _schema(settings, con)
    except duckdb.OutOfMemoryException as error:
        raise RunError(f"{settings.memory} of memory is too little for this build; give more with --memory") from error
    except duckdb.IOException as error:
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, "No space left on device") from error
        raise RunError(f"{place}: the build cannot write here ({error}); check the disk") from error
    finally:
        con.close()
    names = settings.names
    if names is None:
        names = not is_rdf and not work.counts["labels"]
    content = content_hash(work.written, names, schema)
    meta = Meta(content, dict(sorted(work.counts.items())), names, schema, work.written)
    ignored = {kind: count for kind, count in sorted(work.ignored.items()) if count}
    write_json(made / BUILD, {"inputs": inputs, "files": settings.every_file(), "ignored": ignored})
    write_meta(made, meta)
    sync_folder(made)
    return meta, ignored


def _connect(settings: BuildSettings, place: Path) -> duckdb.DuckDBPyConnection:
    import duckdb

    con = duckdb.connect(str(place / "work.duckdb"))
    threads = settings.threads or min(4, os.cpu_count() or 1)
    try:
        con.execute(f"SET memory_limit = {quote(settings.memory)}")
    except duckdb.Error as error:
        con.close()
        raise InputError(f"{settings.memory!r} is not an amount of memory; write one like 1GB or 500MB") from error
    con.execute(f"SET threads = {threads}")
    (place / "spill").mkdir()
    con.execute(f"SET temp_directory = {quote(str(place / 'spill'))}")
    con.execute("SET enable_progress_bar = false")
    return con


def _schema(settings: BuildSettings, con: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the schema; rdf:type and rdfs:subClassOf are the defaults where the graph has them."""

    def chosen(given: tuple[str, ...], usual: tuple[str, ...]) -> list[str]:
        if given:
            return shorten(given, con, settings.prefixes)
        ids = sorted({*usual, *shorten(usual, con, settings.prefixes)})
        rows = con.execute("SELECT id FROM relation WHERE list_contains(?, id) ORDER BY id", [ids]).fetchall()
        return [row[0] for row in rows]

    return {
        "type_relations": chosen(settings.type_relations, _TYPES),
        "subclass_relations": chosen(settings.subclass_relations, _SUBCLASSES),
        "mediators": list(settings.mediators),
        "noise": list(settings.noise),
        "prefixes": dict(sorted(settings.prefixes.items())),
    }


def _publish(made: Path, out: Path, place: Path) -> None:
    """Move the finished snapshot to its target."""
    old = place / "old"
    try:
        if os.path.lexists(out):
            out.rename(old)
        made.rename(out)
    except OSError as error:
        if os.path.lexists(old):
            old.rename(out)
        raise RunError(f"{out}: cannot be replaced ({error.strerror}); check the folder's permissions") from error
    sync_folder(out.parent)


def _disk_error(error: OSError, out: Path) -> RunError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(
            f"{out.parent}: the disk is full; {out.name} was not built and nothing was changed; "
            "free some space, or choose an --out on another disk"
        )
    return RunError(f"{error.filename or out}: {error.strerror or error}; check the folder and its permissions")
