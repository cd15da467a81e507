"""The child of ``kit.kills``: commands in forks, each killed at one call that changes files.

Reads a request of JSON in each line of stdin, forks, and answers with a line of JSON. What is imported before the first
fork is imported once. It counts what goes through Python: ``os``, ``open`` and what builds on them (``pathlib``,
``shutil``, ``tempfile``, ``gzip``), not what C++ or Rust writes by itself (DuckDB, Oxigraph, SQLite, torch).
"""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import shutil  # noqa: F401 - looks at os before it is patched
import signal
import sys
import tempfile  # noqa: F401
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Points:
    """Counts calls, and strikes at one of them.

    Args:
        root: Calls about paths elsewhere do not count.
        kinds: Kinds of calls that count.
        at: Number of the call that is struck, from 1; 0 for none.
        how: ``kill``; ``power`` (killed, and what no fsync has made safe is lost); ``full`` (the disk is full from
            this call on, and whatever needs space fails); ``failed`` (this call alone fails).
        report: File descriptor for the description of each call.
    """

    def __init__(self, root: str, kinds: list[str], at: int, how: str, report: int) -> None:
        self._root = os.path.realpath(root)
        self._kinds = frozenset(kinds)
        self._at = at
        self._how = how
        self._report = report
        self._count = 0
        self._lock = threading.RLock()
        self._unsafe: dict[tuple[int, int], tuple[int, int]] = {}

    def reach(self, kind: str, place: Any, fd: int | None = None, part: Callable[[], Any] | None = None) -> None:
        """Count a call that is about to be made; ``part`` makes half of it."""
        path = _path(place, fd)
        if kind not in self._kinds or not (path == self._root or path.startswith(self._root + os.sep)):
            return
        with self._lock:
            self._count += 1
            _write(self._report, f"{kind} {os.path.relpath(path, self._root)}\n".encode())
            if not self._at or self._count < self._at:
                return
            if self._how == "full" and kind in ("open", "write", "mkdir"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            if self._count > self._at or self._how == "full":
                return
            if self._how == "failed":
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)
            if part is not None:
                part()
            if self._how == "power":
                for copy, size in self._unsafe.values():
                    _truncate(copy, size)
            os.kill(os.getpid(), signal.SIGKILL)

    def wrote(self, fd: int, before: int) -> None:
        """Note that a file has content that is not on the disk yet."""
        found = os.fstat(fd)
        key = (found.st_dev, found.st_ino)
        with self._lock:
            if self._how == "power" and key not in self._unsafe:
                self._unsafe[key] = (os.dup(fd), before)

    def synced(self, fd: int) -> None:
        """Note that what a file has is on the disk."""
        found = os.fstat(fd)
        with self._lock:
            kept = self._unsafe.pop((found.st_dev, found.st_ino), None)
        if kept is not None:
            os.close(kept[0])


_write, _truncate, _open = os.write, os.ftruncate, builtins.open


def _path(place: Any, fd: int | None) -> str:
    if isinstance(place, int):
        try:
            return os.readlink(f"/proc/self/fd/{place}")
        except OSError:
            return ""
    name = os.fsdecode(place)
    folder = os.getcwd() if fd is None else _path(fd, None)
    whole = os.path.join(folder, name)
    return os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))


class CountedFile(io.FileIO):
    """A raw file whose writes count; the one that is struck is half done."""

    points: Points

    def write(self, data: Any) -> int:  # type: ignore[override]
        """Write, or die half-way."""
        whole = bytes(data)
        size = os.fstat(self.fileno()).st_size
        self.points.reach("write", self.fileno(), part=lambda: super(CountedFile, self).write(whole[: len(whole) // 2]))
        self.points.wrote(self.fileno(), size)
        return super().write(whole) or 0

    def truncate(self, size: int | None = None) -> int:
        """Cut the file."""
        self.points.reach("truncate", self.fileno())
        return super().truncate(size)


def patch(points: Points) -> None:
    """Put the counted calls in the place of Python's own."""
    CountedFile.points = points

    def counted(kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(path: Any, *args: Any, **kwargs: Any) -> Any:
            points.reach(kind, path, kwargs.get("dir_fd", kwargs.get("src_dir_fd")))
            return call(path, *args, **kwargs)

        return run

    for kind, names in {
        "rename": ("rename", "replace"),
        "unlink": ("unlink", "remove", "rmdir"),
        "mkdir": ("mkdir",),
        "write": ("sendfile",),
        "truncate": ("truncate", "ftruncate"),
        "link": ("link", "symlink"),
    }.items():
        for name in names:
            setattr(os, name, counted(kind, getattr(os, name)))

    fsync, low_open = os.fsync, os.open

    def counted_fsync(fd: Any) -> None:
        number = fd if isinstance(fd, int) else fd.fileno()
        points.reach("fsync", number)
        fsync(number)
        points.synced(number)

    def counted_low_open(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & _WRITES:
            points.reach("open", path, kwargs.get("dir_fd"))
        return low_open(path, flags, *args, **kwargs)

    def counted_write(fd: int, data: Any) -> int:
        whole = bytes(data)
        points.reach("write", fd, part=lambda: _write(fd, whole[: len(whole) // 2]))
        return _write(fd, whole)

    def counted_open(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        if not set(mode) & set("wax+"):
            return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if not isinstance(file, int):
            points.reach("open", file)
        raw = CountedFile(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        buffer = io.BufferedRandom(raw, size) if "+" in mode else io.BufferedWriter(raw, size)
        if "b" in mode:
            return buffer
        text = io.TextIOWrapper(buffer, encoding, errors, newline, line_buffering=buffering == 1)
        text.mode = mode  # type: ignore[misc]
        return text

    os.fsync, os.open, os.write = counted_fsync, counted_low_open, counted_write
    builtins.open = io.open = counted_open  # type: ignore[assignment]


def _run(request: dict[str, Any], report: int) -> int:
    """Run the command of a request in this process, which is a fork."""
    os.chdir(request["root"])
    for number, name in ((1, "stdout"), (2, "stderr")):
        out = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, number)
        os.close(out)
    module, _, function = request["target"].partition(":")
    call = getattr(import_module(module), function)
    patch(Points(request["root"], request["kinds"], request["at"], request["how"], report))
    sys.argv = [module, *request["arguments"]]
    try:
        code = call(request["arguments"])
    except SystemExit as stop:
        code = stop.code
    except BaseException:  # noqa: BLE001 - a fork must never return to the loop of its parent
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def main() -> None:
    """Answer requests until stdin ends."""
    for module in sys.argv[1:]:
        import_module(module)
    for line in sys.stdin:
        request = json.loads(line)
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.close(reads)
            os.setpgid(0, 0)
            os._exit(_run(request, writes))
        os.close(writes)
        with _open(reads, "rb") as pipe:
            calls = pipe.read().decode("utf-8", "replace").splitlines()
        _, status = os.waitpid(child, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "calls": calls}), flush=True)


if __name__ == "__main__":
    main()
