"""The build of a snapshot: out of core, in a folder beside the target, and published as its generation at the end."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from srtk_framework.records import publication_error, publish_generation, workplace
from srtk_framework.values import InputError, RunError, SnapshotError
from srtk_plugin_local.snapshot.array_writer import (
    Work,
    number_nodes,
    write_edges,
    write_ids,
    write_qualifiers,
)
from srtk_plugin_local.snapshot.arrays import Heap, Snapshot
from srtk_plugin_local.snapshot.build_settings import BuildSettings, fingerprint
from srtk_plugin_local.snapshot.csr import Adjacency
from srtk_plugin_local.snapshot.id_names import IdNames
from srtk_plugin_local.snapshot.input_files import Progress, quiet
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.layout import (
    FORMAT,
    GENERATION,
    META,
    Meta,
    content_hash,
    generation_name,
    map_file,
    meta_text,
)
from srtk_plugin_local.snapshot.mediators import Noticed, notice
from srtk_plugin_local.snapshot.meta_file import read_meta
from srtk_plugin_local.snapshot.name_writer import write_names
from srtk_plugin_local.snapshot.naming_relations import few_names, naming_candidates
from srtk_plugin_local.snapshot.redirects import stage_redirects
from srtk_plugin_local.snapshot.staging_tables import rank_names, stage_names, stage_qualifiers, stage_triples
from srtk_plugin_local.snapshot.staging_values import quote, shorten
from srtk_plugin_local.snapshot.update import (
    holds_rdf,
    kept_settings,
    settings_of,
    stage_kept,
    stage_kept_qualifiers,
    stage_removed,
)

if TYPE_CHECKING:
    import duckdb

DATABASE = "work.duckdb"
_TYPES = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "rdf:type")
# Name of a snapshot in the cache of ``Graph``: a digest of files and settings, and one of the files' content.
CACHED = re.compile("([0-9a-f]{12})-[0-9a-f]{24}")
_SUBCLASSES = ("http://www.w3.org/2000/01/rdf-schema#subClassOf", "rdfs:subClassOf")


# Files that a build may have beside its triples, of which an update removes none.
_NO_NAMES: Mapping[str, Any] = {"labels": (), "aliases": (), "qualifiers": ()}
# Told once, of the first file, beside the mediators themselves.
_KEPT_MEDIATORS = "an update keeps these mediators and looks for no others; build the graph again to look"


@attrs.frozen
class Base:
    """The snapshot that an update begins with, and the database of what is removed, if anything is."""

    snapshot: Snapshot
    removed: Path | None


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
    if not settings.files:
        raise InputError("there is no input file; give at least one file of triples")
    inputs = fingerprint(settings)
    check_target(out, force)
    plan, about = _plan_of(out), dict(origin or {})
    return _published(
        out, lambda place, made: _fill(settings, place, made, inputs, about, progress, plan), "choose another --out"
    )


def update(out: Path, given: Mapping[str, Any], removed: tuple[str, ...], progress: Progress = quiet) -> Built:
    """Build a new version of a snapshot: its triples, without the removed, and those of more files.

    The files are read by the settings of the first build. A label stays the label until it is removed. Mediators are
    those that the build noticed.

    Args:
        out: Folder of the snapshot. It is as before until the new version is complete.
        given: Settings that differ: the ``files`` to add, further ``labels``, ``aliases`` and ``qualifiers``.
        removed: Files of triples to remove, or patterns; a triple that is added too stays.
        progress: Called with the progress of each stage.

    Raises:
        InputError: If an input cannot be read.
        SnapshotError: If the folder is not a snapshot, or is damaged.
        RunError: If another build of it is running, or disk or memory are full.
    """

    def fill(place: Path, made: Path) -> tuple[Meta, dict[str, int]]:
        old = Snapshot(out)
        settings, less = settings_of(old, **given), settings_of(old, **{**given, **_NO_NAMES, "files": removed})
        described = json.dumps([old.meta.content, fingerprint(settings), fingerprint(less)])
        inputs = hashlib.sha256(described.encode()).hexdigest()
        base = Base(old, _removed(less, place / "removed", progress) if less.files else None)
        return _fill(settings, place, made, inputs, old.meta.origin, progress, old.meta.build["plan"], base)

    return _published(out, fill, "update a copy of it")


def _published(out: Path, fill: Callable[[Path, Path], tuple[Meta, dict[str, int]]], remedy: str) -> Built:
    """Make a snapshot by a function of a workplace and of the folder to fill there, and publish it."""
    try:
        with workplace(out, remedy) as place:
            made = place / "snapshot"
            meta, ignored = fill(place, made)
            name = generation_name(meta.files)
            target = Path(os.path.realpath(out))
            publish_generation(made, target, name, META, lambda name: meta_text(attrs.evolve(meta, generation=name)))
    except OSError as error:
        raise publication_error(error, out) from error
    return Built(out, read_meta(out), ignored)


def is_built_from(folder: Path, settings: BuildSettings) -> bool:
    """Return whether a snapshot was built from these settings and from the current state of the files."""
    inputs = fingerprint(settings)
    try:
        return bool(read_meta(folder).build["inputs"] == inputs)
    except SnapshotError:
        return False


def _plan_of(folder: Path) -> Mapping[str, Any]:
    """Return the plan of columns of the snapshot in a folder, or of an earlier one of the same files in the cache.

    An earlier one counts for tables that have more rows now: a file that was corrected is planned anew.
    """
    place = CACHED.fullmatch(folder.name)
    if folder.exists() or place is None:
        return _build_of(folder).get("plan") or {}
    earlier = [other for other in folder.parent.glob(f"{place[1]}-*") if CACHED.fullmatch(other.name)]
    earlier.sort(key=lambda other: other.stat().st_mtime)
    build = _build_of(earlier[-1]) if earlier else {}
    rows = {Path(report["name"]).name: report["rows"] for report in build.get("reading", ())}
    tables = (build.get("plan") or {}).get("tables", {})
    return {
        "tables": {
            name: {**entry, "beyond": sum(rows.get(file, 0) for file in entry["files"])}
            for name, entry in tables.items()
        }
    }


def _build_of(folder: Path) -> Mapping[str, Any]:
    """Return how a snapshot was built; nothing where there is none, or it is damaged."""
    try:
        return read_meta(folder).build
    except SnapshotError:
        return {}


def check_target(out: Path, force: bool) -> None:
    """Check that a snapshot may be built at a place.

    Raises:
        RunError: If a file stands there, or something else than a snapshot and ``force`` is not given, or the folder
            above it cannot be made.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{out.parent}: cannot be created ({error.strerror}); choose another --out") from error
    if os.path.lexists(out) and not out.is_dir():
        raise RunError(f"{out}: is a file, and a snapshot is a folder; remove it, or choose another --out")
    if not force and out.is_dir() and not _is_ours(out):
        raise RunError(f"{out}: exists and is not a graph snapshot; choose another --out, or replace it with --force")


