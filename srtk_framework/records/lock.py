"""Lock that keeps a folder to one process for as long as it writes there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from srtk_framework.values import RunError


@contextmanager
def locked(file: Path, target: Path, remedy: str) -> Iterator[None]:
    """Hold a lock for the time of the ``with`` block; the system releases it when the process dies.

    The lock also excludes a second holder in this process. The number of the holding process stands in a file beside
    the lock, because Windows lets nobody read a locked file. Both files are deleted at the end. Where the file system
    or the platform has no locks, ``filelock`` falls back to a file that names its process.

    Args:
        file: The lock file, such as ``folder/.lock``; missing folders above it are created.
        target: The locked thing, as the user knows it: the folder of a run, or the file that is built.
        remedy: Advice to a refused user besides waiting, such as ``choose another output``.

    Raises:
        RunError: If another process holds the lock, with its number where that is known; if the file cannot be made
            or locked.
    """
    # Imported here, because its import warns on a platform without fcntl, and most commands need no lock.
    from filelock import FileLock, Timeout

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"the folder {file.parent} cannot be made: {error.strerror or error}; {remedy}") from error
    holder = file.with_name(f"{file.name}.pid")
    lock = FileLock(file, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        by = _holder(holder)
        raise RunError(f"{target} is in use by {by}; wait until that has ended, or {remedy}") from error
    except (OSError, NotImplementedError) as error:
        raise RunError(f"{target} cannot be locked through {file}: {error}; {remedy}") from error
    try:
        # Without its number a second process is refused all the same, with a shorter sentence.
        with contextlib.suppress(OSError):
            holder.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        for made in (holder, file):
            # Windows refuses to delete an open file. A waiting process that opened the file before it was deleted
            # notices that, and tries again.
            with contextlib.suppress(OSError):
                made.unlink(missing_ok=True)
        lock.release()


def _holder(file: Path) -> str:
    """Describe the process that holds a lock."""
    try:
        number = int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return "another process"
    return "another part of this process" if number == os.getpid() else f"process {number}"
