"""Files and folders that appear whole: written beside their place, then put there in one step.

Whoever reads sees the old or the new whole thing, also after the process was killed or the power failed in between. A
folder that another process holds open cannot be renamed on every system. So a folder that is read in place is published
as a generation: a new folder within it, to which a small file points.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from srtk_framework.records.lock import locked
from srtk_framework.values import RunError

_BLOCK = 1 << 20
# How often a file is renamed over another: on Windows, one that somebody has open for a moment cannot be replaced.
_TRIES = 20 if os.name == "nt" else 1
# Seconds between tries: a virus scanner holds a new file for moments, and all tries make one second.
_PAUSE = 0.05
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quota error.


@contextmanager
def workplace(target: Path, remedy: str) -> Iterator[Path]:
    """Lock a target and yield an empty folder beside it, where its new content is made.

    Remains of a killed process are removed first. The folder is removed at the end.

    Args:
        target: The file or folder that is made.
        remedy: Advice to a refused user besides waiting, such as ``choose another --out``.

    Raises:
        RunError: If another process makes the same target.
        OSError: If the folder cannot be made.
    """
    real = Path(os.path.realpath(target))
    with locked(real.with_name(f".{real.name}.lock"), target, remedy):
        settle(real)
        place = _workplace(real)
        remove(place)
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def unfinished(target: Path) -> bool:
    """Return whether a process is making the target, or was killed while it did: its workplace is there."""
    return _workplace(Path(os.path.realpath(target))).exists()


def publish(made: Path, target: Path) -> None:
    """Put a finished file or folder in the place of another, on the same disk, in one step.

    Linux and macOS exchange two folders at once. Where the system cannot, the old folder is moved away first, and
    ``settle`` brings it back if the process is killed before the new folder is there.

    Raises:
        OSError: If it cannot be written; the target is as before.
    """
    sync(made)
    if not (made.is_dir() and os.path.lexists(target)):
        rename(made, target)
        sync_entries(target.parent)
        return
    if _exchange(made, target):
        sync_entries(target.parent)
        remove(made)
        return
    old = _old(target)
    remove(old)
    rename(target, old)
    try:
        rename(made, target)
    except OSError:
        rename(old, target)
        raise
    sync_entries(target.parent)
    remove(old)


def settle(target: Path) -> None:
    """Clean up after a killed ``publish``: the old folder comes back if the new folder is not there."""
    old = _old(target)
    if not os.path.lexists(old):
        return
    if os.path.lexists(target):
        remove(old)
    else:
        rename(old, target)


def publish_generation(made: Path, target: Path, name: str, pointer: str, text: Callable[[str], str]) -> Path:
    """Put a finished folder into the folder ``target``, point to it, and remove whatever else stands there.

    The file ``pointer`` names the generation to read; it is replaced in one step. Readers of the old generation go on;
    where the system does not delete open files, the next publication does.

    Args:
        made: The finished folder, on the same disk.
        target: The folder; made where it is missing.
        name: Name of the generation. If its files stand there with the same content, they stay; another generation of
            this name stays until the pointer names the new generation, which has a number added.
        pointer: Name of the small file.
        text: Returns its content for the name of the generation.

    Returns:
        The folder of the generation.

    Raises:
        OSError: If it cannot be written; the target is as before.
    """
    target.mkdir(exist_ok=True)
    number, folder = 1, target / name
    while os.path.lexists(folder) and not _holds(folder, made):
        number += 1
        folder = target / f"{name}-{number}"
    if not folder.exists():
        sync(made)
        rename(made, folder)
        sync_entries(target)
    write_text(target / pointer, text(folder.name))
    sync_entries(target.parent)
    for entry in sorted(target.iterdir()):
        if entry.name not in (folder.name, pointer):
            # Windows keeps what a reader has open; the next publication removes it.
            with contextlib.suppress(OSError):
                remove(entry)
    return folder


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step; see ``write_bytes``."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file in one step; a part that a killed process left is written over.

    Raises:
        OSError: If it cannot be written; the file is as before.
    """
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    sync(part)
    rename(part, path)
    sync_entries(path.parent)


def rename(old: Path, new: Path) -> None:
    """Rename, also over an existing file; on Windows again and again, since a reader may hold it open for a moment.

    Raises:
        OSError: If it cannot be renamed.
    """
    for left in range(_TRIES - 1, -1, -1):
        try:
            os.replace(old, new)
        except PermissionError:
            if not left:
                raise
            time.sleep(_PAUSE)
        else:
            return


def remove(path: Path) -> None:
    """Remove a file or a folder with all that it holds, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Bring a file, or all that a folder holds, to the disk."""
    if path.is_symlink():
        return  # What it points to is not what is published.
    if path.is_dir():
        for entry in sorted(path.iterdir()):
            sync(entry)
        sync_entries(path)
        return
    # Windows syncs only what is open for writing.
    with path.open("r+b" if os.name == "nt" else "rb") as file:
        os.fsync(file.fileno())


def sync_entries(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can open a folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folder, and needs no such step.
    try:
        # Some network disks refuse it, and there is nothing else to try.
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _workplace(target: Path) -> Path:
    return target.with_name(f".{target.name}.building")


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _holds(folder: Path, made: Path) -> bool:
    """Return whether a folder holds every file of another with the same content."""
    return folder.is_dir() and all(_is_same(folder / path.name, path) for path in made.iterdir())


def _is_same(one: Path, other: Path) -> bool:
    if not one.is_file() or not other.is_file() or one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while block := left.read(_BLOCK):
            if block != right.read(_BLOCK):
                return False
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system or the disk cannot."""
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux":
        call, arguments = "renameat2", (-100, names[0], -100, names[1], 2)  # AT_FDCWD, RENAME_EXCHANGE
    elif sys.platform == "darwin":
        call, arguments = "renamex_np", (*names, 2)  # RENAME_SWAP
    else:
        return False
    function = getattr(ctypes.CDLL(None), call, None)
    return function is not None and function(*arguments) == 0


def publication_error(error: OSError, target: Path) -> RunError:
    """Make the error of a target that could not be made or published."""
    cause = error.strerror or str(error)  # A store's own library gives no number.
    if error.errno in _FULL or "No space left" in cause:
        return RunError(
            f"{target.parent}: the disk is full; {target.name} was not built and nothing was changed; "
            "free some space, or choose an --out on another disk"
        )
    hint = "check the folder and its permissions"
    if "File too large" in cause:
        hint = "raise the limit of a file's size (ulimit -f)"
    elif isinstance(error, PermissionError):
        hint += ", and close the programs that have it open"
    return RunError(f"{error.filename or target}: {cause}; {hint}")
