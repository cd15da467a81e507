"""Base of indexes in folders: a build beside the old index, publication in one step, and the manifest."""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.records import (
    check_files,
    checked,
    dumps,
    file_blocks,
    publication_error,
    publish_generation,
    sums_of,
    unfinished,
    with_checksum,
    workplace,
)
from srtk_framework.roles import Corpus, Index, not_open
from srtk_framework.values import DriverError, Entry
from srtk_plugin_index.indexes.entry_file import EntryFile, EntryWriter
from srtk_plugin_index.indexes.lineage import (
    REBUILD,
    check_built,
    check_id,
    corpus_fingerprint,
    counts_left_out,
    graph_sources,
)

MANIFEST = "manifest.json"
_FORMAT = 2
_KEYS: Mapping[str, type] = {
    "use": str,
    "generation": str,
    "content": str,
    "built": dict,
    "files": dict,
    "sources": list,
}
# Errors of numpy and the libraries of indexes for a file that is not theirs.
_UNREADABLE = (ValueError, EOFError, OSError, RuntimeError, LookupError)
_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class FolderIndex(Index):
    """Base class of indexes in folders.

    An index is made in a folder beside its path and published as a generation, a folder within the path that the
    manifest points to: a killed build leaves the old index, or none. The next build begins anew, with a warning, since
    the corpora may have changed.

    Attributes:
        path: Folder of the index.
        corpora: Corpora that the index is built from, by default the recipe's; an index of other data is refused.
    """

    path: str
    corpora: Sequence[Corpus] = ()
    _work: ExitStack | None = attrs.field(init=False, default=None, repr=False)
    _place: Path | None = attrs.field(init=False, default=None, repr=False)
    _writer: EntryWriter | None = attrs.field(init=False, default=None, repr=False)
    _entries: EntryFile | None = attrs.field(init=False, default=None, repr=False)
    _manifest: Mapping[str, Any] = attrs.field(init=False, factory=dict, repr=False)
    _left_out: Sequence[Mapping[str, int]] = attrs.field(init=False, default=(), repr=False)

    @abstractmethod
    def kept_settings(self) -> dict[str, str]:
        """Return the settings that a built index depends on besides its entries, by their names in an error."""

    @abstractmethod
    def append(self, folder: Path, entries: Sequence[Entry]) -> None:
        """Write the data of some entries for a search, besides the entries themselves.

        Raises:
            DriverError: For an entry that cannot be searched; nothing is written then.
        """

    @abstractmethod
    def finish(self, folder: Path, entries: EntryFile) -> None:
        """Write the data that are made of all entries."""

    @abstractmethod
    def map(self, folder: Path, entries: EntryFile) -> None:
        """Open the files of ``append`` and ``finish``."""

    @abstractmethod
    def unmap(self) -> None:
        """Let go of the files that ``map`` opened."""

    def preflight(self) -> list[tuple[str, str]]:
        """Check that there is a whole index; the command that builds it does not ask."""
        try:
            manifest, folder = self._published()
        except DriverError as error:
            return [("path", str(error))]
        for name, sums in manifest["files"].items():
            if not (folder / name).is_file() or (folder / name).stat().st_size != sums["bytes"]:
                return [("path", f"the index {self.path} is damaged: {name} is missing or was cut; {REBUILD}")]
        return []

    def create(self) -> None:
        """Begin an empty index beside the path, which is locked until ``commit`` or ``close``."""
        self._release()
        self._manifest, self._left_out = {}, ()
        self._begin()

    def open(self) -> None:
        """Map the index, if it was built from these corpora with these settings."""
        manifest, folder = self._published()
        check_built(self.path, manifest["built"], self.kept_settings(), self.corpora)
        self._manifest, self._left_out = manifest, manifest.get("left_out", ())
        check_files(folder, manifest["files"], REBUILD)
        try:
            self._map(folder)
        except _UNREADABLE as error:
            self._release()
            raise DriverError(f"the index {self.path} is damaged ({error}); {REBUILD}") from error

    def close(self) -> None:
        """Let go of the files, and remove an index that was not committed."""
        self._release()
        if self._work is not None:
            self._work.close()
        self._work = self._place = None

    def add(self, entries: Sequence[Entry]) -> int:
        """Write the entries beside the path."""
        if self._writer is None:
            self._begin()
        assert self._writer is not None
        assert self._place is not None
        new: set[str] = set()
        for entry in entries:
            check_id(self.path, entry, entry.id in self._writer.ids or entry.id in new)
            new.add(entry.id)
        self.append(self._place, entries)
        self._writer.append(entries)
        self._entries = None
        self.unmap()
        return len(entries)

    def note(self, left_out: Sequence[Mapping[str, int]]) -> None:
        """Keep the counts of left-out parts of each corpus for the manifest of the next ``commit``."""
        self._left_out = left_out

    def commit(self) -> int:
        """Publish the added entries in one step, with a manifest of their origin."""
        if self._writer is None:
            return self.size()
        entries = self._ready()
        assert self._work is not None
        assert self._place is not None
        place, size = self._place, len(entries)
        # Open files may not be whole on the disk, and the hash is of the files there.
        self._release()
        content, files = _hashed(place)
        manifest = {
            "format": _FORMAT,
            "use": type(self).__name__,
            "entries": size,
            "content": content,
            "built": {**self.kept_settings(), "corpus": corpus_fingerprint(self.corpora)},
            "sources": graph_sources(self.corpora),
            **counts_left_out(self._left_out),
            "files": files,
        }
        made = place / "generation"
        made.mkdir()
        for name in files:
            (place / name).rename(made / name)
        try:
            folder = publish_generation(
                made,
                Path(self.path),
                content[:16],
                MANIFEST,
                lambda name: with_checksum(dumps({**manifest, "generation": name}))[0],
            )
        except OSError as error:
            raise publication_error(error, Path(self.path)) from error
        self._work.close()
        self._work = self._place = None
        self._manifest = {**manifest, "generation": folder.name}
        self._map(folder)
        return size

    def size(self) -> int:
        """Count the entries, also entries that are not committed."""
        if self._writer is not None:
            return len(self._writer.ids)
        return 0 if self._entries is None else len(self._entries)

    def entries(self, ids: Sequence[str]) -> list[Entry | None]:
        """Read entries by id."""
        entries = self._ready()
        numbers = [entries.number(id_) for id_ in ids]
        return [None if number is None else self.entry(entries, number) for number in numbers]

    def entry(self, entries: EntryFile, number: int) -> Entry:
        """Read the entry of a number; an index that keeps more of an entry than its file adds that."""
        return entries.entry(number)

    def sources(self) -> Sequence[str]:
        """Return the sources of the graphs that the corpora read."""
        return list(self._manifest.get("sources", ())) if self._writer is None else graph_sources(self.corpora)

    def fingerprint(self) -> str:
        """Identify the index by its settings and its content."""
        manifest = self._manifest or ({} if self._absent() else self._read_manifest())
        return f"{super().fingerprint()} of {manifest.get('content', 'nothing')}"

    def _ready(self) -> EntryFile:
        """Return the entries, after added entries are searchable."""
        if self._entries is None:
            if self._writer is None or self._place is None:
                raise not_open(self, "open() or create()")
            self._writer.finish()
            self._entries = EntryFile(self._place)
            self.finish(self._place, self._entries)
            self.map(self._place, self._entries)
        return self._entries

    def _map(self, folder: Path) -> None:
        """Open the files of a generation."""
        self._entries = EntryFile(folder)
        self.map(folder, self._entries)

    def _begin(self) -> None:
        """Make the folder beside the path, with a copy of an open index, to be added to."""
        path = Path(self.path)
        if path.is_file() or (path.is_dir() and not all(map(_is_own, path.iterdir()))):
            raise DriverError(f"{self.path} holds something that is no index; choose another `path:`, or remove it")
        broken_off = self._broken_off()
        self._work = ExitStack()
        try:
            self._place = self._work.enter_context(workplace(path, "choose another path"))
        except OSError as error:
            raise publication_error(error, path) from error
        if broken_off:
            # The lock is free, so nobody is at it any more.
            kept = ", and the old index stays until the new one is whole" if (path / MANIFEST).is_file() else ""
            _log.warning("a build of the index %s was broken off; it begins anew%s", path, kept)
        if self._entries is not None:
            # Copies and no links: a reader may have the old files mapped while the new ones grow.
            before = Path(self.path) / self._manifest["generation"]
            for name in self._manifest["files"]:
                shutil.copyfile(before / name, self._place / name)
        self._release()
        self._writer = EntryWriter(self._place)

    def _release(self) -> None:
        self.unmap()
        self._entries = None
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def _absent(self) -> str:
        """Return a sentence if there is no index at the path."""
        path = Path(self.path)
        if (path / MANIFEST).is_file():
            return ""
        if self._broken_off():
            return (
                f"there is no index at {self.path}: its build was broken off, or is not done yet; {REBUILD}, which"
                " begins anew"
            )
        if path.is_dir() and any(path.iterdir()):
            return f"{self.path} is a folder without an index (no {MANIFEST}); {REBUILD}, at another `path:`"
        return f"there is no index at {self.path}: it was never built; {REBUILD}"

    def _broken_off(self) -> bool:
        """Return whether something is left of a build that did not end: beside the path, or published in part."""
        path = Path(self.path)
        inside = list(path.iterdir()) if path.is_dir() else []
        in_part = bool(inside) and not (path / MANIFEST).is_file() and all(map(_is_own, inside))
        return unfinished(path) or in_part

    def _published(self) -> tuple[dict[str, Any], Path]:
        """Return the manifest of the index and the folder of its files.

        Raises:
            DriverError: If there is no index, or its manifest is damaged.
        """
        if fault := self._absent():
            raise DriverError(fault)
        manifest = self._read_manifest()
        return manifest, Path(self.path) / manifest["generation"]

    def _read_manifest(self) -> dict[str, Any]:
        place = Path(self.path) / MANIFEST
        try:
            content = place.read_bytes()
        except OSError as error:
            raise DriverError(f"the index {self.path} is damaged: {place}: {error.strerror}; {REBUILD}") from error
        manifest, _ = checked(content, place, REBUILD)
        if manifest.get("format") != _FORMAT:
            raise DriverError(f"the index {self.path} has another format than {_FORMAT}; {REBUILD}")
        lacking = [key for key, kind in _KEYS.items() if not isinstance(manifest.get(key), kind)]
        if lacking:
            raise DriverError(f"the index {self.path} is damaged: {place} has no {lacking[0]!r}; {REBUILD}")
        if manifest["use"] != type(self).__name__:
            raise DriverError(f"{self.path} holds an index of another kind ({manifest['use']}); {REBUILD}")
        return manifest


def _is_own(path: Path) -> bool:
    """Return whether something in the folder of an index belongs to it, also after a build was broken off."""
    return path.name in (MANIFEST, f".{MANIFEST}.part") or re.fullmatch(r"[0-9a-f]{16}(-\d+)?", path.name) is not None


def _hashed(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return a hash of all files of a folder, and the checksums of each by name."""
    whole = hashlib.sha256()
    files: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        one = hashlib.sha256()
        files[path.name] = sums_of(_through(one, file_blocks(path)))
        whole.update(f"{path.name} {one.hexdigest()}\n".encode())
    return whole.hexdigest(), files


def _through(digest: Any, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks, and add them to a hash."""
    for block in blocks:
        digest.update(block)
        yield block
