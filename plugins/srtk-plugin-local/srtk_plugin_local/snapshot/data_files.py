"""The files of a generation: checked by blocks when they are opened, mapped, and watched while they are open."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from srtk_framework.records import read_json
from srtk_framework.values import InputError, SnapshotError
from srtk_plugin_local.snapshot.layout import BLOCK
from srtk_plugin_local.snapshot.meta_file import AGAIN

# Which state of each file was found right: size, times and inode.
VERIFIED = ".verified.json"
# A file changed less than these nanoseconds ago may change again without a new time, so it is checked again.
_SETTLED = 2 * 10**9
# Seconds between two looks at the times of all files.
_WATCH = 0.1
# Seconds between two looks at their sizes: before each batch, but not for each of many calls in a millisecond.
_PAUSE = 0.001

State = list[int]


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
        known = _verified(folder)
        right: dict[str, State] = {}
        for name, entry in sorted(files.items()):
            path = folder / name
            # What was found right is of these very blocks, or a new meta file would vouch for old content.
            key = f"{name} {zlib.crc32(repr(entry['blocks']).encode())}"
            try:
                with path.open("rb") as file:
                    self._open(path, file, entry, known.get(key))
            except FileNotFoundError as error:
                raise SnapshotError(f"{path}: is missing from the snapshot ({error.strerror}); {AGAIN}") from error
            except OSError as error:
                raise SnapshotError(f"{path}: cannot be read or mapped ({error.strerror}); {AGAIN}") from error
            right[key] = self._states[name]
        _keep(folder, right, known)
        maps = {name: content for name, content in self._content.items() if isinstance(content, mmap.mmap)}
        self._sizers = [content.size for content in maps.values()]
        self._sizes = [len(content) for content in maps.values()]
        self._names = list(maps)
        self._changed = _time(folder)
        self._looked = time.monotonic()
        self._checked = 0.0

    def _open(self, path: Path, file: IO[bytes], entry: Mapping[str, Any], right: State | None) -> None:
        state = _state(os.fstat(file.fileno()))
        size = entry["bytes"]
        if state[0] != size:
            raise SnapshotError(f"{path}: is truncated or damaged: expected {size} bytes, found {state[0]}; {AGAIN}")
        if state != right:
            _check_blocks(path, file, entry["blocks"])
        self._states[path.name] = state
        self._content[path.name] = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""

    def __getitem__(self, name: str) -> mmap.mmap | bytes:
        return self._content[name]

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
                size, written, _, inode = _state(path.stat())
            except OSError:
                continue  # Deleted, as by the publication of another generation; what is mapped stays.
            if [size, written, inode] != [state[0], state[1], state[3]]:
                what = "replaced" if inode != state[3] else "written to"
                raise SnapshotError(f"{path}: was {what} while the graph was open; run again, or {AGAIN}")
        self._changed, self._looked = changed, now


def _check_blocks(path: Path, file: IO[bytes], blocks: list[int]) -> None:
    for number, checksum in enumerate(blocks):
        if zlib.crc32(file.read(BLOCK)) != checksum:
            raise SnapshotError(
                f"{path}: is damaged: block {number + 1} of {len(blocks)} (from byte {number * BLOCK:,}) has another"
                f" content than was written; {AGAIN}"
            )


def _state(stat: os.stat_result) -> State:
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _time(folder: Path) -> int:
    """Return when an entry of a folder last changed; 0 where the folder is gone."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _verified(folder: Path) -> dict[str, State]:
    """Read which states were found right; without a readable list, none."""
    try:
        data = read_json(folder / VERIFIED)
    except InputError:
        return {}
    states = data.items() if isinstance(data, dict) else ()
    return {key: state for key, state in states if isinstance(state, list) and list(map(type, state)) == [int] * 4}


def _keep(folder: Path, right: Mapping[str, State], known: Mapping[str, State]) -> None:
    """Write which states were found right, except those that may change without a new time."""
    now = time.time_ns()
    settled = {key: state for key, state in right.items() if now - max(state[1:3]) > _SETTLED}
    if settled == known:
        return
    part = folder / f"{VERIFIED}.{os.getpid()}.part"
    # Where the folder cannot be written, the files are checked at each opening.
    with contextlib.suppress(OSError):
        try:
            part.write_text(json.dumps(settled, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            os.replace(part, folder / VERIFIED)
        finally:
            part.unlink(missing_ok=True)
