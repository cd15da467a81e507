"""Atomic output files: the target has either its old content or the whole new content."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import IO, Any

from srtk_framework.records import locked
from srtk_framework.values import DriverError, RunError


class AtomicFile:
    """A file written beside its target, which it replaces in ``finish``.

    One process at a time writes a target, so that the part which a killed process left is written over.

    A target that is not a regular file (a pipe, ``/dev/stdout``) is written directly. A name that ends in ``.gz`` is
    compressed without a time stamp, so equal content gives equal bytes.

    Attributes:
        alone: Whether it can have no files beside it, since it is compressed or no regular file.
    """

    def __init__(self, path: str) -> None:
        if not path:
            raise DriverError("path is empty; name the file to write")
        self._shown = path
        given = Path(path).expanduser()
        if given.is_dir():
            raise DriverError(f"{path} is a folder; name a file in it")
        if given.exists() and not given.is_file():
            self._target = self._part = given
        else:
            self._target = Path(os.path.realpath(given))
            self._part = self._target.with_name(f".{self._target.name}.part")
        self.alone = self._part == self._target or given.suffix.lower() == ".gz"
        self._lock = contextlib.ExitStack()
        self._file: IO[bytes] | None = None
        self._packer: Any = None
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._failed(error, f"cannot create its folder {self._target.parent}") from error
        if self._part != self._target:
            lock = self._target.with_name(f".{self._target.name}.lock")
            try:
                self._lock.enter_context(locked(lock, Path(path), "name another path"))
            except RunError as error:
                raise DriverError(str(error)) from error
        try:
            self._file = open(self._part, "wb")  # noqa: SIM115 (open until finish or drop)
        except OSError as error:
            self._lock.close()
            raise self._failed(error) from error
        if given.suffix.lower() == ".gz":
            import gzip

            self._packer = gzip.GzipFile(filename="", fileobj=self._file, mode="wb", mtime=0)

    def write(self, text: str | bytes) -> None:
        """Append text or bytes; a lone surrogate, which UTF-8 cannot encode, becomes ``?``."""
        if self._file is None:
            raise DriverError(f"{self._shown} is not open; call open() before write()")
        try:
            content = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
            (self._packer or self._file).write(content)
        except OSError as error:
            raise self._lost(error) from error

    def finish(self) -> None:
        """Replace the target by the written file; do nothing after ``drop``."""
        if self._file is None:
            return
        try:
            self._complete(self._file)
        except OSError as error:
            raise self._lost(error) from error
        self._file = None
        self._lock.close()

    def _complete(self, file: IO[bytes]) -> None:
        if self._packer is not None:
            self._packer.close()
        file.flush()
        if self._part != self._target:
            os.fsync(file.fileno())
        file.close()
        if self._part != self._target:
            os.replace(self._part, self._target)

    def drop(self) -> None:
        """Delete the written file; the target stays unchanged."""
        file, packer = self._file, self._packer
        self._file = self._packer = None
        for opened in (packer, file):
            if opened is not None:
                with contextlib.suppress(OSError):  # closing flushes, which fails again on a full disk
                    opened.close()
        if file is not None and self._part != self._target:
            with contextlib.suppress(OSError):  # the next to write this file writes over it
                self._part.unlink(missing_ok=True)
        self._lock.close()

    def _lost(self, error: OSError) -> DriverError:
        self.drop()
        return self._failed(error)

    def _failed(self, error: OSError, what: str = "cannot be written") -> DriverError:
        hint = "free some space or name another path" if error.errno == errno.ENOSPC else "name another path"
        return DriverError(f"{self._shown}: {what}: {error.strerror or error}; {hint}")