def _is_ours(out: Path) -> bool:
    """Return whether a folder is empty, a snapshot, or the rest of a killed build."""
    meta = out / META
    if meta.is_file() and f'"format": "{FORMAT}"' in meta.read_text("utf-8", "replace"):
        return True
    return all(entry.name in (META, f".{META}.part") or GENERATION.fullmatch(entry.name) for entry in out.iterdir())


def _fill(
    settings: BuildSettings,
    place: Path,
    made: Path,
    inputs: str,
    origin: Mapping[str, Any],
    progress: Progress,
    pinned: Mapping[str, Any],
    base: Base | None = None,
) -> tuple[Meta, dict[str, int]]:
    made.mkdir()
    with _database(settings, place) as con:
        work = Work(con, made, progress)
        reports: list[FileReport] = []
        is_rdf, plan = stage_triples(con, settings, progress, reports, pinned)
        stage_names(con, settings, progress, reports, is_rdf)
        if base is not None:
            work.kept, work.ignored = stage_kept(con, base.snapshot, base.removed)
        work.ignored |= stage_redirects(con, settings, progress, reports)
        rank_names(con, settings)
        stage_qualifiers(con, settings, progress, reports)
        if base is not None and work.kept is not None:
            work.kept.stage_names(con)
            stage_kept_qualifiers(con, base.snapshot)
            is_rdf = is_rdf or holds_rdf(base.snapshot)
        naming = naming_candidates(con) if is_rdf else []
        number_nodes(work)
        write_ids(work)
        write_edges(work)
        write_names(work, lambda labelled: IdNames(_ids_are_names(settings, is_rdf, labelled), settings.prefixes))
        write_qualifiers(work)
        schema = _schema(settings, con)
        mediators = _mediators(work, schema, plan) if base is None else None
    few = 2 * work.counts["labels"] < work.counts["entities"]
    if reports and is_rdf and ((few and naming) or 2 * work.nameless > work.counts["entities"]):
        reports[0].note(few_names(work.counts["labels"], work.counts["entities"], naming))
    if reports and mediators is not None:
        reports[0].note(mediators.told())
    names = _ids_are_names(settings, is_rdf, bool(work.counts["labels"]))
    content = content_hash(work.written, names, schema)
    ignored = {kind: count for kind, count in sorted(work.ignored.items()) if count}
    before = base.snapshot.meta.build if base is not None else {}
    reading = [*before.get("reading", ()), *(report.data() for report in reports)]
    if "mediators" in before and _KEPT_MEDIATORS not in reading[0]["notes"]:
        reading[0] = {**reading[0], "notes": [*reading[0]["notes"], _KEPT_MEDIATORS]}
    described = {
        "inputs": inputs,
        "settings": kept_settings(settings),
        "files": [*before.get("files", ()), *settings.every_file()],
        "ignored": ignored,
        "reading": reading,
        "plan": {**before.get("plan", {}), **plan},
    }
    if mediators is not None:
        described["mediators"] = mediators.data()
    elif "mediators" in before:
        described["mediators"] = before["mediators"]
    prefixes = {prefix: iri for report in reversed(reports) for prefix, iri in report.prefixes.items()}
    if prefixes := prefixes | before.get("prefixes", {}):
        described["prefixes"] = dict(sorted(prefixes.items()))
    return Meta(content, dict(sorted(work.counts.items())), names, schema, work.written, described, origin), ignored


