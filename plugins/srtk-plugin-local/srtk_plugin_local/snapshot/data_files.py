"""The files of a generation: checked by blocks when they are opened, mapped, and watched while they are open."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from srtk_framework.records import State, check_files
from srtk_framework.values import SnapshotError
from srtk_plugin_local.snapshot.meta_file import AGAIN

# Seconds between two looks at the times of all files.
_WATCH = 0.1
# Seconds between two looks at their sizes: a search calls the graph many times in a millisecond.
_PAUSE = 0.02


class DataFiles:
    """The mapped files of a generation, by name; the content of each is a buffer.

    A file is read and compared with its checksums unless the same state of it was found right before.

    Args:
        folder: Folder of the generation.
        files: Size in bytes and checksum of each block, by file.

    Raises:
        SnapshotError: If a file is missing, cannot be read or mapped, or is damaged; with the damaged block.
    """

    def __init__(self, folder: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
        self._folder = folder
        self._content: dict[str, mmap.mmap | bytes] = {}
        self._states: dict[str, State] = {}
        check_files(folder, files, AGAIN, SnapshotError, self._map)
        maps = {name: content for name, content in self._content.items() if isinstance(content, mmap.mmap)}
        self._sizers = [content.size for content in maps.values()]
        self._sizes = [len(content) for content in maps.values()]
        self._names = list(maps)
        self._changed = _time(folder)
        self._looked = time.monotonic()
        self._checked = 0.0

    def _map(self, name: str, file: IO[bytes], state: State) -> None:
        self._states[name] = state
        self._content[name] = mmap.mmap(file.fileno(), state[0], access=mmap.ACCESS_READ) if state[0] else b""

    def __getitem__(self, name: str) -> mmap.mmap | bytes:
        return self._content[name]

    def forget(self) -> None:
        """Let go of the pages that were read, which count as memory of the process; they are read again when needed."""
        for content in self._content.values():
            if isinstance(content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
                content.madvise(mmap.MADV_DONTNEED)

    def check(self) -> None:
        """Check that the opened files did not change: their sizes, and now and then times and inodes.

        A new generation does not matter: the old files are gone from their folder, and stay mapped.

        Raises:
            SnapshotError: If a file was cut, written to or replaced.
        """
        now = time.monotonic()
        if now - self._checked < _PAUSE:
            return
        sizes = [size() for size in self._sizers]
        if sizes != self._sizes:
            found = next(place for place, size in enumerate(sizes) if size != self._sizes[place])
            raise SnapshotError(
                f"{self._folder / self._names[found]}: was cut while the graph was open: expected "
                f"{self._sizes[found]} bytes, found {sizes[found]}; {AGAIN}"
            )
        self._checked = now
        changed = _time(self._folder)
        if changed == self._changed and now - self._looked < _WATCH:
            return
        for name, state in self._states.items():
            path = self._folder / name
            try:
                now_is = path.stat()
            except OSError:
                continue  # Deleted, as by the publication of another generation; what is mapped stays.
            if [now_is.st_size, now_is.st_mtime_ns, now_is.st_ino] != [state[0], state[1], state[3]]:
                what = "replaced" if now_is.st_ino != state[3] else "written to"
                raise SnapshotError(f"{path}: was {what} while the graph was open; run again, or {AGAIN}")
        self._changed, self._looked = changed, now


def _time(folder: Path) -> int:
    """Return when an entry of a folder last changed; 0 where the folder is gone."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