def _removed(settings: BuildSettings, place: Path, progress: Progress) -> Path:
    """Read the triples to remove into a database of their own; return its file."""
    place.mkdir()
    with _database(settings, place) as con:
        reports: list[FileReport] = []
        is_rdf, _ = stage_triples(con, settings, progress, reports, {})
        stage_names(con, settings, progress, reports, is_rdf)
        rank_names(con, settings)
        stage_removed(con)
    return place / DATABASE


@contextmanager
def _database(settings: BuildSettings, place: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in a folder; its errors become sentences."""
    import duckdb

    con = _connect(settings, place)
    try:
        yield con
    except duckdb.OutOfMemoryException as error:
        raise RunError(f"{settings.memory} of memory is too little for this build; give more with --memory") from error
    except duckdb.IOException as error:
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, "No space left on device") from error
        raise RunError(f"{place}: the build cannot write here ({error}); check the disk") from error
    finally:
        con.close()


def _mediators(work: Work, schema: Mapping[str, Any], plan: Mapping[str, Any]) -> Noticed | None:
    """Notice the mediators; not where the settings name them, nor among the rows of tables, which are things."""
    if schema["mediators"] or any(table.get("rows") == "entities" for table in plan.get("tables", {}).values()):
        return None

    def heap(name: str) -> Heap:
        return Heap(work.read(f"{name}.offsets"), map_file(work.folder / f"{name}.bytes"))

    forward, inverse = (Adjacency.read(side, work.read) for side in ("forward", "inverse"))
    relations = heap("relations").take(np.arange(work.counts["relations"]))
    literals, types = work.read("literals").astype(bool), schema["type_relations"]
    return notice(forward, inverse, work.unnamed, literals, relations, types, heap("nodes").take)


def _ids_are_names(settings: BuildSettings, is_rdf: bool, labelled: bool) -> bool:
    return settings.names if settings.names is not None else not is_rdf and not labelled


def _connect(settings: BuildSettings, place: Path) -> duckdb.DuckDBPyConnection:
    import duckdb

    try:
        con = duckdb.connect(str(place / DATABASE))
    except duckdb.IOException as error:
        raise RunError(f"{place}: the build cannot write here ({error}); check the disk") from error
    try:
        con.execute(f"SET memory_limit = {quote(settings.memory)}")
    except duckdb.Error as error:
        con.close()
        raise InputError(f"{settings.memory!r} is not an amount of memory; write one like 1GB or 500MB") from error
    # Each thread holds buffers of its own, and ``memory`` is the limit of all together.
    con.execute(f"SET threads = {min(4, os.cpu_count() or 1)}")
    (place / "spill").mkdir()
    con.execute(f"SET temp_directory = {quote(str(place / 'spill'))}")
    # In a notebook without ipywidgets DuckDB has no bar, and refuses to change the setting.
    with suppress(duckdb.InvalidInputException):
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
